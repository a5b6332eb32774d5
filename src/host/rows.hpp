// Built-in tuning rows of the host backend, data only.
#pragma once

#include <cstddef>
#include <span>

#include "tune/core_row.hpp"
#include "tune/mixed_row.hpp"
#include "tune/rate_row.hpp"
#include "tune/row.hpp"

namespace chol {

/// The rows of an instruction set ("avx512", "avx2" or "portable"), of every method: a build
/// without a method skips its rows, and later rows serve their cases.
std::span<const Row> host_rows(const char* isa);

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
