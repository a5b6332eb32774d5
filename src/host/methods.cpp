#include "host/methods.hpp"

namespace chol::host {
namespace {

constexpr int kLeastTile = 16;

bool accepts_interleaved(const Row& row, bool solves) {
  const Choice& choice = row.choice;
  if (choice.is(kPanel)) return solves || few_rhs(choice) == 0;
  if (!choice.is(kInterleavedLanes)) return false;
  const int tile = choice.at(kRegisterTile);
  // A packed triangle of a larger order would not fit the caches.
  return tile != 1 && (tile == 0 || row.routine == Routine::potrf) &&
         row.cases.n.most <= kMostLaneOrder && row.routine <= Routine::potri;
}

}  // namespace

bool accepts(const Row& row, bool has_blas) {
  const Choice& choice = row.choice;
  const bool solves = row.routine == Routine::potrs || row.routine == Routine::posv;
  const bool factors = row.routine == Routine::potrf || row.routine == Routine::posv;
  if (!choice.is_in_range()) return false;
  if (row.form == Form::interleaved) return accepts_interleaved(row, solves);
  if (row.routine == Routine::pack || row.routine == Routine::unpack) return false;
  if (few_rhs(choice) != 0 && !solves) return false;
  if (choice.is(kPanel)) return true;
  const int nb = tile_order(choice);
  if (choice.is(kBlasTiles)) return nb >= kLeastTile && has_blas && factors;
  if (choice.is(kTiles)) {
    if (nb == 0) return factors && row.form == Form::one;
    return nb >= kLeastTile &&
           (factors || row.routine == Routine::potri || row.routine == Routine::pocon);
  }
  // A lane buffer of a larger order would not fit the caches.
  return choice.is(kLanes) && row.form == Form::batch && row.cases.n.most <= kMostLaneOrder &&
         row.routine <= Routine::potri;
}

}  // namespace chol::host
