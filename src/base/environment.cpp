#include "base/environment.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

namespace chol {
namespace {

Environment read_environment() {
  Environment read;
  const char* verbose = secure_getenv("CHOL_VERBOSE");
  read.verbose = verbose && *verbose && std::strcmp(verbose, "0") != 0;
  if (const char* threads = secure_getenv("CHOL_NUM_THREADS")) {
    const long count = std::strtol(threads, nullptr, 10);
    read.num_threads = count >= 1 && count <= 1 << 16 ? static_cast<int>(count) : 0;
  }
  const auto text = [](const char* name) {
    const char* value = secure_getenv(name);
    return value && *value ? value : nullptr;
  };
  read.backend = text("CHOL_BACKEND");
  read.tuning_file = text("CHOL_TUNING");
  read.host_isa = text("CHOL_HOST_ISA");
  read.offload = offload_mode(text("CHOL_OFFLOAD"), CHOL_OFFLOAD_NEVER, read.verbose);
  static const std::string user_file = [&] {
    const char *config = text("XDG_CONFIG_HOME"), *home = text("HOME");
    const std::string base = config ? config : home ? std::string(home) + "/.config" : "";
    return base.empty() ? base : base + "/chol/tuning.json";
  }();
  if (!user_file.empty()) read.user_tuning_file = user_file.c_str();
  return read;
}

}  // namespace

const Environment& environment() {
  static const Environment read = read_environment();
  return read;
}

}  // namespace chol
