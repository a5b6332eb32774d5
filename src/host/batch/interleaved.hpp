// An interleaved batch spread over threads, in groups of contiguous matrices.
#pragma once

#include "backend/backend.hpp"
#include "host/batch/pack.hpp"
#include "host/dispatch.hpp"
#include "host/single/routines.hpp"

namespace chol::host {

template <class T>
class InterleavedBatch {
 public:
  InterleavedBatch(const Kernels& kernels, const backend::Problem<T>& problem, const RowTable& rows,
                   int threads, chol_math_mode_t math_mode = CHOL_MATH_IEEE);

  int threads() const { return threads_; }  ///< that the problem is worth
  size_t workspace_bytes() const;
  void run(void* workspace) const;

 private:
  using R = RealOf<T>;

  /// Matrices [first, first + count): of one chunk, or of several that are narrower than a vector.
  struct Group {
    int64_t first;
    int count;
  };
  /// Workspace of a thread. Copies of a group's matrices are interleaved in a chunk of
  /// kernels_.lanes (lanes) or column-major (panel).
  struct Scratch {
    T* A;  ///< n by n a matrix
    T* B;  ///< n by nrhs a matrix
    void* buffer;
  };
  /// Matrices of a group, one bit each.
  using Members = uint32_t;

  bool copies() const {
    return problem_.routine == Routine::pack || problem_.routine == Routine::unpack;
  }
  bool writes_matrix() const {
    return problem_.routine != Routine::potrs && problem_.routine != Routine::logdet;
  }
  bool goes_through_lanes() const { return choice_.is(kInterleavedLanes); }
  int64_t groups_in_chunk() const;
  int64_t groups() const;
  Group group(int64_t g) const;
  bool fills_lanes(const Group& group) const;
  Scratch carve(Arena& arena) const;
  size_t bytes_per_thread() const;
  double elements() const;
  int threads_for_all() const;

  void set_empty_results() const;
  void copy_group(const Group& group) const;
  void run_range(int64_t begin, int64_t end, void* workspace) const;
  int64_t groups_in_a_row(int64_t g, int64_t end) const;
  int64_t run_in_place(int64_t g, int64_t end, void* buffer) const;
  InterleavedRun empty_run() const;
  void run_kernel(const InterleavedRun& run, void* buffer) const;
  template <class Visit>
  void for_each_piece(const Group& group, Visit&& visit) const;
  void run_in_lanes(const Group& group, const Scratch& scratch) const;
  Members zero_pivots(const Group& group, int* info) const;
  void run_in_columns(const Group& group, const Scratch& scratch) const;
  int work_on(const OneMatrix<T>& M, int64_t b, void* workspace) const;
  SideBySide<T> caller_A(int64_t b) const {
    return {problem_.A.interleaved_matrix(b, problem_.sizes.n), problem_.A.ld, chunk_};
  }
  SideBySide<T> caller_B(int64_t b) const {
    return {problem_.B.interleaved_matrix(b, nrhs_), problem_.B.ld, chunk_};
  }

  const Kernels& kernels_;
  const backend::Problem<T>& problem_;
  const Choice& choice_;
  int64_t chunk_;
  int64_t nrhs_;  ///< of potrs and posv
  Part part_;
  int threads_;
  bool fast_math_;
};

}  // namespace chol::host
