#include "host/batch/batched.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "backend/flops.hpp"
#include "base/precisions.h"
#include "host/batch/simd_groups.hpp"
#include "host/single/routines.hpp"

namespace chol::host {
namespace {

/// Below this amount of work another thread costs more than it saves.
constexpr double kFlopsWorthAThread = 30e3;

/// Sorts `count` numbers by key(number), 0 .. most, a digit at a time and each digit in linear
/// time: a comparison sort took an eighth of the time of a batch of small matrices. Stable. Returns
/// whether the sorted numbers are in `spare`.
template <class Key>
bool sort_by_digits(int64_t* numbers, int64_t* spare, int64_t count, Key key, int64_t most) {
  constexpr int kBits = 8;
  bool swapped = false;
  for (int shift = 0; shift < 63 && most >> shift > 0; shift += kBits, swapped = !swapped) {
    const auto digit = [&](int64_t number) { return key(number) >> shift & ((1 << kBits) - 1); };
    int64_t start[(1 << kBits) + 1] = {};
    for (int64_t i = 0; i < count; ++i) ++start[digit(numbers[i]) + 1];
    std::partial_sum(std::begin(start), std::end(start), std::begin(start));
    for (int64_t i = 0; i < count; ++i) spare[start[digit(numbers[i])]++] = numbers[i];
    std::swap(numbers, spare);
  }
  return swapped;
}

}  // namespace

template <class T>
Batch<T>::Batch(const Kernels& kernels, const backend::Problem<T>& problem, const RowTable& rows,
                int threads)
    : kernels_(kernels), problem_(problem), rows_(rows), threads_(1) {
  if (threads > 1) threads_ = std::min(threads, threads_for_all());
}

template <class T>
int Batch<T>::threads_for_all() {
  const BatchSizes& sizes = problem_.sizes;
  // Smaller problems never have that much work, so that small calls need not count operations.
  if (sizes.count * (sizes.n + sizes.nrhs) <= 24) return 1;
  flops_ = backend::flops_of(problem_);
  return static_cast<int>(std::clamp(flops_ / kFlopsWorthAThread, 1.0, 65536.0));
}

template <class T>
bool Batch<T>::goes_through_lanes(int64_t b) const {
  return problem_.form != Form::one && problem_.sizes.order(b) > 0 && choice_of(b).is(kLanes);
}

template <class T>
size_t Batch<T>::bytes_per_thread() const {
  const BatchSizes& sizes = problem_.sizes;
  size_t bytes = 0;
  const auto count = [&](const Choice& choice, int64_t n, int64_t nrhs) {
    const MatrixWorker<T> worker(kernels_, choice, 1);
    bytes = std::max(bytes, worker.workspace_bytes(problem_.routine, n, nrhs));
    if (choice.is(kLanes))
      bytes = std::max(bytes, LaneBatch<T>(kernels_, problem_, rows_).workspace_bytes(n, nrhs));
  };
  rows_.for_each_within(sizes.n, sizes.nrhs, count);
  return (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
}

template <class T>
size_t Batch<T>::workspace_bytes() const {
  const BatchSizes& sizes = problem_.sizes;
  if (sizes.n == 0) return 0;
  Arena counted;
  if (sizes.variable())
    for (int copies = 0; copies < 2; ++copies) counted.take<int64_t>(sizes.count);
  const MatrixWorker<T> team(kernels_, rows_.choose(largest_case(problem_)), threads_);
  const size_t bytes = team.workspace_bytes(problem_.routine, sizes.n, sizes.nrhs);
  if (problem_.form == Form::one) return bytes;
  counted.take<char>(std::max(bytes_per_thread() * threads_, bytes));
  return counted.used();
}

/// Matrices for lanes last, otherwise in descending order, so that no thread ends on a large one.
/// Matrices of equal size keep their order, which is mostly that of their addresses.
template <class T>
const int64_t* Batch<T>::sort_by_order(Arena& arena) const {
  const BatchSizes& sizes = problem_.sizes;
  if (!sizes.variable()) return nullptr;
  int64_t* order = arena.take<int64_t>(sizes.count);
  int64_t* spare = arena.take<int64_t>(sizes.count);
  std::iota(order, order + sizes.count, int64_t{0});
  const auto sort_by = [&](auto key, int64_t most) {
    if (sort_by_digits(order, spare, sizes.count, key, most)) std::swap(order, spare);
  };
  if (sizes.rhs_counts)
    sort_by([&](int64_t b) { return sizes.nrhs - sizes.rhs_count(b); }, sizes.nrhs);
  sort_by([&](int64_t b) { return sizes.n - sizes.order(b); }, sizes.n);
  sort_by([&](int64_t b) { return int64_t{goes_through_lanes(b)}; }, 1);
  return order;
}

template <class T>
typename Batch<T>::Cut Batch<T>::cut(const int64_t* order) const {
  const BatchSizes& sizes = problem_.sizes;
  const Index index{order, 0};
  Cut cut{0, 0};
  while (cut.lanes < sizes.count && !goes_through_lanes(index(cut.lanes))) {
    cut.lanes = order ? cut.lanes + 1 : sizes.count;  // without an order all have the same size
  }
  // Large matrices, too few to keep every thread busy to the end: all threads together factor one
  // after the other.
  const auto is_large = [&](int64_t i) { return by_tiles(choice_of(index(i))); };
  if (threads_ > 1) {
    int64_t large = 0;
    while (large < cut.lanes && large < 4 * threads_ && is_large(large)) ++large;
    if (large < 4 * threads_) cut.team = large;
  }
  return cut;
}

/// @param next the matrix that this thread takes afterwards, or kNone.
template <class T>
void Batch<T>::run_one(int64_t b, int64_t next, int threads, void* workspace) const {
  const MatrixWorker<T> worker(kernels_, choice_of(b), threads);
  if (next == kNone) return worker.run(problem_, b, nullptr, workspace);
  const PanelMatrix coming = one_matrix(problem_, next).panel();
  worker.run(problem_, b, &coming, workspace);
}

/// Matrices of equal size are divided into one share a thread.
template <class T>
LoopPartition Batch<T>::partition_of(int64_t count) const {
  const bool alike = !problem_.sizes.variable();
  return {count, std::clamp<int64_t>(count / (threads_ * 16), 1, 64),
          alike ? std::min(threads_, LoopPartition::kMostShares) : 1, serial_ns<T>(flops_)};
}

template <class T>
void Batch<T>::run_lanes(const Index& index, int64_t count, char* workspaces) const {
  const LaneBatch<T> lanes(kernels_, problem_, rows_);
  const int64_t width = kernels_.lanes, groups = (count + width - 1) / width;
  const size_t bytes = bytes_per_thread();
  const auto group = [&](int64_t g, bool goes_on, int thread) {
    const Index members{index.order, index.first + g * width};
    const int64_t left = count - g * width;
    lanes.run(members, static_cast<int>(std::min(width, left)),
              goes_on ? static_cast<int>(std::min(width, left - width)) : 0,
              workspaces + thread * bytes);
  };
  parallel_for(partition_of(groups), threads_, group);
}

template <class T>
void Batch<T>::run_singles(const Index& index, int64_t count, char* workspaces) const {
  const size_t bytes = bytes_per_thread();
  const auto matrix = [&](int64_t i, bool goes_on, int thread) {
    run_one(index(i), goes_on ? index(i + 1) : kNone, 1, workspaces + thread * bytes);
  };
  parallel_for(partition_of(count), threads_, matrix);
}

template <class T>
void Batch<T>::run(void* workspace) const {
  if (problem_.form == Form::one) return run_one(0, kNone, threads_, workspace);
  const int64_t count = problem_.sizes.count;
  Arena arena(workspace, SIZE_MAX);
  const int64_t* order = problem_.sizes.n > 0 ? sort_by_order(arena) : nullptr;
  char* rest = arena.take<char>(0);
  const Cut parts = cut(order);
  for (int64_t i = 0; i < parts.team; ++i) run_one(Index{order, 0}(i), kNone, threads_, rest);
  if (parts.lanes > parts.team)
    run_singles(Index{order, parts.team}, parts.lanes - parts.team, rest);
  if (count > parts.lanes) run_lanes(Index{order, parts.lanes}, count - parts.lanes, rest);
}

#define CHOL_INSTANTIATE_BATCH(prefix, T, R) template class Batch<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE_BATCH)
#undef CHOL_INSTANTIATE_BATCH

}  // namespace chol::host
