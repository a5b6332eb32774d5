// The environment variables: one table, read by one parser once per process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/selection.hpp"
#include "base/status.hpp"
#include "chol.h"

namespace chol {

inline constexpr int kMostThreads = 65536;
inline constexpr int kMostDevices = 64;

/// Values of the variables. One that is unset, empty or invalid has its default.
struct Environment {
  bool verbose = false;                         ///< CHOL_VERBOSE
  int num_threads = 0;                          ///< CHOL_NUM_THREADS; 0: not said
  std::optional<chol_backend_t> backend;        ///< CHOL_BACKEND
  std::optional<chol_offload_t> offload;        ///< CHOL_OFFLOAD
  int device_count = 0;                         ///< CHOL_DEVICES; 0: not said
  int devices[kMostDevices] = {};               ///< CHOL_DEVICES
  chol_math_mode_t math_mode = CHOL_MATH_IEEE;  ///< CHOL_MATH
  const char* host_isa = nullptr;               ///< CHOL_HOST_ISA: avx512, avx2 or portable
  const char* tuning_file = nullptr;            ///< CHOL_TUNING
  const char* user_tuning_file = nullptr;       ///< where chol-tune writes for this user
  const char* trace_file = nullptr;             ///< CHOL_TRACE
  const char* cuda_plugin = nullptr;            ///< CHOL_CUDA_PLUGIN
  uint32_t routines = kEveryRoutine;  ///< CHOL_PRELOAD: selection_bit() of what is taken over
  bool report = false;                ///< CHOL_REPORT
  const char* report_path = nullptr;  ///< CHOL_REPORT: where; nullptr is stderr
};

/// A row of the table. docs/settings.md has the same rows, which a test compares.
struct Variable {
  const char* name;
  const char* values;     ///< what it must be
  const char* otherwise;  ///< the default
  const char* meaning;
  /// Reads a value that is not empty. Returns false, and changes nothing, when it is none of
  /// `values`.
  bool (*read)(const char* value, Environment& environment);
  bool of_preload_alone;  ///< libchol.so does not read it
};
std::span<const Variable> variables();

/// secure_getenv, so that the caller cannot control a setuid program.
const Environment& environment();

/// An error message for one invalid value.
struct Misreading {
  const Variable* variable = nullptr;
  char sentence[320];
};
/// All of them.
std::span<const Misreading> misreadings();

/// Reads a list of CHOL_PRELOAD: "off", "on", or names of routines with or without the letter of a
/// precision. Returns false, and changes nothing, when a word is none of these.
bool read_routines(const char* value, uint32_t* routines);
/// Syntax of such a list.
inline constexpr const char* kRoutineList = "off, on, or routines such as potrf or dpotrf,dpotrs";

}  // namespace chol
