// TuningStore::load_file.
#include <algorithm>
#include <climits>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "base/scalar.hpp"
#include "chol.h"
#include "tune/file_version.hpp"
#include "tune/store.hpp"

#define CHOL_TEXT_OF(x) #x
#define CHOL_TEXT(x) CHOL_TEXT_OF(x)

namespace chol {
namespace {

constexpr char kPrecisions[] = "sdcz";

using Json = nlohmann::json;
using Methods = std::span<const MethodInfo* const>;

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

/// "a, b or c"
std::string listed(const std::vector<const char*>& names) {
  std::string list = names.empty() ? "" : names[0];
  for (size_t i = 1; i < names.size(); ++i)
    list += std::string(i + 1 < names.size() ? ", " : " or ") + names[i];
  return list;
}

/// The index in `names` of the member's value.
size_t position_of(const Json& entry, const char* key, const std::vector<const char*>& names) {
  const Json& value = needed(entry, key);
  for (size_t i = 0; i < names.size(); ++i)
    if (value == names[i]) return i;
  refuse(key, value, listed(names));
}
template <class Enum>
Enum enum_of(const Json& entry, const char* key, int count, const char* (*name)(Enum)) {
  std::vector<const char*> names;
  names.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) names.push_back(name(static_cast<Enum>(i)));
  return static_cast<Enum>(position_of(entry, key, names));
}

int64_t integer_of(const Json& value, const char* key, int64_t most) {
  const bool fits = value.is_number_unsigned() ? value.get<uint64_t>() <= uint64_t(INT64_MAX)
                                               : value.is_number_integer();
  if (!fits || value.get<int64_t>() < 0 || value.get<int64_t>() > most)
    refuse(key, value, "an integer from 0 to " + std::to_string(most));
  return value.get<int64_t>();
}

/// [least, most], [least] without an upper bound, or [least, most, step]; all values if the member
/// is missing.
Range range_of(const Json& entry, const char* key) {
  const Json* value = member(entry, key);
  if (!value) return {};
  if (!value->is_array() || value->empty() || value->size() > 3)
    refuse(key, *value, "[least, most], [least] or [least, most, step]");
  Range range{integer_of((*value)[0], key, INT64_MAX)};
  if (value->size() >= 2) range.most = integer_of((*value)[1], key, INT64_MAX);
  if (value->size() == 3) range.step = integer_of((*value)[2], key, INT64_MAX);
  if (range.step == 0) refuse(key, *value, "of a step that is not 0");
  if (range.is_empty()) refuse(key, *value, "ascending");
  return range;
}

Only only_of(const Json& entry, const char* key) {
  const Json* value = member(entry, key);
  if (!value) return Only::both;
  if (!value->is_boolean()) refuse(key, *value, "true or false");
  return value->get<bool>() ? Only::with : Only::without;
}

double number_of(const Json& value, const char* key, bool zero_too) {
  if (!value.is_number() || !(value.get<double>() > 0 || (zero_too && value.get<double>() == 0)))
    refuse(key, value, zero_too ? "a number >= 0" : "a number > 0");
  return value.get<double>();
}

char precision_of(const Json& entry) {
  static constexpr const char* kNames[] = {"s", "d", "c", "z"};
  return kPrecisions[position_of(entry, "precision", {std::begin(kNames), std::end(kNames)})];
}

int64_t most_of(const Json& entry) {
  return integer_of(needed(entry, "max_n"), "max_n", INT64_MAX);
}

/// An unknown member would otherwise be ignored silently.
void refuse_others(const Json& entry, std::initializer_list<const char*> keys) {
  for (const auto& item : entry.items()) {
    const std::string& key = item.key();
    if (std::none_of(keys.begin(), keys.end(), [&](const char* known) { return key == known; }))
      throw std::runtime_error("\"" + key.substr(0, 40) + "\" is not a member of a row");
  }
}

RateRow rate_of(const Json& entry) {
  refuse_others(entry, {"precision", "max_n", "gflops", "gbytes_each"});
  const Json* each = member(entry, "gbytes_each");
  return {precision_of(entry), most_of(entry), number_of(entry.at("gflops"), "gflops", false),
          each ? number_of(*each, "gbytes_each", true) : 0};
}

ResidueRow residues_of(const Json& entry) {
  refuse_others(entry, {"precision", "least_n", "panel", "native_columns", "moduli", "by_bytes"});
  const auto integer = [&](const char* key) {
    return integer_of(needed(entry, key), key, int64_t{1} << 30);
  };
  ResidueRow row{precision_of(entry), integer("least_n"), integer("panel"),
                 integer("native_columns")};
  if (const Json* moduli = member(entry, "moduli")) {
    const int most = ResidueRow::most_moduli(row.precision);
    row.moduli = static_cast<int>(integer_of(*moduli, "moduli", most));
    if (row.moduli < most - 1)
      refuse("moduli", *moduli, std::to_string(most - 1) + " or " + std::to_string(most));
  }
  if (const Json* by_bytes = member(entry, "by_bytes")) {
    if (!by_bytes->is_boolean()) refuse("by_bytes", *by_bytes, "true or false");
    row.by_bytes = by_bytes->get<bool>();
  }
  if (row.panel == 0 || row.panel % ResidueRow::kPanelStep != 0)
    refuse("panel", entry.at("panel"), "a multiple of 128");
  return row;
}

MixedRow mixed_of(const Json& entry) {
  refuse_others(entry, {"precision", "least_order", "order_per_rhs", "moduli"});
  MixedRow row{precision_of(entry),
               integer_of(needed(entry, "least_order"), "least_order", INT64_MAX),
               integer_of(needed(entry, "order_per_rhs"), "order_per_rhs", INT64_MAX)};
  if (row.precision != 'd' && row.precision != 'z')
    refuse("precision", entry.at("precision"), "d or z");
  if (const Json* moduli = member(entry, "moduli")) {
    row.moduli = static_cast<int>(integer_of(*moduli, "moduli", MixedRow::kMostModuli));
    if (row.moduli < MixedRow::kLeastModuli) refuse("moduli", *moduli, "4 to 7");
  }
  return row;
}

CoreRow core_of(const Json& entry) {
  refuse_others(entry, {"precision", "core_gflops", "memory_gbytes"});
  return {precision_of(entry), number_of(entry.at("core_gflops"), "core_gflops", false),
          number_of(needed(entry, "memory_gbytes"), "memory_gbytes", false)};
}

Choice choice_of(const Json& entry, Methods methods) {
  std::vector<const char*> names;
  names.reserve(methods.size());
  for (const MethodInfo* method : methods) names.push_back(method->name);
  const MethodInfo& method = *methods[position_of(entry, "method", names)];
  Choice choice(method);
  const Json* params = member(entry, "params");
  if (params && !params->is_object()) refuse("params", *params, "an object");
  for (size_t k = 0; k < method.knobs.size(); ++k) {
    const Knob& knob = method.knobs[k];
    const Json* value = params ? member(*params, knob.name) : nullptr;
    if (value) choice.values[k] = static_cast<int>(integer_of(*value, knob.name, INT_MAX));
    if (choice.values[k] < knob.least || choice.values[k] > knob.most)
      refuse(knob.name, Json(choice.values[k]),
             std::to_string(knob.least) + " to " + std::to_string(knob.most) + ": " + knob.meaning);
  }
  if (params)
    for (const auto& item : params->items())
      if (std::none_of(method.knobs.begin(), method.knobs.end(),
                       [&](const Knob& knob) { return item.key() == knob.name; }))
        throw std::runtime_error("\"" + item.key().substr(0, 40) + "\" is not a parameter of " +
                                 method.name);
  return choice;
}

Row row_of(const Json& entry, Methods methods) {
  refuse_others(entry, {"routine", "form", "precision", "n", "nrhs", "batch", "upper", "aligned",
                        "variable", "method", "params"});
  Row row;
  row.routine = enum_of<Routine>(entry, "routine", kRoutineCount, routine_name);
  row.form = enum_of<Form>(entry, "form", kFormCount, form_name);
  row.precision = precision_of(entry);
  row.cases.n = range_of(entry, "n");
  row.cases.nrhs = range_of(entry, "nrhs");
  row.cases.batch = range_of(entry, "batch");
  row.cases.upper = only_of(entry, "upper");
  row.cases.aligned = only_of(entry, "aligned");
  row.cases.variable = only_of(entry, "variable");
  row.choice = choice_of(entry, methods);
  return row;
}

/// Iterator over a text that counts lines.
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
    constexpr int kOfMachine = 2, kOfRow = 3;  // JSON depths of a machine's name and of its rows
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
  const Json* version = member(document, "version");
  if ((version ? *version : Json(1)) != kTuningFileVersion)
    throw std::runtime_error("the file is of version " +
                             (version ? version->dump().substr(0, 40) : std::string("1")) +
                             ", this library reads version " + std::to_string(kTuningFileVersion) +
                             ": run chol-tune again");
  const Json* rows = member(machines, machine);
  if (rows && !rows->is_array()) refuse(machine, *rows, "an array of rows");
  return rows;
}

/// The message of nlohmann::json without its prefix: "[json.exception.parse_error.101] parse error
/// at line 1, column 1: ..."
std::string without_code(const char* message) {
  const char* const end = std::strstr(message, "] ");
  return *message == '[' && end ? end + 2 : message;
}

}  // namespace

/// Contents of a file by which the tables of a store are replaced: whole keys, and whole precisions
/// of the others.
struct TuningStore::Overlay {
  std::map<size_t, RowTable> tables;
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
  void add_row(const Row& row, const Accepts& accepts) {
    if (!accepts(row))
      throw std::runtime_error(std::string("this backend cannot run ") + row.choice.method->name +
                               " this way for all of these cases");
    tables[key(row.routine, row.form, row.precision)].add(row.cases, row.choice);
  }
};

Status TuningStore::load_file(const char* path, const char* machine, Methods methods,
                              const Accepts& accepts) {
  std::string place;  // of the row being read
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
          read.add_row(row_of(entry, methods), accepts);
      }
    place.clear();
    for (const auto& [k, table] : read.tables) tables_[k].lay(table);
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

}  // namespace chol
