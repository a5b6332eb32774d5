// Lane groups of a batch: which matrices go side by side, and scratch copies for lanes that have no
// matrix of their own or one of a smaller order.
#pragma once

#include <algorithm>

#include "backend/backend.hpp"
#include "host/dispatch.hpp"
#include "host/matrix_worker.hpp"

namespace chol::host {

template <class T>
class LaneBatch {
 public:
  LaneBatch(const Kernels& kernels, const backend::Problem<T>& problem)
      : kernels_(kernels), problem_(problem) {}

  /// Workspace a thread for orders up to n with up to nrhs right-hand sides.
  size_t workspace_bytes(int64_t n, int64_t nrhs) const;

  /// Runs the problem's routine on the `count` matrices index(0), index(1), ..., of falling order.
  template <class Index>
  void run(const Index& index, int count, void* workspace) const;

 private:
  struct Scratch {
    T* A;  ///< a lane each
    T* B;
    T* discarded_B;
    void* buffer;
  };
  Scratch carve(int64_t n, int64_t nrhs, Arena& arena) const;
  void copy_in(int64_t b, LaneGroup& group, int lane, const Scratch& scratch) const;
  void copy_out(int64_t b, const LaneGroup& group, int lane) const;
  void pad(LaneGroup& group, int lane, const Scratch& scratch) const;
  int first_zero_pivot(int64_t b) const;
  bool has_rhs() const { return problem_.B.first || problem_.B.pointers; }

  const Kernels& kernels_;
  const backend::Problem<T>& problem_;
};

template <class T>
size_t LaneBatch<T>::workspace_bytes(int64_t n, int64_t nrhs) const {
  Arena counted;
  carve(n, nrhs, counted);
  return counted.used();
}

template <class T>
typename LaneBatch<T>::Scratch LaneBatch<T>::carve(int64_t n, int64_t nrhs, Arena& arena) const {
  Scratch scratch;
  scratch.A = arena.take<T>(kernels_.lanes * n * n);
  scratch.B = arena.take<T>(kernels_.lanes * n * nrhs);
  scratch.discarded_B = arena.take<T>(n * nrhs);
  scratch.buffer = arena.take<char>(kernels_.lane_buffer_bytes(n, nrhs));
  return scratch;
}

/// Matrix b in scratch, padded to the group's order by the identity and to its right-hand sides by
/// zeros: the padding changes no bit of the matrix's own part.
template <class T>
void LaneBatch<T>::copy_in(int64_t b, LaneGroup& group, int lane, const Scratch& scratch) const {
  const int64_t n = problem_.sizes.order(b), N = group.n;
  pad(group, lane, scratch);
  T* A = static_cast<T*>(group.A[lane]);
  const T* from = problem_.A.matrix(b);
  const int64_t lda = problem_.A.leading_dimension(b);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = group.upper ? 0 : j; i < (group.upper ? j + 1 : n); ++i)
      A[i + j * N] = from[i + j * lda];
  if (!has_rhs()) return;
  T* B = static_cast<T*>(group.B[lane]);
  const int64_t nrhs = problem_.sizes.rhs_count(b), ldb = problem_.B.leading_dimension(b);
  for (int64_t j = 0; j < nrhs; ++j)
    for (int64_t i = 0; i < n; ++i) B[i + j * N] = problem_.B.matrix(b)[i + j * ldb];
}

template <class T>
void LaneBatch<T>::pad(LaneGroup& group, int lane, const Scratch& scratch) const {
  const int64_t N = group.n;
  T* A = scratch.A + lane * N * N;
  for (int64_t j = 0; j < N; ++j)
    for (int64_t i = 0; i < N; ++i) A[i + j * N] = T(i == j);
  group.A[lane] = A;
  group.lda[lane] = N;
  if (!has_rhs()) return;
  T* B = scratch.B + lane * N * group.nrhs;
  for (int64_t i = 0; i < N * group.nrhs; ++i) B[i] = T(0);
  group.B[lane] = B;
  group.ldb[lane] = N;
}

