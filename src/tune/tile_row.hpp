// How tiles of low rank are compressed, as data.
#pragma once

#include <cstdint>

namespace chol {

enum class TileMethod : uint8_t {
  nystrom,    ///< by samples of both sides; tiles for which they are too few by projection
  projection  ///< on a basis of samples of one side
};

struct TileRow {
  char precision;  ///< s, d, c, z
  TileMethod method;
};

}  // namespace chol
