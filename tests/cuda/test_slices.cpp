// Slices of interleaved batches, without a device: together they cover the batch, each is at the
// position in its chunk that the copies use, and a query counts the workspace of a run.
#include <cstdio>

#include "interleaved/via_column_major.hpp"

namespace chol::cuda {
namespace {

int failures = 0;
void expect(bool good, const char* what, int64_t n, int64_t chunk, int64_t batch) {
  if (good) return;
  ++failures;
  std::printf("FAILED %s: n = %lld, chunk = %lld, batch = %lld\n", what, static_cast<long long>(n),
              static_cast<long long>(chunk), static_cast<long long>(batch));
}

/// Addresses that are never read.
template <class T>
T* nowhere(uintptr_t megabytes) {
  return reinterpret_cast<T*>(megabytes << 20);
}

template <class T>
void check(int64_t n, int64_t nrhs, int64_t chunk, int64_t batch) {
  const auto good = [&](bool is, const char* what) { expect(is, what, n, chunk, batch); };
  backend::Problem<T> problem{};
  problem.routine = Routine::posv;
  problem.form = Form::interleaved;
  problem.sizes.count = batch;
  problem.sizes.n = n;
  problem.sizes.nrhs = nrhs;
  problem.A = MatrixBatch<T>::interleaved(nowhere<T>(1), n + 1, chunk);
  problem.B = MatrixBatch<T>::interleaved(nowhere<T>(2), n + 2, chunk);
  problem.info = nowhere<int>(3);

  Arena counted, arena(nowhere<char>(4), size_t(1) << 40);
  const Slices<T> query(counted, problem), slices(arena, problem);
  good(counted.used() == arena.used(), "a query and a run take the same");
  const int64_t ld = (n * int64_t(sizeof(T)) + 15) / 16 * 16 / int64_t(sizeof(T));
  const int64_t bytes = ld * (n + nrhs) * int64_t(sizeof(T));
  good(slices.most() >= 1 && (slices.most() == 1 || slices.most() * bytes <= Slices<T>::kBytes),
       "workspace of a slice");
  int64_t first = 0, longest = 0;
  while (first < batch) {
    const int64_t count = slices.count(first);
    if (count <= 0 || first + count > batch) return good(false, "matrices of a slice");
    longest = std::max(longest, count);
    const backend::Problem<T> own = slices.columns(first, count);
    good(own.form == Form::batch && own.sizes.count == count && own.info == problem.info + first,
         "the column-major problem");
    good(own.A.ld == ld && own.A.stride >= ld * n && own.B.stride >= ld * nrhs &&
             own.B.first >= own.A.first + own.A.stride * slices.most(),
         "room for the copies");
    for (const bool of_B : {false, true}) {
      const auto unpacked = slices.copy(Routine::unpack, of_B, first, own);
      const auto packed = slices.copy(Routine::pack, of_B, first, own);
      const MatrixBatch<T>& all = of_B ? problem.B : problem.A;
      const int64_t columns = of_B ? nrhs : n;
      good(unpacked.whole == of_B && unpacked.A.first == packed.B.first &&
               unpacked.B.first == packed.A.first && unpacked.sizes.nrhs == nrhs,
           "pack undoes unpack");
      for (int64_t b = 0; b < count; ++b)
        good(
            unpacked.A.interleaved_matrix(b, columns) == all.interleaved_matrix(first + b, columns),
            "position of a matrix");
    }
    first += count;
  }
  good(longest == slices.most() || chunk > slices.most(), "slices that are full");
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  for (const int64_t n : {1, 209, 600, 3001, 7000})
    for (const int64_t chunk : {1, 8, 32, 33, 512, 100000})
      for (const int64_t batch : {1, 7, 31, 100, 1000}) {
        check<float>(n, 1, chunk, batch);
        check<double>(n, 3, chunk, batch);
        check<std::complex<double>>(n, 40, chunk, batch);
      }
  std::printf(failures ? "FAILED: %d\n" : "PASSED\n", failures);
  return failures != 0;
}
