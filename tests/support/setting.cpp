#include "support/setting.hpp"

#include <cstdlib>
#include <numeric>

namespace chol::test {

namespace {

int shortness() {
  static const int level = [] {
    const char* value = std::getenv("CHOL_TEST_SHORT");
    return value ? std::atoi(value) : 0;
  }();
  return level;
}

}  // namespace

bool short_run() { return shortness() > 0; }
bool shortest_run() { return shortness() > 1; }

std::vector<int64_t> small_orders() {
  if (shortest_run()) return {1, 5, 16, 33};
  std::vector<int64_t> orders(41);
  std::iota(orders.begin(), orders.end(), 0);
  return orders;
}

std::vector<int64_t> block_orders() {
  if (shortest_run()) return {70, 150, 290, 610};
  if (short_run()) return {47, 48, 49, 63, 64, 65, 97, 129, 193, 257};
  return {47,  48,  49,  63,  64,  65,  71,  72,  73,  79,  80,  81,  95,  96,  97,  127, 128, 129,
          160, 191, 192, 193, 255, 256, 257, 300, 383, 384, 385, 500, 511, 512, 513, 599, 600, 601};
}

}  // namespace chol::test
