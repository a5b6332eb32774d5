#include "host/single/routines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/precisions.h"
#include "base/task_trace.hpp"
#include "host/single/pocon.hpp"
#include "host/single/tile_size.hpp"
#include "tile/tasks/potrf.hpp"
#include "tile/tasks/potri.hpp"
#include "tile/tasks/potrs.hpp"

namespace chol::host {
namespace {

/// Most right-hand sides that a thread solves together, reading the factor once. Those of a block
/// of unknowns should fit into the second-level cache; all n unknowns never do. With a cache of 2
/// Mbyte, 128 instead of 512 read the factor four times as often and take 1.16 times as long (d, n
/// = 2000); with 512 Kbyte they take .96 of the time (n = 500).
int64_t solve_columns() {
  const double cache = second_level_cache();
  return cache > 0 && cache < (1 << 20) ? 128 : 512;
}

size_t align_up(size_t bytes) {
  return (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
}

}  // namespace

template <class T>
size_t MatrixWorker<T>::solve_bytes(int64_t n, int64_t nrhs) const {
  if (nrhs <= few_rhs_) return 0;
  if (threads_ <= 1)
    return align_up(kernels_.solve_buffer_bytes(n, std::min(nrhs, solve_columns())));
  Arena counted;
  KernelSolveOps ops(on_order(n), nrhs, nullptr, n);
  tile::TileSolve(ops, n, nrhs, threads_).carve(counted);
  return counted.used();
}

template <class T>
size_t MatrixWorker<T>::estimate_bytes(int64_t n) const {
  Arena counted;
  ConditionEstimate<T>(n, counted);
  if (is_spread()) {
    KernelVectorOps ops(on_order(n), segment(), nullptr);
    tile::TileSolve(ops, n, 1, threads_, segment()).carve(counted);
  }
  return counted.used();
}

/// The product for updates of tiles; nullptr selects the kernels.
template <class T>
TileProduct MatrixWorker<T>::product(int64_t lda) const {
  const bool by_blas = by_blas_ && lda <= kLargestBlasDimension;
  return by_blas ? blas_tile_product(precision_letter<T>) : nullptr;
}

template <class T>
size_t MatrixWorker<T>::factor_bytes(int64_t n) const {
  if (nb_ == 0)
    return align_up(kernels_.strip_elements(n, n) * sizeof(T)) + align_up(n * sizeof(R));
  Arena counted;
  KernelFactorOps ops(on_order(n), nullptr);
  tile::TileCholesky(ops, n, nb_).carve(counted);
  return counted.used();
}

template <class T>
size_t MatrixWorker<T>::inverse_bytes(int64_t n) const {
  Arena counted;
  KernelInverseOps ops(on_order(n));
  tile::TileInverse(ops, n, inverse_tile()).carve(counted);
  return counted.used();
}

template <class T>
size_t MatrixWorker<T>::workspace_bytes(Routine routine, int64_t n, int64_t nrhs) const {
  switch (routine) {
    case Routine::potrf:
      return factor_bytes(n);
    case Routine::potrs:
      return solve_bytes(n, nrhs);
    case Routine::posv:
      return std::max(factor_bytes(n), solve_bytes(n, nrhs));
    case Routine::potri:
      return inverse_bytes(n);
    case Routine::pocon:
      return estimate_bytes(n);
    case Routine::logdet:
    case Routine::pack:
    case Routine::unpack:
      return 0;
  }
  return 0;
}

template <class T>
void MatrixWorker<T>::run(const backend::Problem<T>& problem, int64_t b, const PanelMatrix* next,
                          void* workspace) const {
  OneMatrix<T> M = one_matrix(problem, b);
  M.next = next;
  int info = 0;
  switch (problem.routine) {
    case Routine::potrf:
      info = potrf(M, workspace);
      break;
    case Routine::potrs:
      potrs(M, workspace);
      break;
    case Routine::posv:
      info = posv(M, workspace);
      break;
    case Routine::potri:
      info = potri(M, workspace);
      break;
    case Routine::pocon:
      problem.result[b] = pocon(M, problem.anorm, workspace);
      break;
    case Routine::logdet:
      problem.result[b] = logdet(M);
      break;
    case Routine::pack:
    case Routine::unpack:
      break;  // only for whole batches
  }
  if (problem.info) problem.info[b] = info;
}

template <class T>
int64_t MatrixWorker<T>::factor_panel(const OneMatrix<T>& M, Arena& arena) const {
  const TracedTask traced(Operator::potrf, 0, 0, 0);
  PanelStrips strips{arena.take<T>(kernels_.strip_elements(M.n, M.n)), M.n, arena.take<R>(M.n)};
  return kernels_.factor_block(M.panel(), 0, M.n, strips);
}

template <class T>
int MatrixWorker<T>::potrf(const OneMatrix<T>& M, void* workspace) const {
  if (M.n == 0) return 0;
  Arena arena(workspace, SIZE_MAX);
  if (nb_ == 0) return static_cast<int>(factor_panel(M, arena));
  KernelFactorOps ops(on(M.panel()), product(M.lda));
  tile::TileCholesky tiles(ops, M.n, nb_);
  tiles.carve(arena);
  // The caller, not a helper, looks up the symbols of the program's BLAS.
  std::optional<SerialBlas> serial;
  if (product(M.lda)) serial.emplace();
  return static_cast<int>(tiles.run(threads_));
}

template <class T>
void MatrixWorker<T>::potrs(const OneMatrix<T>& M, void* workspace) const {
  if (M.n == 0 || M.nrhs == 0) return;
  if (M.nrhs <= few_rhs_) return solve_by_vectors(M);
  PanelMatrix panel = M.panel();
  if (threads_ > 1) {
    Arena arena(workspace, SIZE_MAX);
    KernelSolveOps ops(on(panel), M.nrhs, M.B, M.ldb);
    tile::TileSolve tiles(ops, M.n, M.nrhs, threads_);
    tiles.carve(arena);
    return tiles.run();
  }
  const int64_t parts = (M.nrhs + solve_columns() - 1) / solve_columns();
  for (int64_t i = 0; i < parts; ++i) {
    const TracedTask traced(Operator::trsm, 0, i, 0);
    kernels_.solve(panel, M.B, M.ldb, M.nrhs * i / parts, M.nrhs * (i + 1) / parts, workspace);
    panel.next = nullptr;
  }
}

template <class T>
void MatrixWorker<T>::solve_by_vectors(const OneMatrix<T>& M) const {
  PanelMatrix panel = M.panel();
  for (int64_t c = 0; c < M.nrhs; c += kMostVectors) {
    kernels_.solve_vectors(panel, std::min(kMostVectors, M.nrhs - c), M.B + c * M.ldb, M.ldb);
    panel.next = nullptr;
  }
}

template <class T>
int MatrixWorker<T>::posv(const OneMatrix<T>& M, void* workspace) const {
  const int info = potrf(M, workspace);
  if (info == 0) potrs(M, workspace);
  return info;
}

template <class T>
int MatrixWorker<T>::first_zero_pivot(const OneMatrix<T>& M) {
  for (int64_t k = 0; k < M.n; ++k)
    if (M.A[k + k * M.lda] == T(0)) return static_cast<int>(k + 1);
  return 0;
}

template <class T>
int MatrixWorker<T>::potri(const OneMatrix<T>& M, void* workspace) const {
  if (const int info = first_zero_pivot(M)) return info;
  if (M.n == 0) return 0;
  Arena arena(workspace, SIZE_MAX);
  KernelInverseOps ops(on(M.panel()));
  const tile::TileInverse inverse(ops, M.n, inverse_tile());
  inverse.carve(arena);
  inverse.run(threads_);
  for (int64_t k = 0; k < M.n; ++k) M.A[k + k * M.lda] = std::real(M.A[k + k * M.lda]);
  return 0;
}

template <class T>
void MatrixWorker<T>::solve_vector_by_tiles(const PanelMatrix& M, T* x, Arena arena) const {
  KernelVectorOps ops(on(M), segment(), x);
  tile::TileSolve tiles(ops, M.n, 1, threads_, segment());
  tiles.carve(arena);
  tiles.run();
}

template <class T>
RealOf<T> MatrixWorker<T>::pocon(const OneMatrix<T>& M, R anorm, void* workspace) const {
  if (M.n == 0) return 1;
  if (anorm == 0) return 0;
  Arena arena(workspace, SIZE_MAX);
  ConditionEstimate<T> estimate(M.n, arena);
  const PanelMatrix panel = M.panel();
  const R inverse_norm = estimate.inverse_norm([&](T* x) {
    if (is_spread())
      solve_vector_by_tiles(panel, x, arena);
    else
      kernels_.solve_vector(panel, segment(), x);
  });
  const R rcond = R(1) / inverse_norm / anorm;
  return std::isfinite(rcond) ? rcond : R(0);
}

/// The product of the diagonal with a separate exponent: one logarithm for the whole matrix.
template <class T>
RealOf<T> MatrixWorker<T>::logdet(const OneMatrix<T>& M) {
  double mantissa = 1, exponent = 0;
  for (int64_t k = 0; k < M.n; ++k) {
    const double l = std::real(M.A[k + k * M.lda]);
    if (!(l > 0)) return std::numeric_limits<R>::quiet_NaN();
    int of_element = 0, of_product = 0;
    mantissa = std::frexp(mantissa * std::frexp(l, &of_element), &of_product);
    exponent += of_element + of_product;
  }
  return static_cast<R>(2 * (std::log(mantissa) + exponent * M_LN2));
}

#define CHOL_INSTANTIATE_WORKER(prefix, T, R) template class MatrixWorker<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE_WORKER)
#undef CHOL_INSTANTIATE_WORKER

}  // namespace chol::host
