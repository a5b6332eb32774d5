// The tuning store of one backend: built-in rows, over which a tuning file's rows may be laid.
#pragma once

#include <array>
#include <functional>

#include "base/status.hpp"
#include "tune/core_row.hpp"
#include "tune/mixed_row.hpp"
#include "tune/plan.hpp"
#include "tune/residue_row.hpp"

namespace chol {

class TuningStore {
 public:
  /// Takes `count` built-in rows, ordered by max_n within a key.
  void load_rows(const TuningRow* rows, size_t count);

  using Accepts = std::function<bool(const TuningRow&)>;
  /// Replaces whole keys (routine, form, precision), and whole precisions of the other rows,
  /// by what the JSON file says for `machine`.
  /// @param accepts refuses a plan that the backend cannot run, so that no bad row is ever run.
  Status load_file(const char* path, const char* machine, const Accepts& accepts);

  /// Takes `count` built-in rates, ordered by max_n within a precision.
  void load_rates(const RateRow* rows, size_t count);
  /// The rate at order n, nullptr when none is known.
  const RateRow* rate(char precision, int64_t n) const;

  /// Takes `count` built-in rows, ordered by least_n within a precision.
  void load_residues(const ResidueRow* rows, size_t count);
  /// The row that serves order n, nullptr when its products are native.
  const ResidueRow* residues(char precision, int64_t n) const;

  /// Takes `count` built-in rows, one a precision.
  void load_mixed(const MixedRow* rows, size_t count);
  /// Whether a system is worth two precisions.
  bool is_mixed(char precision, int64_t n, int64_t nrhs) const;

  /// Takes `count` built-in rows, one a precision.
  void load_cores(const CoreRow* rows, size_t count);
  /// nullptr when nothing is known.
  const CoreRow* core(char precision) const;

  const PlanTable& plans(Routine routine, Form form, char precision) const;

 private:
  struct Overlay;
  static size_t key(Routine routine, Form form, char precision);
  std::array<PlanTable, kRoutineCount * kFormCount * 4> tables_;
  std::array<std::vector<RateRow>, 4> rates_;
  std::array<std::vector<ResidueRow>, 4> residues_;
  std::array<std::vector<MixedRow>, 4> mixed_;  ///< one row at most
  std::array<std::vector<CoreRow>, 4> cores_;   ///< likewise
};

}  // namespace chol
