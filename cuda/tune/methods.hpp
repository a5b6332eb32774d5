// Methods of column-major matrices that factor, and those of a single matrix, with their knobs.
// Those that solve with the factors of batches: tune/solve_rows.hpp.
#pragma once

#include "tune/choice.hpp"
#include "tune/row.hpp"

namespace chol::cuda {

namespace knobs {
inline constexpr Knob kLeafThreads{"leaf_threads", 0, 1024,
                                   "threads of the block that factors a leaf of the recursion, a "
                                   "multiple of 32; 0: the first kernel"};
namespace tried {
inline constexpr int kPanels[] = {0, 256, 512, 1024, 2048}, kGroups[] = {1, 2}, kUpdates[] = {0, 1};
}  // namespace tried
inline constexpr Knob kPersistent[] = {
    {"panel", 0, 1 << 20,
     "columns that one kernel factors, a multiple of 64, with updates between; 0: all",
     tried::kPanels},
    {"groups", 1, 2, "tiles that a multiprocessor works on at a time", tried::kGroups},
    kLeafThreads,
    {"blas_updates", 0, 1, "1: the updates between by cuBLAS, 0: by a kernel of the library",
     tried::kUpdates},
    {"whole_square", 0, 1 << 20,
     "largest square on the diagonal that cuBLAS updates as one, larger ones by halves; 0: any"}};
inline constexpr Knob kRecursive[] = {kLeafThreads};
inline constexpr Knob kOneSolve[] = {
    {"few_rhs", 0, 1 << 20, "right-hand sides up to which one kernel solves"},
    {"block", 64, 2048,
     "order of the inverted diagonal blocks for more right-hand sides, a power of two"},
    {"linked_rhs", 0, 1,
     "right-hand sides, of few_rhs, up to which two strips of unknowns are solved at a time, in "
     "real types"}};
inline constexpr Knob kInOrder{
    "in_order", 0, 1,
    "1: the matrices of a variable batch in the caller's order; 0: the largest first"};
inline constexpr Knob kRegister[] = {
    {"lanes", 0, 32, "lanes that share a matrix; 0: as many as the first kernel for the order"},
    kInOrder};
inline constexpr Knob kClusterThreads{
    "cluster_threads", 0, 256,
    "threads of a block of the thread block cluster that factors a matrix, with the same bits"},
    kClusterBlocks{"cluster_blocks", 0, 8, "blocks of that cluster; 0: by one block"},
    kBordered{"bordered", 0, 1, "1: the last row of a matrix is factored separately"};
inline constexpr Knob kLeftLooking[] = {
    {"warps", 0, 8, "warps of a block; 0: any"},
    {"blocks", 0, 32,
     "blocks of a multiprocessor, which tell apart the kernels of so many warps; 0: the first"},
    kInOrder,
    kClusterThreads,
    kClusterBlocks,
    kBordered};
inline constexpr Knob kMultiPanel[] = {
    {"threads", 0, 1024, "threads of a block; where there is no such kernel, left_looking_potrf"},
    {"upper_threads", 0, 1024, "the same for the upper triangle; 0: as many"},
    kInOrder,
    kClusterThreads,
    kClusterBlocks,
    kBordered};
}  // namespace knobs

// One matrix.
inline constexpr MethodInfo kPersistentPotrf{"persistent_potrf", knobs::kPersistent},
    kRecursivePotrf{"recursive_potrf", knobs::kRecursive},
    kOneSolve{"one_matrix_solve", knobs::kOneSolve}, kCublasSolve{"cublas_solve", {}},
    kInPlaceInverse{"in_place_inverse", {}};
// Batches. Of posv the last four factor first and then solve by the rows of potrs.
inline constexpr MethodInfo kRegisterPosv{"register_posv", knobs::kRegister},
    kLeftLookingPosv{"left_looking_posv", knobs::kLeftLooking},
    kRegisterPotrf{"register_potrf", knobs::kRegister},
    kVbatchedRegisterPotrf{"vbatched_register_potrf", {}},
    kLeftLookingPotrf{"left_looking_potrf", knobs::kLeftLooking},
    kMultiPanelPotrf{"multi_panel_potrf", knobs::kMultiPanel};
// Routines with one method only.
inline constexpr MethodInfo kBatchedInverse{"batched_inverse", {}},
    kConditionEstimate{"condition_estimate", {}}, kLogDeterminant{"log_determinant", {}};

/// Whether a method works on one matrix (native/).
inline bool factors_one(const Choice& choice) {
  return choice.is(kPersistentPotrf) || choice.is(kRecursivePotrf);
}
inline bool solves_one(const Choice& choice) {
  return choice.is(kOneSolve) || choice.is(kCublasSolve);
}
inline bool is_native(const Choice& choice) {
  return factors_one(choice) || solves_one(choice) || choice.is(kInPlaceInverse);
}
/// Whether a method has matrices in registers.
inline bool is_in_registers(const Choice& choice) {
  return choice.is(kRegisterPotrf) || choice.is(kRegisterPosv) || choice.is(kVbatchedRegisterPotrf);
}
/// Whether a method has the knobs of clusters and bordered orders.
inline bool is_left_looking(const Choice& choice) {
  return choice.is(kLeftLookingPotrf) || choice.is(kLeftLookingPosv) || choice.is(kMultiPanelPotrf);
}
/// Whether the matrices of a variable batch are worked on largest first.
inline bool is_largest_first(const Choice& choice) {
  if (choice.is(kRegisterPotrf) || choice.is(kRegisterPosv)) return choice.at(1) == 0;
  return is_left_looking(choice) && choice.at(2) == 0;
}

}  // namespace chol::cuda
