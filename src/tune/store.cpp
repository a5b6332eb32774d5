#include "tune/store.hpp"

#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/scalar.hpp"

#define CHOL_TEXT_OF(x) #x
#define CHOL_TEXT(x) CHOL_TEXT_OF(x)

namespace chol {
namespace {

constexpr const char* kRoutineNames[] = {"potrf", "potrs",  "posv", "potri",
                                         "pocon", "logdet", "pack", "unpack"};
constexpr const char* kFormNames[] = {"one", "batch", "interleaved"};
constexpr const char* kMethodNames[] = {"lanes", "panel",   "tiles",
                                        "fused", "blocked", "blas_tiles"};
constexpr char kPrecisions[] = "sdcz";

template <class Enum, size_t Count>
Enum enum_of(const char* const (&names)[Count], const std::string& name) {
  for (size_t i = 0; i < Count; ++i)
    if (name == names[i]) return static_cast<Enum>(i);
  throw std::runtime_error("unknown name \"" + name + "\"");
}

char precision_of(const nlohmann::json& entry) {
  const std::string precision = entry.at("precision").get<std::string>();
  if (precision.size() != 1 || !std::strchr(kPrecisions, precision[0]))
    throw std::runtime_error("precision must be one of s, d, c, z");
  return precision[0];
}

RateRow rate_of(const nlohmann::json& entry) {
  const RateRow row{precision_of(entry), entry.at("max_n").get<int64_t>(),
                    entry.at("gflops").get<double>(), entry.value("gbytes_each", 0.0)};
  if (!(row.gflops > 0 && row.gbytes_each >= 0))
    throw std::runtime_error("gflops must be above 0, gbytes_each at least 0");
  return row;
}

TuningRow row_of(const nlohmann::json& entry) {
  TuningRow row;
  row.routine = enum_of<Routine>(kRoutineNames, entry.at("routine").get<std::string>());
  row.form = enum_of<Form>(kFormNames, entry.at("form").get<std::string>());
  row.precision = precision_of(entry);
  row.max_n = entry.at("max_n").get<int64_t>();
  row.plan.method = enum_of<Method>(kMethodNames, entry.at("method").get<std::string>());
  row.plan.block = entry.value("block", 0);
  row.plan.tile = entry.value("tile", 0);
  row.plan.threads = entry.value("threads", 0);
  return row;
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

Status TuningStore::load_file(const char* path, const char* machine,
                              const std::function<bool(const TuningRow&)>& accepts) {
  size_t entry_number = 0;
  try {
    std::ifstream file(path);
    if (!file)
      return Status::error(CHOL_STATUS_INVALID_VALUE, "tuning file %s: cannot be opened", path);
    const nlohmann::json document = nlohmann::json::parse(file);
    constexpr const char* kVersion = CHOL_TEXT(CHOL_VERSION_MAJOR) "." CHOL_TEXT(
        CHOL_VERSION_MINOR) "." CHOL_TEXT(CHOL_VERSION_PATCH);
    const std::string written_by = document.value("chol", kVersion);
    if (written_by != kVersion)
      throw std::runtime_error("written for chol " + written_by + ", this is " + kVersion);
    const nlohmann::json& machines = document.at("machines");
    if (!machines.contains(machine)) return Status::success();
    std::map<size_t, PlanTable> replaced;
    std::map<size_t, TuningRow> last;
    std::array<std::vector<RateRow>, 4> rates;
    for (const nlohmann::json& entry : machines.at(machine)) {
      ++entry_number;
      if (entry.contains("gflops")) {
        const RateRow row = rate_of(entry);
        std::vector<RateRow>& rows = rates[precision_index(row.precision)];
        if (!rows.empty() && rows.back().max_n >= row.max_n)
          throw std::runtime_error("rates of one precision must ascend in max_n");
        rows.push_back(row);
        continue;
      }
      const TuningRow row = row_of(entry);
      if (!accepts(row)) throw std::runtime_error("this backend cannot run that plan");
      const size_t k = key(row.routine, row.form, row.precision);
      if (last.count(k) && last[k].max_n >= row.max_n)
        throw std::runtime_error("rows of one key must ascend in max_n");
      last[k] = row;
      replaced[k].add(row.max_n, row.plan);
    }
    for (auto& [k, row] : last) {
      row.max_n = INT64_MAX;
      if (!accepts(row))
        throw std::runtime_error(std::string("the last row of ") + routine_name(row.routine) +
                                 ", " + form_name(row.form) + ", " + row.precision +
                                 " covers every larger order, which its method cannot");
    }
    for (auto& [k, table] : replaced) tables_[k] = std::move(table);
    for (size_t p = 0; p < rates.size(); ++p)
      if (!rates[p].empty()) rates_[p] = std::move(rates[p]);
  } catch (const std::bad_alloc&) {
    return Status::error(CHOL_STATUS_ALLOC_FAILED, "tuning file %s: out of memory", path);
  } catch (const std::exception& error) {
    return Status::error(CHOL_STATUS_INVALID_VALUE, "tuning file %s, row %zu: %s", path,
                         entry_number, error.what());
  }
  return Status::success();
}

const PlanTable& TuningStore::plans(Routine routine, Form form, char precision) const {
  return tables_[key(routine, form, precision)];
}

}  // namespace chol
