#include "host/dispatch.hpp"

#include <cstring>

#include "base/environment.hpp"

namespace chol::host {

#define CHOL_DECLARE_KERNELS(isa) extern const Kernels isa##_s, isa##_d, isa##_c, isa##_z
#define CHOL_KERNEL_SET(isa) KernelSet(&isa##_s, &isa##_d, &isa##_c, &isa##_z)

// CHOL_WITH_...: the instruction sets that this build has, src/host/kernels.cmake.
#if defined(CHOL_WITH_PORTABLE)
CHOL_DECLARE_KERNELS(portable);
#endif
#if defined(CHOL_WITH_AVX2)
CHOL_DECLARE_KERNELS(avx2);
#endif
#if defined(CHOL_WITH_AVX512)
CHOL_DECLARE_KERNELS(avx512);
#endif

KernelSet KernelSet::choose() {
#if defined(__x86_64__)
  const char* named = environment().host_isa;
  [[maybe_unused]] const auto allowed = [&](const char* isa) {
    return !named || std::strcmp(named, isa) == 0;
  };
  [[maybe_unused]] const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  [[maybe_unused]] const bool has_avx512 =
      has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#if defined(CHOL_WITH_AVX512)
  if (has_avx512 && allowed("avx512")) return CHOL_KERNEL_SET(avx512);
#endif
#if defined(CHOL_WITH_AVX2)
  if (has_avx2 && (allowed("avx2") || allowed("avx512"))) return CHOL_KERNEL_SET(avx2);
#endif
#endif
#if defined(CHOL_WITH_PORTABLE)
  return CHOL_KERNEL_SET(portable);
#elif defined(CHOL_WITH_AVX2)
  return CHOL_KERNEL_SET(avx2);  // the only set of a NATIVE build
#else
  return CHOL_KERNEL_SET(avx512);
#endif
}

const KernelSet& KernelSet::of_this_machine() {
  static const KernelSet chosen = choose();
  return chosen;
}

#undef CHOL_KERNEL_SET
#undef CHOL_DECLARE_KERNELS

}  // namespace chol::host
