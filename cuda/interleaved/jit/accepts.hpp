// Which plans of interleaved batches have kernels, if need be compiled at run time. Plain C++: what
// chol-tune tries.
#pragma once

#include "interleaved/thread/tiled_shape.hpp"
#include "interleaved/threads/shape.hpp"
#include "tune/plan.hpp"

namespace chol::cuda {

/// What the kernels of a task are told apart by.
struct KernelKind {
  Routine routine;  ///< potrf, potrs or posv
  char precision;
  int64_t bytes = element_bytes(precision);  ///< of an element

  constexpr bool factors() const { return routine != Routine::potrs; }
  constexpr bool solves() const { return routine != Routine::potrf; }
  /// Vectors beside a triangle in shared memory that a block needs room for at least.
  constexpr int64_t vectors() const { return solves() ? shared_vectors(factors(), 1) : 0; }
};

/// Words of a triangle that the compiler is asked to hold in the 255 registers of a thread: a few
/// more than there are, since columns leave while others come.
inline constexpr int64_t kMostTriangleWords = 300;
/// Rows beyond those of the built kernels would compile for minutes.
inline constexpr int64_t kMostUnrolledOrder = 64;
/// Of thread/tiled.cuh without loops: rows, tiles a column, and words of a triangle.
inline constexpr int64_t kMostUnrolledTiled = 24, kMostUnrolledTiles = 16, kMostUnrolledWords = 420;
inline constexpr int kMostSharedColumns = 8, kMostSharedThreads = 512, kMostHeldThreads = 8;

constexpr int64_t triangle_words(int64_t n, int64_t bytes) { return n * (n + 1) / 2 * bytes / 4; }

/// Leading columns in shared memory of thread/left_looking.cuh that a plan of Method::panel asks
/// for.
constexpr int panel_columns(const KernelKind& kind, const Plan& plan, int n) {
  const int wanted = plan.block > 0 ? plan.block : kept_columns(kind.precision, n, kind.solves());
  return wanted < n - 1 ? wanted : n - 1;
}
/// What a plan of Method::panel asks for of threads/solve.cuh and threads/factor.cuh, no threads
/// where it is thread/left_looking.cuh.
constexpr ThreadsShape panel_shape(const KernelKind& kind, const Plan& plan, int n) {
  const ThreadsTable rows = threads_table(kind.precision, kind.factors(), kind.solves());
  ThreadsShape shape = rows.shape(n < rows.largest() ? n : rows.largest());
  if (plan.tile > 0) shape.threads = plan.tile;
  if (kind.factors() && shape.threads <= 1) return {0, 0};
  const int order = shape.order(n), wanted = plan.block > 0 ? plan.block : shape.columns;
  const int most = order - (kind.factors() ? shape.threads : 1);
  shape.columns = wanted < most ? wanted : most;
  // A block column of a factor is in registers or is not.
  if (kind.factors())
    shape.columns = order - (order - shape.columns) / shape.threads * shape.threads;
  return shape;
}

constexpr int64_t panel_block_bytes(const KernelKind& kind, const Plan& plan, int n) {
  const ThreadsShape shape = panel_shape(kind, plan, n);
  if (shape.threads > 0) return held_block_bytes(kind.precision, n, shape);
  const int columns = panel_columns(kind, plan, n);
  return column_block_bytes(kind.bytes, n, columns, kind.solves() ? settled_rows(n, columns) : 0);
}

constexpr bool panel_compiles(const KernelKind& kind, const Plan& plan, int64_t order,
                              int64_t shared_limit) {
  if (order < 2 || order > kMostUnrolledOrder || plan.block < 0 || plan.tile < 0) return false;
  const int n = int(order);
  const ThreadsShape shape = panel_shape(kind, plan, n);
  const auto fits = [&] {
    if (shape.threads == 0)
      return n - panel_columns(kind, plan, n) <= kept_rule(kind.precision, kind.solves()).order + 4;
    return shape.threads <= kMostHeldThreads && (shape.threads & (shape.threads - 1)) == 0 &&
           triangle_words(shape.columns, kind.bytes) <= kMostTriangleWords * shape.threads;
  };
  return fits() && panel_block_bytes(kind, plan, n) <= shared_limit;
}

/// Whether warps have matrices to themselves: no block columns of shared/factor.cuh. With a number
/// of threads a matrix by warp/block_kernel.cuh, without by warp/solve_kernel.cuh or, of posv, in
/// two.
constexpr bool is_by_warps(const Plan& plan) {
  return plan.method == Method::fused && plan.block == 0;
}
constexpr bool is_warp_factor(const Plan& plan) { return is_by_warps(plan) && plan.threads > 0; }

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
  return row && knobs.columns <= kMostSharedColumns && knobs.threads <= kMostSharedThreads &&
         shared_threads_fit(knobs, kind.factors()) &&
         shared_block_bytes(kind.bytes, n, kind.vectors(), knobs) <= shared_limit;
}

/// What a plan of Method::blocked asks for: 0 to 2 loops over tiles left-, right- and top-looking,
/// 3 to 5 none.
constexpr TiledKnobs tiled_knobs(const Plan& plan) {
  const Looking orders[] = {Looking::left, Looking::right, Looking::top};
  const bool named = plan.tile >= 0 && plan.tile < 6;
  return {plan.block > 0 ? plan.block : kStreamed.tile, orders[named ? plan.tile % 3 : 0],
          plan.tile >= 3, plan.threads > 0 ? plan.threads : kStreamed.threads};
}
/// Whether it names the kernel that is built.
constexpr bool is_streamed(const Plan& plan) {
  return plan.method == Method::blocked && plan.block == 0 && plan.tile == 0 && plan.threads == 0;
}
/// Without loops: beyond so many words of a triangle ptxas gives registers up and keeps all of it
/// in local memory (at 420 it does so for some orders of the tiles), and a column of 24 tiles
/// compiles for half a minute, one of 16 for nine seconds.
constexpr bool unrolled_compiles(const KernelKind& kind, int tile, int64_t n) {
  return n >= 1 && n <= kMostUnrolledTiled && n <= int64_t(kMostUnrolledTiles) * tile &&
         triangle_words(n, kind.bytes) <= kMostUnrolledWords;
}
constexpr bool tiled_compiles(const KernelKind& kind, const Plan& plan, int64_t n) {
  const bool knobs = plan.block >= 0 && plan.block <= kMostTile && plan.tile >= 0 &&
                     plan.tile < 6 && plan.threads >= 0;
  if (!knobs || !kind.factors() || is_streamed(plan)) return false;
  const auto [tile, looking, unrolled, threads] = tiled_knobs(plan);
  return (threads == 32 || threads == 64 || threads == 128 || threads == 256) &&
         (!unrolled || unrolled_compiles(kind, tile, n));
}

/// Whether the plan has a kernel for that order, built or, of Method::blocked, not.
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
    case Method::blocked:
      return tiled_compiles(kind, plan, n);
    default:
      return false;
  }
}

/// Blocks of shared/factor.cuh that a multiprocessor has room for by shared memory, as a power of
/// two that leaves a thread no fewer than 160 registers: more would bound them for nothing.
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
