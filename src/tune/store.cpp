#include "tune/store.hpp"

#include "base/scalar.hpp"

namespace chol {
namespace {

constexpr const char* kRoutineNames[] = {"potrf", "potrs",  "posv", "potri",
                                         "pocon", "logdet", "pack", "unpack"};
constexpr const char* kFormNames[] = {"one", "batch", "interleaved"};

}  // namespace

const char* routine_name(Routine routine) { return kRoutineNames[static_cast<int>(routine)]; }
const char* form_name(Form form) { return kFormNames[static_cast<int>(form)]; }

size_t TuningStore::key(Routine routine, Form form, char precision) {
  return (static_cast<size_t>(routine) * kFormCount + static_cast<size_t>(form)) * 4 +
         precision_index(precision);
}

void TuningStore::load_row(const Row& row) {
  tables_[key(row.routine, row.form, row.precision)].add(row.cases, row.choice);
}

void TuningStore::load_rates(const RateRow* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) rates_[precision_index(rows[i].precision)].push_back(rows[i]);
}

const RateRow* TuningStore::rate(char precision, int64_t n) const {
  const std::vector<RateRow>& rows = rates_[precision_index(precision)];
  for (const RateRow& row : rows)
    if (n <= row.max_n) return &row;
  return rows.empty() ? nullptr : &rows.back();
}

void TuningStore::load_residues(const ResidueRow* rows, size_t count) {
  for (size_t i = 0; i < count; ++i)
    residues_[precision_index(rows[i].precision)].push_back(rows[i]);
}

const ResidueRow* TuningStore::residues(char precision, int64_t n) const {
  const ResidueRow* serves = nullptr;
  for (const ResidueRow& row : residues_[precision_index(precision)])
    if (n >= row.least_n) serves = &row;
  return serves;
}

void TuningStore::load_mixed(const MixedRow* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) mixed_[precision_index(rows[i].precision)] = {rows[i]};
}

const MixedRow* TuningStore::mixed(char precision, int64_t n, int64_t nrhs) const {
  const std::vector<MixedRow>& rows = mixed_[precision_index(precision)];
  return !rows.empty() && rows.back().serves(n, nrhs) ? &rows.back() : nullptr;
}

void TuningStore::load_cores(const CoreRow* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) cores_[precision_index(rows[i].precision)] = {rows[i]};
}

const CoreRow* TuningStore::core(char precision) const {
  const std::vector<CoreRow>& rows = cores_[precision_index(precision)];
  return rows.empty() ? nullptr : &rows.back();
}

void TuningStore::load_tiles(const TileRow* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) tiles_[precision_index(rows[i].precision)] = {rows[i]};
}

TileMethod TuningStore::tile_method(char precision) const {
  const std::vector<TileRow>& rows = tiles_[precision_index(precision)];
  return rows.empty() ? TileMethod::projection : rows.back().method;
}

}  // namespace chol
