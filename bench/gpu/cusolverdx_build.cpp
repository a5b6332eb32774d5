#include "cusolverdx.hpp"

#ifndef CHOL_BENCH_LIBMATHDX

namespace chol::bench::dx {
std::string builder_missing() { return "cuSOLVERDx is not built in: no libcusolverdx.h was found"; }
std::vector<Cubin> build(const Case&) { return {}; }
}  // namespace chol::bench::dx

#else

#include <dlfcn.h>
#include <libcusolverdx.h>
#include <nvJitLink.h>
#include <nvrtc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/symbol.hpp"
#include "cusolverdx_kernel.hpp"

namespace chol::bench::dx {
namespace {

struct Mathdx {
  bool opened = false;
  decltype(&cusolverdxCreateDescriptor) create;
  decltype(&cusolverdxDestroyDescriptor) destroy;
  decltype(&cusolverdxSetOptionStr) set_option;
  decltype(&cusolverdxSetOperatorInt64) set;
  decltype(&cusolverdxSetOperatorInt64s) set_several;
  decltype(&cusolverdxGetTraitInt64) trait;
  decltype(&cusolverdxGetTraitInt64s) trait_of_several;
  decltype(&cusolverdxGetLTOIRSize) code_size;
  decltype(&cusolverdxGetLTOIR) code;
  decltype(&cusolverdxGetUniversalFATBINSize) fatbin_size;
  decltype(&cusolverdxGetUniversalFATBIN) fatbin;
};

Mathdx open_mathdx() {
  const char* named = std::getenv("CHOL_LIBMATHDX");
  void* library = dlopen(named ? named : "libmathdx.so.0", RTLD_NOW | RTLD_LOCAL);
  Mathdx m;
  m.opened = library && find_symbol(library, "cusolverdxCreateDescriptor", m.create) &&
             find_symbol(library, "cusolverdxDestroyDescriptor", m.destroy) &&
             find_symbol(library, "cusolverdxSetOptionStr", m.set_option) &&
             find_symbol(library, "cusolverdxSetOperatorInt64", m.set) &&
             find_symbol(library, "cusolverdxSetOperatorInt64s", m.set_several) &&
             find_symbol(library, "cusolverdxGetTraitInt64", m.trait) &&
             find_symbol(library, "cusolverdxGetTraitInt64s", m.trait_of_several) &&
             find_symbol(library, "cusolverdxGetLTOIRSize", m.code_size) &&
             find_symbol(library, "cusolverdxGetLTOIR", m.code) &&
             find_symbol(library, "cusolverdxGetUniversalFATBINSize", m.fatbin_size) &&
             find_symbol(library, "cusolverdxGetUniversalFATBIN", m.fatbin);
  return m;
}

const Mathdx& mathdx() {
  static const Mathdx opened = open_mathdx();
  return opened;
}

/// One device function of cuSOLVERDx.
class Function {
 public:
  Function(const Case& what, bool by_thread, int per_block, int ld) {
    good_ = mathdx().create(&descriptor_) == COMMONDX_SUCCESS;
    if (!good_) return;
    good_ = mathdx().set_option(descriptor_, COMMONDX_OPTION_SYMBOL_NAME, kFunction) ==
            COMMONDX_SUCCESS;
    const bool is_single = what.precision == 's' || what.precision == 'c';
    const bool is_real = what.precision == 's' || what.precision == 'd';
    const cusolverdxFunction functions[] = {CUSOLVERDX_FUNCTION_POTRF, CUSOLVERDX_FUNCTION_POTRS,
                                            CUSOLVERDX_FUNCTION_POSV};
    set(CUSOLVERDX_OPERATOR_FUNCTION, functions[int(what.routine)]);
    set(CUSOLVERDX_OPERATOR_SIZE, {what.n, what.n, std::max(what.nrhs, 1)});
    set(CUSOLVERDX_OPERATOR_TYPE, is_real ? CUSOLVERDX_TYPE_REAL : CUSOLVERDX_TYPE_COMPLEX);
    set(CUSOLVERDX_OPERATOR_PRECISION, is_single ? COMMONDX_PRECISION_F32 : COMMONDX_PRECISION_F64);
    set(CUSOLVERDX_OPERATOR_SM, 10 * kCapability);
    set(CUSOLVERDX_OPERATOR_API, CUSOLVERDX_API_SMEM);
    set(CUSOLVERDX_OPERATOR_ARRANGEMENT, CUSOLVERDX_ARRANGEMENT_COL_MAJOR);
    set(CUSOLVERDX_OPERATOR_FILL_MODE, CUSOLVERDX_FILL_MODE_LOWER);
    set(CUSOLVERDX_OPERATOR_EXECUTION,
        by_thread ? COMMONDX_EXECUTION_THREAD : COMMONDX_EXECUTION_BLOCK);
    if (!by_thread && per_block) set(CUSOLVERDX_OPERATOR_BATCHES_PER_BLOCK, per_block);
    if (ld != what.n && what.solves()) set(CUSOLVERDX_OPERATOR_LEADING_DIMENSION, {ld, what.n});
    if (ld != what.n && !what.solves())
      set(CUSOLVERDX_OPERATOR_LEADING_DIMENSION, std::vector<long long>{ld});
  }
  ~Function() { mathdx().destroy(descriptor_); }
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  int suggested_per_block() const {
    long long count = 0;
    const auto type = CUSOLVERDX_TRAIT_SUGGESTED_BATCHES_PER_BLOCK;
    return good_ && mathdx().trait(descriptor_, type, &count) == COMMONDX_SUCCESS ? int(count) : 0;
  }
  int suggested_threads() const {
    long long block[3] = {};
    const auto type = CUSOLVERDX_TRAIT_SUGGESTED_BLOCK_DIM;
    const bool known =
        good_ && mathdx().trait_of_several(descriptor_, type, 3, block) == COMMONDX_SUCCESS;
    return known && block[1] == 1 && block[2] == 1 ? int(block[0]) : 0;
  }
  /// The function, and what it calls; empty where libmathdx refuses.
  std::vector<std::string> code() const {
    size_t size = 0, fatbin_size = 0;
    if (!good_ || mathdx().code_size(descriptor_, &size) != COMMONDX_SUCCESS ||
        mathdx().fatbin_size(descriptor_, &fatbin_size) != COMMONDX_SUCCESS)
      return {};
    std::string code(size, '\0'), fatbin(fatbin_size, '\0');
    if (mathdx().code(descriptor_, size, code.data()) != COMMONDX_SUCCESS ||
        mathdx().fatbin(descriptor_, fatbin_size, fatbin.data()) != COMMONDX_SUCCESS)
      return {};
    return {code, fatbin};
  }

