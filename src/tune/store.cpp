#include "tune/store.hpp"

#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#define CHOL_TEXT_OF(x) #x
#define CHOL_TEXT(x) CHOL_TEXT_OF(x)

namespace chol {
namespace {

constexpr const char* kRoutineNames[] = {"potrf", "potrs",  "posv", "potri",
                                         "pocon", "logdet", "pack", "unpack"};
constexpr const char* kFormNames[] = {"one", "batch", "interleaved"};
constexpr const char* kMethodNames[] = {"lanes", "panel", "tiles", "fused", "blocked"};
constexpr char kPrecisions[] = "sdcz";

template <class Enum, size_t Count>
Enum enum_of(const char* const (&names)[Count], const std::string& name) {
  for (size_t i = 0; i < Count; ++i)
    if (name == names[i]) return static_cast<Enum>(i);
  throw std::runtime_error("unknown name \"" + name + "\"");
}

TuningRow row_of(const nlohmann::json& entry) {
  TuningRow row;
  row.routine = enum_of<Routine>(kRoutineNames, entry.at("routine").get<std::string>());
  row.form = enum_of<Form>(kFormNames, entry.at("form").get<std::string>());
  const std::string precision = entry.at("precision").get<std::string>();
  if (precision.size() != 1 || !std::strchr(kPrecisions, precision[0]))
    throw std::runtime_error("precision must be one of s, d, c, z");
  row.precision = precision[0];
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
  size_t letter = 0;
  while (kPrecisions[letter] != precision) ++letter;
  return (static_cast<size_t>(routine) * kFormCount + static_cast<size_t>(form)) * 4 + letter;
}

void TuningStore::load_rows(const TuningRow* rows, size_t count) {
  for (size_t i = 0; i < count; ++i)
    tables_[key(rows[i].routine, rows[i].form, rows[i].precision)].add(rows[i].max_n, rows[i].plan);
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
    for (const nlohmann::json& entry : machines.at(machine)) {
      ++entry_number;
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
