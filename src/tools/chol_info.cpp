// chol-info: the version, the backends, and the source of the tuning rows.
#include <chol.h>
#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/environment.hpp"

namespace {

using Json = nlohmann::ordered_json;

std::string library_version() {
  int part[3] = {0, 0, 0};
  chol_version(&part[0], &part[1], &part[2]);
  return std::to_string(part[0]) + "." + std::to_string(part[1]) + "." + std::to_string(part[2]);
}

std::string library_file() {
  Dl_info found;
  const auto* address = reinterpret_cast<const void*>(&chol_version);
  return dladdr(address, &found) && found.dli_fname ? found.dli_fname : "";
}

/// The processor model as the kernel reports it; empty if unknown (as on Arm).
std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    if (line.rfind("model name", 0) == 0) {
      const size_t colon = line.find(": ");
      return colon == std::string::npos ? "" : line.substr(colon + 2);
    }
  return "";
}

/// The source of the rows of a backend of this name. The library has read the file before, so it is
/// valid.
Json tuning_of(const std::string& backend_name) {
  const char* path = std::getenv("CHOL_TUNING");
  if (!path || !*path) return {{"source", "built-in"}};
  std::ifstream file(path);
  const Json document = Json::parse(file, nullptr, false);
  const bool covered = document.is_object() && document.contains("machines") &&
                       document["machines"].contains(backend_name);
  if (!covered) return {{"source", "built-in"}, {"file_without_this_machine", path}};
  return {{"source", "file"}, {"file", path}, {"rows", document["machines"][backend_name].size()}};
}

Json describe(const char* word, chol_backend_t backend) {
  chol_handle_t handle = nullptr;
  const chol_status_t status = chol_create_on(&handle, backend, 0, nullptr);
  if (status != CHOL_STATUS_SUCCESS)
    return {{"backend", word},
            {"available", false},
            {"status", chol_status_string(status)},
            {"reason", chol_last_error(nullptr)}};
  const char* text = "";
  int threads = 0;
  chol_backend_name(handle, backend, &text);
  chol_get_num_threads(handle, &threads);
  const std::string name = text;
  Json made = {{"backend", word}, {"available", true}, {"name", name}};
  if (backend == CHOL_BACKEND_HOST) {
    made["isa"] = name.substr(name.rfind(' ') + 1);
    made["device"] = cpu_model();
    made["threads"] = threads;
  }
  made["tuning"] = tuning_of(name);
  chol_destroy(handle);
  return made;
}

Json report() {
  Json environment = Json::object();
  for (const chol::Variable& variable : chol::variables())
    if (const char* value = std::getenv(variable.name)) environment[variable.name] = value;
  return {{"version", library_version()},
          {"library", library_file()},
          {"backends", {describe("host", CHOL_BACKEND_HOST), describe("cuda", CHOL_BACKEND_CUDA)}},
          {"environment", environment}};
}

void print_line(const std::string& label, const std::string& text) {
  std::cout << label << std::string(label.size() < 12 ? 12 - label.size() : 1, ' ') << text << '\n';
}

std::string tuning_text(const Json& tuning) {
  if (tuning["source"] == "file")
    return tuning["file"].get<std::string>() + " (" + std::to_string(tuning["rows"].get<int>()) +
           " rows)";
  if (tuning.contains("file_without_this_machine"))
    return "built-in; " + tuning["file_without_this_machine"].get<std::string>() +
           " has no rows for this machine";
  return "built-in";
}

void print_backend(const Json& backend) {
  const auto word = backend["backend"].get<std::string>();
  if (!backend["available"].get<bool>()) {
    print_line(word, "not available: " + backend["reason"].get<std::string>());
    return;
  }
  print_line(word, backend["name"].get<std::string>());
  if (backend.contains("isa")) {
    if (!backend["device"].get<std::string>().empty())
      print_line("  device", backend["device"].get<std::string>());
    print_line("  isa", backend["isa"].get<std::string>());
    print_line("  threads", std::to_string(backend["threads"].get<int>()));
  }
  print_line("  tuning", tuning_text(backend["tuning"]));
}

void print_text(const Json& all) {
  print_line("chol", all["version"].get<std::string>());
  print_line("library", all["library"].get<std::string>());
  for (const Json& backend : all["backends"]) print_backend(backend);
  for (const auto& [name, value] : all["environment"].items())
    std::cout << name << '=' << value.get<std::string>() << '\n';
}

/// The end of `chol-info --help`: the table of the environment.
std::string describe_variables() {
  std::string text = "Environment:\n";
  for (const chol::Variable& variable : chol::variables())
    text += std::string("  ") + variable.name + " = " + variable.values + "; default " +
            variable.otherwise + ":\n      " + variable.meaning + "\n";
  return text;
}

/// A missing device is no error; a failing host backend, or any other failure, is.
bool healthy(const Json& all) {
  for (const Json& backend : all["backends"])
    if (!backend["available"].get<bool>() && backend["status"] != "CHOL_STATUS_NO_DEVICE")
      return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Prints the version, the backends and the source of the tuning rows."};
  app.name("chol-info");
  bool as_json = false;
  app.add_flag("--json", as_json, "Print one JSON object");
  app.set_version_flag("--version", "chol-info " + library_version());
  app.footer(describe_variables());
  CLI11_PARSE(app, argc, argv);

  const Json all = report();
  if (as_json)
    std::cout << all.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  else
    print_text(all);
  return healthy(all) ? 0 : 1;
}
