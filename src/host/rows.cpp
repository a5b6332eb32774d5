#include "host/rows.hpp"

#include <cstring>
#include <iterator>

#include "host/methods.hpp"

namespace chol {
namespace {

using host::kBlasTiles, host::kInterleavedLanes, host::kLanes, host::kPanel, host::kTiles;

constexpr int64_t kAll = INT64_MAX;
/// Up to this order one core is as fast as several.
constexpr int64_t kSmall = 128;
/// Up to this order one core solves for one vector as fast as several, which synchronize for each
/// segment of the unknowns.
constexpr int64_t kOneCoreSolve = 1500;
constexpr int kSegment = 128;
/// From this order on three vectors solved together are faster than a strip of four.
constexpr int64_t kThreeVectors = 200;
/// Tile size by order, threads and machine (host/single/tile_size.hpp).
constexpr int kByModel = 0;
/// Right-hand sides up to which lanes are faster.
constexpr int64_t kLaneRhs = 64;

constexpr Cases up_to(int64_t n, int64_t nrhs = kAll) { return {.n = {0, n}, .nrhs = {0, nrhs}}; }
/// Factorizations and solves have the same bits in lanes and in panels.
constexpr Choice lanes(int whole_groups_above) {
  return {kLanes, {{"whole_groups_above", whole_groups_above}}};
}
constexpr Choice panel(int few_rhs = 0) { return {kPanel, {{"few_rhs", few_rhs}}}; }
constexpr Choice tiles(int nb, int few_rhs = 0) {
  return {kTiles, {{"nb", nb}, {"few_rhs", few_rhs}}};
}
constexpr Choice blas_tiles(int nb, int few_rhs = 0) {
  return {kBlasTiles, {{"nb", nb}, {"few_rhs", few_rhs}}};
}

// clang-format off
// Smaller tiles keep every thread busy at smaller orders; larger ones read memory less often, which
// pays if there are enough tiles for all threads. nb_blas serves orders above 1500 where the build
// has a BLAS; 0, which no backend accepts, where the library's own updates are faster.
#define CHOL_HOST_ROWS(p, solve_lanes_n, panel_n, nb_640, nb_1500, nb_6000, nb, nb_blas, few)      \
  {Routine::potrf, Form::one, p, up_to(kSmall), panel()},                                          \
  {Routine::potrf, Form::one, p, up_to(1500), tiles(kByModel)},                                    \
  {Routine::potrf, Form::one, p, up_to(kAll), blas_tiles(nb_blas)},                                \
  {Routine::potrf, Form::one, p, up_to(kAll), tiles(kByModel)},                                    \
  {Routine::posv, Form::one, p, up_to(kSmall), panel(few)},                                        \
  {Routine::posv, Form::one, p, up_to(1500), tiles(kByModel, few)},                                \
  {Routine::posv, Form::one, p, up_to(kAll), blas_tiles(nb_blas, few)},                            \
  {Routine::posv, Form::one, p, up_to(kAll), tiles(kByModel, few)},                                \
  {Routine::potrs, Form::one, p, up_to(kAll), panel(few)},                                         \
  {Routine::potri, Form::one, p, up_to(panel_n), panel()},                                         \
  {Routine::potri, Form::one, p, up_to(640), tiles(nb_640)},                                       \
  {Routine::potri, Form::one, p, up_to(1500), tiles(nb_1500)},                                     \
  {Routine::potri, Form::one, p, up_to(6000), tiles(nb_6000)},                                     \
  {Routine::potri, Form::one, p, up_to(kAll), tiles(nb)},                                          \
  {Routine::pocon, Form::one, p, up_to(kOneCoreSolve), panel()},                                   \
  {Routine::pocon, Form::one, p, up_to(kAll), tiles(kSegment)},                                    \
  {Routine::logdet, Form::one, p, up_to(kAll), panel()},                                           \
  {Routine::potrf, Form::batch, p, up_to(panel_n), panel()},                                       \
  {Routine::potrf, Form::batch, p, up_to(kAll), tiles(nb_6000)},                                   \
  {Routine::posv, Form::batch, p, up_to(solve_lanes_n, kLaneRhs), lanes(12)},                      \
  {Routine::posv, Form::batch, p, up_to(panel_n), panel(few)},                                     \
  {Routine::posv, Form::batch, p, up_to(kAll), tiles(nb_6000, few)},                               \
  {Routine::potrs, Form::batch, p, up_to(solve_lanes_n, kLaneRhs), lanes(12)},                     \
  {Routine::potrs, Form::batch, p, up_to(kAll), panel(few)},                                       \
  {Routine::potri, Form::batch, p, up_to(24), lanes(0)},                                           \
  {Routine::potri, Form::batch, p, up_to(panel_n), panel()},                                       \
  {Routine::potri, Form::batch, p, up_to(kAll), tiles(nb_6000)},                                   \
  {Routine::logdet, Form::batch, p, up_to(kAll), panel()},                                         \
  {Routine::potrf, Form::interleaved, p, up_to(128), Choice(kInterleavedLanes)},                   \
  {Routine::potrf, Form::interleaved, p, up_to(kAll), panel()},                                    \
  {Routine::potrs, Form::interleaved, p, up_to(128), Choice(kInterleavedLanes)},                   \
  {Routine::potrs, Form::interleaved, p, up_to(kAll), panel(few)},                                 \
  {Routine::posv, Form::interleaved, p, up_to(128), Choice(kInterleavedLanes)},                    \
  {Routine::posv, Form::interleaved, p, up_to(kAll), panel(few)},                                  \
  {Routine::potri, Form::interleaved, p, up_to(128), Choice(kInterleavedLanes)},                   \
  {Routine::potri, Form::interleaved, p, up_to(kAll), panel()},                                    \
  {Routine::logdet, Form::interleaved, p, up_to(kAll), panel()},                                   \
  {Routine::pack, Form::interleaved, p, up_to(kAll), panel()},                                     \
  {Routine::unpack, Form::interleaved, p, up_to(kAll), panel()}
// clang-format on

constexpr Row kAvx512[] = {{Routine::potrf, Form::batch, 's', up_to(112), lanes(16)},
                           CHOL_HOST_ROWS('s', 128, 384, 96, 128, 192, 384, 0, 3),
                           {Routine::potrf, Form::batch, 'd', up_to(112), lanes(16)},
                           {Routine::potrs, Form::one, 'd', {.n = {kThreeVectors, kAll}}, panel(3)},
                           CHOL_HOST_ROWS('d', 128, 256, 64, 128, 192, 384, 0, 2),
                           {Routine::potrf, Form::batch, 'c', up_to(96), lanes(12)},
                           {Routine::potrs, Form::one, 'c', {.n = {kThreeVectors, kAll}}, panel(3)},
                           CHOL_HOST_ROWS('c', 64, 256, 64, 96, 128, 256, 0, 2),
                           {Routine::potrf, Form::batch, 'z', up_to(80), lanes(12)},
                           {Routine::potrs, Form::one, 'z', {.n = {kThreeVectors, kAll}}, panel(3)},
                           CHOL_HOST_ROWS('z', 64, 192, 64, 96, 128, 256, 0, 2)};
constexpr Row kAvx2[] = {{Routine::potrf, Form::batch, 's', up_to(48), lanes(16)},
                         CHOL_HOST_ROWS('s', 24, 384, 96, 128, 192, 192, 0, 3),
                         {Routine::potrf, Form::batch, 'd', up_to(48), lanes(16)},
                         {Routine::potrs, Form::one, 'd', {.n = {kThreeVectors, kAll}}, panel(3)},
                         CHOL_HOST_ROWS('d', 16, 256, 64, 128, 192, 192, 0, 2),
                         {Routine::potrf, Form::batch, 'c', up_to(32), lanes(12)},
                         CHOL_HOST_ROWS('c', 16, 256, 64, 96, 128, 128, 0, 2),
                         {Routine::potrf, Form::batch, 'z', up_to(32), lanes(12)},
                         CHOL_HOST_ROWS('z', 12, 192, 64, 96, 128, 128, 0, 2)};
constexpr Row kPortable[] = {{Routine::potrf, Form::batch, 's', up_to(24), lanes(12)},
                             CHOL_HOST_ROWS('s', 12, 384, 96, 128, 128, 128, 256, 3),
                             {Routine::potrf, Form::batch, 'd', up_to(16), lanes(8)},
                             CHOL_HOST_ROWS('d', 8, 256, 64, 128, 128, 128, 256, 2),
                             {Routine::potrf, Form::batch, 'c', up_to(16), lanes(8)},
                             CHOL_HOST_ROWS('c', 8, 256, 64, 96, 96, 96, 256, 2),
                             {Routine::potrf, Form::batch, 'z', up_to(8), lanes(4)},
                             CHOL_HOST_ROWS('z', 4, 192, 64, 96, 96, 96, 256, 2)};
#undef CHOL_HOST_ROWS

// Gflop/s of one of about sixteen threads that work on the matrix together. Rather too high than
// too low, so that an offload really pays.
#define CHOL_HOST_RATES(p, n1500, n3000, large) \
  {p, 1500, n1500, 0}, {p, 3000, n3000, 0}, { p, kAll, large, 0 }
constexpr RateRow kAvx512Rates[] = {
    CHOL_HOST_RATES('s', 35, 60, 90), CHOL_HOST_RATES('d', 20, 32, 45),
    CHOL_HOST_RATES('c', 50, 75, 90), CHOL_HOST_RATES('z', 30, 40, 45)};
constexpr RateRow kAvx2Rates[] = {
    CHOL_HOST_RATES('s', 25, 40, 60), CHOL_HOST_RATES('d', 14, 22, 30),
    CHOL_HOST_RATES('c', 35, 50, 60), CHOL_HOST_RATES('z', 20, 26, 30)};
constexpr RateRow kPortableRates[] = {
    CHOL_HOST_RATES('s', 8, 12, 16), CHOL_HOST_RATES('d', 4, 6, 8), CHOL_HOST_RATES('c', 8, 12, 16),
    CHOL_HOST_RATES('z', 4, 6, 8)};
#undef CHOL_HOST_RATES

// A core of a server of 2021 to 2024, and the memory of one with sixteen.
#define CHOL_HOST_CORES(single, complex_single)                             \
  {'s', single, 150}, {'d', single / 2, 150}, {'c', complex_single, 150}, { \
    'z', complex_single / 2, 150                                            \
  }
constexpr CoreRow kAvx512Cores[] = {CHOL_HOST_CORES(130.0, 130.0)};
constexpr CoreRow kAvx2Cores[] = {CHOL_HOST_CORES(90.0, 90.0)};
constexpr CoreRow kPortableCores[] = {CHOL_HOST_CORES(20.0, 20.0)};
#undef CHOL_HOST_CORES

// Two cores: memory's bandwidth bounds the products.
constexpr MixedRow kMixed[] = {{'d', 2000, 200}, {'z', 1200, 200}};

}  // namespace

std::span<const Row> host_rows(const char* isa) {
  if (std::strcmp(isa, "avx512") == 0) return kAvx512;
  if (std::strcmp(isa, "avx2") == 0) return kAvx2;
  return kPortable;
}

HostRates host_rates(const char* isa) {
  if (std::strcmp(isa, "avx512") == 0) return {kAvx512Rates, std::size(kAvx512Rates)};
  if (std::strcmp(isa, "avx2") == 0) return {kAvx2Rates, std::size(kAvx2Rates)};
  return {kPortableRates, std::size(kPortableRates)};
}

HostCores host_cores(const char* isa) {
  if (std::strcmp(isa, "avx512") == 0) return {kAvx512Cores, std::size(kAvx512Cores)};
  if (std::strcmp(isa, "avx2") == 0) return {kAvx2Cores, std::size(kAvx2Cores)};
  return {kPortableCores, std::size(kPortableCores)};
}

HostMixedRows host_mixed_rows() { return {kMixed, std::size(kMixed)}; }

}  // namespace chol
