// A matrix or factor in a file: a header, the tiles, a checksum.
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
  uint32_t byte_order;  ///< 1 as this machine writes it
  char type;            ///< s, d, c, z
  uint8_t state;
  uint8_t is_permuted, is_ldl;
  char unused[4];
  int64_t n, tile, shorter, compensated, modified;
  double eps, shift, flops, growth;
};

template <class T>
Status save(backend::TileOps<T>& ops, const Matrix<T>& A, const char* path);

/// Reads the header of a file and checks it. The file's length has to be that of its tiles.
Status load_header(const char* path, FileHeader& header);
/// The matrix of a file with that header.
template <class T>
Status load(backend::TileOps<T>& ops, const char* path, const FileHeader& header,
            std::unique_ptr<Matrix<T>>& A);

}  // namespace chol::tlr
