// Which plans of interleaved batches have kernels, if need be compiled at run time. Plain C++: what
// chol-tune tries.
#pragma once

#include "interleaved/block_shape.hpp"
#include "tune/plan.hpp"

namespace chol::cuda {

/// What the kernels of a task are told apart by.
struct KernelKind {
  Routine routine;  ///< potrf, potrs or posv
  char precision;
  int64_t bytes = element_bytes(precision);  ///< of an element

  constexpr bool factors() const { return routine != Routine::potrs; }
  constexpr bool solves() const { return routine != Routine::potrf; }
};

/// Words of a triangle that the compiler is asked to hold in the 255 registers of a thread: a few
/// more than there are, since columns leave while others come.
inline constexpr int64_t kMostTriangleWords = 300;
/// Rows beyond those of the built kernels would compile for minutes.
inline constexpr int64_t kMostUnrolledOrder = 64;
inline constexpr int kMostSharedColumns = 8, kMostSharedThreads = 512;

constexpr int64_t triangle_words(int64_t n, int64_t bytes) { return n * (n + 1) / 2 * bytes / 4; }

/// Leading columns in shared memory of columns.cuh, or trailing ones in registers of
/// held_solve.cuh, that a plan of Method::panel asks for.
constexpr int panel_columns(const KernelKind& kind, const Plan& plan, int n) {
  const int most = kind.factors() ? n - 1 : n;
  const int own =
      kind.factors() ? kept_columns(kind.precision, n, kind.solves()) : held_columns(kind.bytes);
  const int wanted = plan.block > 0 ? plan.block : own;
  return wanted < most ? wanted : most;
}

constexpr int64_t panel_block_bytes(const KernelKind& kind, const Plan& plan, int n) {
  const int columns = panel_columns(kind, plan, n);
  const int settled = kind.solves() ? settled_rows(n, columns) : 0;
  return kind.factors() ? column_block_bytes(kind.bytes, n, columns, settled)
                        : held_block_bytes(kind.bytes, n, columns);
}

constexpr bool panel_compiles(const KernelKind& kind, const Plan& plan, int64_t order,
                              int64_t shared_limit) {
  if (order < 2 || order > kMostUnrolledOrder || plan.block < 0) return false;
  const int n = int(order), columns = panel_columns(kind, plan, n);
  const bool fits = kind.factors()
                        ? n - columns <= kept_rule(kind.precision, kind.solves()).order + 4
                        : triangle_words(columns, kind.bytes) <= kMostTriangleWords;
  return fits && panel_block_bytes(kind, plan, n) <= shared_limit;
}

constexpr SharedKnobs shared_knobs(const Plan& plan) {
  constexpr int kThreads = 128;  // where the plan leaves them open
  return {plan.block, plan.tile, plan.threads > 0 ? plan.threads : kThreads};
}

constexpr bool shared_compiles(const KernelKind& kind, const Plan& plan, int64_t n,
                               int64_t shared_limit) {
  const SharedKnobs knobs = shared_knobs(plan);
  // Copies are of 16 bytes, and neighbouring threads of one warp.
  const bool row = knobs.lanes >= 1 && knobs.lanes <= 32 &&
                   (knobs.lanes & (knobs.lanes - 1)) == 0 && knobs.lanes * kind.bytes >= 16;
  const int solvers = kind.solves() ? 1 : 0;
  return row && knobs.columns <= kMostSharedColumns && knobs.threads <= kMostSharedThreads &&
         shared_threads_fit(knobs, kind.factors()) &&
         shared_block_bytes(kind.bytes, n, solvers, knobs) <= shared_limit;
}

/// Whether the plan has a kernel for that order, built or not.
/// @param shared_limit shared memory that a block can have.
constexpr bool can_compile(const KernelKind& kind, const Plan& plan, int64_t n,
                           int64_t shared_limit) {
  switch (plan.method) {
    case Method::lanes:
      return n >= 1 && n <= kMostUnrolledOrder &&
             triangle_words(n, kind.bytes) <= kMostTriangleWords;
    case Method::panel:
      return panel_compiles(kind, plan, n, shared_limit);
    case Method::fused:
      return shared_compiles(kind, plan, n, shared_limit);
    default:
      return false;
  }
}

/// Blocks of shared.cuh that a multiprocessor has room for by shared memory, as a power of two that
/// leaves a thread no fewer than 160 registers: more would bound them for nothing.
/// @param memory shared memory of a multiprocessor, of which each block takes a kilobyte more.
constexpr int least_blocks(const SharedKnobs& knobs, int64_t block_bytes, int64_t memory) {
  constexpr int kRegisters = 65536, kFewest = 160;
  int blocks = 1;
  while (2 * blocks * (block_bytes + 1024) <= memory &&
         2 * blocks * knobs.threads * kFewest <= kRegisters)
    blocks *= 2;
  return blocks;
}

}  // namespace chol::cuda
