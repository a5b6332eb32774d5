// The kernels of cuda/interleaved/warp_factor_block.cuh by contexts of the host: every shape, both
// triangles, alone and with a right-hand side, chunks and leading dimensions, batches that end
// within a block, pivots that are none. Shared memory begins as NaN and copies arrive when they are
// waited for, so that what is read too early, or was never written, shows.
#include <cstdio>
#include <cstring>
#include <vector>

#include "host_batch.hpp"
#include "interleaved/warp_factor_block.cuh"
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
    B.assign(size_t(chunks * ldb * chunk), nothing);
    over_elements(batch, [](T& own, T& its) { its = own; });
  }
  template <bool kSwapped>
  void give_back(Batch<T, kSwapped>& batch) {
    over_elements(batch, [](T& own, T& its) { own = its; });
  }
  int64_t start(int64_t b, int64_t size) const { return b / chunk * size * chunk + b % chunk; }

 private:
  template <bool kSwapped, class Body>
  void over_elements(Batch<T, kSwapped>& batch, Body&& body) {
    const int n = batch.n;
    for (int b = 0; b < batch.count; ++b)
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          const int64_t down = kSwapped ? j : i, right = kSwapped ? i : j;
          body(batch.at(b, i, j), A[start(b, lda * n) + (right * lda + down) * chunk]);
        }
        if (batch.nrhs > 0) body(batch.rhs(b, i, 0), B[start(b, ldb) + i * chunk]);
      }
  }
};

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T, class Shape, bool kSwapped, bool kSolves>
void try_order(int n, int count, int64_t chunk, int64_t extra) {
  Batch<T, kSwapped> before(count, n, kSolves ? 1 : 0, 0, false);
  std::vector<int> expected(count, 0);
  spoil_pivots(before, expected);
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
  call.nrhs = kSolves ? 1 : 0;
  call.info = after.info.data();
  call.swapped = kSwapped;
  HostBlock& block = block_of(WarpFactorBlock<T, Shape, kSolves>::kThreads);
  for (int b = 0; b * Shape::kMatrices < count; ++b) {
    spoil_shared_memory();
    constexpr auto kTask = kSolves ? InterleavedTask::factor_and_solve : InterleavedTask::factor;
    block.run([&] { warp_factor_kernel<T, Shape, kTask>(call); }, b);
  }
  memory.give_back(after);
  // What no matrix of the batch has is as it was.
  SideBySide<T> again(after, chunk, extra);
  bool right = true;
  for (size_t e = 0; e < memory.A.size(); ++e) right = right && same_bits(memory.A[e], again.A[e]);
  for (size_t e = 0; e < memory.B.size(); ++e) right = right && same_bits(memory.B[e], again.B[e]);
  constexpr auto kSmall = kSolves ? SmallTask::factor_and_solve : SmallTask::factor;
  if (count_batch<kSmall>(before, after, expected) && tally.count(right)) return;
  std::printf("element of %zu bytes, %d warps, swapped %d, solves %d: n %d, batch %d, chunk %d\n",
              sizeof(T), Shape::kWarps, kSwapped, kSolves, n, count, int(chunk));
}

template <class T, class Shape, bool kSwapped, bool kSolves>
void try_shape() {
  static_assert(WarpFactorBlock<T, Shape, kSolves>::bytes(100) <= kSharedBytes);
  for (const int n : {1, 3, 8, 15, 16, 17, 31, 32, 33, 48, 50, 64, 77, 100}) {
    const int chunk = n % 3 == 0 ? 3 : 8;
    try_order<T, Shape, kSwapped, kSolves>(n, Shape::kMatrices + 1, chunk, n % 2);
  }
}
template <class T, class... Shape>
void try_shapes(ShapeList<Shape...>) {
  (try_shape<T, Shape, false, false>(), ...);
  (try_shape<T, Shape, true, false>(), ...);
  (try_shape<T, Shape, false, true>(), ...);
  (try_shape<T, Shape, true, true>(), ...);
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  for_each_type([]<class T>(T) { try_shapes<T>(typename InterleavedShapes<T>::ByWarps{}); });
  return tally.report();
}
