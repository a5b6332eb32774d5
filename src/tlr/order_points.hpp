// An order of points in which neighbours in space belong to the same tile.
#pragma once

#include <cstdint>

namespace chol::tlr {

/// permutation[i] is the index of the point at position i. Sets of points are halved along the
/// longest side of their bounding box, at a multiple of the tile size.
void order_points(int dim, int64_t n, const double* points, int64_t ldp, int64_t tile,
                  int64_t* permutation);

}  // namespace chol::tlr
