#include "preload/settings.hpp"

#include <sys/stat.h>

#include <cstdio>

#include "base/environment.hpp"

namespace chol::preload {

namespace {

bool is_folder(const char* path) {
  struct stat found;
  return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

}  // namespace

Settings read_settings() {
  for (const Misreading& misreading : misreadings())
    std::fprintf(stderr, "chol: %s (default: %s)\n", misreading.sentence,
                 misreading.variable->otherwise);
  const Environment& read = environment();
  return {.selected = read.routines,
          .offload = read.offload.value_or(CHOL_OFFLOAD_AUTO),
          .sets_threads = read.num_threads > 0,
          .report = read.report || read.verbose,
          .report_path = read.report_path,
          .report_in_folder = read.report_path && is_folder(read.report_path)};
}

}  // namespace chol::preload
