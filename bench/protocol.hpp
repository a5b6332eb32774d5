// Messages between chol-bench and a contestant's process over a socket pair. Both ends are built
// from this file; the bytes are the structures.
#pragma once

#include "case.hpp"

namespace chol::bench {

inline constexpr int kMostRepetitions = 64;

enum class Order : int32_t {
  run,   ///< restore, run and time, `repetitions` times; check the result if requested
  gemm,  ///< time the matrix product of order case.n
};

struct Request {
  Order order = Order::run;
  int32_t repetitions = 1;
  int32_t check = 0;
  int32_t cpu_time = 0;  ///< the process's own CPU time instead of the wall's
  int32_t cold = 1;      ///< flush the private caches before every repetition of a batch
  Case work;
};

struct Reply {
  int32_t ok = 0;  ///< 0: not supported by this contestant, with the reason in text
  int32_t repetitions = 0;
  double seconds[kMostRepetitions] = {};  ///< of the calls alone
  double wall = 0;                        ///< of the whole request, including restoring
  double residual = -1;                   ///< largest of the checked matrices, < 0: not checked
  int64_t failed = 0;                     ///< matrices with info != 0
  char text[256] = {};                    ///< version, or the reason of a failure
};
static_assert(std::is_trivially_copyable_v<Request> && std::is_trivially_copyable_v<Reply>);

/// LAPACK's own threshold for its scaled residuals.
inline constexpr double kResidualBound = 30;

}  // namespace chol::bench
