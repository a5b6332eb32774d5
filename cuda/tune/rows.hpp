// Built-in plans of the CUDA backend.
#pragma once

#include <cstddef>
#include <vector>

#include "tune/mixed_row.hpp"
#include "tune/plan_methods.hpp"
#include "tune/rate_row.hpp"
#include "tune/residue_row.hpp"

namespace chol::cuda {

/// Whether a plan of interleaved batches works on column-major slices
/// (interleaved/via_column_major.hpp).
constexpr bool runs_in_slices(Routine routine, const Plan& plan) {
  return plan.method == Method::tiles && routine != Routine::logdet && routine != Routine::pack &&
         routine != Routine::unpack;
}

/// Plan::block of a factorization: how it takes a variable batch.
inline constexpr int kLargestFirst = 0, kAsTheyLie = 1;
inline constexpr int kBinnedBySize = 2;  ///< register/vbatched_kernel.cuh

/// The rows measured on an architecture at or below `capability` (10 major + minor).
std::vector<Row> built_in_rows(int capability);
/// The same of the rates at which matrices in host memory are factored.
const RateRow* built_in_rates(int capability, size_t* count);

/// When one matrix has its products in residues, in CHOL_MATH_TENSOR.
const ResidueRow* built_in_residues(int capability, size_t* count);

/// When one system is solved by a factor in s or c and refinement.
const MixedRow* built_in_mixed(size_t* count);

/// The plan by which one block factors one matrix of order n, or nullptr where none does: batches
/// too small to fill the device take it even where more blocks are faster on one matrix.
const Plan* one_block_plan(Routine routine, char precision, int64_t n);

}  // namespace chol::cuda
