#include "host/batch/interleaved.hpp"

#include <algorithm>

#include "base/precisions.h"
#include "base/threads/parallel_for.hpp"

namespace chol::host {
namespace {

/// Below this many elements another thread costs more than it saves.
constexpr double kElementsWorthAThread = 4096;
constexpr double kNsAnElement = 0.5;
/// Parts of a batch a thread, so that another program on a core delays one of them only.
constexpr int64_t kPartsOfAThread = 8;

Part part_of(chol_uplo_t uplo) { return uplo == CHOL_UPPER ? Part::upper : Part::lower; }

template <class T>
bool has_rhs(const backend::Problem<T>& problem) {
  return problem.routine == Routine::potrs || problem.routine == Routine::posv;
}

}  // namespace

template <class T>
InterleavedBatch<T>::InterleavedBatch(const Kernels& kernels, const backend::Problem<T>& problem,
                                      const RowTable& rows, int threads, chol_math_mode_t math_mode)
    : kernels_(kernels),
      problem_(problem),
      choice_(rows.choose(largest_case(problem))),
      chunk_(problem.A.chunk > 0 ? problem.A.chunk : problem.B.chunk),
      nrhs_(has_rhs(problem) ? problem.sizes.nrhs : 0),
      part_(problem.whole ? Part::whole : part_of(problem.uplo)),
      threads_(std::min(threads, threads_for_all())),
      fast_math_(math_mode == CHOL_MATH_FAST) {}

template <class T>
double InterleavedBatch<T>::elements() const {
  const BatchSizes& sizes = problem_.sizes;
  const double n = static_cast<double>(sizes.n);
  return static_cast<double>(sizes.count) * n * (n + static_cast<double>(sizes.nrhs));
}

template <class T>
int InterleavedBatch<T>::threads_for_all() const {
  return static_cast<int>(std::clamp(elements() / kElementsWorthAThread, 1.0, 65536.0));
}

/// Chunks narrower than a vector share groups, except where columns are copied.
template <class T>
int64_t InterleavedBatch<T>::groups_in_chunk() const {
  return (std::min(chunk_, problem_.sizes.count) + kernels_.lanes - 1) / kernels_.lanes;
}

template <class T>
int64_t InterleavedBatch<T>::groups() const {
  const int64_t count = problem_.sizes.count, lanes = kernels_.lanes;
  if (goes_through_lanes() && chunk_ < lanes) return (count + lanes - 1) / lanes;
  return count / chunk_ * groups_in_chunk() + (count % chunk_ + lanes - 1) / lanes;
}

template <class T>
typename InterleavedBatch<T>::Group InterleavedBatch<T>::group(int64_t g) const {
  const int64_t count = problem_.sizes.count, lanes = kernels_.lanes;
  int64_t first = g * lanes, end = count;
  if (!goes_through_lanes() || chunk_ >= lanes) {
    const int64_t chunk_start = g / groups_in_chunk() * chunk_;
    first = chunk_start + g % groups_in_chunk() * lanes;
    end = std::min(end - chunk_start, chunk_) + chunk_start;
  }
  return {first, static_cast<int>(std::min(lanes, end - first))};
}

template <class T>
bool InterleavedBatch<T>::fills_lanes(const Group& group) const {
  int info[kMostLanes];
  return group.count == kernels_.lanes && chunk_ >= kernels_.lanes &&
         (problem_.routine != Routine::potri || zero_pivots(group, info) == 0);
}

template <class T>
typename InterleavedBatch<T>::Scratch InterleavedBatch<T>::carve(Arena& arena) const {
  const int64_t n = problem_.sizes.n;
  Scratch scratch;
  scratch.A = arena.take<T>(kernels_.lanes * n * n);
  scratch.B = arena.take<T>(kernels_.lanes * n * nrhs_);
  const size_t buffer =
      !goes_through_lanes()
          ? MatrixWorker<T>(kernels_, choice_, 1).workspace_bytes(problem_.routine, n, nrhs_)
      : problem_.routine == Routine::potri ? kernels_.lane_buffer_bytes(n, 0)
                                           : kernels_.interleaved_buffer_bytes(n);
  scratch.buffer = arena.take<char>(buffer);
  return scratch;
}

template <class T>
size_t InterleavedBatch<T>::bytes_per_thread() const {
  if (copies()) return 0;
  Arena counted;
  carve(counted);
  return counted.used();
}

template <class T>
size_t InterleavedBatch<T>::workspace_bytes() const {
  return problem_.sizes.n == 0 ? 0 : bytes_per_thread() * threads_;
}

template <class T>
void InterleavedBatch<T>::set_empty_results() const {
  if (problem_.info) std::fill_n(problem_.info, problem_.sizes.count, 0);
  if (problem_.result) std::fill_n(problem_.result, problem_.sizes.count, R(0));
}

template <class T>
void InterleavedBatch<T>::copy_group(const Group& group) const {
  const bool packs = problem_.routine == Routine::pack;
  const MatrixBatch<T>& matrices = packs ? problem_.A : problem_.B;
  const MatrixBatch<T>& packed = packs ? problem_.B : problem_.A;
  const int64_t rows = problem_.sizes.n, columns = problem_.sizes.nrhs;
  ColumnMajor<T> apart;
  apart.ld = matrices.ld;
  for (int l = 0; l < group.count; ++l) apart.matrix[l] = matrices.matrix(group.first + l);
  const SideBySide<T> lanes{packed.interleaved_matrix(group.first, columns), packed.ld, chunk_};
  if (packs)
    lay_together(apart, lanes, group.count, part_, rows, columns);
  else
    split_apart(lanes, apart, group.count, part_, rows, columns);
}

template <class T>
InterleavedRun InterleavedBatch<T>::empty_run() const {
  InterleavedRun run;
  run.upper = part_ == Part::upper;
  run.n = problem_.sizes.n;
  run.nrhs = nrhs_;
  run.tile = choice_.is(kInterleavedLanes) ? choice_.at(kRegisterTile) : 0;
  run.fast_math = fast_math_;
  return run;
}

template <class T>
void InterleavedBatch<T>::run_kernel(const InterleavedRun& run, void* buffer) const {
  switch (problem_.routine) {
    case Routine::potrf:
      return kernels_.interleaved_potrf(run, buffer);
    case Routine::potrs:
      return kernels_.interleaved_potrs(run, buffer);
    case Routine::posv:
      return kernels_.interleaved_posv(run, buffer);
    default:
      return kernels_.interleaved_potri(run, buffer);
  }
}

/// Number of full groups from g on, below `end`, at a constant distance.
template <class T>
int64_t InterleavedBatch<T>::groups_in_a_row(int64_t g, int64_t end) const {
  const int64_t in_chunk = groups_in_chunk(), lanes = kernels_.lanes, first = group(g).first;
  const bool across_chunks = chunk_ == lanes;
  const int64_t chunk_end = across_chunks
                                ? problem_.sizes.count
                                : std::min(problem_.sizes.count, (first / chunk_ + 1) * chunk_);
  if (!across_chunks) end = std::min(end, (g / in_chunk + 1) * in_chunk);
  const int64_t whole = std::min(end - g, (chunk_end - first) / lanes);
  if (problem_.routine != Routine::potri) return whole;
  int64_t groups = 1;
  while (groups < whole && fills_lanes(group(g + groups))) ++groups;
  return groups;
}

/// Group g and the following ones, below `end`, at a constant distance. Returns their number.
template <class T>
int64_t InterleavedBatch<T>::run_in_place(int64_t g, int64_t end, void* buffer) const {
  const int64_t n = problem_.sizes.n, lanes = kernels_.lanes;
  const Group first = group(g);
  const SideBySide<T> A = caller_A(first.first);
  InterleavedRun run = empty_run();
  run.A = A.base;
  run.row_A = chunk_;
  run.column_A = A.ld * chunk_;
  run.next_A = chunk_ == lanes ? A.ld * n * chunk_ : lanes;
  if (nrhs_ > 0) {
    const SideBySide<T> B = caller_B(first.first);
    run.B = B.base;
    run.row_B = chunk_;
    run.column_B = B.ld * chunk_;
    run.next_B = chunk_ == lanes ? B.ld * nrhs_ * chunk_ : lanes;
  }
  if (problem_.info) run.info = problem_.info + first.first;
  run.groups = groups_in_a_row(g, end);
  run_kernel(run, buffer);
  if (problem_.routine == Routine::potri) std::fill_n(run.info, run.groups * lanes, 0);
  return run.groups;
}

/// visit(first matrix, first lane, matrices) for the parts of a group, each in one chunk.
template <class T>
template <class Visit>
void InterleavedBatch<T>::for_each_piece(const Group& group, Visit&& visit) const {
  for (int lane = 0; lane < group.count;) {
    const int64_t b = group.first + lane;
    const int count = static_cast<int>(std::min(chunk_ - b % chunk_, int64_t{group.count - lane}));
    visit(b, lane, count);
    lane += count;
  }
}

/// Members whose factor has a zero on its diagonal; the first such element is stored in info.
template <class T>
typename InterleavedBatch<T>::Members InterleavedBatch<T>::zero_pivots(const Group& group,
                                                                       int* info) const {
  Members found = 0;
  std::fill_n(info, group.count, 0);
  for_each_piece(group, [&](int64_t b, int lane, int count) {
    const SideBySide<T> A = caller_A(b);
    for (int64_t k = 0; k < problem_.sizes.n; ++k)
      for (int l = 0; l < count; ++l)
        if (A.at(k, k)[l] == T(0) && info[lane + l] == 0) {
          info[lane + l] = static_cast<int>(k + 1);
          found |= Members{1} << (lane + l);
        }
  });
  return found;
}

/// A group that is not contiguous or does not fill the lanes is copied and padded by identities.
/// The other lanes do not affect the bits of a matrix.
template <class T>
void InterleavedBatch<T>::run_in_lanes(const Group& group, const Scratch& scratch) const {
  const int64_t n = problem_.sizes.n, lanes = kernels_.lanes;
  const SideBySide<T> A{scratch.A, n, lanes}, B{scratch.B, n, lanes};
  int info[kMostLanes] = {}, zeros[kMostLanes] = {};
  Members idle = ~((Members{1} << group.count) - 1);
  if (problem_.routine == Routine::potri) idle |= zero_pivots(group, zeros);
  for_each_piece(group, [&](int64_t b, int lane, int count) {
    copy_lanes(caller_A(b), A.matrix(lane), count, part_, n, n);
    if (nrhs_ > 0) copy_lanes(caller_B(b), B.matrix(lane), count, Part::whole, n, nrhs_);
  });
  set_identity(A, kernels_.lanes, idle, part_, n, n);
  if (nrhs_ > 0) set_identity(B, kernels_.lanes, idle, Part::whole, n, nrhs_);
  InterleavedRun run = empty_run();
  run.A = A.base;
  run.B = B.base;
  run.row_A = run.row_B = lanes;
  run.column_A = run.column_B = n * lanes;
  run.groups = 1;
  run.info = info;
  run_kernel(run, scratch.buffer);
  for_each_piece(group, [&](int64_t b, int lane, int count) {
    if (writes_matrix()) copy_lanes(A.matrix(lane), caller_A(b), count, part_, n, n, idle >> lane);
    if (nrhs_ > 0) copy_lanes(B.matrix(lane), caller_B(b), count, Part::whole, n, nrhs_);
  });
  for (int l = 0; l < group.count && problem_.info; ++l)
    problem_.info[group.first + l] = zeros[l] ? zeros[l] : info[l];
}

/// One matrix of a group in its column-major copy.
template <class T>
int InterleavedBatch<T>::work_on(const OneMatrix<T>& M, int64_t b, void* workspace) const {
  const MatrixWorker<T> worker(kernels_, choice_, 1);
  switch (problem_.routine) {
    case Routine::potrf:
      return worker.potrf(M, workspace);
    case Routine::posv:
      return worker.posv(M, workspace);
    case Routine::potri:
      return worker.potri(M, workspace);
    case Routine::logdet:
      problem_.result[b] = worker.logdet(M);
      return 0;
    default:
      worker.potrs(M, workspace);
      return 0;
  }
}

template <class T>
void InterleavedBatch<T>::run_in_columns(const Group& group, const Scratch& scratch) const {
  const int64_t n = problem_.sizes.n;
  ColumnMajor<T> A, B;
  A.ld = B.ld = n;
  for (int l = 0; l < group.count; ++l) {
    A.matrix[l] = scratch.A + l * n * n;
    B.matrix[l] = scratch.B + l * n * nrhs_;
  }
  split_apart(caller_A(group.first), A, group.count, part_, n, n);
  if (nrhs_ > 0) split_apart(caller_B(group.first), B, group.count, Part::whole, n, nrhs_);
  Members failed = 0;
  for (int l = 0; l < group.count; ++l) {
    const int64_t b = group.first + l;
    const int info =
        work_on({problem_.uplo, n, nrhs_, A.matrix[l], n, B.matrix[l], n}, b, scratch.buffer);
    if (problem_.info) problem_.info[b] = info;
    failed |= Members{info != 0} << l;
  }
  if (writes_matrix()) lay_together(A, caller_A(group.first), group.count, part_, n, n);
  if (nrhs_ > 0) lay_together(B, caller_B(group.first), group.count, Part::whole, n, nrhs_, failed);
}

template <class T>
void InterleavedBatch<T>::run_range(int64_t begin, int64_t end, void* workspace) const {
  Arena arena(workspace, SIZE_MAX);
  const Scratch scratch = copies() ? Scratch{} : carve(arena);
  for (int64_t g = begin; g < end;) {
    const Group here = group(g);
    if (goes_through_lanes() && fills_lanes(here)) {
      g += run_in_place(g, end, scratch.buffer);
      continue;
    }
    if (copies())
      copy_group(here);
    else if (goes_through_lanes())
      run_in_lanes(here, scratch);
    else
      run_in_columns(here, scratch);
    ++g;
  }
}

template <class T>
void InterleavedBatch<T>::run(void* workspace) const {
  if (problem_.sizes.n == 0) return set_empty_results();
  const int64_t count = groups();
  if (threads_ <= 1) return run_range(0, count, workspace);
  const size_t bytes = bytes_per_thread();
  const int64_t parts = std::min(count, threads_ * kPartsOfAThread);
  const auto part = [&](int64_t p, bool, int thread) {
    run_range(count * p / parts, count * (p + 1) / parts,
              static_cast<char*>(workspace) + thread * bytes);
  };
  parallel_for({parts, 1, 1, elements() * kNsAnElement}, threads_, part);
}

#define CHOL_INSTANTIATE_INTERLEAVED(prefix, T, R) template class InterleavedBatch<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE_INTERLEAVED)
#undef CHOL_INSTANTIATE_INTERLEAVED

}  // namespace chol::host
