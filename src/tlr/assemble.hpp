// Assembly of a tile low rank matrix from a matrix that can be evaluated by blocks.
#pragma once

#include "tlr/compress.hpp"
#include "tlr/source.hpp"

namespace chol::tlr {

template <class T>
Status assemble(backend::TileOps<T>& ops, Matrix<T>& A, Source<T>& source,
                const chol_tlr_options_t& options, Control& control);

}  // namespace chol::tlr
