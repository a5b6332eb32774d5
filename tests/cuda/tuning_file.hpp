// A tuning file with rows for the device of this process, which CHOL_TUNING names.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "calls.hpp"

namespace chol::test {

class TuningFile {
 public:
  /// @param rows JSON objects with commas between them
  explicit TuningFile(const std::string& rows)
      : path_((std::filesystem::temp_directory_path() /
               ("chol-rows-" + std::to_string(getpid()) + ".json"))
                  .string()) {
    std::ofstream(path_) << R"({"version": 2, "machines": {}})";
    setenv("CHOL_TUNING", path_.c_str(), 1);
    chol_handle_t handle = nullptr;
    const char* name = "";
    expect_status(nullptr, chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr), "create");
    expect_status(handle, chol_backend_name(handle, CHOL_BACKEND_CUDA, &name), "chol_backend_name");
    const std::string machine = name;
    chol_destroy(handle);
    std::ofstream(path_) << "{\"version\": 2, \"machines\": {\"" << machine << "\": [\n"
                         << rows << "]}}\n";
  }
  ~TuningFile() { std::filesystem::remove(path_); }
  TuningFile(const TuningFile&) = delete;
  TuningFile& operator=(const TuningFile&) = delete;

 private:
  std::string path_;
};

}  // namespace chol::test
