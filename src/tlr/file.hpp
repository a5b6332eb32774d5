// File format of a matrix or factor: a header, the tiles, a checksum.
#pragma once

#include <memory>

#include "backend/tile_ops.hpp"
#include "base/status.hpp"
#include "tlr/matrix.hpp"

namespace chol::tlr {

/// Header of a file.
struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t byte_order;  ///< 1 in the byte order of the machine that wrote the file
  char type;            ///< s, d, c or z
  uint8_t state;
  uint8_t is_permuted, is_ldl;
  char unused[4];
  int64_t n, tile;
  Properties properties;
};

template <class T>
Status save(backend::TileOps<T>& ops, const Matrix<T>& A, const char* path);

/// Reads and checks the header of a file. The length of the file must match its tiles.
Status load_header(const char* path, FileHeader& header);
/// Reads the matrix of a file with this header.
template <class T>
Status load(backend::TileOps<T>& ops, const char* path, const FileHeader& header,
            std::unique_ptr<Matrix<T>>& A);

}  // namespace chol::tlr
