// Points in an order in which neighbours in space share a tile.
#pragma once

#include <cstdint>

namespace chol::tlr {

/// permutation[i]: which point comes i-th. Parts are halved along the longest side of their
/// bounding box, at a whole number of tiles.
void order_points(int dim, int64_t n, const double* points, int64_t ldp, int64_t tile,
                  int64_t* permutation);

}  // namespace chol::tlr
