#include "host/dispatch.hpp"

#include <cstring>

#include "base/environment.hpp"

namespace chol::host {

extern const Kernels portable_s, portable_d, portable_c, portable_z;
#if defined(__x86_64__)
extern const Kernels avx2_s, avx2_d, avx2_c, avx2_z;
extern const Kernels avx512_s, avx512_d, avx512_c, avx512_z;
#endif

const KernelSet& KernelSet::of_this_machine() {
  static const KernelSet portable(&portable_s, &portable_d, &portable_c, &portable_z);
#if defined(__x86_64__)
  static const KernelSet avx2(&avx2_s, &avx2_d, &avx2_c, &avx2_z);
  static const KernelSet avx512(&avx512_s, &avx512_d, &avx512_c, &avx512_z);
  static const KernelSet& chosen = []() -> const KernelSet& {
    const char* named = environment().host_isa;
    const auto allowed = [&](const char* isa) { return !named || std::strcmp(named, isa) == 0; };
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool has_avx512 =
        has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    if (has_avx512 && allowed("avx512")) return avx512;
    if (has_avx2 && (allowed("avx2") || allowed("avx512"))) return avx2;
    return portable;
  }();
  return chosen;
#else
  return portable;
#endif
}

}  // namespace chol::host
