// Kernel families of interleaved batches as methods, which rows name and the driver runs.
#pragma once

#include "common/instances.hpp"
#include "common/launch.hpp"
#include "common/method_list.hpp"
#include "interleaved/call.cuh"
#include "tune/case.hpp"
#include "tune/interleaved_methods.hpp"

namespace chol::cuda {

template <class T>
struct InterleavedMethod {
  const char* name = "";  ///< of its MethodInfo
  /// Whether a kernel is built for the case and the current device can run it.
  bool (*is_built)(const Case& asked, const Choice& choice) = nullptr;
  Status (*run)(Routine routine, const InterleavedCall<T>& call, const Choice& choice,
                cudaStream_t stream) = nullptr;
};

template <class T>
using InterleavedMethods = MethodList<InterleavedMethod<T>>;
template <class T>
inline constexpr InterleavedMethods<T>& interleaved_methods = method_list<InterleavedMethod<T>>;
using AddInterleavedMethods = AddMethods<InterleavedMethod>;

/// body(task) of potrf, potrs or posv, the task as a type.
template <class Body>
auto with_task(Routine routine, Body&& body) {
  using Task = InterleavedTask;
  if (routine == Routine::potrf) return body(std::integral_constant<Task, Task::factor>{});
  if (routine == Routine::potrs) return body(std::integral_constant<Task, Task::solve>{});
  return body(std::integral_constant<Task, Task::factor_and_solve>{});
}

}  // namespace chol::cuda
