// Kernel families of batches as methods: what rows name and drivers run. A family's method.cu adds
// its own; no other file lists them.
#pragma once

#include <span>
#include <string_view>

#include "common/batch_view.cuh"
#include "common/device_limits.hpp"
#include "common/instances.hpp"
#include "tune/row.hpp"

namespace chol::cuda {

template <class T>
struct BatchMethod {
  const char* name = "";
  std::span<const Knob> knobs;
  /// Whether a kernel is built for the case and that device can run it. A run may still find that
  /// it cannot, and returns NOT_SUPPORTED.
  bool (*accepts)(const Case& asked, const Params& params, const DeviceLimits& device) = nullptr;
  Status (*run)(const BatchProblem<T>& problem, const Params& params,
                cudaStream_t stream) = nullptr;
  /// Whether it can do all that a row serves which names it; nullptr where rows do not.
  bool (*accepts_row)(const Row& row) = nullptr;
};

/// Of methods that do any order.
inline bool is_potrs_row(const Row& row) { return row.routine == Routine::potrs; }
/// potrf, or the first half of a posv.
inline bool is_factor_row(const Row& row) {
  return row.routine == Routine::potrf || row.routine == Routine::posv;
}

/// The methods of an element type; filled when the library is loaded.
template <class T>
class BatchMethods {
 public:
  void add(const BatchMethod<T>& method) {
    if (count_ < kMost) methods_[count_++] = method;
  }
  const BatchMethod<T>* begin() const { return methods_; }
  const BatchMethod<T>* end() const { return methods_ + count_; }
  /// nullptr where there is none.
  const BatchMethod<T>* find(std::string_view name) const {
    for (const BatchMethod<T>& method : *this)
      if (name == method.name) return &method;
    return nullptr;
  }

 private:
  static constexpr int kMost = 32;  ///< one more is not found: cuda.choose_* fail for its instances
  BatchMethod<T> methods_[kMost]{};
  int count_ = 0;
};
template <class T>
inline constinit BatchMethods<T> batch_methods{};

/// Defined once in a family's method.cu. @param add add(batch_methods<T>) for each element type.
struct AddBatchMethods {
  template <class Add>
  explicit AddBatchMethods(Add&& add) {
    add(batch_methods<float>);
    add(batch_methods<double>);
    add(batch_methods<Complex<float>>);
    add(batch_methods<Complex<double>>);
  }
};

}  // namespace chol::cuda
