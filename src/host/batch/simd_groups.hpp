// Lane groups of a batch: matrices of one shape are processed in place, one a lane; so are matrices
// of similar orders in a factorization. Others are processed by panels or in scratch copies padded
// by the identity.
#pragma once

#include <algorithm>

#include "backend/backend.hpp"
#include "host/dispatch.hpp"
#include "host/single/routines.hpp"

namespace chol::host {

template <class T>
class LaneBatch {
 public:
  LaneBatch(const Kernels& kernels, const backend::Problem<T>& problem, const RowTable& rows)
      : kernels_(kernels),
        problem_(problem),
        rows_(rows),
        has_rhs_(problem.B.first || problem.B.pointers) {}

  /// Workspace a thread for orders up to n with up to nrhs right-hand sides.
  size_t workspace_bytes(int64_t n, int64_t nrhs) const {
    Arena counted;
    carve(n, nrhs, counted);
    return counted.used();
  }

  /// Runs the problem's routine on the matrices index(0), ..., index(count - 1), in descending
  /// order. The next `coming` matrices are expected to follow in this thread.
  template <class Index>
  void run(const Index& index, int count, int coming, void* workspace) const {
    const int64_t first = index(0);
    const Way way = way_of(index, count);
    LaneGroup group;
    group.upper = problem_.uplo == CHOL_UPPER;
    group.n = problem_.sizes.order(first);
    group.mixed = way == Way::mixed;
    Arena arena(workspace, SIZE_MAX);
    if (way == Way::panels) {
      const MatrixWorker<T> worker(kernels_, Choice(kPanel), 1);
      for (int lane = 0; lane < count; ++lane)
        worker.run(problem_, index(lane), nullptr, workspace);
    } else if (way == Way::scratch) {
      run_in_scratch(index, count, group, arena);
    } else {
      group.nrhs = has_rhs_ ? problem_.sizes.rhs_count(first) : 0;
      point_to_matrices(index, count, group);
      point_to_next(index, coming, group);
      work(group, carve(group.n, group.nrhs, arena).buffer);
      if (problem_.info)
        for (int lane = 0; lane < count; ++lane) problem_.info[index(lane)] = group.info[lane];
    }
  }

 private:
  struct Scratch {
    T* A;  ///< n by n a lane
    T* B;  ///< n by nrhs a lane
    void* buffer;
  };
  Scratch carve(int64_t n, int64_t nrhs, Arena& arena) const {
    Scratch scratch;
    scratch.buffer = arena.take<char>(kernels_.lane_buffer_bytes(n, nrhs));
    scratch.A = arena.take<T>(kernels_.lanes * n * n);
    scratch.B = arena.take<T>(kernels_.lanes * n * nrhs);
    return scratch;
  }

  /// Same order, right-hand sides and leading dimensions; and, for potri, no zero pivot.
  template <class Index>
  bool is_uniform(const Index& index, int count) const {
    const BatchSizes& sizes = problem_.sizes;
    if (problem_.routine == Routine::potri)
      for (int lane = 0; lane < count; ++lane)
        if (first_zero_pivot(index(lane))) return false;
    if (!sizes.variable()) return true;
    const int64_t a = index(0);
    for (int lane = 1; lane < count; ++lane) {
      const int64_t b = index(lane);
      if (sizes.order(b) != sizes.order(a) ||
          problem_.A.leading_dimension(b) != problem_.A.leading_dimension(a))
        return false;
      if (has_rhs_ && (sizes.rhs_count(b) != sizes.rhs_count(a) ||
                       problem_.B.leading_dimension(b) != problem_.B.leading_dimension(a)))
        return false;
    }
    return true;
  }

  /// How a group is processed: factorizations and solves have the same bits in all cases.
  enum class Way { one_shape, mixed, panels, scratch };
  template <class Index>
  Way way_of(const Index& index, int count) const {
    const BatchSizes& sizes = problem_.sizes;
    const int64_t n = sizes.order(index(0));
    const int most = rows_.choose(case_of(problem_, index(0))).at(kWholeGroupsAbove);
    const bool in_part = most == 0 || n <= most, full = count == kernels_.lanes;
    if ((full || in_part) && is_uniform(index, count)) return Way::one_shape;
    // Panels take three times as long as lanes, which pays for padding to more than twice the
    // flops.
    const bool is_near = full && 8 * sizes.order(index(count - 1)) >= 5 * n;
    if (problem_.routine == Routine::potrf && (in_part || is_near)) return Way::mixed;
    return in_part ? Way::scratch : Way::panels;
  }

