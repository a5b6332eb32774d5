#include "catalog.hpp"

#include <algorithm>
#include <filesystem>

namespace chol::bench {
namespace {

namespace fs = std::filesystem;

/// Full names, since libblas.so.3 may be any of them (update-alternatives).
fs::path system_library(const char* name) { return fs::path(CHOL_BENCH_LIBRARY_FOLDER) / name; }

/// One choice a line, each a list of libraries that must all exist.
std::vector<std::string> first_here(const std::vector<std::vector<const char*>>& choices) {
  for (const auto& choice : choices) {
    std::vector<std::string> paths;
    for (const char* name : choice)
      if (fs::exists(system_library(name))) paths.push_back(system_library(name));
    if (paths.size() == choice.size()) return paths;
  }
  return {};
}

std::string mkl_library(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().rfind("libmkl_rt.so", 0) == 0) return entry.path();
  return {};
}

bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

}  // namespace

const std::vector<std::string>& peer_names() {
  static const std::vector<std::string> names = {"reference", "openblas",    "openblas-skx",
                                                 "blis",      "eigen",       "eigen-fixed",
                                                 "mkl",       "mkl-compact", "chol-other"};
  return names;
}

Kind kind_of(const std::string& name) {
  if (name.rfind("chol", 0) == 0) return Kind::chol;
  if (name == "eigen") return Kind::eigen;
  if (name == "eigen-fixed") return Kind::eigen_fixed;
  return name == "mkl-compact" ? Kind::mkl_compact : Kind::lapack;
}

std::string set_threads_of(const std::string& name) {
  if (name.rfind("openblas", 0) == 0) return "openblas_set_num_threads";
  if (name == "blis") return "bli_thread_set_num_threads";
  return name == "mkl" ? "MKL_Set_Num_Threads" : "";
}

Contestant chol_contestant(const std::string& name, const std::string& library) {
  return {name, Kind::chol, {library}, "", {}};
}

std::vector<Contestant> peers_here(const Places& places) {
  std::vector<Contestant> peers;
  const auto add = [&](const char* name, std::vector<std::string> libraries,
                       std::vector<std::pair<std::string, std::string>> environment = {}) {
    peers.push_back(
        {name, kind_of(name), std::move(libraries), set_threads_of(name), std::move(environment)});
  };
  const auto reference = first_here({{"blas/libblas.so.3", "lapack/liblapack.so.3"}});
  if (!reference.empty()) add("reference", reference);
  const auto openblas =
      first_here({{"openblas-pthread/libopenblas.so.0"}, {"openblas-openmp/libopenblas.so.0"}});
  if (!openblas.empty()) {
    add("openblas", openblas);
    // 0.3.21 selects AVX2 kernels on AVX-512 machines that it does not recognize.
    if (has_avx512()) add("openblas-skx", openblas, {{"OPENBLAS_CORETYPE", "SKYLAKEX"}});
  }
  const auto blis = first_here({{"blis-openmp/libblis.so.4", "libflame.so.1"},
                                {"blis-pthread/libblis.so.4", "libflame.so.1"}});
  if (!blis.empty()) {
    // 0 is skx, which BLIS 0.9 does not choose on its own for AVX-512 machines of AMD.
    if (has_avx512())
      add("blis", blis, {{"BLIS_ARCH_TYPE", "0"}});
    else
      add("blis", blis);
  }
  add("eigen", {});
  add("eigen-fixed", {});
  const std::string mkl = places.mkl.empty() ? std::string() : mkl_library(places.mkl);
  if (!mkl.empty()) {
    add("mkl", {mkl}, {{"MKL_THREADING_LAYER", "GNU"}, {"MKL_INTERFACE_LAYER", "LP64"}});
    add("mkl-compact", {mkl},
        {{"MKL_THREADING_LAYER", "SEQUENTIAL"}, {"MKL_INTERFACE_LAYER", "LP64"}});
  }
  return peers;
}

}  // namespace chol::bench
