// The factorization L L^H, left-looking by block columns.
#pragma once

#include "tlr/compress.hpp"

namespace chol::tlr {

/// Overwrites A by its factor; *info as in chol_tlr_factor().
template <class T>
Status factor(backend::TileOps<T>& ops, Matrix<T>& A, const chol_tlr_options_t& options,
              Control& control, int* info);

}  // namespace chol::tlr
