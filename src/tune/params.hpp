// Parameters of methods by name.
#pragma once

#include <cstdio>
#include <initializer_list>
#include <span>
#include <string_view>

namespace chol {

/// A parameter of a method, the values that it takes, and what it means.
struct Knob {
  const char* name;
  int least, most;
  const char* meaning;
  std::span<const int> tried = {};  ///< values that chol-tune tries
};

struct Param {
  const char* name = "";
  int value = 0;

  friend constexpr bool operator==(const Param& a, const Param& b) {
    return a.value == b.value && std::string_view(a.name) == b.name;
  }
};

class Params {
 public:
  static constexpr int kMost = 7;

  constexpr Params() = default;
  constexpr Params(std::initializer_list<Param> params) {
    for (const Param& param : params) params_[count_++] = param;
  }
  constexpr std::span<const Param> all() const { return {params_, size_t(count_)}; }
  /// 0 where it is not named.
  constexpr int of(std::string_view name) const {
    for (const Param& param : all())
      if (param.name == name) return param.value;
    return 0;
  }
  /// Whether all are among these knobs and within their ranges.
  constexpr bool are_of(std::span<const Knob> knobs) const {
    for (const Param& param : all()) {
      bool taken = false;
      for (const Knob& knob : knobs)
        taken = taken || (std::string_view(knob.name) == param.name && knob.least <= param.value &&
                          param.value <= knob.most);
      if (!taken) return false;
    }
    return true;
  }
  friend constexpr bool operator==(const Params& a, const Params& b) {
    if (a.count_ != b.count_) return false;
    for (int k = 0; k < a.count_; ++k)
      if (!(a.params_[k] == b.params_[k])) return false;
    return true;
  }

 private:
  Param params_[kMost];
  int count_ = 0;
};

/// "method(name=value,...)", as the trace prints it.
inline void print_method(char* text, size_t size, const char* method, const Params& params) {
  size_t at = size_t(std::snprintf(text, size, "%s", method));
  const char* before = "(";
  for (const Param& param : params.all()) {
    if (at < size)
      at += size_t(std::snprintf(text + at, size - at, "%s%s=%d", before, param.name, param.value));
    before = ",";
  }
  if (at < size && !params.all().empty()) std::snprintf(text + at, size - at, ")");
}

}  // namespace chol
