#include "base/environment.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

namespace chol {
namespace {

bool is_word(std::string_view value, std::string_view word) {
  return value.size() == word.size() && strncasecmp(value.data(), word.data(), word.size()) == 0;
}

/// The number of the word that `value` is, whatever the case of its letters; -1 when it is none.
template <size_t Count>
int word_of(std::string_view value, const char* const (&words)[Count]) {
  for (size_t i = 0; i < Count; ++i)
    if (is_word(value, words[i])) return static_cast<int>(i);
  return -1;
}

bool read_switch(const char* value, bool* on) {
  static constexpr const char* kWords[] = {"0", "1", "off", "on", "no", "yes", "false", "true"};
  const int word = word_of(value, kWords);
  if (word >= 0) *on = word % 2 == 1;
  return word >= 0;
}

bool read_integer(const char* value, int least, int most, int* number) {
  int read = 0;
  const char* const end = value + std::strlen(value);
  const auto [stopped, error] = std::from_chars(value, end, read);
  if (error != std::errc() || stopped != end || read < least || read > most) return false;
  *number = read;
  return true;
}

/// Numbers with commas between them.
bool read_devices(std::string_view value, Environment* read) {
  int numbers[kMostDevices], count = 0;
  for (bool goes_on = true; goes_on;) {
    const std::string part(value.substr(0, value.find(',')));
    goes_on = part.size() < value.size();
    value.remove_prefix(part.size() + (goes_on ? 1 : 0));
    if (count == kMostDevices || !read_integer(part.c_str(), 0, INT_MAX, &numbers[count++]))
      return false;
  }
  std::copy_n(numbers, count, read->devices);
  read->device_count = count;
  return true;
}

/// The bits of one word of CHOL_PRELOAD: "potrf" is all four precisions, "dpotrf" is one.
uint32_t bits_of(std::string_view word) {
  static constexpr const char* kFamilies[] = {"potrf", "potrs", "posv", "potri"};
  const int all = word_of(word, kFamilies);
  const int one = word.empty() ? -1 : word_of(word.substr(1), kFamilies);
  uint32_t bits = 0;
  for (const char letter : std::string_view("sdcz")) {
    if (all >= 0) bits |= selection_bit(static_cast<Family>(all), letter);
    if (one >= 0 && is_word(word.substr(0, 1), {&letter, 1}))
      bits |= selection_bit(static_cast<Family>(one), letter);
  }
  return bits;
}

constexpr Variable kVariables[] = {
    {"CHOL_BACKEND", "host or cuda", "every available backend",
     "the only backend that chol_create opens",
     [](const char* value, Environment& read) {
       static constexpr const char* kWords[] = {"host", "cuda"};
       const int word = word_of(value, kWords);
       if (word >= 0) read.backend = static_cast<chol_backend_t>(word);
       return word >= 0;
     },
     false},
    {"CHOL_NUM_THREADS", "an integer from 0 to 65536", "0: OMP_NUM_THREADS, else the cores",
     "threads of host work, unless set in the handle",
     [](const char* value, Environment& read) {
       return read_integer(value, 0, kMostThreads, &read.num_threads);
     },
     false},
    {"CHOL_OFFLOAD", "never, auto or always", "never; auto under the preload",
     "whether potrf and posv of one matrix in host memory may be done on a CUDA device (preload)",
     [](const char* value, Environment& read) {
       static constexpr const char* kWords[] = {"never", "auto", "always"};
       const int word = word_of(value, kWords);
       if (word >= 0) read.offload = static_cast<chol_offload_t>(word);
       return word >= 0;
     },
     false},
    {"CHOL_DEVICES", "numbers of devices, such as 0 or 0,1", "the current device",
     "the CUDA devices to which host matrices are offloaded; all work on each matrix (preload)",
     [](const char* value, Environment& read) { return read_devices(value, &read); }, false},
    {"CHOL_MATH", "ieee, fast or tensor", "ieee", "the math mode of new handles (numerics)",
     [](const char* value, Environment& read) {
       static constexpr const char* kWords[] = {"ieee", "fast", "tensor"};
       const int word = word_of(value, kWords);
       if (word >= 0) read.math_mode = static_cast<chol_math_mode_t>(word);
       return word >= 0;
     },
     false},
    {"CHOL_VERBOSE", "0 or 1", "0",
     "1 prints one line a call to stderr: the case as a chol-bench command, method, time, rate",
     [](const char* value, Environment& read) { return read_switch(value, &read.verbose); }, false},
    {"CHOL_TUNING", "a tuning file", "the user's own file, if there is one",
     "its rows come before the built-in ones (tuning)",
     [](const char* value, Environment& read) {
       read.tuning_file = value;
       return true;
     },
     false},
    {"CHOL_HOST_ISA", "avx512, avx2 or portable", "the best that the processor supports",
     "the instruction set of the host kernels, at most what the processor supports",
     [](const char* value, Environment& read) {
       static constexpr const char* kWords[] = {"avx512", "avx2", "portable"};
       const int word = word_of(value, kWords);
       if (word >= 0) read.host_isa = kWords[word];
       return word >= 0;
     },
     false},
    {"CHOL_TRACE", "a file that ends in .svg or .json", "none",
     "trace of the tasks of cores and devices, written at exit (threads)",
     [](const char* value, Environment& read) {
       const std::string_view path = value;
       if (!path.ends_with(".svg") && !path.ends_with(".json")) return false;
       read.trace_file = value;
       return true;
     },
     false},
    {"CHOL_CUDA_PLUGIN", "a file", "libchol_cuda.so.0 next to libchol.so", "the CUDA backend",
     [](const char* value, Environment& read) {
       read.cuda_plugin = value;
       return true;
     },
     false},
    {"CHOL_PRELOAD", kRoutineList, "on", "the routines that the preload intercepts (preload)",
     [](const char* value, Environment& read) { return read_routines(value, &read.routines); },
     true},
    {"CHOL_REPORT", "0, 1, a file or a folder", "0",
     "whether the preload reports intercepted calls: 1 on stderr, appended to a file, or for "
     "chol-run "
     "in a folder (preload)",
     [](const char* value, Environment& read) {
       if (read_switch(value, &read.report)) return true;
       read.report = true;
       read.report_path = value;
       return true;
     },
     true},
};

struct Reading {
  Environment environment;
  Misreading misreadings[std::size(kVariables)];
  size_t misread = 0;

