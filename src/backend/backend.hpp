// The interface that the host and the CUDA side implement. Nothing below knows a handle; nothing
// above knows a thread block.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend/refinement.hpp"
#include "backend/tile_ops.hpp"
#include "base/arena.hpp"
#include "base/matrix_batch.hpp"
#include "base/scalar.hpp"
#include "base/status.hpp"
#include "chol.h"
#include "tune/store.hpp"

namespace chol::backend {

template <class T>
class PanelOps;  // backend/panel_ops.hpp

/// One call of a routine on checked arguments. A and B are read-only where the routine says so. In
/// Form::interleaved both are interleaved in the same chunk, except that pack reads and unpack
/// writes column-major matrices. Matrices between the last one and the end of the last chunk are
/// not part of the batch: they may have any content and are not changed.
template <class T>
struct Problem {
  Routine routine;
  Form form;
  chol_uplo_t uplo;
  BatchSizes sizes;
  MatrixBatch<T> A;
  MatrixBatch<T> B;             ///< potrs, posv; where pack and unpack write
  int* info = nullptr;          ///< potrf, posv, potri: one a matrix
  RealOf<T>* result = nullptr;  ///< pocon: rcond; logdet: one a matrix
  RealOf<T> anorm = 0;          ///< pocon
  bool whole = false;           ///< pack, unpack: all of n by nrhs instead of the named triangle
  /// potrf of one matrix in host memory, on a backend of any kind; else nullptr. The first
  /// *factored columns of A (rows, if upper) are already factored: the host continues from there, a
  /// device starts from 0. run() returns when it has finished, and increases *factored to the
  /// number of columns that it has written; on failure the other columns and *info are unchanged.
  int64_t* factored = nullptr;
};

/// The choice for a problem, looked up in the rows once a call.
struct Chosen {
  const Choice* choice = nullptr;    ///< nullptr: to be looked up
  const Choice* solution = nullptr;  ///< of a posv that factors first, what solves then
};

/// Resources of a call in addition to its arguments.
struct Resources {
  void* workspace = nullptr;  ///< at least workspace_bytes(), aligned to Arena::kAlignment
  size_t workspace_bytes = 0;
  int threads = 1;                     ///< host threads at most
  bool threads_are_default = false;    ///< not set by the caller
  int* threads_used = nullptr;         ///< where the host backend says how many worked, or nullptr
  const char** method_used = nullptr;  ///< where a backend says what ran, or nullptr
  void* stream = nullptr;              ///< CUDA stream
  chol_math_mode_t math_mode = CHOL_MATH_IEEE;
  int moduli = 0;  ///< of products in residues, in place of the tuning row's; 0: the row's
  Chosen chosen;   ///< by choose(), of the same problem
};

/// The routines in one precision.
template <class T>
class Solver {
 public:
  virtual ~Solver() = default;
  /// The choice for a problem, to be stored in Resources for the two functions below. Empty where
  /// the backend looks up the rows later, as for each matrix of a batch.
  virtual Chosen choose(const Problem<T>&, const RowTable&) const { return {}; }
  /// Workspace that run() needs for this problem with these rows and resources, of which threads,
  /// math mode and choice are set.
  virtual size_t workspace_bytes(const Problem<T>& problem, const RowTable& rows,
                                 const Resources& resources) const = 0;
  virtual Status run(const Problem<T>& problem, const RowTable& rows,
                     const Resources& resources) = 0;
};

/// Factors one matrix in host memory that is so small that call overhead matters: on the calling
/// thread, without workspace, with checked arguments. Returns info.
struct SmallFactor {
  int64_t most = 0;  ///< orders 1 .. most
  int (*run)(bool upper, int64_t n, void* A, int64_t lda) = nullptr;
};

/// Location of an array as a backend sees it.
struct Place {
  enum Kind : uint8_t { unknown, host, device };
  static constexpr int kEveryDevice = -1;

