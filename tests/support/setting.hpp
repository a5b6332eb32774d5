// The settings in which every suite runs, and the grids of sizes.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "support/arrays.hpp"
#include "support/handle.hpp"

namespace chol::test {

/// Parameters of a test case besides its type.
struct Setting {
  chol_uplo_t uplo;
  Layout layout;
  Memory& memory;

  bool is_on_device() const { return memory.backend() == CHOL_BACKEND_CUDA; }
};

/// The settings of a test: both triangles and every precision in each of these layouts and
/// memories.
struct Settings {
  std::span<const Layout> layouts;
  bool on_host, on_device;
};
inline constexpr Settings kEverywhere{kLayouts, true, true}, kOnHost{kLayouts, true, false};
inline constexpr Settings kOneMatrix{std::span(kLayouts).subspan(0, 1), true, true},
    kInterleaved{std::span(kLayouts).subspan(4, 1), true, true};

/// The instances of the body of a test for s, d, c and z.
using Bodies = std::array<void (*)(const Setting&), 4>;
/// Adds the test suite/CASE.name for every case, such as Potrf/d_lower_batched_host.BlockOrders.
/// They are skipped if the machine does not have the memory.
bool add_tests(const char* suite, const char* name, const Settings& settings, const Bodies& bodies,
               const char* file, int line);

/// The body follows, over the element type T and the setting s. It is compiled once a type; the
/// rest are run-time parameters.
#define CHOL_TEST(suite, name, settings)                                                           \
  template <class T>                                                                               \
  void suite##_##name(const Setting& s);                                                           \
  [[maybe_unused]] const bool suite##_##name##_is_there =                                          \
      add_tests(#suite, #name, settings,                                                           \
                Bodies{suite##_##name<float>, suite##_##name<double>,                              \
                       suite##_##name<std::complex<float>>, suite##_##name<std::complex<double>>}, \
                __FILE__, __LINE__);                                                               \
  template <class T>                                                                               \
  void suite##_##name([[maybe_unused]] const Setting& s)

/// Whether the run is shortened: CHOL_TEST_SHORT=1 for sanitizers; CHOL_TEST_SHORT=2, the fewest
/// sizes, for those of a device.
bool short_run();
bool shortest_run();
/// Whether a setting takes a point of a grid: one in `parts` of those numbered by `position`,
/// different ones in each layout and triangle. The layouts share their kernels, so that all
/// settings together run the whole grid. Those of a device do not, and take every point of a long
/// run.
bool takes(const Setting& s, int64_t position, int64_t parts);
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
