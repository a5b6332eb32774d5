#include "tune/store.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "base/scalar.hpp"
#include "chol.h"

#define CHOL_TEXT_OF(x) #x
#define CHOL_TEXT(x) CHOL_TEXT_OF(x)

namespace chol {
namespace {

constexpr const char* kRoutineNames[] = {"potrf", "potrs",  "posv", "potri",
                                         "pocon", "logdet", "pack", "unpack"};
constexpr const char* kFormNames[] = {"one", "batch", "interleaved"};
constexpr const char* kMethodNames[] = {"lanes",   "panel",      "tiles",     "fused",
                                        "blocked", "blas_tiles", "persistent"};
constexpr char kPrecisions[] = "sdcz";

using Json = nlohmann::json;

/// The member `key` of an entry; nullptr when it has none.
const Json* member(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found == entry.end() ? nullptr : &*found;
}

const Json& needed(const Json& entry, const char* key) {
  if (const Json* value = member(entry, key)) return *value;
  throw std::runtime_error(std::string("\"") + key + "\" is missing");
}

[[noreturn]] void refuse(const char* key, const Json& value, const std::string& rule) {
  throw std::runtime_error(
      std::string("\"") + key + "\" is " +
      value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40) + ", must be " +
      rule);
}

template <size_t Count>
std::string listed(const char* const (&names)[Count]) {
  std::string list = names[0];
  for (size_t i = 1; i < Count; ++i) list += std::string(i + 1 < Count ? ", " : " or ") + names[i];
  return list;
}

template <class Enum, size_t Count>
Enum enum_of(const Json& entry, const char* key, const char* const (&names)[Count]) {
  const Json& value = needed(entry, key);
  for (size_t i = 0; i < Count; ++i)
    if (value == names[i]) return static_cast<Enum>(i);
  refuse(key, value, listed(names));
}

int64_t integer_of(const Json& value, const char* key, int64_t most) {
  const bool fits = value.is_number_unsigned() ? value.get<uint64_t>() <= uint64_t(INT64_MAX)
                                               : value.is_number_integer();
  if (!fits || value.get<int64_t>() < 0 || value.get<int64_t>() > most)
    refuse(key, value, "an integer from 0 to " + std::to_string(most));
  return value.get<int64_t>();
}

int knob_of(const Json& entry, const char* key) {
  const Json* value = member(entry, key);
  return value ? static_cast<int>(integer_of(*value, key, INT_MAX)) : 0;
}

double number_of(const Json& value, const char* key, bool zero_too) {
  if (!value.is_number() || !(value.get<double>() > 0 || (zero_too && value.get<double>() == 0)))
    refuse(key, value, zero_too ? "a number >= 0" : "a number > 0");
  return value.get<double>();
}

char precision_of(const Json& entry) {
  static constexpr const char* kNames[] = {"s", "d", "c", "z"};
  return kPrecisions[enum_of<int>(entry, "precision", kNames)];
}

int64_t most_of(const Json& entry) {
  return integer_of(needed(entry, "max_n"), "max_n", INT64_MAX);
}

/// A word that is none of a row's would have no effect, which nobody means.
void refuse_others(const Json& entry, std::initializer_list<const char*> keys) {
  for (const auto& item : entry.items()) {
    const std::string& key = item.key();
    if (std::none_of(keys.begin(), keys.end(), [&](const char* known) { return key == known; }))
      throw std::runtime_error("\"" + key.substr(0, 40) + "\" is no member of a row");
  }
}

RateRow rate_of(const Json& entry) {
  refuse_others(entry, {"precision", "max_n", "gflops", "gbytes_each"});
  const Json* each = member(entry, "gbytes_each");
  return {precision_of(entry), most_of(entry), number_of(entry.at("gflops"), "gflops", false),
          each ? number_of(*each, "gbytes_each", true) : 0};
}

ResidueRow residues_of(const Json& entry) {
  refuse_others(entry, {"precision", "least_n", "panel", "native_columns"});
  const auto integer = [&](const char* key) {
    return integer_of(needed(entry, key), key, int64_t{1} << 30);
  };
  const ResidueRow row{precision_of(entry), integer("least_n"), integer("panel"),
                       integer("native_columns")};
  if (row.panel == 0 || row.panel % ResidueRow::kPanelStep != 0)
    refuse("panel", entry.at("panel"), "a multiple of 128");
  return row;
}

MixedRow mixed_of(const Json& entry) {
  refuse_others(entry, {"precision", "least_order", "order_per_rhs"});
  const MixedRow row{precision_of(entry),
                     integer_of(needed(entry, "least_order"), "least_order", INT64_MAX),
                     integer_of(needed(entry, "order_per_rhs"), "order_per_rhs", INT64_MAX)};
  if (row.precision != 'd' && row.precision != 'z')
    refuse("precision", entry.at("precision"), "d or z");
  return row;
}

CoreRow core_of(const Json& entry) {
  refuse_others(entry, {"precision", "core_gflops", "memory_gbytes"});
  return {precision_of(entry), number_of(entry.at("core_gflops"), "core_gflops", false),
          number_of(needed(entry, "memory_gbytes"), "memory_gbytes", false)};
}

TuningRow row_of(const Json& entry) {
  refuse_others(entry,
                {"routine", "form", "precision", "max_n", "method", "block", "tile", "threads"});
  TuningRow row;
  row.routine = enum_of<Routine>(entry, "routine", kRoutineNames);
  row.form = enum_of<Form>(entry, "form", kFormNames);
  row.precision = precision_of(entry);
  row.max_n = most_of(entry);
  row.plan.method = enum_of<Method>(entry, "method", kMethodNames);
  row.plan.block = knob_of(entry, "block");
  row.plan.tile = knob_of(entry, "tile");
  row.plan.threads = knob_of(entry, "threads");
  return row;
}

/// Characters of a text, counting the lines that were begun.
class CountedText {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedText(const char* at, size_t* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  CountedText& operator++() {
    *line_ += *at_++ == '\n';
    return *this;
  }
  bool operator==(const CountedText& other) const { return at_ == other.at_; }
  bool operator!=(const CountedText& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  size_t* line_;
};

/// A tuning file as JSON, with the line on which each row of `machine` begins.
struct Document {
  Json json;
  std::vector<size_t> lines;

  Document(const std::string& text, const char* machine) {
    constexpr int kOfMachine = 2, kOfRow = 3;  // how deep these lie: in the file, in its "machines"
    size_t line = 1;
    bool is_ours = false;
    const auto see = [&](int depth, Json::parse_event_t event, Json& parsed) {
      if (event == Json::parse_event_t::key && depth == kOfMachine) is_ours = parsed == machine;
      if (event == Json::parse_event_t::object_start && depth == kOfRow && is_ours)
        lines.push_back(line);
      return true;
    };
    const char* const begin = text.c_str();
    json = Json::parse(CountedText(begin, &line), CountedText(begin + text.size(), &line), see);
  }
  size_t line_of(size_t row) const { return row < lines.size() ? lines[row] : 0; }
};

/// The rows of `machine`; nullptr when the file has none.
const Json* rows_of(const Json& document, const char* machine) {
  if (!document.is_object()) throw std::runtime_error("must be an object with \"machines\"");
  constexpr const char* kVersion = CHOL_TEXT(CHOL_VERSION_MAJOR) "." CHOL_TEXT(
      CHOL_VERSION_MINOR) "." CHOL_TEXT(CHOL_VERSION_PATCH);
  if (const Json* written_by = member(document, "chol"); written_by && *written_by != kVersion)
    refuse("chol", *written_by, std::string("\"") + kVersion + "\", the version of this library");
  const Json& machines = needed(document, "machines");
  if (!machines.is_object()) refuse("machines", machines, "an object");
  const Json* rows = member(machines, machine);
  if (rows && !rows->is_array()) refuse(machine, *rows, "an array of rows");
  return rows;
}

/// What nlohmann::json says, without its own numbers: "[json.exception.parse_error.101] parse error
/// at line 1, column 1: ..."
std::string without_code(const char* message) {
  const char* const end = std::strstr(message, "] ");
  return *message == '[' && end ? end + 2 : message;
}

}  // namespace

const char* routine_name(Routine routine) { return kRoutineNames[static_cast<int>(routine)]; }
const char* form_name(Form form) { return kFormNames[static_cast<int>(form)]; }
const char* method_name(Method method) { return kMethodNames[static_cast<int>(method)]; }

size_t TuningStore::key(Routine routine, Form form, char precision) {
  return (static_cast<size_t>(routine) * kFormCount + static_cast<size_t>(form)) * 4 +
         precision_index(precision);
}

void TuningStore::load_rows(const TuningRow* rows, size_t count) {
  for (size_t i = 0; i < count; ++i)
    tables_[key(rows[i].routine, rows[i].form, rows[i].precision)].add(rows[i].max_n, rows[i].plan);
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

bool TuningStore::is_mixed(char precision, int64_t n, int64_t nrhs) const {
  const std::vector<MixedRow>& rows = mixed_[precision_index(precision)];
  return !rows.empty() && rows.back().serves(n, nrhs);
}

void TuningStore::load_cores(const CoreRow* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) cores_[precision_index(rows[i].precision)] = {rows[i]};
}

const CoreRow* TuningStore::core(char precision) const {
  const std::vector<CoreRow>& rows = cores_[precision_index(precision)];
  return rows.empty() ? nullptr : &rows.back();
}

/// What a file lays over the tables of a store: whole keys, and whole precisions of the others.
struct TuningStore::Overlay {
  std::map<size_t, PlanTable> tables;
  std::map<size_t, TuningRow> last;
  std::array<std::vector<RateRow>, 4> rates;
  std::array<std::vector<ResidueRow>, 4> residues;
  std::array<std::vector<MixedRow>, 4> mixed;
  std::array<std::vector<CoreRow>, 4> cores;

