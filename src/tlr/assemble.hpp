// From a matrix that can be evaluated by blocks to tiles of low rank.
#pragma once

#include <functional>

#include "tlr/compress.hpp"

namespace chol::tlr {

/// Fills a block of the matrix, on or below the diagonal, on any thread; not 0: failure.
template <class T>
using Fill = std::function<int(int64_t row, int64_t column, int64_t rows, int64_t columns, T* block,
                               int64_t ldb)>;

template <class T>
Status assemble(backend::TileOps<T>& ops, Matrix<T>& A, const Fill<T>& fill,
                const chol_tlr_options_t& options, Control& control);

}  // namespace chol::tlr