 private:
  void set(cusolverdxOperatorType type, long long value) {
    good_ = good_ && mathdx().set(descriptor_, type, value) == COMMONDX_SUCCESS;
  }
  void set(cusolverdxOperatorType type, const std::vector<long long>& values) {
    good_ = good_ && mathdx().set_several(descriptor_, type, values.size(), values.data()) ==
                         COMMONDX_SUCCESS;
  }

  cusolverdxDescriptor descriptor_ = 0;
  bool good_ = false;
};

/// An error of this program, not a refusal of a case.
[[noreturn]] void fail(const Case& what, const std::string& said) {
  std::fprintf(stderr, "cusolverdx: %s: %s\n", what.name().c_str(), said.c_str());
  std::exit(4);
}

std::string compile_kernels(const Case& what, const Variant& variant) {
  const auto number = [](const char* name, int value) {
    return std::string("-D") + name + "=" + std::to_string(value);
  };
  const std::string real = what.precision == 's' || what.precision == 'c' ? "float" : "double";
  const std::vector<std::string> texts = {
      number("N", what.n),
      number("NRHS", what.nrhs),
      number("LD", variant.ld),
      number("PER_BLOCK", variant.per_block),
      number("THREADS", variant.threads),
      number("PARTS", what.precision == 'c' || what.precision == 'z' ? 2 : 1),
      number("FACTORS", what.factors()),
      number("SOLVES", what.solves()),
      number("BY_THREAD", variant.by_thread),
      "-DREAL=" + real,
      "-dlto",
      "-arch=sm_" + std::to_string(kCapability),
      "--relocatable-device-code=true",
      "--std=c++17"};
  std::vector<const char*> options;
  for (const std::string& text : texts) options.push_back(text.c_str());
  nvrtcProgram program;
  if (nvrtcCreateProgram(&program, kKernelText, "kernel.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS)
    fail(what, "NVRTC takes no program");
  size_t size = 0;
  if (nvrtcCompileProgram(program, int(options.size()), options.data()) != NVRTC_SUCCESS) {
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, '\0');
    nvrtcGetProgramLog(program, log.data());
    fail(what, log);
  }
  std::string code;
  if (nvrtcGetLTOIRSize(program, &size) == NVRTC_SUCCESS) code.resize(size);
  if (code.empty() || nvrtcGetLTOIR(program, code.data()) != NVRTC_SUCCESS)
    fail(what, "NVRTC gives no code to link");
  nvrtcDestroyProgram(&program);
  return code;
}

std::string link(const Case& what, const std::string& kernels,
                 const std::vector<std::string>& function) {
  const std::string target = "-arch=sm_" + std::to_string(kCapability);
  // libmathdx emits thousands of unused constants, sixty times the size of the kernels.
  const char* options[] = {"-lto", target.c_str(), "-optimize-unused-variables"};
  nvJitLinkHandle handle;
  if (nvJitLinkCreate(&handle, 3, options) != NVJITLINK_SUCCESS) fail(what, "nvJitLink refuses");
  const auto add = [&](nvJitLinkInputType type, const std::string& code, const char* name) {
    return nvJitLinkAddData(handle, type, code.data(), code.size(), name) == NVJITLINK_SUCCESS;
  };
  size_t size = 0;
  if (!add(NVJITLINK_INPUT_LTOIR, kernels, "kernels") ||
      !add(NVJITLINK_INPUT_LTOIR, function[0], "function") ||
      !add(NVJITLINK_INPUT_FATBIN, function[1], "universal") ||
      nvJitLinkComplete(handle) != NVJITLINK_SUCCESS ||
      nvJitLinkGetLinkedCubinSize(handle, &size) != NVJITLINK_SUCCESS) {
    nvJitLinkGetErrorLogSize(handle, &size);
    std::string log(size, '\0');
    nvJitLinkGetErrorLog(handle, log.data());
    fail(what, log);
  }
  std::string cubin(size, '\0');
  if (nvJitLinkGetLinkedCubin(handle, cubin.data()) != NVJITLINK_SUCCESS) fail(what, "no cubin");
  nvJitLinkDestroy(&handle);
  return cubin;
}

std::optional<Cubin> build_variant(const Case& what, Variant variant) {
  const Function function(what, variant.by_thread, variant.per_block, variant.ld);
  if (!variant.by_thread) variant.threads = function.suggested_threads();
  if (variant.threads == 0) return std::nullopt;
  const std::vector<std::string> code = function.code();
  if (code.empty()) return std::nullopt;
  return Cubin{variant, link(what, compile_kernels(what, variant), code)};
}

std::vector<Variant> candidates(const Case& what) {
  const int suggested = Function(what, false, 0, what.n).suggested_per_block();
  if (suggested == 0) return {};  // not even one matrix fits
  std::vector<int> counts = {suggested};
  // More than 128 columns a block only reduce the number of blocks.
  for (int count = 1; count <= 16 && (count == 1 || count * what.n <= 128); count *= 2)
    if (count != suggested) counts.push_back(count);
  std::vector<Variant> all;
  for (int count : counts) all.push_back({false, count, what.n, 0});
  // For columns that start in the same banks: the padding proposed by cuSOLVERDx 0.2.
  if (what.n * what.element() % 128 == 0)
    all.push_back({false, suggested, what.n + int(16 / what.element()), 0});
  // The documented limit of its thread-level functions.
  const int threads = 64;
  if (what.n * (what.n + what.nrhs) <= 100) all.push_back({true, threads, what.n, threads});
  return all;
}

}  // namespace

std::string builder_missing() {
  return mathdx().opened ? "" : "libmathdx cannot be opened (CHOL_LIBMATHDX names the file)";
}

std::vector<Cubin> build(const Case& what) {
  std::vector<Cubin> built;
  for (const Variant& variant : candidates(what))
    if (shared_bytes(what, variant, 0) <= kSharedBytes &&
        shared_bytes(what, variant, 1) <= kSharedBytes)
      if (std::optional<Cubin> cubin = build_variant(what, variant))
        built.push_back(std::move(*cubin));
  return built;
}

}  // namespace chol::bench::dx

#endif
