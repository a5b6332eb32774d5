#include "tlr/control.hpp"

#include <cinttypes>
#include <cstdio>

namespace chol::tlr {

const char* phase_name(Phase phase) {
  static constexpr const char* kNames[kPhases] = {
      "assembly", "sampling", "projection", "orthogonalization", "dense update", "potrf", "trsm"};
  return kNames[static_cast<size_t>(phase)];
}

void Control::print(int64_t n, int64_t tile, const TileCounts& tiles) const {
  std::fprintf(stderr, "# %s n %" PRId64 " tile %" PRId64 ":", function_, n, tile);
  for (int i = 0; i < kPhases; ++i) {
    if (seconds_[i] <= 0) continue;
    std::fprintf(stderr, " %s %.3f ms", phase_name(static_cast<Phase>(i)), seconds_[i] * 1e3);
    if (flops_[i] > 0) std::fprintf(stderr, " (%.1f Gflop/s)", flops_[i] / seconds_[i] * 1e-9);
  }
  std::fprintf(stderr, "; tiles: %" PRId64 " nystrom, %" PRId64 " projection, %" PRId64 " dense\n",
               tiles.nystrom, tiles.projection, tiles.dense);
}

}  // namespace chol::tlr
