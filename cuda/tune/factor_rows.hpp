// Tuning rows of potrf and posv of batches: the method, and the kernel of a family for each
// triangle and alignment of columns.
#pragma once

#include <climits>
#include <span>

#include "batched/cluster/params.hpp"
#include "batched/left_looking/params.hpp"
#include "tune/case.hpp"
#include "tune/methods.hpp"
#include "tune/params.hpp"

namespace chol::cuda {

namespace factor {
inline constexpr const char *kRegister = "register_potrf",
                            *kVbatchedRegister = "vbatched_register_potrf",
                            *kLeftLooking = "left_looking_potrf",
                            *kMultiPanel = "multi_panel_potrf", *kCluster = "cluster_potrf",
                            *kRegisterGridPosv = "register_grid_posv",
                            *kRegisterPosv = "register_posv",
                            *kLeftLookingPosv = "left_looking_posv";
}  // namespace factor

/// The method that factors a batch, and its parameters.
struct FactorChoice {
  const char* method = "";
  Params params;
};

/// Which columns a kernel is for.
enum class Columns { any, misaligned, bordered };

/// A kernel of left_looking/kernel.cuh, and the parameters by which tuning rows name it: warps, and
/// blocks a multiprocessor. For the upper triangle, and for misaligned columns, other kernels
/// replace the one named by a row; kernels of eight warps have the same block columns as a row for
/// more matrices, so that the bits do not depend on the number of matrices.
struct LeftLookingRow {
  char precision;
  bool upper;
  Columns columns;
  int plan_warps, plan_blocks;
  LeftLookingParams params;
};
std::span<const LeftLookingRow> left_looking_rows();
/// Whether a kernel of that many threads is among them (0: any).
bool has_left_looking(char precision, int threads);

/// Calls body(choice) for left-looking kernels that serve a case, the one that the row names first,
/// until it returns true. @param fused whether they also solve, or are bordered: since there are
/// alternatives, no other number of threads is tried then.
template <class Body>
bool try_left_looking(const Case& asked, int threads, int blocks, bool fused, bool bordered,
                      Body&& body) {
  const auto pass = [&](Columns columns, int least, int most, int its_blocks) {
    for (const LeftLookingRow& row : left_looking_rows()) {
      const int its_threads = 32 * row.plan_warps;
      if (row.precision != asked.precision || row.upper != asked.upper || row.columns != columns ||
          its_threads < least || its_threads > most ||
          (its_blocks != 0 && its_blocks != row.plan_blocks) ||
          (bordered && asked.n % row.params.columns != 1))
        continue;
      const char* const method =
          fused && !bordered ? factor::kLeftLookingPosv : factor::kLeftLooking;
      if (body(FactorChoice{method, row.params.params(bordered)})) return true;
    }
    return false;
  };
  const int most = threads == 0 ? INT_MAX : threads;
  if (blocks != 0 && ((bordered && pass(Columns::bordered, threads, most, blocks)) ||
                      (!asked.aligned && pass(Columns::misaligned, threads, most, blocks))))
    return true;
  if (pass(Columns::any, threads, most, blocks) || pass(Columns::any, threads, most, 0))
    return true;
  if (fused) return false;
  return pass(Columns::any, threads, INT_MAX, 0) || pass(Columns::any, 0, INT_MAX, 0);
}

/// Calls body(choice) for the choices of a row that can factor the case, best first, until it
/// returns true.
/// @param has_multi_panel (threads) whether there is a multi-panel kernel for the triangle.
template <class HasMultiPanel, class Body>
bool try_factor_rows(const Case& asked, const Choice& row, HasMultiPanel&& has_multi_panel,
                     Body&& body) {
  const auto try_one = [&](const char* method, const Params& params) {
    return body(FactorChoice{method, params});
  };
  if (asked.variable && row.is(kVbatchedRegisterPotrf))
    return try_one(factor::kVbatchedRegister, {});
  if (is_in_registers(row)) return try_one(factor::kRegister, {{"lanes", row.at(0)}});
  const bool by_panels = row.is(kMultiPanelPotrf);
  const bool own_threads = by_panels && asked.upper && row.at(1) != 0;
  const int threads = by_panels ? row.at(own_threads ? 1 : 0) : 32 * row.at(0);
  const bool multi_panel = by_panels && has_multi_panel(threads);
  const bool bordered = row.at(5) != 0 && !asked.variable;
  // Clusters give the bits of the kernels that they replace, not those of bordered ones.
  const ClusterPlan clusters{row.at(3), row.at(4)};
  if (clusters.blocks > 0 && (multi_panel || !bordered) &&
      try_one(
          factor::kCluster,
          {{"threads", clusters.threads}, {"blocks", clusters.blocks}, {"paired", multi_panel}}))
    return true;
  if (multi_panel && try_one(factor::kMultiPanel, {{"threads", threads}})) return true;
  const int blocks = by_panels ? 0 : row.at(1);
  return (bordered && try_left_looking(asked, threads, blocks, true, true, body)) ||
         try_left_looking(asked, threads, blocks, false, false, body);
}

/// The same for posv, for methods that factor and solve in one launch.
template <class Body>
bool try_posv_rows(const Case& asked, const Choice& row, Body&& body) {
  const Params lanes{{"lanes", row.at(0)}};
  if (is_in_registers(row) && asked.nrhs == 1 && !asked.variable &&
      body(FactorChoice{factor::kRegisterGridPosv, lanes}))
    return true;
  if (row.is(kRegisterPosv) && asked.nrhs > 0 && body(FactorChoice{factor::kRegisterPosv, lanes}))
    return true;
  return row.is(kLeftLookingPosv) && asked.nrhs == 1 &&
         try_left_looking(asked, 32 * row.at(0), row.at(1), true, false, body);
}

}  // namespace chol::cuda
