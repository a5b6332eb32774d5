// The settings that every suite runs in, and the grids of sizes.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/arrays.hpp"
#include "support/handle.hpp"

namespace chol::test {

/// What one typed case is about beside its type: the code of a test is compiled once a type and is
/// told the rest.
struct Setting {
  chol_uplo_t uplo;
  Layout layout;
  Memory& memory;

  bool is_on_device() const { return memory.backend() == CHOL_BACKEND_CUDA; }
};

template <class T, chol_uplo_t kUplo, Layout kLayout, Memory& (*kMemory)()>
struct Case {
  using Element = T;
  static Setting setting() { return {kUplo, kLayout, kMemory()}; }
  static std::string name() {
    return std::string(1, precision_letter<T>) + (kUplo == CHOL_UPPER ? "_upper_" : "_lower_") +
           layout_name(kLayout) + "_" + kMemory().name();
  }
};

/// The base of the typed fixtures. Skips where the memory is not on this machine.
template <class C>
class Suite : public testing::Test {
 public:
  using T = typename C::Element;

 protected:
  void SetUp() override {
    if (!setting.memory.available())
      GTEST_SKIP() << "no " << setting.memory.name() << " memory here";
  }
  Setting setting = C::setting();
};

struct CaseNames {
  template <class C>
  static std::string GetName(int) {
    return C::name();
  }
};

template <class... Lists>
struct Joined;
template <class... A>
struct Joined<testing::Types<A...>> {
  using type = testing::Types<A...>;
};
template <class... A, class... B, class... Rest>
struct Joined<testing::Types<A...>, testing::Types<B...>, Rest...> {
  using type = typename Joined<testing::Types<A..., B...>, Rest...>::type;
};

template <class T, Memory& (*kMemory)()>
using CasesOf = testing::Types<
    Case<T, CHOL_LOWER, Layout::one, kMemory>, Case<T, CHOL_UPPER, Layout::one, kMemory>,
    Case<T, CHOL_LOWER, Layout::batched, kMemory>, Case<T, CHOL_UPPER, Layout::batched, kMemory>,
    Case<T, CHOL_LOWER, Layout::strided, kMemory>, Case<T, CHOL_UPPER, Layout::strided, kMemory>,
    Case<T, CHOL_LOWER, Layout::variable, kMemory>, Case<T, CHOL_UPPER, Layout::variable, kMemory>,
    Case<T, CHOL_LOWER, Layout::interleaved, kMemory>,
    Case<T, CHOL_UPPER, Layout::interleaved, kMemory>>;

/// Both triangles in one layout, on host and device arrays.
template <class T, Layout kLayout>
using BothTriangles = testing::Types<
    Case<T, CHOL_LOWER, kLayout, host_memory>, Case<T, CHOL_UPPER, kLayout, host_memory>,
    Case<T, CHOL_LOWER, kLayout, device_memory>, Case<T, CHOL_UPPER, kLayout, device_memory>>;
template <Layout kLayout>
using LayoutCases = typename Joined<
    BothTriangles<float, kLayout>, BothTriangles<double, kLayout>,
    BothTriangles<std::complex<float>, kLayout>, BothTriangles<std::complex<double>, kLayout>>::type;

template <Memory& (*kMemory)()>
using MemoryCases =
    typename Joined<CasesOf<float, kMemory>, CasesOf<double, kMemory>,
                    CasesOf<std::complex<float>, kMemory>,
                    CasesOf<std::complex<double>, kMemory>>::type;
using AllCases = Joined<MemoryCases<host_memory>, MemoryCases<device_memory>>::type;

/// Whether the run is cut short, for sanitizers: CHOL_TEST_SHORT=1; and to the fewest sizes, for
/// those of a device: CHOL_TEST_SHORT=2.
bool short_run();
bool shortest_run();
/// 0 .. 40.
std::vector<int64_t> small_orders();
/// Around the sizes of tiles, blocks and crossovers, up to 601.
std::vector<int64_t> block_orders();

/// `count` matrices of one shape.
inline std::vector<Shape> uniform(int64_t count, int64_t n, int64_t pad = 0, int64_t nrhs = 0,
                                  int64_t rhs_pad = 0) {
  const int64_t floor = n > 0 ? n : 1;
  return std::vector<Shape>(static_cast<size_t>(count),
                            Shape{n, floor + pad, nrhs, floor + rhs_pad});
}

}  // namespace chol::test
