// Tuning files that name interleaved kernels which are not built: right results, whether the
// machine has a compiler for them or not.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "compile/nvrtc.hpp"
#include "interleaved/jit/request.hpp"
#include "interleaved_suite.hpp"

namespace chol::test {
namespace {

struct Case {
  const char* precisions;
  Plan plan;
  int n;
};
constexpr Case kCases[] = {
    {"z", {Method::lanes, 0, 0, 64}, 10},      {"s", {Method::lanes, 0, 0, 32}, 22},
    {"dc", {Method::lanes, 0, 0, 32}, 15},     {"sdc", {Method::panel, 5, 0, 0}, 17},
    {"z", {Method::panel, 3, 0, 0}, 13},       {"d", {Method::panel, 0, 0, 0}, 33},
    {"sdcz", {Method::panel, 8, 2, 0}, 15},    {"dz", {Method::panel, 9, 4, 0}, 23},
    {"sc", {Method::panel, 13, 8, 0}, 27},     {"s", {Method::panel, 0, 0, 0}, 44},
    {"sdcz", {Method::fused, 5, 8, 64}, 37},   {"sdcz", {Method::fused, 6, 4, 96}, 50},
    {"dcz", {Method::fused, 1, 2, 32}, 21},    {"sdcz", {Method::fused, 7, 4, 256}, 64},
    {"sdcz", {Method::blocked, 8, 2, 32}, 37}, {"sdcz", {Method::blocked, 3, 1, 128}, 29},
    {"dz", {Method::blocked, 6, 0, 256}, 23},  {"sz", {Method::blocked, 1, 2, 0}, 9},
    {"sd", {Method::blocked, 4, 3, 64}, 19},   {"c", {Method::blocked, 2, 4, 32}, 15},
    {"dz", {Method::blocked, 8, 5, 0}, 13}};

int64_t shared_limit() {
  int device = 0, bytes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return bytes;
}

/// The tuning file that the process was told of before its first call, with one plan in it.
class PlanFile {
 public:
  explicit PlanFile(const std::string& folder) : path_(folder + "/plans.json") {
    setenv("CHOL_TUNING", path_.c_str(), 1);
    std::ofstream(path_) << "{\"version\": 2, \"machines\": {}}";
  }
  /// The plan for orders up to c.n of every routine that has such a kernel.
  /// @return rows that name it.
  int write(const std::string& machine, char precision, const Case& c) const {
    int rows = 0;
    std::string text = "{\"version\": 2, \"machines\": {\"" + machine + "\": [";
    for (const Routine routine : {Routine::potrf, Routine::potrs, Routine::posv}) {
      const cuda::KernelKind kind{routine, precision};
      if (!cuda::can_compile(kind, c.plan, c.n, shared_limit())) continue;
      const char* name = routine == Routine::potrf   ? "potrf"
                         : routine == Routine::potrs ? "potrs"
                                                     : "posv";
      text += rows++ ? ",\n" : "\n";
      text += row(name, precision, c.n, c.plan);
    }
    std::ofstream(path_) << text << "]}}\n";
    return rows;
  }

 private:
  static std::string row(const char* routine, char precision, int64_t max_n, const Plan& plan) {
    const char* method = plan.method == Method::lanes   ? "lanes"
                         : plan.method == Method::panel ? "panel"
                         : plan.method == Method::fused ? "fused"
                                                        : "blocked";
    return std::string(R"({"routine": ")") + routine +
           R"(", "form": "interleaved", "precision": ")" + precision + R"(", "n": [0, )" +
           std::to_string(max_n) + R"(], "method": ")" + method + R"(", "params": {"block": )" +
           std::to_string(plan.block) + R"(, "tile": )" + std::to_string(plan.tile) +
           R"(, "threads": )" + std::to_string(plan.threads) + "}}";
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
    suite.graph(c.n);  // first: the kernel comes to be while a stream is captured
    for (const int64_t chunk : {8, 32, 33}) suite.all_routines(c.n, chunk, 67);
    // The others have an instance an order, to be compiled for seconds.
    const bool looped = c.plan.method == Method::blocked && c.plan.tile < 3;
    if (c.plan.method == Method::fused || looped) suite.all_routines(c.n - 3, 32, 45);
    suite.bad_pivots(c.n, 32);
  }
  chol_destroy(handle);
}

void run_cases(const PlanFile& file, chol_handle_t host) {
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
      std::printf("%c n %d method %d block %d tile %d threads %d: %d rows, %d failures so far\n",
                  *p, c.n, int(c.plan.method), c.plan.block, c.plan.tile, c.plan.threads, rows,
                  failures);
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
  const PlanFile file(folder);
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
