// Interleaved matrices in place: one element of a group of matrices is a vector in memory.
#pragma once

#include "host/kernels/across/column_major.hpp"
#include "lane/packed.hpp"

namespace chol::CHOL_ISA {

/// Largest order whose triangle stays in registers, with some left for temporaries.
template <class T>
inline constexpr int kInRegisters = kVectorRegisters >= 32 ? (is_complex<T> ? 4 : 6)
                                                           : (is_complex<T> ? 2 : 4);
/// Largest order with straight-line code: without branches more of one group's work overlaps with
/// the square roots of the next.
template <class T>
inline constexpr int kStraightLine = kVectorRegisters >= 32
                                         ? smaller(is_complex<T> ? 8 : 16, CHOL_MOST_UNROLLED)
                                         : kInRegisters<T>;
/// Edge of a tile in straight-line code.
template <class T>
inline constexpr int kStraightLineTile = is_complex<T> ? 2 : 3;

/// Prevents the compiler from computing all addresses of a matrix in advance and spilling them.
template <class R>
CHOL_INLINE R* walked(R* p) {
  __asm__("" : "+r"(p));
  return p;
}

/// An iterator in the caller's matrices, with strides of rs and cs reals. Complex numbers are
/// stored as pairs and split in registers. Reading an element prefetches the one `ahead` of it, of
/// the next group, to the second-level cache, which has more outstanding misses than the first (Zen
/// 4: 15 instead of 9 Gflop/s of cold matrices of order 16).
template <class T>
struct CallerLanes {
  using E = LaneElement<T>;
  using V = RealLaneOf<E>;
  using R = typename V::Real;
  static constexpr int kReals = LaneTraits<E>::reals;
  R* place;
  int64_t rs, cs, ahead;

  CHOL_INLINE CallerLanes from(int64_t i, int64_t j) const {
    return {place + i * rs + j * cs, rs, cs, ahead};
  }
  CHOL_INLINE void down() { place = walked(place + rs); }
  CHOL_INLINE void right() { place = walked(place + cs); }
  CHOL_INLINE E get() const {
    CHOL_UNROLL
    for (int at = 0; at < kReals * V::width; at += 64 / int(sizeof(R)))
      __builtin_prefetch(place + ahead + at, 0, 2);
    return load(place);
  }
  CHOL_INLINE void set(const E& e) const { store(place, e); }

  CHOL_INLINE static E load(const R* p) {
    if constexpr (is_complex<T>) {
      E e;
      split_pairs(V::load(p), V::load(p + V::width), e.re, e.im);
      return e;
    } else {
      return V::load(p);
    }
  }
  CHOL_INLINE static void store(R* p, const E& e) {
    if constexpr (is_complex<T>) {
      V low, high;
      join_pairs(e.re, e.im, low, high);
      low.store(p);
      high.store(p + V::width);
    } else {
      e.store(p);
    }
  }
};

template <class T>
struct InterleavedKernels {
  using Lanes = CallerLanes<T>;
  using E = typename Lanes::E;
  using V = typename Lanes::V;
  using R = typename Lanes::R;
  using Run = host::InterleavedRun;
  static constexpr int NB = kLaneTile<T>;
  static constexpr int kReals = Lanes::kReals;
  static constexpr int kLanes = V::width;
  static constexpr int kLargestTile = 4;

  /// The buffer's parts.
  template <int B>
  struct Parts {
    PackedTriangle<E, B> L;
    V* reciprocal;
    LaneMatrix<E> X;
    Parts(int64_t n, void* buffer)
        : L{static_cast<E*>(buffer)},
          reciprocal(reinterpret_cast<V*>(L.base + L.elements(n))),
          X{reinterpret_cast<E*>(reciprocal + n), B, 1} {}
  };
  static size_t buffer_bytes(int64_t n) {
    // A smaller tile may need more padding: order 7 is rounded up to 9 with tiles of 3, to 8 with
    // 4.
    const int64_t elements =
        larger(PackedTriangle<E, 4>::elements(n),
               larger(PackedTriangle<E, 3>::elements(n), PackedTriangle<E, 2>::elements(n)));
    const int64_t rows = round_up(n, kLargestTile);
    return sizeof(E) * (elements + kLargestTile * rows) + sizeof(V) * rows;
  }

  static Lanes triangle(const Run& run, int64_t group) {
    const int64_t rs = kReals * run.row_A, cs = kReals * run.column_A, next = kReals * run.next_A;
    return {static_cast<R*>(run.A) + group * next, run.upper ? cs : rs, run.upper ? rs : cs,
            group + 1 < run.groups ? next : 0};
  }
  static Lanes right_hand_sides(const Run& run, int64_t group) {
    const int64_t next = kReals * run.next_B;
    return {static_cast<R*>(run.B) + group * next, kReals * run.row_B, kReals * run.column_B,
            group + 1 < run.groups ? next : 0};
  }
  /// The lanes of a complex vector are in the order of split_pairs.
  CHOL_INLINE static void put_info(const Run& run, int64_t group, V info) {
    if constexpr (!is_complex<T>) return store_integers(run.info + group * kLanes, info);
    R order[kReals * kLanes];
    Lanes::store(order, from_real<E>(info));
    for (int i = 0; i < kLanes; ++i)
      run.info[group * kLanes + i] = static_cast<int>(order[kReals * i]);
  }

