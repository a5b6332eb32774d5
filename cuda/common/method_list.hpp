// The methods of kernel families of batches. A family's method.cu adds its own when the library is
// loaded; no other file lists them.
#pragma once

#include <string_view>

#include "common/scalar.cuh"

namespace chol::cuda {

/// @tparam Method has a name, by which rows refer to it.
template <class Method>
class MethodList {
 public:
  void add(const Method& method) {
    if (count_ < kMost) methods_[count_++] = method;
  }
  const Method* begin() const { return methods_; }
  const Method* end() const { return methods_ + count_; }
  /// nullptr where there is none.
  const Method* find(std::string_view name) const {
    for (const Method& method : *this)
      if (name == method.name) return &method;
    return nullptr;
  }

 private:
  static constexpr int kMost =
      32;  ///< a further one would not be found: cuda.choose_* would fail for its instances
  Method methods_[kMost]{};
  int count_ = 0;
};
template <class Method>
inline constinit MethodList<Method> method_list{};

/// Defined once in a family's method.cu. @param add add(list) for the list of each element type.
template <template <class> class Method>
struct AddMethods {
  template <class Add>
  explicit AddMethods(Add&& add) {
    add(method_list<Method<float>>);
    add(method_list<Method<double>>);
    add(method_list<Method<Complex<float>>>);
    add(method_list<Method<Complex<double>>>);
  }
};

}  // namespace chol::cuda
