#include "tune/host_rows.hpp"

#include <cstring>
#include <iterator>

namespace chol {
namespace {

constexpr int64_t kAll = INT64_MAX;
constexpr Plan kPanel{Method::panel, 0, 0, 0};
constexpr Plan lanes(int most_rhs) { return {Method::lanes, most_rhs, 0, 0}; }
constexpr Plan tiles(int nb) { return {Method::tiles, nb, 0, 0}; }
/// Solves of up to kFew right-hand sides go vector by vector.
constexpr int kFew = 3;
constexpr Plan kPanelSolve{Method::panel, 0, kFew, 0};
constexpr Plan tiles_solve(int nb) { return {Method::tiles, nb, kFew, 0}; }

// Knobs: lanes.block = most right-hand sides that go through lanes (0: no bound); tiles.block =
// rows and columns of a tile. Lanes rows come first in a key.
// clang-format off
#define CHOL_HOST_ROWS(p, lanes_n, solve_lanes_n, panel_n, nb)        \
  {Routine::potrf, Form::one, p, panel_n, kPanel},                    \
  {Routine::potrf, Form::one, p, kAll, tiles(nb)},                    \
  {Routine::posv, Form::one, p, panel_n, kPanelSolve},                \
  {Routine::posv, Form::one, p, kAll, tiles_solve(nb)},               \
  {Routine::potrs, Form::one, p, kAll, kPanelSolve},                  \
  {Routine::potri, Form::one, p, kAll, kPanel},                       \
  {Routine::pocon, Form::one, p, kAll, kPanel},                       \
  {Routine::logdet, Form::one, p, kAll, kPanel},                      \
  {Routine::potrf, Form::batch, p, lanes_n, lanes(0)},                \
  {Routine::potrf, Form::batch, p, panel_n, kPanel},                  \
  {Routine::potrf, Form::batch, p, kAll, tiles(nb)},                  \
  {Routine::posv, Form::batch, p, solve_lanes_n, lanes(64)},          \
  {Routine::posv, Form::batch, p, panel_n, kPanelSolve},              \
  {Routine::posv, Form::batch, p, kAll, tiles_solve(nb)},             \
  {Routine::potrs, Form::batch, p, solve_lanes_n, lanes(64)},         \
  {Routine::potrs, Form::batch, p, kAll, kPanelSolve},                \
  {Routine::potri, Form::batch, p, solve_lanes_n, lanes(0)},          \
  {Routine::potri, Form::batch, p, kAll, kPanel},                     \
  {Routine::logdet, Form::batch, p, kAll, kPanel}
// clang-format on

constexpr TuningRow kAvx512[] = {
    CHOL_HOST_ROWS('s', 32, 32, 384, 192), CHOL_HOST_ROWS('d', 32, 32, 320, 192),
    CHOL_HOST_ROWS('c', 24, 24, 320, 128), CHOL_HOST_ROWS('z', 16, 16, 256, 128)};
constexpr TuningRow kAvx2[] = {
    CHOL_HOST_ROWS('s', 24, 24, 384, 192), CHOL_HOST_ROWS('d', 16, 16, 320, 192),
    CHOL_HOST_ROWS('c', 16, 16, 320, 128), CHOL_HOST_ROWS('z', 12, 12, 256, 128)};
constexpr TuningRow kPortable[] = {
    CHOL_HOST_ROWS('s', 12, 12, 384, 128), CHOL_HOST_ROWS('d', 8, 8, 256, 128),
    CHOL_HOST_ROWS('c', 8, 8, 256, 96), CHOL_HOST_ROWS('z', 4, 4, 192, 96)};
#undef CHOL_HOST_ROWS

}  // namespace

HostRows host_rows(const char* isa) {
  if (std::strcmp(isa, "avx512") == 0) return {kAvx512, std::size(kAvx512)};
  if (std::strcmp(isa, "avx2") == 0) return {kAvx2, std::size(kAvx2)};
  return {kPortable, std::size(kPortable)};
}

}  // namespace chol