  /// Lanes without a matrix repeat the first one, and write the same bits.
  template <class Index>
  void point_to_matrices(const Index& index, int count, LaneGroup& group) const {
    group.lda = problem_.A.leading_dimension(index(0));
    for (int lane = 0; lane < kernels_.lanes; ++lane) {
      const int64_t b = index(lane < count ? lane : 0);
      group.A[lane] = problem_.A.matrix(b);
      if (!group.mixed) continue;
      group.order[lane] = problem_.sizes.order(b);
      group.ld[lane] = problem_.A.leading_dimension(b);
    }
    if (!has_rhs_) return;
    group.ldb = problem_.B.leading_dimension(index(0));
    for (int lane = 0; lane < kernels_.lanes; ++lane)
      group.B[lane] = problem_.B.matrix(index(lane < count ? lane : 0));
  }
  template <class Index>
  void point_to_next(const Index& index, int coming, LaneGroup& group) const {
    const int lanes = kernels_.lanes;
    group.next_A[0] = nullptr;
    if (coming < lanes || group.mixed || !has_shape_of(group, index, lanes)) return;
    for (int lane = 0; lane < lanes; ++lane)
      group.next_A[lane] = problem_.A.matrix(index(lanes + lane));
  }
  /// Whether the `count` matrices after those of the group have its order and leading dimension.
  template <class Index>
  bool has_shape_of(const LaneGroup& group, const Index& index, int count) const {
    if (!problem_.sizes.variable()) return true;
    for (int i = count; i < 2 * count; ++i)
      if (problem_.sizes.order(index(i)) != group.n ||
          problem_.A.leading_dimension(index(i)) != group.lda)
        return false;
    return true;
  }
  template <class Index>
  void run_in_scratch(const Index& index, int count, LaneGroup& group, Arena& arena) const;
  void copy(int64_t b, const LaneGroup& group, int lane, bool into_scratch) const;
  int first_zero_pivot(int64_t b) const {
    return MatrixWorker<T>::first_zero_pivot(one_matrix(problem_, b));
  }
  void work(LaneGroup& group, void* buffer) const {
    switch (problem_.routine) {
      case Routine::potrf:
        return kernels_.lane_potrf(group, buffer);
      case Routine::potrs:
        return kernels_.lane_potrs(group, buffer);
      case Routine::posv:
        return kernels_.lane_posv(group, buffer);
      default:
        return kernels_.lane_potri(group, buffer);
    }
  }

  const Kernels& kernels_;
  const backend::Problem<T>& problem_;
  const RowTable& rows_;
  bool has_rhs_;
};

/// All lanes in scratch memory of the group's order: matrices are padded by the identity and zero
/// right-hand sides. Padding does not affect the bits of a matrix.
template <class T>
template <class Index>
void LaneBatch<T>::run_in_scratch(const Index& index, int count, LaneGroup& group,
                                  Arena& arena) const {
  group.nrhs = 0;
  for (int lane = 0; lane < count && has_rhs_; ++lane)
    group.nrhs = std::max(group.nrhs, problem_.sizes.rhs_count(index(lane)));
  const int64_t n = group.n;
  const Scratch scratch = carve(n, group.nrhs, arena);
  group.lda = group.ldb = n;
  group.next_A[0] = nullptr;
  int zero_pivot[kMostLanes] = {};
  for (int lane = 0; lane < kernels_.lanes; ++lane) {
    T* A = scratch.A + lane * n * n;
    T* B = scratch.B + lane * n * group.nrhs;
    std::fill(A, A + n * n, T(0));
    for (int64_t i = 0; i < n; ++i) A[i + i * n] = T(1);
    std::fill(B, B + n * group.nrhs, T(0));
    group.A[lane] = A;
    group.B[lane] = B;
    if (lane >= count) continue;
    if (problem_.routine == Routine::potri) zero_pivot[lane] = first_zero_pivot(index(lane));
    if (zero_pivot[lane] == 0) copy(index(lane), group, lane, true);
  }
  for (int& info : group.info) info = 0;
  work(group, scratch.buffer);
  for (int lane = 0; lane < count; ++lane) {
    const int64_t b = index(lane);
    if (zero_pivot[lane] == 0) copy(b, group, lane, false);
    if (problem_.info) problem_.info[b] = zero_pivot[lane] ? zero_pivot[lane] : group.info[lane];
  }
}

/// Copies the named triangle and the right-hand sides of matrix b to scratch memory, or the results
/// back.
template <class T>
void LaneBatch<T>::copy(int64_t b, const LaneGroup& group, int lane, bool into_scratch) const {
  const auto move = [&](T* user, int64_t user_ld, T* scratch, int64_t j, int64_t from, int64_t to) {
    T* in = scratch + j * group.n;
    T* out = user + j * user_ld;
    if (into_scratch)
      std::copy(out + from, out + to, in + from);
    else
      std::copy(in + from, in + to, out + from);
  };
  const int64_t n = problem_.sizes.order(b);
  if (into_scratch || problem_.routine != Routine::potrs)
    for (int64_t j = 0; j < n; ++j)
      move(problem_.A.matrix(b), problem_.A.leading_dimension(b), static_cast<T*>(group.A[lane]), j,
           group.upper ? 0 : j, group.upper ? j + 1 : n);
  if (!has_rhs_ || (!into_scratch && group.info[lane] != 0)) return;
  for (int64_t j = 0; j < problem_.sizes.rhs_count(b); ++j)
    move(problem_.B.matrix(b), problem_.B.leading_dimension(b), static_cast<T*>(group.B[lane]), j,
         0, n);
}

}  // namespace chol::host
