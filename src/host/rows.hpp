// Built-in tuning rows of the host backend, data only.
#pragma once

#include <cstddef>

#include "tune/core_row.hpp"
#include "tune/mixed_row.hpp"
#include "tune/plan.hpp"

namespace chol {

struct HostRows {
  const TuningRow* rows;
  size_t count;
};

/// The rows of an instruction set ("avx512", "avx2" or "portable").
HostRows host_rows(const char* isa);

struct HostRates {
  const RateRow* rows;
  size_t count;
};
HostRates host_rates(const char* isa);

struct HostCores {
  const CoreRow* rows;
  size_t count;
};
HostCores host_cores(const char* isa);

struct HostMixedRows {
  const MixedRow* rows;
  size_t count;
};
HostMixedRows host_mixed_rows();

}  // namespace chol