  /// factor(A, info) for every group.
  template <class Factor>
  CHOL_INLINE static void for_each_group(const Run& run, Factor&& factor) {
    for (int64_t g = 0; g < run.groups; ++g) {
      V info = V::zero();
      factor(triangle(run, g), info);
      put_info(run, g, info);
    }
  }
  template <class Math, int N>
  static void factor_in_registers(const Run& run) {
    for_each_group(run, [](const Lanes& A, V& info) {
      auto t = get_lower<N, E>(A);
      V reciprocal[N];
      factor_tile<Math>(t, reciprocal, info, 0);
      set_lower(t, A);
    });
  }
  template <class Math, int N>
  static void factor_in_line(const Run& run, void* buffer) {
    const PackedTriangle<E, kStraightLineTile<T>> L{static_cast<E*>(buffer)};
    for_each_group(run, [&](const Lanes& A, V& info) {
      factor_packed_unrolled<Math, kStraightLineTile<T>, N>(A, L, info);
    });
  }
  template <class Math, int B>
  static void factor_in_tiles(const Run& run, void* buffer) {
    const Parts<B> parts(run.n, buffer);
    for_each_group(run, [&](const Lanes& A, V& info) {
      factor_packed<Math, B>(A, run.n, parts.L, parts.reciprocal, info);
    });
  }
  /// Whether the order is one of 1 .. N with straight-line code. Approximate roots leave little
  /// latency to overlap, so that only orders that fit the registers have such code for them.
  template <class Math, int N>
  CHOL_INLINE static bool factor_small(const Run& run, void* buffer) {
    if constexpr (N > 0) {
      if (run.n < N) return factor_small<Math, N - 1>(run, buffer);
      if (run.n > N) return false;
      if constexpr (N <= kInRegisters<T>)
        factor_in_registers<Math, N>(run);
      else
        factor_in_line<Math, N>(run, buffer);
      return true;
    }
    return false;
  }

  static void potrf(const Run& run, void* buffer) {
    if (run.fast_math) {
      if (!factor_small<FastMath, kInRegisters<T>>(run, buffer))
        factor_in_tiles<FastMath, NB>(run, buffer);
      return;
    }
    switch (run.tile) {
      case 2:
        return factor_in_tiles<IeeeMath, 2>(run, buffer);
      case 3:
        return factor_in_tiles<IeeeMath, 3>(run, buffer);
      case 4:
        return factor_in_tiles<IeeeMath, 4>(run, buffer);
      default:
        if (!factor_small<IeeeMath, kStraightLine<T>>(run, buffer))
          factor_in_tiles<IeeeMath, NB>(run, buffer);
    }
  }

  template <bool Conj>
  static void solve_group(const Parts<NB>& parts, const Run& run, int64_t group, V failed) {
    const Lanes B = right_hand_sides(run, group);
    for (int64_t c = 0; c < run.nrhs; c += NB)
      with_count<NB>(run.nrhs - c, [&](auto columns) {
        constexpr int C = decltype(columns)::value;
        const auto put = [&](const auto& x, int64_t row) { set_unless(failed, x, B.from(row, c)); };
        solve_packed<NB, C, Conj>(parts.L, run.n, parts.reciprocal, B.from(0, c), parts.X, put);
      });
  }
  /// Stores a solution, except in failed lanes, which keep their right-hand side.
  template <int N, int C>
  CHOL_INLINE static void set_unless(V failed, const Tile<E, N, C>& x, Lanes column) {
    const auto good = is_zero(failed);
    CHOL_UNROLL
    for (int j = 0; j < C; ++j, column.right()) {
      Lanes at = column;
      CHOL_UNROLL
      for (int i = 0; i < N; ++i, at.down()) {
        const E old = Lanes::load(at.place);
        if constexpr (is_complex<T>)
          at.set({select(good, x.e[i][j].re, old.re), select(good, x.e[i][j].im, old.im)});
        else
          at.set(select(good, x.e[i][j], old));
      }
    }
  }
  static void solve(const Parts<NB>& parts, const Run& run, int64_t group, V failed) {
    if (is_complex<T> && run.upper)
      solve_group<is_complex<T>>(parts, run, group, failed);
    else
      solve_group<false>(parts, run, group, failed);
  }

  static void potrs(const Run& run, void* buffer) {
    const Parts<NB> parts(run.n, buffer);
    for (int64_t g = 0; g < run.groups; ++g) {
      pack_factor(triangle(run, g), run.n, parts.L, parts.reciprocal);
      solve(parts, run, g, V::zero());
    }
  }
  template <class Math>
  static void factor_and_solve(const Run& run, void* buffer) {
    const Parts<NB> parts(run.n, buffer);
    for (int64_t g = 0; g < run.groups; ++g) {
      V info = V::zero();
      factor_packed<Math, NB>(triangle(run, g), run.n, parts.L, parts.reciprocal, info);
      put_info(run, g, info);
      solve(parts, run, g, info);
    }
  }
  static void posv(const Run& run, void* buffer) {
    if (run.fast_math)
      factor_and_solve<FastMath>(run, buffer);
    else
      factor_and_solve<IeeeMath>(run, buffer);
  }
  /// From a factor without a zero on its diagonal.
  static void potri(const Run& run, void* buffer) {
    const LaneMatrix<E> W{static_cast<E*>(buffer), 1, odd_stride(run.n)};
    V* reciprocal = reinterpret_cast<V*>(W.base + W.cs * run.n);
    for (int64_t g = 0; g < run.groups; ++g) {
      const Lanes A = triangle(run, g);
      for (int64_t j = 0; j < run.n; ++j)
        for (int64_t i = j; i < run.n; ++i) W.at(i, j) = A.from(i, j).get();
      invert_diagonal(W, run.n, reciprocal);
      invert_factor(W, run.n, reciprocal);
      square_factor(W, run.n);
      for (int64_t j = 0; j < run.n; ++j)
        for (int64_t i = j; i < run.n; ++i) A.from(i, j).set(W.at(i, j));
    }
  }
};

}  // namespace chol::CHOL_ISA
