// A problem spread over threads: lane groups, single matrices, and matrices that the whole team
// works on.
#pragma once

#include "backend/backend.hpp"
#include "base/threads/parallel_for.hpp"
#include "host/dispatch.hpp"
#include "host/single/routines.hpp"

namespace chol::host {

template <class T>
class Batch {
 public:
  Batch(const Kernels& kernels, const backend::Problem<T>& problem, const RowTable& rows,
        int threads);

  int threads() const { return threads_; }  ///< that the problem is worth
  size_t workspace_bytes() const;
  void run(void* workspace) const;

 private:
  static constexpr int64_t kNone = -1;

  /// Matrices in processing order; a variable batch in descending order.
  struct Index {
    const int64_t* order;  ///< nullptr: in the caller's order
    int64_t first;
    int64_t operator()(int64_t i) const { return order ? order[first + i] : first + i; }
  };
  /// How a batch is divided: [0, team) by all threads one after the other, [team, lanes) one matrix
  /// a thread, [lanes, count) in lane groups.
  struct Cut {
    int64_t team, lanes;
  };
  Cut cut(const int64_t* order) const;
  LoopPartition partition_of(int64_t count) const;
  /// Choice for matrix b.
  const Choice& choice_of(int64_t b) const { return rows_.choose(case_of(problem_, b)); }
  bool goes_through_lanes(int64_t b) const;
  int64_t largest_order() const;
  int threads_for_all();
  size_t bytes_per_thread() const;
  const int64_t* sort_by_order(Arena& arena) const;
  void run_one(int64_t b, int64_t next, int threads, void* workspace) const;
  void run_lanes(const Index& index, int64_t count, char* workspaces) const;
  void run_singles(const Index& index, int64_t count, char* workspaces) const;

  const Kernels& kernels_;
  const backend::Problem<T>& problem_;
  const RowTable& rows_;
  int threads_;
  double flops_ = 0;  ///< of the whole problem; counted only where threads may pay
};

}  // namespace chol::host