  Reading() {
    for (const Variable& variable : kVariables) {
      const char* value = secure_getenv(variable.name);
      if (!value || !*value || variable.read(value, environment)) continue;
      Misreading& told = misreadings[misread++];
      told.variable = &variable;
      std::snprintf(told.sentence, sizeof told.sentence, "%s = %.100s, must be %s", variable.name,
                    value, variable.values);
    }
    environment.user_tuning_file = user_tuning_file();
  }

 private:
  static const char* user_tuning_file() {
    // Never destroyed: handles are made up to the very end of a process.
    static const std::string& file = *new std::string([] {
      const auto text = [](const char* name) {
        const char* value = secure_getenv(name);
        return std::string(value ? value : "");
      };
      const std::string config = text("XDG_CONFIG_HOME"), home = text("HOME");
      if (config.empty() && home.empty()) return std::string();
      return (config.empty() ? home + "/.config" : config) + "/chol/tuning.json";
    }());
    return file.empty() ? nullptr : file.c_str();
  }
};

const Reading& reading() {
  static const Reading once;
  return once;
}

}  // namespace

bool read_routines(const char* value, uint32_t* routines) {
  bool everything = false;
  if (read_switch(value, &everything)) {
    *routines = everything ? kEveryRoutine : 0;
    return true;
  }
  uint32_t bits = 0;
  for (std::string_view rest = value; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find_first_of(", "));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.empty()) continue;
    const uint32_t these = bits_of(word);
    if (these == 0) return false;
    bits |= these;
  }
  if (bits == 0) return false;
  *routines = bits;
  return true;
}

std::span<const Variable> variables() { return kVariables; }
const Environment& environment() { return reading().environment; }
std::span<const Misreading> misreadings() { return {reading().misreadings, reading().misread}; }

}  // namespace chol
