// Factors, solves with and inverts groups of column-major matrices, one matrix a lane.
#pragma once

#include "host/kernels/across/mixed_orders.hpp"
#include "host/kernels/across/prefetch.hpp"
#include "host/kernels/across/register_triangle.hpp"

namespace chol::CHOL_ISA {

/// Register tile edge: NB * NB accumulators, a column of operands and one more in registers.
template <class T>
inline constexpr int kLaneTile = kVectorRegisters >= 32 ? (is_complex<T> ? 3 : 4)
                                                        : (is_complex<T> ? 2 : 3);

/// Number of right-hand sides at a time, so that they and the factor stay in cache.
inline constexpr int64_t kRhsAtATime = 8;

template <class T>
struct LaneKernels {
  using Buffer = LaneBuffer<T>;
  using E = typename Buffer::E;
  using V = typename Buffer::V;
  using R = typename Buffer::R;
  static constexpr int NB = kLaneTile<T>;

  using Triangles = GroupTriangles<T, PackedTriangle<E, NB>>;
  using Mixed = MixedTriangles<T, PackedTriangle<E, NB>>;
  using Squares = GroupTriangles<T, SquareTriangle<E>>;

  /// The buffer's parts: the triangle, the reciprocals of the diagonal, right-hand sides.
  struct Parts {
    PackedTriangle<E, NB> L;
    V* reciprocal;
    LaneMatrix<E> X;
    Parts(int64_t n, void* buffer)
        : L{static_cast<E*>(buffer)},
          reciprocal(reinterpret_cast<V*>(L.base + L.elements(n))),
          X{reinterpret_cast<E*>(reciprocal + n), 1, odd_stride(n)} {}
  };
  static size_t buffer_bytes(int64_t n, int64_t nrhs) {
    const int64_t triangle = larger(PackedTriangle<E, NB>::elements(n), odd_stride(n) * n);
    return sizeof(E) * (triangle + odd_stride(n) * smaller(nrhs, kRhsAtATime)) + sizeof(V) * n;
  }

  template <class SomeTriangles>
  static void factor_group(host::LaneGroup& group, const Parts& parts) {
    const SomeTriangles triangles(group, parts.L);
    NextGroup<T> next(group, tiles_of<NB>(group.n) + 2 * SomeTriangles::runs(group.n));
    triangles.load(next);
    V info = V::zero();
    factor(parts.L, group.n, parts.reciprocal, info, next);
    triangles.store(next);
    take_info(group, info);
  }
  static void take_info(host::LaneGroup& group, V info) {
    typename V::Real order[Buffer::kLanes];
    info.store(order);
    for (int i = 0; i < Buffer::kLanes; ++i) group.info[i] = static_cast<int>(order[i]);
  }

