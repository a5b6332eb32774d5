// A method by which one matrix on the device is factored in place.
#pragma once

#include <span>
#include <type_traits>

#include "base/arena.hpp"
#include "common/batch_view.cuh"
#include "native/blas.hpp"
#include "native/column_watch.hpp"
#include "native/knobs.hpp"
#include "native/persistent/persistent.hpp"

namespace chol::cuda::native {

/// What is asked.
struct Case {
  Routine routine;  ///< potrf or posv
  char precision;
  bool upper;
  int64_t n, nrhs;
};

template <class T>
struct FactorWorkspace {
  T* inverses = nullptr;  ///< inverted diagonal tiles of the block column that is factored
  persistent::Workspace<T> persistent;
};

/// What a method works with beside the matrix.
template <class T>
struct FactorResources {
  const FactorWorkspace<T>& work;
  Blas& blas;
  cudaStream_t stream;
  /// Is told, block column by block column, what is needed and what is finished; or nullptr.
  ColumnWatch* watch = nullptr;
};

template <class T>
class FactorMethod {
 public:
  virtual ~FactorMethod() = default;
  /// As the trace and a tuning file have it.
  virtual const char* name() const = 0;
  virtual std::span<const Knob> knobs() const = 0;
  /// Whether the current device can run it so; a row that is refused is never run.
  virtual bool accepts(const Case& asked, const Params& params) const = 0;
  virtual FactorWorkspace<T> carve(Arena& arena, int64_t n, const Params& params) const = 0;
  virtual Status run(const BatchProblem<T>& problem, const Params& params,
                     const FactorResources<T>& resources) const = 0;

 protected:
  bool takes(const Params& params) const {
    for (const Knob& knob : knobs())
      if (!knob.takes(params)) return false;
    return true;
  }
};

/// Whether updates beside the kernel of persistent/ are by cuBLAS rather than by that of update/:
/// in double precision those of an upper triangle, which run at 0.78 of the rate of a lower one
/// there, and of matrices so large that the device's power bounds them, of which cuBLAS takes less.
template <class T>
constexpr bool updates_by_blas(bool swapped, int64_t n) {
  constexpr int64_t kPowerBound = 14000;
  return std::is_same_v<T, double> && (swapped || n > kPowerBound);
}

/// The method of a plan, `blocked` or `persistent`.
template <class T>
const FactorMethod<T>& method_of(const Plan& plan);

}  // namespace chol::cuda::native
