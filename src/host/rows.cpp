#include "host/rows.hpp"

#include <cstring>
#include <iterator>

namespace chol {
namespace {

constexpr int64_t kAll = INT64_MAX;
/// Up to this order one core is as fast as several.
constexpr int64_t kSmall = 128;
/// Tiles of the size that suits order, threads and machine (host/single/tile_size.hpp).
constexpr int kByModel = 0;
constexpr Plan kPanel{Method::panel, 0, 0, 0};
constexpr Plan kLanes{Method::lanes, 0, 0, 0};
constexpr Plan lanes(int most_rhs) { return {Method::lanes, most_rhs, 0, 0}; }
/// Factorizations and solves have the same bits in lanes and in panels: orders above
/// `whole_groups_above` go through lanes in full groups only, the rest of a batch by panels.
constexpr Plan lanes_in_groups(int whole_groups_above, int most_rhs = 0) {
  return {Method::lanes, most_rhs, whole_groups_above, 0};
}
constexpr Plan tiles(int nb) { return {Method::tiles, nb, 0, 0}; }
constexpr Plan blas_tiles(int nb, int few = 0) { return {Method::blas_tiles, nb, few, 0}; }
/// Solves of up to `few` right-hand sides go vector by vector.
constexpr Plan panel_solve(int few) { return {Method::panel, 0, few, 0}; }
constexpr Plan tiles_solve(int nb, int few) { return {Method::tiles, nb, few, 0}; }

// Knobs: lanes.block = most right-hand sides that go through lanes (0: no bound), lanes.tile =
// largest order of which a group that is not full goes through lanes (0: all); tiles.block = rows
// and columns of a tile. Lanes rows come first in a key.
// clang-format off
// Smaller tiles keep every thread busy at smaller orders; larger ones go through memory less often,
// which pays where there are tiles enough for many threads. nb_blas serves orders above 1500 where
// the build has a BLAS; 0, which no backend accepts, where the library's own updates are faster.
#define CHOL_HOST_ROWS(p, solve_lanes_n, panel_n, nb_640, nb_1500, nb_6000, nb, nb_blas, few) \
  {Routine::potrf, Form::one, p, kSmall, kPanel},                     \
  {Routine::potrf, Form::one, p, 1500, tiles(kByModel)},              \
  {Routine::potrf, Form::one, p, kAll, blas_tiles(nb_blas)},          \
  {Routine::potrf, Form::one, p, kAll, tiles(kByModel)},              \
  {Routine::posv, Form::one, p, kSmall, panel_solve(few)},            \
  {Routine::posv, Form::one, p, 1500, tiles_solve(kByModel, few)},    \
  {Routine::posv, Form::one, p, kAll, blas_tiles(nb_blas, few)},      \
  {Routine::posv, Form::one, p, kAll, tiles_solve(kByModel, few)},    \
  {Routine::potrs, Form::one, p, kAll, panel_solve(few)},             \
  {Routine::potri, Form::one, p, panel_n, kPanel},                    \
  {Routine::potri, Form::one, p, 640, tiles(nb_640)},                 \
  {Routine::potri, Form::one, p, 1500, tiles(nb_1500)},               \
  {Routine::potri, Form::one, p, 6000, tiles(nb_6000)},               \
  {Routine::potri, Form::one, p, kAll, tiles(nb)},                    \
  {Routine::pocon, Form::one, p, kAll, kPanel},                       \
  {Routine::logdet, Form::one, p, kAll, kPanel},                      \
  {Routine::potrf, Form::batch, p, panel_n, kPanel},                  \
  {Routine::potrf, Form::batch, p, kAll, tiles(nb_6000)},             \
  {Routine::posv, Form::batch, p, solve_lanes_n, lanes_in_groups(12, 64)}, \
  {Routine::posv, Form::batch, p, panel_n, panel_solve(few)},         \
  {Routine::posv, Form::batch, p, kAll, tiles_solve(nb_6000, few)},   \
  {Routine::potrs, Form::batch, p, solve_lanes_n, lanes_in_groups(12, 64)}, \
  {Routine::potrs, Form::batch, p, kAll, panel_solve(few)},           \
  {Routine::potri, Form::batch, p, 24, lanes(0)},          \
  {Routine::potri, Form::batch, p, panel_n, kPanel},                  \
  {Routine::potri, Form::batch, p, kAll, tiles(nb_6000)},             \
  {Routine::logdet, Form::batch, p, kAll, kPanel},                    \
  {Routine::potrf, Form::interleaved, p, 128, kLanes},                \
  {Routine::potrf, Form::interleaved, p, kAll, kPanel},               \
  {Routine::potrs, Form::interleaved, p, 128, kLanes},                \
  {Routine::potrs, Form::interleaved, p, kAll, panel_solve(few)},     \
  {Routine::posv, Form::interleaved, p, 128, kLanes},                \
  {Routine::posv, Form::interleaved, p, kAll, panel_solve(few)},      \
  {Routine::potri, Form::interleaved, p, 128, kLanes},                \
  {Routine::potri, Form::interleaved, p, kAll, kPanel},               \
  {Routine::logdet, Form::interleaved, p, kAll, kPanel},              \
  {Routine::pack, Form::interleaved, p, kAll, kPanel},                \
  {Routine::unpack, Form::interleaved, p, kAll, kPanel}
// clang-format on

constexpr TuningRow kAvx512[] = {{Routine::potrf, Form::batch, 's', 112, lanes_in_groups(16)},
                                 CHOL_HOST_ROWS('s', 128, 384, 96, 128, 192, 384, 0, 3),
                                 {Routine::potrf, Form::batch, 'd', 112, lanes_in_groups(16)},
                                 CHOL_HOST_ROWS('d', 128, 256, 64, 128, 192, 384, 0, 2),
                                 {Routine::potrf, Form::batch, 'c', 96, lanes_in_groups(12)},
                                 CHOL_HOST_ROWS('c', 64, 256, 64, 96, 128, 256, 0, 2),
                                 {Routine::potrf, Form::batch, 'z', 80, lanes_in_groups(12)},
                                 CHOL_HOST_ROWS('z', 64, 192, 64, 96, 128, 256, 0, 2)};
constexpr TuningRow kAvx2[] = {{Routine::potrf, Form::batch, 's', 48, lanes_in_groups(16)},
                               CHOL_HOST_ROWS('s', 24, 384, 96, 128, 192, 192, 0, 3),
                               {Routine::potrf, Form::batch, 'd', 48, lanes_in_groups(16)},
                               CHOL_HOST_ROWS('d', 16, 256, 64, 128, 192, 192, 0, 2),
                               {Routine::potrf, Form::batch, 'c', 32, lanes_in_groups(12)},
                               CHOL_HOST_ROWS('c', 16, 256, 64, 96, 128, 128, 0, 2),
                               {Routine::potrf, Form::batch, 'z', 32, lanes_in_groups(12)},
                               CHOL_HOST_ROWS('z', 12, 192, 64, 96, 128, 128, 0, 2)};
constexpr TuningRow kPortable[] = {{Routine::potrf, Form::batch, 's', 24, lanes_in_groups(12)},
                                   CHOL_HOST_ROWS('s', 12, 384, 96, 128, 128, 128, 256, 3),
                                   {Routine::potrf, Form::batch, 'd', 16, lanes_in_groups(8)},
                                   CHOL_HOST_ROWS('d', 8, 256, 64, 128, 128, 128, 256, 2),
                                   {Routine::potrf, Form::batch, 'c', 16, lanes_in_groups(8)},
                                   CHOL_HOST_ROWS('c', 8, 256, 64, 96, 96, 96, 256, 2),
                                   {Routine::potrf, Form::batch, 'z', 8, lanes_in_groups(4)},
                                   CHOL_HOST_ROWS('z', 4, 192, 64, 96, 96, 96, 256, 2)};
#undef CHOL_HOST_ROWS

// Gflop/s of one of about sixteen threads that work on the matrix together. High rather than low:
// an offload is to win by these.
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

HostRows host_rows(const char* isa) {
  if (std::strcmp(isa, "avx512") == 0) return {kAvx512, std::size(kAvx512)};
  if (std::strcmp(isa, "avx2") == 0) return {kAvx2, std::size(kAvx2)};
  return {kPortable, std::size(kPortable)};
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
