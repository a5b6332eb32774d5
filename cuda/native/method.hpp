// A method by which one matrix on the device is factored in place.
#pragma once

#include "base/arena.hpp"
#include "common/batch_view.cuh"
#include "native/blas.hpp"
#include "native/column_watch.hpp"
#include "native/knobs.hpp"
#include "native/persistent/persistent.hpp"

namespace chol::cuda::native {

/// The case.
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

/// Resources of a method in addition to the matrix.
template <class T>
struct FactorResources {
  const FactorWorkspace<T>& work;
  Blas& blas;
  cudaStream_t stream;
  /// Receives, for each block column, which columns are needed and which are finished; or nullptr.
  ColumnWatch* watch = nullptr;
};

template <class T>
class FactorMethod {
 public:
  virtual ~FactorMethod() = default;
  /// Whether the current device can run it with these parameters; a refused row is never used.
  virtual bool accepts(const Case& asked, const Params& params) const = 0;
  virtual FactorWorkspace<T> carve(Arena& arena, int64_t n, const Params& params) const = 0;
  virtual Status run(const BatchProblem<T>& problem, const Params& params,
                     const FactorResources<T>& resources) const = 0;
};

/// The method for persistent_potrf or recursive_potrf.
template <class T>
const FactorMethod<T>& method_of(const MethodInfo& method);

}  // namespace chol::cuda::native
