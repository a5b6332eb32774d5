// Round trip between chol's interleaved layout and MKL's compact one, if MKL is installed: the
// folder of libmkl_rt is named by CHOL_BENCH_MKL, as for chol-bench.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "support/expect.hpp"
#include "support/oracle.hpp"
#include "support/setting.hpp"

namespace chol::test {
namespace {

constexpr int kColumnMajor = 102, kLower = 122;

/// MKL's pack and unpack routines of a real precision.
template <class T>
struct Compact {
  using Pack = void(int layout, int rows, int columns, const T* const* from, int ld, T* to, int ldp,
                    int format, int count);
  using Unpack = void(int layout, int rows, int columns, T* const* to, int ld, const T* from,
                      int ldp, int format, int count);
  using Potrf = void(int layout, int uplo, int n, T* A, int lda, int* info, int format, int count);
  Pack* pack;
  Unpack* unpack;
  Potrf* potrf;

  explicit Compact(void* library) {
    const std::string prefix = std::string("mkl_") + precision_letter<T>;
    pack = reinterpret_cast<Pack*>(dlsym(library, (prefix + "gepack_compact").c_str()));
    unpack = reinterpret_cast<Unpack*>(dlsym(library, (prefix + "geunpack_compact").c_str()));
    potrf = reinterpret_cast<Potrf*>(dlsym(library, (prefix + "potrf_compact").c_str()));
  }
};

void* mkl() {
  const char* folder = std::getenv("CHOL_BENCH_MKL");
  if (!folder) return nullptr;
  setenv("MKL_THREADING_LAYER", "SEQUENTIAL", 1);
  setenv("MKL_INTERFACE_LAYER", "LP64", 1);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().filename().string().rfind("libmkl_rt.so", 0) == 0)
      return dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  return nullptr;
}

template <class T>
class CompactLayout : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(CompactLayout, Reals);

struct Format {
  int mkl;
  int bytes;
};
constexpr Format kFormats[] = {{181, 16}, {182, 32}, {183, 64}};

/// chol factors matrices packed by MKL, and MKL those packed by chol.
TYPED_TEST(CompactLayout, ThereAndBack) {
  using T = TypeParam;
  void* const library = mkl();
  if (!library) GTEST_SKIP() << "no MKL: CHOL_BENCH_MKL does not name a folder with libmkl_rt";
  const Compact<T> compact(library);
  ASSERT_TRUE(compact.pack && compact.unpack && compact.potrf);
  const Handle handle;
  for (const Format format : kFormats)
    for (const int n : {1, 3, 8, 17, 33}) {
      const int64_t chunk = format.bytes / static_cast<int64_t>(sizeof(T));
      const int batch = static_cast<int>(3 * chunk - 1), elements = n * n;
      SCOPED_TRACE(testing::Message() << "n " << n << " chunk " << chunk);
      std::vector<T> matrices, unpacked(static_cast<size_t>(elements * batch));
      std::vector<const T*> from;
      std::vector<T*> to;
      for (int b = 0; b < batch; ++b) {
        const std::vector<T>& values = reference<T>(n, b % 3).A.values;
        matrices.insert(matrices.end(), values.begin(), values.end());
      }
      for (int b = 0; b < batch; ++b) {
        from.push_back(matrices.data() + b * elements);
        to.push_back(unpacked.data() + b * elements);
      }
      const auto judge = [&] {
        for (int b = 0; b < batch; ++b) {
          Dense<T> L(n, n);
          for_each_in_triangle(n, false, [&](int64_t i, int64_t j) {
            L(i, j) = to[static_cast<size_t>(b)][i + j * n];
          });
          ASSERT_LT(factor_ratios(reference<T>(n, b % 3).A, L, n).worst(), kThreshold);
        }
      };
      std::vector<int> info(static_cast<size_t>(batch), -1);
      std::vector<T> packed(static_cast<size_t>(elements * chunk * 3));
      compact.pack(kColumnMajor, n, n, from.data(), n, packed.data(), n, format.mkl, batch);
      ASSERT_EQ(Api<T>::potrf_interleaved(handle, CHOL_LOWER, n, packed.data(), n, chunk,
                                          info.data(), batch),
                CHOL_STATUS_SUCCESS);
      compact.unpack(kColumnMajor, n, n, to.data(), n, packed.data(), n, format.mkl, batch);
      judge();

      int of_mkl = 0;
      ASSERT_EQ(Api<T>::pack_batched(handle, CHOL_LOWER, n, from.data(), n, packed.data(), n, chunk,
                                     batch),
                CHOL_STATUS_SUCCESS);
      compact.potrf(kColumnMajor, kLower, n, packed.data(), n, &of_mkl, format.mkl, batch);
      ASSERT_EQ(Api<T>::unpack_batched(handle, CHOL_LOWER, n, packed.data(), n, to.data(), n, chunk,
                                       batch),
                CHOL_STATUS_SUCCESS);
      judge();
    }
}

}  // namespace
}  // namespace chol::test
