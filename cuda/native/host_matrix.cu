#include <algorithm>

#include "common/precisions.hpp"
#include "native/host_matrix.hpp"
#include "native/round_trip.hpp"

namespace chol::cuda {

template <class T>
HostMatrixWorkspace<T> HostMatrixWorkspace<T>::carve(Arena& arena, int64_t n) {
  constexpr int64_t kLine = 128 / sizeof(T);
  HostMatrixWorkspace work;
  work.ld = (n + kLine - 1) / kLine * kLine;
  work.A = arena.take<T>(work.ld * n);
  work.info = arena.take<int>(1);
  const Choice recursive(kRecursivePotrf);
  work.one = OneMatrixWorkspace<T>::carve(arena, Routine::potrf, recursive, recursive, n, 0);
  return work;
}

template <class T>
bool has_nan(const char* elements, int64_t count) {
  const auto* const parts = reinterpret_cast<const Real<T>*>(elements);
  const int64_t end = count * int64_t(sizeof(T) / sizeof(Real<T>));
  return std::any_of(parts, parts + end, [](Real<T> x) { return x != x; });
}

template <class T>
Status factor_host_matrix(const TriangleView& A, const HostMatrixThreads& threads,
                          const HostMatrixWorkspace<T>& work, Blas& blas, Staging& staging,
                          int* info, int64_t* factored) {
  TriangleView device = A;
  device.A = reinterpret_cast<char*>(work.A);
  device.ld = work.ld;
  RoundTrip trip(staging, A, device, work.info, threads.copy, has_nan<T>);
  BatchProblem<T> problem;
  problem.A = {work.A, 0, nullptr, work.ld, nullptr};
  problem.count = 1;
  problem.n = A.n;
  problem.info = work.info;
  problem.swapped = A.swapped;
  Status status = trip.prepare();
  if (status.ok())
    status = factor_one(problem, native::Params{.leaf_threads = threads.leaf}.recursive(), work.one,
                        blas, staging.compute, &trip);
  if (status.ok()) status = trip.finish();
  // Errors after a bad pivot are irrelevant: the columns before it have been copied back.
  if (trip.info() > 0) status = Status::success();
  *factored = trip.returned_columns();
  if (status.ok()) *info = trip.info();
  return status;
}

#define CHOL_INSTANTIATE(T)                                                                   \
  template struct HostMatrixWorkspace<T>;                                                     \
  template Status factor_host_matrix<T>(const TriangleView&, const HostMatrixThreads&,        \
                                        const HostMatrixWorkspace<T>&, Blas&, Staging&, int*, \
                                        int64_t*);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