  void add_core(const CoreRow& row) {
    std::vector<CoreRow>& rows = cores[precision_index(row.precision)];
    if (!rows.empty()) throw std::runtime_error("a precision has one row of \"core_gflops\"");
    rows.push_back(row);
  }
  void add_mixed(const MixedRow& row) {
    std::vector<MixedRow>& rows = mixed[precision_index(row.precision)];
    if (!rows.empty()) throw std::runtime_error("a precision has one row of \"least_order\"");
    rows.push_back(row);
  }
  void add_residues(const ResidueRow& row) {
    std::vector<ResidueRow>& rows = residues[precision_index(row.precision)];
    if (!rows.empty() && rows.back().least_n >= row.least_n)
      throw std::runtime_error("rows of residues of one precision must ascend in \"least_n\"");
    rows.push_back(row);
  }
  void add_rate(const RateRow& row) {
    std::vector<RateRow>& rows = rates[precision_index(row.precision)];
    if (!rows.empty() && rows.back().max_n >= row.max_n)
      throw std::runtime_error("rates of one precision must ascend in \"max_n\"");
    rows.push_back(row);
  }
  void add_row(const TuningRow& row, const Accepts& accepts) {
    if (!accepts(row)) throw std::runtime_error("this backend cannot run that plan");
    const size_t k = key(row.routine, row.form, row.precision);
    if (last.count(k) && last[k].max_n >= row.max_n)
      throw std::runtime_error("rows of one key must ascend in \"max_n\"");
    last[k] = row;
    tables[k].add(row.max_n, row.plan);
  }
  void check_last(const Accepts& accepts) const {
    for (auto [k, row] : last) {
      row.max_n = INT64_MAX;
      if (!accepts(row))
        throw std::runtime_error(std::string("the last row of ") + routine_name(row.routine) +
                                 ", " + form_name(row.form) + ", " + row.precision +
                                 " covers every larger order, which its method cannot");
    }
  }
};

Status TuningStore::load_file(const char* path, const char* machine, const Accepts& accepts) {
  std::string place;  // of what is being read
  try {
    std::ifstream file(path);
    if (!file)
      return Status::error(CHOL_STATUS_INVALID_VALUE, "tuning file %s: cannot be opened", path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Document document(text, machine);
    Overlay read;
    if (const Json* rows = rows_of(document.json, machine))
      for (size_t i = 0; i < rows->size(); ++i) {
        place = ", line " + std::to_string(document.line_of(i)) + ", row " + std::to_string(i + 1);
        const Json& entry = (*rows)[i];
        if (!entry.is_object()) throw std::runtime_error("must be an object");
        if (entry.contains("gflops"))
          read.add_rate(rate_of(entry));
        else if (entry.contains("core_gflops"))
          read.add_core(core_of(entry));
        else if (entry.contains("least_order"))
          read.add_mixed(mixed_of(entry));
        else if (entry.contains("least_n"))
          read.add_residues(residues_of(entry));
        else
          read.add_row(row_of(entry), accepts);
      }
    place.clear();
    read.check_last(accepts);
    for (auto& [k, table] : read.tables) tables_[k] = std::move(table);
    for (size_t p = 0; p < rates_.size(); ++p)
      if (!read.rates[p].empty()) rates_[p] = std::move(read.rates[p]);
    for (size_t p = 0; p < residues_.size(); ++p)
      if (!read.residues[p].empty()) residues_[p] = std::move(read.residues[p]);
    for (size_t p = 0; p < mixed_.size(); ++p)
      if (!read.mixed[p].empty()) mixed_[p] = std::move(read.mixed[p]);
    for (size_t p = 0; p < cores_.size(); ++p)
      if (!read.cores[p].empty()) cores_[p] = std::move(read.cores[p]);
  } catch (const std::bad_alloc&) {
    return Status::error(CHOL_STATUS_ALLOC_FAILED, "tuning file %s: out of memory", path);
  } catch (const std::exception& error) {
    return Status::error(CHOL_STATUS_INVALID_VALUE, "tuning file %s%s: %s", path, place.c_str(),
                         without_code(error.what()).c_str());
  }
  return Status::success();
}

const PlanTable& TuningStore::plans(Routine routine, Form form, char precision) const {
  return tables_[key(routine, form, precision)];
}

}  // namespace chol
