// Choices of interleaved batches whose kernels can be compiled at run time. Plain C++: chol-tune
// tries these.
#pragma once

#include "interleaved/thread/tiled_shape.hpp"
#include "interleaved/threads/shape.hpp"
#include "tune/interleaved_methods.hpp"

namespace chol::cuda {

constexpr InterleavedTask task_of(Routine routine) {
  return routine == Routine::potrf   ? InterleavedTask::factor
         : routine == Routine::potrs ? InterleavedTask::solve
                                     : InterleavedTask::factor_and_solve;
}

/// Parameters that distinguish the kernels of a task.
struct KernelKind {
  Routine routine;  ///< potrf, potrs or posv
  char precision;
  int64_t bytes = element_bytes(precision);  ///< of an element

  constexpr bool factors() const { return routine != Routine::potrs; }
  constexpr bool solves() const { return routine != Routine::potrf; }
  /// Minimum number of vectors in shared memory in addition to a triangle.
  constexpr int64_t vectors() const { return solves() ? shared_vectors(factors(), 1) : 0; }
};

/// Limit of the words of a triangle in the 255 registers of a thread: a few more than registers,
/// since columns are finished while others are loaded.
inline constexpr int64_t kMostTriangleWords = 300;
/// With more rows than the built kernels, compiling would take minutes.
inline constexpr int64_t kMostUnrolledOrder = 64;
/// Limits of thread/tiled.cuh without loops: rows, tiles a column, and words of a triangle.
inline constexpr int64_t kMostUnrolledTiled = 24, kMostUnrolledTiles = 16, kMostUnrolledWords = 420;
inline constexpr int kMostHeldThreads = 8;

constexpr int64_t triangle_words(int64_t n, int64_t bytes) { return n * (n + 1) / 2 * bytes / 4; }

/// Knobs of interleaved_columns; 0: default for the order.
struct ColumnsParams {
  int columns = 0, threads = 0;
  static constexpr ColumnsParams of(const Choice& choice) { return {choice.at(0), choice.at(1)}; }
};

/// Leading columns in shared memory of thread/left_looking.cuh.
constexpr int leading_columns(const KernelKind& kind, const ColumnsParams& params, int n) {
  const int wanted =
      params.columns > 0 ? params.columns : kept_columns(kind.precision, n, kind.solves());
  return wanted < n - 1 ? wanted : n - 1;
}
/// The shape of threads/solve.cuh and threads/factor.cuh, 0 threads if the kernel is that of
/// thread/left_looking.cuh.
constexpr ThreadsShape threads_shape(const KernelKind& kind, const ColumnsParams& params, int n) {
  const ThreadsTable rows{kind.precision, task_of(kind.routine)};
  ThreadsShape shape = rows.shape(n < rows.largest() ? n : rows.largest());
  if (params.threads > 0) shape.threads = params.threads;
  if (kind.factors() && shape.threads <= 1) return {0, 0};
  const int order = shape.order(n), wanted = params.columns > 0 ? params.columns : shape.columns;
  const int most = order - (kind.factors() ? shape.threads : 1);
  shape.columns = wanted < most ? wanted : most;
  // A block column of a factor is either entirely in registers or not at all.
  if (kind.factors())
    shape.columns = order - (order - shape.columns) / shape.threads * shape.threads;
  return shape;
}

constexpr int64_t columns_block_bytes(const KernelKind& kind, const ColumnsParams& params, int n) {
  const ThreadsShape shape = threads_shape(kind, params, n);
  if (shape.threads > 0) return held_block_bytes(kind.precision, n, shape);
  const int columns = leading_columns(kind, params, n);
  return column_block_bytes(kind.bytes, n, columns, kind.solves() ? settled_rows(n, columns) : 0);
}

constexpr bool registers_compile(const KernelKind& kind, const Choice&, int64_t n, int64_t) {
  return n >= 1 && n <= kMostUnrolledOrder && triangle_words(n, kind.bytes) <= kMostTriangleWords;
}

constexpr bool columns_compile(const KernelKind& kind, const Choice& choice, int64_t order,
                               int64_t shared_limit) {
  if (order < 2 || order > kMostUnrolledOrder) return false;
  const ColumnsParams params = ColumnsParams::of(choice);
  const int n = int(order);
  const ThreadsShape shape = threads_shape(kind, params, n);
  const auto fits = [&] {
    if (shape.threads == 0)
      return n - leading_columns(kind, params, n) <=
             kept_rule(kind.precision, kind.solves()).order + 4;
    return shape.threads <= kMostHeldThreads && (shape.threads & (shape.threads - 1)) == 0 &&
           triangle_words(shape.columns, kind.bytes) <= kMostTriangleWords * shape.threads;
  };
  return fits() && columns_block_bytes(kind, params, n) <= shared_limit;
}

constexpr SharedKnobs shared_knobs(const Choice& choice) {
  return {choice.at(0), choice.at(1), choice.at(2)};
}
constexpr bool shared_compiles(const KernelKind& kind, const Choice& choice, int64_t n,
                               int64_t shared_limit) {
  const SharedKnobs knobs = shared_knobs(choice);
  // Copies have 16 bytes, and adjacent threads are in one warp.
  const bool row = (knobs.lanes & (knobs.lanes - 1)) == 0 && knobs.lanes * kind.bytes >= 16;
  return row && shared_threads_fit(knobs, kind.factors()) &&
         shared_block_bytes(kind.bytes, n, kind.vectors(), knobs) <= shared_limit;
}

constexpr WarpsParams warps_params(const Choice& choice) { return {choice.at(0), choice.at(1)}; }

constexpr TiledKnobs tiled_knobs(const Choice& choice) {
  constexpr Looking kOrders[] = {Looking::left, Looking::right, Looking::top};
  return {choice.at(0), kOrders[choice.at(1)], choice.at(2) != 0, choice.at(3)};
}
/// Without loops: beyond so many words of a triangle ptxas keeps all of it in local memory (at 420
/// for some orders of the tiles); compiling a column of 24 tiles takes half a minute, one of 16
/// nine seconds.
constexpr bool unrolled_compiles(const KernelKind& kind, int tile, int64_t n) {
  return n >= 1 && n <= kMostUnrolledTiled && n <= int64_t(kMostUnrolledTiles) * tile &&
         triangle_words(n, kind.bytes) <= kMostUnrolledWords;
}
constexpr bool tiled_compiles(const KernelKind& kind, const Choice& choice, int64_t n, int64_t) {
  if (!kind.factors()) return false;
  const auto [tile, looking, unrolled, threads] = tiled_knobs(choice);
  return (threads & (threads - 1)) == 0 && (!unrolled || unrolled_compiles(kind, tile, n));
}

/// The methods whose kernels are compiled if a row names one that is not built. @param shared_limit
/// shared memory of a block.
struct CompiledMethod {
  const MethodInfo* info;
  bool (*compiles)(const KernelKind& kind, const Choice& choice, int64_t n, int64_t shared_limit);
};
inline constexpr CompiledMethod kCompiledMethods[] = {{&kInterleavedRegisters, registers_compile},
                                                      {&kInterleavedColumns, columns_compile},
                                                      {&kInterleavedShared, shared_compiles},
                                                      {&kInterleavedTiled, tiled_compiles}};

/// Whether a choice has a kernel for that order that can be compiled, whether or not it is built.
constexpr bool can_compile(const KernelKind& kind, const Choice& choice, int64_t n,
                           int64_t shared_limit) {
  for (const CompiledMethod& method : kCompiledMethods)
    if (choice.is(*method.info))
      return choice.is_in_range() && method.compiles(kind, choice, n, shared_limit);
  return false;
}

/// Blocks of shared/factor.cuh that fit a multiprocessor by shared memory, as a power of two that
/// leaves a thread at least 160 registers: more would only limit registers. @param memory shared
/// memory of a multiprocessor, of which each block reserves one more kilobyte.
constexpr int least_blocks(const SharedKnobs& knobs, int64_t block_bytes, int64_t memory) {
  constexpr int kRegisters = 65536, kFewest = 160;
  int blocks = 1;
  while (2 * blocks * (block_bytes + 1024) <= memory &&
         2 * blocks * knobs.threads * kFewest <= kRegisters)
    blocks *= 2;
  return blocks;
}

}  // namespace chol::cuda
