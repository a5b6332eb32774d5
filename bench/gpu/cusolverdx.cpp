#include "cusolverdx.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cusolverdx_kernel.hpp"

namespace chol::bench::dx {
namespace {

std::string file_of(const Case& what, const std::string& folder) {
  return folder + "/" + what.name() + ".cubins";
}

/// File format: for each variant a line of numbers, then the code. False if it cannot be written.
bool store(const std::vector<Cubin>& cubins, const std::string& path) {
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary);
  for (const auto& [v, code] : cubins)
    file << v.by_thread << ' ' << v.per_block << ' ' << v.ld << ' ' << v.threads << ' '
         << code.size() << '\n'
         << code;
  file.close();
  if (!file) return false;
  std::filesystem::rename(part, path);  // complete or absent
  return true;
}

std::vector<Cubin> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<Cubin> cubins;
  Cubin one;
  Variant& v = one.variant;
  size_t size = 0;
  while (file >> v.by_thread >> v.per_block >> v.ld >> v.threads >> size) {
    file.get();
    one.code.resize(size);
    if (!file.read(one.code.data(), std::streamsize(size))) break;
    cubins.push_back(one);
  }
  return cubins;
}

void check(cudaError_t error, const std::string& doing) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "cusolverdx: %s: %s\n", doing.c_str(), cudaGetErrorString(error));
  std::exit(2);
}

/// False if a process failed.
bool wait_for_one() {
  int status = 0;
  return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string Case::name() const {
  const char* const routines[] = {"potrf", "potrs", "posv"};
  return std::string(routines[int(routine)]) + '_' + precision + '_' + std::to_string(n) + '_' +
         std::to_string(nrhs);
}

size_t shared_bytes(const Case& what, const Variant& variant, int kernel) {
  const size_t n = what.n, nrhs = what.nrhs, count = variant.per_block, size = what.element();
  if (variant.by_thread) return kernel == 0 ? 0 : count * ((n * n | 1) + (n * nrhs | 1)) * size;
  const size_t matrices = (count * n * variant.ld * size + 15) / 16 * 16;
  return matrices + count * n * nrhs * size;
}

bool prepare(const std::vector<Case>& cases, const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::vector<Case> missing;
  for (const Case& c : cases)
    if (!std::filesystem::exists(file_of(c, folder))) missing.push_back(c);
  if (missing.empty()) return true;
  if (const std::string why = builder_missing(); !why.empty()) {
    std::fprintf(stderr, "cusolverdx: %s\n", why.c_str());
    return false;
  }
  // Processes, because libmathdx is not concurrent.
  const size_t most = std::max(1u, std::thread::hardware_concurrency());
  size_t running = 0;
  bool good = true;
  for (const Case& c : missing) {
    if (running == most) good &= wait_for_one(), --running;
    const pid_t child = fork();
    if (child == 0) _exit(store(build(c), file_of(c, folder)) ? 0 : 1);
    if (child < 0) return false;
    ++running;
  }
  for (; running; --running) good &= wait_for_one();
  return good;
}

Kernels::Kernels(const Case& what, const std::string& folder) : case_(what) {
  for (const Cubin& cubin : read(file_of(what, folder))) load(cubin);
}

void Kernels::load(const Cubin& cubin) {
  const std::string doing = case_.name() + ": load";
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, cubin.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        doing);
  libraries_.push_back(library);
  for (int which : {0, 1}) {
    Kernel kernel{nullptr, cubin.variant, which};
    check(cudaLibraryGetKernel(&kernel.code, library, kKernelNames[cubin.variant.by_thread][which]),
          doing);
    const void* const function = kernel.code;
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, function), doing);
    const size_t shared = shared_bytes(case_, cubin.variant, which);
    // Such a block would not start: the function uses additional memory.
    if (shared + attributes.sharedSizeBytes > kSharedBytes) continue;
    check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
          doing);
    kernels_.push_back(kernel);
  }
}

Kernels::~Kernels() {
  for (cudaLibrary_t library : libraries_) cudaLibraryUnload(library);
}

std::string Kernels::name(size_t k) const {
  const auto& [code, v, which] = kernels_[k];
  return std::string(kKernelNames[v.by_thread][which]) + ", " + std::to_string(v.per_block) +
         " a block, ld " + std::to_string(v.ld) + ", " + std::to_string(v.threads) + " threads";
}

void Kernels::launch(size_t k, void* const* A, void* const* B, int* info, int64_t batch,
                     cudaStream_t stream) const {
  const auto& [code, v, which] = kernels_[k];
  const auto blocks = unsigned((batch + v.per_block - 1) / v.per_block);
  int count = int(batch);
  void* arguments[] = {&A, &B, &info, &count};
  check(cudaLaunchKernel(static_cast<const void*>(code), dim3(blocks), dim3(v.threads), arguments,
                         shared_bytes(case_, v, which), stream),
        case_.name() + ": " + name(k));
}

}  // namespace chol::bench::dx
