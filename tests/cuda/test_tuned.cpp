// Tuning files that name interleaved kernels which are not built: correct results with and without
// a run-time compiler.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "compile/nvrtc.hpp"
#include "interleaved/jit/request.hpp"
#include "interleaved_choices.hpp"
#include "interleaved_suite.hpp"

namespace chol::test {
namespace {

using cuda::columns, cuda::registers, cuda::shared, cuda::tiled;

struct Case {
  const char* precisions;
  Choice choice;
  int n;
};
constexpr Case kCases[] = {{"z", registers(64), 10},         {"s", registers(32), 22},
                           {"dc", registers(32), 15},        {"sdc", columns(5, 0), 17},
                           {"z", columns(3, 0), 13},         {"d", columns(0, 0), 33},
                           {"sdcz", columns(8, 2), 15},      {"dz", columns(9, 4), 23},
                           {"sc", columns(13, 8), 27},       {"s", columns(0, 0), 44},
                           {"sdcz", shared(5, 8, 64), 37},   {"sdcz", shared(6, 4, 96), 50},
                           {"dcz", shared(1, 2, 32), 21},    {"sdcz", shared(7, 4, 256), 64},
                           {"sdcz", tiled(8, 2, 0, 32), 37}, {"sdcz", tiled(3, 1, 0, 128), 29},
                           {"dz", tiled(6, 0, 0, 256), 23},  {"sz", tiled(1, 2, 0, 64), 9},
                           {"sd", tiled(4, 0, 1, 64), 19},   {"c", tiled(2, 1, 1, 32), 15},
                           {"dz", tiled(8, 2, 1, 64), 13}};

int64_t shared_limit() {
  int device = 0, bytes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return bytes;
}

/// The tuning file that the environment names before the first call, with one choice.
class ChoiceFile {
 public:
  explicit ChoiceFile(const std::string& folder) : path_(folder + "/plans.json") {
    setenv("CHOL_TUNING", path_.c_str(), 1);
    std::ofstream(path_) << "{\"version\": 2, \"machines\": {}}";
  }
  /// The choice for orders up to c.n of every routine with such a kernel. @return rows that name
  /// it.
  int write(const std::string& machine, char precision, const Case& c) const {
    int rows = 0;
    std::string text = "{\"version\": 2, \"machines\": {\"" + machine + "\": [";
    for (const Routine routine : {Routine::potrf, Routine::potrs, Routine::posv}) {
      const cuda::KernelKind kind{routine, precision};
      if (!cuda::can_compile(kind, c.choice, c.n, shared_limit())) continue;
      text += rows++ ? ",\n" : "\n";
      text += row(routine, precision, c);
    }
    std::ofstream(path_) << text << "]}}\n";
    return rows;
  }

 private:
  static std::string row(Routine routine, char precision, const Case& c) {
    const char* name = routine == Routine::potrf   ? "potrf"
                       : routine == Routine::potrs ? "potrs"
                                                   : "posv";
    const bool of_one = cuda::is_of_one_rhs(routine, c.choice);
    return std::string(R"({"routine": ")") + name + R"(", "form": "interleaved", "precision": ")" +
           precision + R"(", "n": [0, )" + std::to_string(c.n) +
           (of_one ? R"(], "nrhs": [1, 1)" : "") + R"(], "method": ")" + c.choice.method->name +
           R"(", "params": {)" + params_of(c.choice) + "}}";
  }
  static std::string params_of(const Choice& choice) {
    std::string text;
    for (size_t k = 0; k < choice.method->knobs.size(); ++k)
      text += (k ? ", \"" : "\"") + std::string(choice.method->knobs[k].name) +
              "\": " + std::to_string(choice.values[k]);
    return text;
  }
  std::string path_;
};

chol_handle_t create(chol_backend_t backend) {
  chol_handle_t handle = nullptr;
  if (chol_create_on(&handle, backend, 0, nullptr) == CHOL_STATUS_SUCCESS) return handle;
  ++failures;
  std::printf("FAILED chol_create_on: %s\n", chol_last_error(nullptr));
  return nullptr;
}

template <class T>
void run_case(const Case& c, chol_handle_t host) {
  const chol_handle_t handle = create(CHOL_BACKEND_CUDA);
  if (!handle) return;
  for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
    const Suite<T> suite{handle, host, uplo};
    suite.graph(c.n);  // first: the kernel is compiled during a stream capture
    for (const int64_t chunk : {8, 32, 33}) suite.all_routines(c.n, chunk, 67);
    // The others have one instance an order, each compiled in seconds.
    const bool looped = c.choice.is(cuda::kInterleavedTiled) && c.choice.at(2) == 0;
    if (c.choice.is(cuda::kInterleavedShared) || looped) suite.all_routines(c.n - 3, 32, 45);
    suite.bad_pivots(c.n, 32);
  }
  chol_destroy(handle);
}

void run_cases(const ChoiceFile& file, chol_handle_t host) {
  const chol_handle_t first = create(CHOL_BACKEND_CUDA);
  if (!first) return;
  const char* name = "";
  chol_backend_name(first, CHOL_BACKEND_CUDA, &name);
  const std::string machine = name;
  chol_destroy(first);
  for (const Case& c : kCases)
    for (const char* p = c.precisions; *p; ++p) {
      const int rows = file.write(machine, *p, c);
      if (*p == 's') run_case<float>(c, host);
      if (*p == 'd') run_case<double>(c, host);
      if (*p == 'c') run_case<std::complex<float>>(c, host);
      if (*p == 'z') run_case<std::complex<double>>(c, host);
      char text[160];
      print_choice(text, sizeof text, c.choice);
      std::printf("%c n %d %s: %d rows, %d failures so far\n", *p, c.n, text, rows, failures);
      std::fflush(stdout);
    }
}

size_t kept_kernels(const std::string& folder) {
  size_t count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    count += entry.path().extension() == ".cubin";
  return count;
}

}  // namespace
}  // namespace chol::test

int main() {
  using namespace chol::test;
  if (!device_present()) return 0;
  std::string folder = std::filesystem::temp_directory_path() / "chol_tuned_XXXXXX";
  if (!mkdtemp(folder.data())) return 2;
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  const ChoiceFile file(folder);
  const chol_handle_t host = create(CHOL_BACKEND_HOST);
  run_cases(file, host);
  chol_destroy(host);
  const size_t kept = kept_kernels(folder + "/chol");
  const bool compiler = chol::cuda::nvrtc_version() > 0;
  std::printf("%zu kernels compiled, NVRTC %d\n", kept, chol::cuda::nvrtc_version());
  if (compiler && kept == 0) ++failures;
  std::filesystem::remove_all(folder);
  std::printf(failures ? "FAILED: %d\n" : "PASSED\n", failures);
  return failures != 0;
}
