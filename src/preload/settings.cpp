#include "preload/settings.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/offload_mode.hpp"

namespace chol::preload {
namespace {

constexpr const char* kFamilies[] = {"potrf", "potrs", "posv", "potri"};

/// The bits of one word of CHOL_PRELOAD: "potrf" is all four precisions, "dpotrf" is one; a word
/// that is neither is passed over.
uint32_t bits_of(const char* word, size_t length) {
  uint32_t bits = 0;
  for (int family = 0; family < 4; ++family)
    for (const char letter : std::string_view("sdcz")) {
      const size_t size = std::strlen(kFamilies[family]);
      const bool all = length == size && std::strncmp(word, kFamilies[family], size) == 0;
      const bool one = length == size + 1 && word[0] == letter &&
                       std::strncmp(word + 1, kFamilies[family], size) == 0;
      if (all || one) bits |= selection_bit(static_cast<Family>(family), letter);
    }
  return bits;
}

uint32_t selection(const char* list) {
  if (!list || !*list || std::strcmp(list, "on") == 0) return Settings{}.selected;
  uint32_t bits = 0;
  for (const char* word = list; *word;) {
    const size_t length = std::strcspn(word, ", ");
    bits |= bits_of(word, length);
    word += length + std::strspn(word + length, ", ");
  }
  return bits;
}

}  // namespace

Settings read_settings() {
  Settings read;
  read.selected = selection(secure_getenv("CHOL_PRELOAD"));
  const char* report = secure_getenv("CHOL_REPORT");
  const char* verbose = secure_getenv("CHOL_VERBOSE");
  const auto is_on = [](const char* value) {
    return value && *value && std::strcmp(value, "0") != 0;
  };
  read.offload = offload_mode(secure_getenv("CHOL_OFFLOAD"), CHOL_OFFLOAD_AUTO, is_on(verbose));
  read.report = is_on(report) || is_on(verbose);
  if (is_on(report) && std::strchr(report, '/')) read.report_file = report;
  return read;
}

}  // namespace chol::preload