template <class T>
void LaneBatch<T>::copy_out(int64_t b, const LaneGroup& group, int lane) const {
  const int64_t n = problem_.sizes.order(b), N = group.n;
  const T* A = static_cast<const T*>(group.A[lane]);
  T* to = problem_.A.matrix(b);
  const int64_t lda = problem_.A.leading_dimension(b);
  if (problem_.routine != Routine::potrs)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = group.upper ? 0 : j; i < (group.upper ? j + 1 : n); ++i)
        to[i + j * lda] = A[i + j * N];
  if (!has_rhs() || group.info[lane] != 0) return;
  const T* B = static_cast<const T*>(group.B[lane]);
  const int64_t nrhs = problem_.sizes.rhs_count(b), ldb = problem_.B.leading_dimension(b);
  for (int64_t j = 0; j < nrhs; ++j)
    for (int64_t i = 0; i < n; ++i) problem_.B.matrix(b)[i + j * ldb] = B[i + j * N];
}

template <class T>
template <class Index>
void LaneBatch<T>::run(const Index& index, int count, void* workspace) const {
  LaneGroup group;
  group.upper = problem_.uplo == CHOL_UPPER;
  group.n = problem_.sizes.order(index(0));
  for (int lane = 0; lane < count && has_rhs(); ++lane)
    group.nrhs = std::max(group.nrhs, problem_.sizes.rhs_count(index(lane)));
  Arena arena(workspace, SIZE_MAX);
  const Scratch scratch = carve(group.n, group.nrhs, arena);
  group.discarded_B = scratch.discarded_B;

  uint32_t in_scratch = 0;
  int zero_pivot[kMostLanes] = {};
  for (int lane = 0; lane < kernels_.lanes; ++lane) {
    group.info[lane] = 0;
    group.B[lane] = nullptr;
    group.ldb[lane] = 0;
    if (lane >= count) {
      pad(group, lane, scratch);
      continue;
    }
    const int64_t b = index(lane);
    if (problem_.routine == Routine::potri) zero_pivot[lane] = first_zero_pivot(b);
    if (zero_pivot[lane] != 0) {
      pad(group, lane, scratch);
      continue;
    }
    const bool own_shape = problem_.sizes.order(b) == group.n &&
                           (!has_rhs() || problem_.sizes.rhs_count(b) == group.nrhs);
    if (!own_shape) {
      in_scratch |= 1u << lane;
      copy_in(b, group, lane, scratch);
      continue;
    }
    group.A[lane] = problem_.A.matrix(b);
    group.lda[lane] = problem_.A.leading_dimension(b);
    if (has_rhs()) {
      group.B[lane] = problem_.B.matrix(b);
      group.ldb[lane] = problem_.B.leading_dimension(b);
    }
  }
  switch (problem_.routine) {
    case Routine::potrf:
      kernels_.lane_potrf(group, scratch.buffer);
      break;
    case Routine::potrs:
      kernels_.lane_potrs(group, scratch.buffer);
      break;
    case Routine::posv:
      kernels_.lane_posv(group, scratch.buffer);
      break;
    default:
      kernels_.lane_potri(group, scratch.buffer);
      break;
  }
  for (int lane = 0; lane < count; ++lane) {
    const int64_t b = index(lane);
    if (in_scratch & 1u << lane) copy_out(b, group, lane);
    if (problem_.info) problem_.info[b] = zero_pivot[lane] ? zero_pivot[lane] : group.info[lane];
  }
}

template <class T>
int LaneBatch<T>::first_zero_pivot(int64_t b) const {
  return MatrixWorker<T>::first_zero_pivot({problem_.uplo, problem_.sizes.order(b), 0,
                                            problem_.A.matrix(b), problem_.A.leading_dimension(b),
                                            nullptr, 0});
}

}  // namespace chol::host
