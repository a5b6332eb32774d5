// The kernels of cuda/interleaved/warp/block_kernel.cuh by contexts of the host: every shape and
// task, both triangles, one and several right-hand sides, chunks and leading dimensions, batches
// that end within a block, bad pivots. Shared memory is initialized with NaN and copies are
// executed when waited for, which detects reads that are too early or of uninitialized memory.
#include <cstdio>
#include <cstring>
#include <vector>

#include "host_batch.hpp"
#include "interleaved/warp/block_kernel.cuh"
#include "interleaved/warp/shapes.hpp"
#include "shared_memory.hpp"

namespace chol::cuda {
namespace {

/// Between a batch of matrices and its interleaved form.
template <class T>
struct SideBySide {
  int64_t lda, ldb, chunk;
  std::vector<T> A, B;

  template <bool kSwapped>
  SideBySide(Batch<T, kSwapped>& batch, int64_t chunk_, int64_t extra)
      : lda(batch.n + extra), ldb(batch.n + 1), chunk(chunk_) {
    const T nothing = from_real<T>(Real<T>(Batch<T, kSwapped>::kNaN));
    const int64_t chunks = (batch.count + chunk - 1) / chunk;
    A.assign(size_t(chunks * lda * batch.n * chunk), nothing);
    B.assign(size_t(chunks * ldb * batch.nrhs * chunk), nothing);
    over_elements(batch, [](T& own, T& its) { its = own; });
  }
  template <bool kSwapped>
  void give_back(Batch<T, kSwapped>& batch) {
    over_elements(batch, [](T& own, T& its) { own = its; });
  }

 private:
  /// Offset of matrix b of that many elements.
  int64_t start(int64_t b, int64_t size) const { return b / chunk * size * chunk + b % chunk; }
  template <bool kSwapped, class Body>
  void over_elements(Batch<T, kSwapped>& batch, Body&& body) {
    const int n = batch.n;
    for (int b = 0; b < batch.count; ++b)
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          const int64_t down = kSwapped ? j : i, right = kSwapped ? i : j;
          body(batch.at(b, i, j), A[start(b, lda * n) + (right * lda + down) * chunk]);
        }
        for (int q = 0; q < batch.nrhs; ++q)
          body(batch.rhs(b, i, q), B[start(b, ldb * batch.nrhs) + (q * ldb + i) * chunk]);
      }
  }
};

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <InterleavedTask kTask>
inline constexpr SmallTask kLike = kTask == InterleavedTask::factor  ? SmallTask::factor
                                   : kTask == InterleavedTask::solve ? SmallTask::solve
                                                                     : SmallTask::factor_and_solve;

template <class T, class Shape, bool kSwapped, InterleavedTask kTask>
void try_order(int n, int count, int nrhs, int64_t chunk, int64_t extra) {
  using Block = WarpFactorBlock<T, Shape, kTask>;
  if (Block::bytes(n) > int64_t(kSharedBytes)) return;
  Batch<T, kSwapped> before(count, n, nrhs, 0, false);
  std::vector<int> expected(count, 0);
  spoil_pivots(before, expected);
  if (kTask == InterleavedTask::solve) before.info = expected;
  SideBySide<T> memory(before, chunk, extra);
  auto after = before;
  InterleavedCall<T> call;
  call.A = memory.A.data();
  call.lda = memory.lda;
  call.B = memory.B.data();
  call.ldb = memory.ldb;
  call.chunk = chunk;
  call.batch = count;
  call.n = n;
  call.nrhs = nrhs;
  call.info = after.info.data();
  call.swapped = kSwapped;
  HostBlock block = block_of(Block::kThreads);
  for (int b = 0; b * Shape::kMatrices < count; ++b) {
    spoil_shared_memory();
    block.run([&] { warp_factor_kernel<T, Shape, kTask>(call); }, b);
  }
  memory.give_back(after);
  // Memory outside the matrices of the batch is unchanged.
  const SideBySide<T> again(after, chunk, extra);
  const bool kept = same_bytes(memory.A, again.A) && same_bytes(memory.B, again.B);
  const bool right = count_batch<kLike<kTask>>(before, after, expected);
  if (tally.count(kept) && right) return;
  std::printf(
      "element of %zu bytes, %d matrices, %d warps each, swapped %d, task %d: n %d, batch %d, "
      "right-hand sides %d, chunk %d\n",
      sizeof(T), Shape::kMatrices, Shape::kWarps, kSwapped, int(kTask), n, count, nrhs, int(chunk));
}

template <class T, bool kSwapped, InterleavedTask kTask, class Shape>
void try_shape() {
  for (const int n :
       orders_to_try({1, 3, 8, 15, 16, 17, 31, 32, 33, 48, 50, 64, 77, 100, 131}, {19, 99})) {
    const int nrhs = kTask == InterleavedTask::factor  ? 0
                     : kTask == InterleavedTask::solve ? n % 4
                                                       : 1;
    try_order<T, Shape, kSwapped, kTask>(n, Shape::kMatrices + 1, nrhs, n % 3 == 0 ? 3 : 8, n % 2);
  }
}
template <class T, InterleavedTask kTask, class... Shape>
void try_shapes(ShapeList<Shape...>) {
  (try_shape<T, false, kTask, Shape>(), ...);
  (try_shape<T, true, kTask, Shape>(), ...);
}
template <class T>
void try_all() {
  try_shapes<T, InterleavedTask::factor>(WarpShapes<InterleavedTask::factor, T>{});
  try_shapes<T, InterleavedTask::factor_and_solve>(
      WarpShapes<InterleavedTask::factor_and_solve, T>{});
  try_shapes<T, InterleavedTask::solve>(WarpShapes<InterleavedTask::solve, T>{});
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  for_each_type([]<class T>(T) { try_all<T>(); });
  return tally.report();
}
