// Kernel families of interleaved batches as methods: what rows name and the driver runs. A family's
// method.cu adds its own; no other file lists them.
#pragma once

#include "common/instances.hpp"
#include "common/launch.hpp"
#include "interleaved/call.cuh"
#include "tune/case.hpp"
#include "tune/interleaved_methods.hpp"

namespace chol::cuda {

template <class T>
struct InterleavedMethod {
  const MethodInfo* info = nullptr;
  /// Whether a kernel is built for the case and the current device can run it.
  bool (*is_built)(const Case& asked, const Choice& choice) = nullptr;
  Status (*run)(Routine routine, const InterleavedCall<T>& call, const Choice& choice,
                cudaStream_t stream) = nullptr;
};

/// The methods of an element type; filled when the library is loaded.
template <class T>
class InterleavedMethods {
 public:
  void add(const InterleavedMethod<T>& method) {
    if (count_ < kMost) methods_[count_++] = method;
  }
  const InterleavedMethod<T>* begin() const { return methods_; }
  const InterleavedMethod<T>* end() const { return methods_ + count_; }
  /// nullptr where there is none.
  const InterleavedMethod<T>* find(const Choice& choice) const {
    for (const InterleavedMethod<T>& method : *this)
      if (choice.is(*method.info)) return &method;
    return nullptr;
  }

 private:
  static constexpr int kMost = 16;  ///< one more is not found: cuda.choose_interleaved fails
  InterleavedMethod<T> methods_[kMost]{};
  int count_ = 0;
};
template <class T>
inline constinit InterleavedMethods<T> interleaved_methods{};

/// Defined once in a family's method.cu. @param add add(interleaved_methods<T>) for each type.
struct AddInterleavedMethods {
  template <class Add>
  explicit AddInterleavedMethods(Add&& add) {
    add(interleaved_methods<float>);
    add(interleaved_methods<double>);
    add(interleaved_methods<Complex<float>>);
    add(interleaved_methods<Complex<double>>);
  }
};

/// body(task) of potrf, potrs or posv, the task as a type.
template <class Body>
auto with_task(Routine routine, Body&& body) {
  using Task = InterleavedTask;
  if (routine == Routine::potrf) return body(std::integral_constant<Task, Task::factor>{});
  if (routine == Routine::potrs) return body(std::integral_constant<Task, Task::solve>{});
  return body(std::integral_constant<Task, Task::factor_and_solve>{});
}

}  // namespace chol::cuda
