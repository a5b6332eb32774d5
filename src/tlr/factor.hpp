// The factorization L L^H, left-looking by block columns.
#pragma once

#include "tlr/compress.hpp"

namespace chol::tlr {

/// A becomes its factor; *info as of chol_tlr_factor().
template <class T>
Status factor(backend::TileOps<T>& ops, Matrix<T>& A, const chol_tlr_options_t& options,
              Control& control, int* info);

}  // namespace chol::tlr