  /// Code without loops for orders 1 .. N. Returns whether the group's order is one of them.
  template <int N>
  CHOL_INLINE static bool factor_unrolled(host::LaneGroup& group) {
    if (group.n == N) {
      if constexpr (N > kOneTile<T>) {
        if (group.upper)
          factor_in_memory<N, true>(group);
        else
          factor_in_memory<N, false>(group);
      } else if (!group.upper) {
        factor_in_registers<N, false>(group);
      } else if (kInHalves<N> && begins_in_a_piece(group)) {
        factor_in_registers<N, true, kInHalves<N> ? N / 2 : 0>(group);
      } else {
        factor_in_registers<N, true>(group);
      }
      return true;
    }
    if constexpr (N > 1) return factor_unrolled<N - 1>(group);
    return false;
  }
  /// If all columns of an upper triangle start in the middle of a 32-byte sector and have one piece
  /// each, every piece would cross a sector or a line: moving halves takes a fifth less time.
  /// Longer columns gain nothing.
  static constexpr int kPieceBytes = 32;
  template <int N>
  static constexpr bool kInHalves = N == Buffer::kStorePiece&& N * sizeof(T) == kPieceBytes;
  static bool begins_in_a_piece(const host::LaneGroup& group) {
    return group.lda * int64_t(sizeof(T)) % kPieceBytes == 0 &&
           reinterpret_cast<uintptr_t>(group.A[0]) % kPieceBytes == kPieceBytes / 2;
  }
  /// @tparam First elements of an upper column's first piece.
  template <int N, bool Upper, int First = 0>
  static void factor_in_registers(host::LaneGroup& group) {
    R* const* matrix = reinterpret_cast<R* const*>(group.A);
    RegisterTriangle<E, N> held;
    unrolled<N>([&](auto column) CHOL_INLINE_LAMBDA {
      constexpr int j = decltype(column)::value;
      const int64_t diagonal = j * (group.lda + 1), edge = j * group.lda + (Upper ? 0 : N - 1);
      fetch_share<T, N>(group, j, sizeof(T) * smaller(diagonal, edge),
                        sizeof(T) * larger(diagonal, edge));
      if constexpr (Upper)
        Buffer::template load_unrolled<j + 1, First>(matrix, edge,
                                                     [&](int i) -> E& { return held.at(j, i); });
      else
        Buffer::template load_unrolled<N - j>(matrix, diagonal,
                                              [&](int i) -> E& { return held.at(j + i, j); });
    });
    V info = V::zero();
    held.factor(info);
    unrolled<N>([&](auto column) CHOL_INLINE_LAMBDA {
      constexpr int j = decltype(column)::value;
      if constexpr (Upper)
        Buffer::template store_unrolled<j + 1, First>(matrix, j * group.lda,
                                                      [&](int i) { return held.at(j, i); });
      else
        Buffer::template store_unrolled<N - j>(matrix, j * (group.lda + 1),
                                               [&](int i) { return held.at(j + i, j); });
    });
    take_info(group, info);
  }
  template <int N, bool Upper>
  static void factor_in_memory(host::LaneGroup& group) {
    R* const* matrix = reinterpret_cast<R* const*>(group.A);
    using Triangle = MemoryTriangle<T, N>;
    constexpr int kShared = Triangle::kShared, kOther = N - kShared;
    // Columns [0, kShared) of an upper triangle, [kOther, N) of a lower one move together.
    constexpr int kFrom = Upper ? kShared : 0, k = Upper ? 0 : kOther;
    const int64_t together = k * (group.lda + 1);
    const auto fetch = [&](int from, int to) CHOL_INLINE_LAMBDA {
      CHOL_UNROLL
      for (int j = from; j < to; ++j) {
        const int64_t diagonal = j * (group.lda + 1), edge = j * group.lda + (Upper ? 0 : N - 1);
        fetch_share<T, N>(group, j, sizeof(T) * smaller(diagonal, edge),
                          sizeof(T) * larger(diagonal, edge));
      }
    };
    Triangle L;
    unrolled<kOther>([&](auto column) CHOL_INLINE_LAMBDA {
      constexpr int j = kFrom + decltype(column)::value;
      fetch(j, j + 1);
      if constexpr (Upper)
        load_column<T, j + 1, Triangle::kLd>(matrix, j * group.lda, L.place(j, 0));
      else
        load_column<T, N - j, 1>(matrix, j * (group.lda + 1), L.place(j, j));
    });
    fetch(k, k + kShared / 3);
    load_columns<T, kShared, Upper>(matrix, together, group.lda, L.place(k, k));
    fetch(k + kShared / 3, k + 2 * kShared / 3);
    take_info(group, Triangle::factor(L.elements));
    fetch(k + 2 * kShared / 3, k + kShared);
    store_columns<T, kShared, Upper>(matrix, together, group.lda, L.place(k, k));
    unrolled<kOther>([&](auto column) CHOL_INLINE_LAMBDA {
      constexpr int j = kFrom + decltype(column)::value;
      if constexpr (Upper)
        store_column<T, j + 1, Triangle::kLd>(matrix, j * group.lda, L.place(j, 0));
      else
        store_column<T, N - j, 1>(matrix, j * (group.lda + 1), L.place(j, j));
    });
  }
  /// @param beside work interleaved with the first right-hand sides.
  template <class Beside>
  CHOL_INLINE static void solve_group(const host::LaneGroup& group, const Parts& parts,
                                      uint32_t kept, Beside&& beside) {
    for (int64_t c = 0; c < group.nrhs; c += kRhsAtATime) {
      const auto at_first = [&] {
        if (c == 0) beside();
      };
      const int64_t count = smaller(kRhsAtATime, group.nrhs - c);
      move_right_hand_sides<T, false>(group, c, count, parts.X);
      if (is_complex<T> && group.upper)
        solve<is_complex<T>>(parts.L, group.n, parts.reciprocal, parts.X, count, at_first);
      else
        solve<false>(parts.L, group.n, parts.reciprocal, parts.X, count, at_first);
      move_right_hand_sides<T, true>(group, c, count, parts.X, kept);
    }
  }

  static void potrf(host::LaneGroup& group, void* buffer) {
    if (group.mixed)
      factor_group<Mixed>(group, Parts(group.n, buffer));
    else if (!factor_unrolled<kUnrolled<T>>(group))
      factor_group<Triangles>(group, Parts(group.n, buffer));
  }
  static void potrs(host::LaneGroup& group, void* buffer) {
    const Parts parts(group.n, buffer);
    const Triangles triangles(group, parts.L);
    NextGroup<T> next(group, 2 * ((group.n + NB - 1) / NB) + Triangles::runs(group.n));
    triangles.load(next);
    invert_diagonal(parts.L, group.n, parts.reciprocal);
    solve_group(group, parts, 0, next);
  }
  static void posv(host::LaneGroup& group, void* buffer) {
    const Parts parts(group.n, buffer);
    factor_group<Triangles>(group, parts);
    uint32_t failed = 0;
    for (int i = 0; i < Buffer::kLanes; ++i) failed |= uint32_t(group.info[i] != 0) << i;
    solve_group(group, parts, failed, NoWork{});
  }
  static void potri(host::LaneGroup& group, void* buffer) {
    const SquareTriangle<E> L{static_cast<E*>(buffer), odd_stride(group.n)};
    const Squares squares(group, L);
    V* reciprocal = reinterpret_cast<V*>(L.base + L.stride * group.n);
    squares.load();
    invert_diagonal(L.matrix(), group.n, reciprocal);
    invert_factor(L.matrix(), group.n, reciprocal);
    square_factor(L.matrix(), group.n);
    squares.store();
  }
};

}  // namespace chol::CHOL_ISA
