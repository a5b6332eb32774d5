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

/// One case of a test.
class SettingTest : public testing::Test {
 public:
  using Body = Bodies::value_type;
  SettingTest(const Setting& setting, Body body) : setting_(setting), body_(body) {}

 private:
  void SetUp() override {
    if (!setting_.memory.available())
      GTEST_SKIP() << "no " << setting_.memory.name() << " memory here";
  }
  void TestBody() override { body_(setting_); }

  Setting setting_;
  Body body_;
};

}  // namespace

bool add_tests(const char* suite, const char* name, const Settings& settings, const Bodies& bodies,
               const char* file, int line) {
  for (const bool on_device : {false, true})
    for (size_t p = 0; p < bodies.size(); ++p)
      for (const Layout layout : settings.layouts)
        for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
          if (!(on_device ? settings.on_device : settings.on_host)) continue;
          const std::string in = std::string(suite) + "/" + "sdcz"[p] +
                                 (uplo == CHOL_UPPER ? "_upper_" : "_lower_") +
                                 layout_name(layout) + (on_device ? "_device" : "_host");
          testing::RegisterTest(in.c_str(), name, nullptr, nullptr, file, line,
                                [body = bodies[p], uplo, layout, on_device]() -> testing::Test* {
                                  Memory& memory = on_device ? device_memory() : host_memory();
                                  return new SettingTest(Setting{uplo, layout, memory}, body);
                                });
        }
  return true;
}

bool short_run() { return shortness() > 0; }
bool shortest_run() { return shortness() > 1; }

bool takes(const Setting& s, int64_t position, int64_t parts) {
  if (s.is_on_device() && !short_run()) return true;
  const int64_t shift = static_cast<int64_t>(s.layout) + (s.uplo == CHOL_UPPER ? 5 : 0);
  return (position + shift) % parts == 0;
}

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
