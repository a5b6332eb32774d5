// Tuning rows of potrs of batches: ranges of cases and their choices.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "batched/solve/block/params.hpp"
#include "tune/case.hpp"
#include "tune/params.hpp"
#include "tune/row.hpp"

namespace chol::cuda {

/// A row for systems of order n. The first matching row of a list whose method accepts the case is
/// used.
struct SolveRow {
  Range n, nrhs;
  bool of_misaligned;  ///< misaligned columns of the lower triangle only
  const char* method;
  Params params;

  bool has(const Case& asked) const {
    return n.has(asked.n) && nrhs.has(asked.nrhs) &&
           (!of_misaligned || (!asked.aligned && !asked.upper));
  }
};

class SolveRows {
 public:
  void add(const SolveRow& row) {
    if (!row.n.is_empty() && !row.nrhs.is_empty()) rows_[count_++] = row;
  }
  const SolveRow* begin() const { return rows_; }
  const SolveRow* end() const { return rows_ + count_; }

 private:
  SolveRow rows_[32];
  int count_ = 0;
};

namespace solve {
inline constexpr const char *kRegister = "register_solve", *kRegisterGrid = "register_grid_solve",
                            *kWarp = "warp_solve", *kBlock = "block_solve", *kTile = "tile_solve",
                            *kLeftLooking = "left_looking_mma_solve",
                            *kStreaming = "streaming_solve";
}  // namespace solve

/// The methods of tuning rows of potrs of batches.
std::span<const MethodInfo> solve_infos();
Choice block_solve_choice(const BlockSolveParams& params);
/// One of them by its name.
const MethodInfo& solve_info(std::string_view name);
/// Whether a choice is one of them.
bool solves_batches(const Choice& choice);
/// The values under the names of the knobs.
Params params_of(const Choice& choice);

/// The built-in rows of potrs of batches, and of single matrices up to solve_shared_order().
void add_potrs_rows(std::vector<Row>& rows, char precision, int multiprocessors);
/// Orders up to which potrs has the triangle in shared memory.
int64_t solve_shared_order(char precision);
/// The rows of the solve of a posv after a separate factorization, orders up to kWarpSolveOrder:
/// where one right-hand side needs a second launch.
inline constexpr int64_t kWarpSolveOrder = 66;
SolveRows solve_rows_of_posv(char precision);
/// The rows of pocon, which solves with one matrix and one right-hand side.
SolveRows solve_rows_of_pocon(char precision);

/// The kernels of block_solve for one right-hand side, or for several, in a precision.
void add_block_rows(SolveRows& rows, char precision, Range nrhs);

}  // namespace chol::cuda