  constexpr Place(Kind its_kind = unknown, int its_number = kEveryDevice)
      : kind(its_kind), number(its_number) {}
  friend constexpr bool operator==(const Place& place, Kind kind) { return place.kind == kind; }

  Kind kind;
  int number;  ///< of the device, or kEveryDevice
};

class Backend : public Solver<float>,
                public Solver<double>,
                public Solver<std::complex<float>>,
                public Solver<std::complex<double>> {
 public:
  /// The processor it runs on, such as "host avx512" or "cuda NVIDIA H200".
  virtual const char* name() const = 0;
  virtual chol_backend_t kind() const = 0;

  virtual TuningStore& tuning() = 0;
  /// The methods that rows may name.
  virtual std::span<const MethodInfo* const> methods() const = 0;
  /// Whether a row's method can handle all cases of the row on this backend; a row that is refused
  /// is never used.
  virtual bool accepts(const Row& row) const = 0;

  /// The location of `array`, for handles with several backends. At most 1 us.
  virtual Place place_of(const void* array) const = 0;
  /// The number of the device, of a backend that has one.
  virtual int device() const { return 0; }

  /// How many of `batch` info are not 0, and the position of the first of them or -1.
  /// @param stream as Resources::stream; results may be where kernels cannot write: INVALID_VALUE.
  virtual Status summarize_info(const int* info, int64_t batch, int64_t* failed, int64_t* first,
                                void* stream) = 0;

  /// Allocates memory that this backend's kernels can access; nullptr on failure.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* memory) = 0;

  /// Host threads that a call uses when the handle sets none.
  virtual int default_threads() const { return 1; }

  /// Operations of tile low rank algorithms, on up to `threads` host threads or in stream order.
  /// The pointer selects the type.
  virtual std::unique_ptr<TileOps<float>> tile_ops(const float*, int threads, void* stream) = 0;
  virtual std::unique_ptr<TileOps<double>> tile_ops(const double*, int threads, void* stream) = 0;
  virtual std::unique_ptr<TileOps<std::complex<float>>> tile_ops(const std::complex<float>*,
                                                                 int threads, void* stream) = 0;
  virtual std::unique_ptr<TileOps<std::complex<double>>> tile_ops(const std::complex<double>*,
                                                                  int threads, void* stream) = 0;

  /// Operations of refinement for matrices of order n, on up to `threads` host threads or in stream
  /// order; nullptr where the backend has none. The pointer selects the type.
  /// @param arena where their memory is taken; a null one counts.
  virtual std::unique_ptr<Refinement<double>> refinement(const double*, int /*threads*/,
                                                         void* /*stream*/, int64_t /*n*/,
                                                         Arena& /*arena*/) {
    return nullptr;
  }
  virtual std::unique_ptr<Refinement<std::complex<double>>> refinement(const std::complex<double>*,
                                                                       int /*threads*/,
                                                                       void* /*stream*/,
                                                                       int64_t /*n*/,
                                                                       Arena& /*arena*/) {
    return nullptr;
  }

  /// Operations on this device as one of several, ordered after the work in the CUDA stream;
  /// nullptr where the backend has none. One object at a time. The pointer selects the type.
  virtual std::shared_ptr<PanelOps<float>> panel_ops(const float*, void* /*stream*/) {
    return nullptr;
  }
  virtual std::shared_ptr<PanelOps<double>> panel_ops(const double*, void* /*stream*/) {
    return nullptr;
  }
  virtual std::shared_ptr<PanelOps<std::complex<float>>> panel_ops(const std::complex<float>*,
                                                                   void* /*stream*/) {
    return nullptr;
  }
  virtual std::shared_ptr<PanelOps<std::complex<double>>> panel_ops(const std::complex<double>*,
                                                                    void* /*stream*/) {
    return nullptr;
  }

  /// Orders handled by SmallFactor, for each of s, d, c, z.
  virtual SmallFactor small_factor(char) { return {}; }

  template <class T>
  Solver<T>& solver() {
    return *this;
  }
};

}  // namespace chol::backend
