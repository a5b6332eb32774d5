// Kernel families of batches as methods, which rows name and drivers run.
#pragma once

#include <span>

#include "common/batch_view.cuh"
#include "common/device_limits.hpp"
#include "common/instances.hpp"
#include "common/method_list.hpp"
#include "tune/row.hpp"

namespace chol::cuda {

template <class T>
struct BatchMethod {
  const char* name = "";
  std::span<const Knob> knobs;
  /// Whether a kernel is built for the case and that device can run it. run() may still return
  /// NOT_SUPPORTED.
  bool (*accepts)(const Case& asked, const Params& params, const DeviceLimits& device) = nullptr;
  Status (*run)(const BatchProblem<T>& problem, const Params& params,
                cudaStream_t stream) = nullptr;
  /// Whether it can handle all cases of a row that names it; nullptr if rows do not name it.
  bool (*accepts_row)(const Row& row) = nullptr;
};

/// For methods that accept any order.
inline bool is_potrs_row(const Row& row) { return row.routine == Routine::potrs; }
/// potrf, or the factorization of a posv.
inline bool is_factor_row(const Row& row) {
  return row.routine == Routine::potrf || row.routine == Routine::posv;
}

template <class T>
using BatchMethods = MethodList<BatchMethod<T>>;
template <class T>
inline constexpr BatchMethods<T>& batch_methods = method_list<BatchMethod<T>>;
using AddBatchMethods = AddMethods<BatchMethod>;

}  // namespace chol::cuda
