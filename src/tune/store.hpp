// The tuning store of one backend: built-in rows, which a tuning file's rows may override.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "tune/core_row.hpp"
#include "tune/mixed_row.hpp"
#include "tune/rate_row.hpp"
#include "tune/residue_row.hpp"
#include "tune/row.hpp"

namespace chol {

class TuningStore {
 public:
  /// Takes a built-in row, after those of its routine, form and precision.
  void load_row(const Row& row);
  void load_rows(std::span<const Row> rows) {
    for (const Row& row : rows) load_row(row);
  }

  using Accepts = std::function<bool(const Row&)>;
  /// Applies the JSON file's rows for `machine`: before the built-in rows of the same routine, form
  /// and precision; for the other tables, in place of whole precisions.
  /// @param methods those that the backend has.
  /// @param accepts refuses a row that the backend cannot run.
  Status load_file(const char* path, const char* machine,
                   std::span<const MethodInfo* const> methods, const Accepts& accepts);

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
  /// The row of a system for which two precisions are faster, or nullptr.
  const MixedRow* mixed(char precision, int64_t n, int64_t nrhs) const;

  /// Takes `count` built-in rows, one a precision.
  void load_cores(const CoreRow* rows, size_t count);
  /// nullptr when nothing is known.
  const CoreRow* core(char precision) const;

  const RowTable& rows(Routine routine, Form form, char precision) const {
    return tables_[key(routine, form, precision)];
  }

 private:
  struct Overlay;
  static size_t key(Routine routine, Form form, char precision);
  std::array<RowTable, kRoutineCount * kFormCount * 4> tables_;
  std::array<std::vector<RateRow>, 4> rates_;
  std::array<std::vector<ResidueRow>, 4> residues_;
  std::array<std::vector<MixedRow>, 4> mixed_;  ///< one row at most
  std::array<std::vector<CoreRow>, 4> cores_;   ///< likewise
};

}  // namespace chol
