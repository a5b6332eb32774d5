// Built-in rows of the CUDA backend.
#pragma once

#include <cstddef>
#include <vector>

#include "tune/mixed_row.hpp"
#include "tune/rate_row.hpp"
#include "tune/residue_row.hpp"
#include "tune/row.hpp"

namespace chol::cuda {

/// Matrices of a multiprocessor below which more warps a matrix are faster.
inline constexpr int64_t kFewMatrices = 2;

/// The rows measured on an architecture at or below `capability` (10 major + minor), for a device
/// of that many multiprocessors.
std::vector<Row> built_in_rows(int capability, int multiprocessors);
/// The same for the rates at which matrices in host memory are factored.
const RateRow* built_in_rates(int capability, size_t* count);

/// Orders of one matrix for which CHOL_MATH_TENSOR uses products by residues.
const ResidueRow* built_in_residues(int capability, size_t* count);

/// Systems that are solved by a factor in s or c and refinement.
const MixedRow* built_in_mixed(size_t* count);

}  // namespace chol::cuda
