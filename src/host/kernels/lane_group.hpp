// Groups of column-major matrices through the lanes: transposed in registers on the way in and out.
#pragma once

#include "host/kernels.hpp"
#include "host/kernels/scalar.hpp"
#include "lane/cholesky.hpp"

namespace chol::CHOL_ISA {

template <class T>
struct LaneElementOf {
  using Type = Vec<T>;
};
template <class R>
struct LaneElementOf<Complex<R>> {
  using Type = ComplexLane<Vec<R>>;
};
template <class T>
using LaneElement = typename LaneElementOf<T>::Type;

/// Register tile edge: NB * NB accumulators, a column of operands and one more in registers.
template <class T>
inline constexpr int kLaneTile = kVectorRegisters >= 32 ? (is_complex<T> ? 3 : 4)
                                                        : (is_complex<T> ? 2 : 3);

/// Largest order whose triangle is factored in registers alone.
template <class T>
inline constexpr int kUnrolled = kVectorRegisters >= 32 ? (is_complex<T> ? 6 : 14)
                                                        : (is_complex<T> ? 4 : 8);

/// A group's matrices in a buffer: element (i, j) of all lanes side by side. The odd column stride
/// spreads a column's elements over the sets of the first-level cache.
template <class T>
class LaneBuffer {
 public:
  using E = LaneElement<T>;
  using V = RealLaneOf<E>;
  using R = typename V::Real;
  static constexpr int kLanes = V::width;
  static constexpr int kReals = LaneTraits<E>::reals;

  static int64_t column_stride(int64_t n) { return n | 1; }

  /// `length` elements that are contiguous in every matrix, at `offset` elements into it, to or
  /// from `lanes`, whose elements are `step` apart. Lanes of `kept` are not stored.
  CHOL_INLINE static void load_run(R* const* matrix, int64_t offset, int64_t length, E* lanes,
                                   int64_t step) {
    const auto lane = [=](int64_t e) -> E& { return lanes[e * step]; };
    int64_t at = 0;
    for (; at + kRun <= length; at += kRun)
      load_part<kRowRun>(matrix, offset + at, kRun, [&](int e) -> E& { return lane(at + e); });
    if (at < length)
      load_part<kRowRun>(matrix, offset + at, length - at,
                         [&](int e) -> E& { return lane(at + e); });
  }
  CHOL_INLINE static void store_run(R* const* matrix, int64_t offset, int64_t length,
                                    const E* lanes, int64_t step, uint32_t kept = 0) {
    const auto lane = [=](int64_t e) -> const E& { return lanes[e * step]; };
    int64_t at = 0;
    for (; at + kRun <= length && kept == 0; at += kRun)
      store_part<kRowRun>(
          matrix, offset + at, kRun, [&](int e) -> const E& { return lane(at + e); },
          [](int) { return kRowRun; });
    for (; at < length; at += kRun) {
      const int64_t elements = smaller<int64_t>(kRun, length - at);
      store_part<kRowRun>(
          matrix, offset + at, elements, [&](int e) -> const E& { return lane(at + e); },
          [&](int i) -> int64_t { return kept >> i & 1 ? 0 : kReals * elements; });
    }
  }

  /// The same for a length that is a constant once the caller's loop is unrolled; lane(e) is where
  /// element e is kept.
  template <class Lane>
  CHOL_INLINE static void load_unrolled(R* const* matrix, int64_t offset, int length, Lane lane) {
    CHOL_UNROLL
    for (int at = 0; at < length; at += 4 / kReals)
      load_part<4>(matrix, offset + at, smaller(4 / kReals, length - at),
                   [&](int e) -> E& { return lane(at + e); });
  }
  template <class Lane>
  CHOL_INLINE static void store_unrolled(R* const* matrix, int64_t offset, int length, Lane lane) {
    CHOL_UNROLL
    for (int at = 0; at < length; at += 4 / kReals) {
      const int elements = smaller(4 / kReals, length - at);
      store_part<4>(
          matrix, offset + at, elements, [&](int e) { return lane(at + e); },
          [&](int) { return kReals * elements; });
    }
  }

 private:
  static constexpr int kRun = kRowRun / kReals;  ///< elements that one load moves

  /// `elements` of every matrix, at most N reals, into lane(0), lane(1), ...
  template <int N, class Count, class Lane>
  CHOL_INLINE static void load_part(R* const* matrix, int64_t offset, Count elements, Lane lane) {
    V v[N];
    load_reals([&](int i) { return matrix[i] + kReals * offset; },
               [&](int) { return kReals * elements; }, v);
    CHOL_UNROLL
    for (int e = 0; e < N / kReals; ++e)
      if (e < elements) put(lane(e), v, e);
  }
  template <int N, class Elements, class Lane, class Count>
  CHOL_INLINE static void store_part(R* const* matrix, int64_t offset, Elements elements, Lane lane,
                                     Count count) {
    V v[N];
    CHOL_UNROLL
    for (int e = 0; e < N / kReals; ++e) {
      if (e < elements)
        get(lane(e), v, e);
      else
        for (int r = 0; r < kReals; ++r) v[kReals * e + r] = V::zero();
    }
    store_reals([&](int i) { return matrix[i] + kReals * offset; }, count, v);
  }
  template <int N>
  CHOL_INLINE static void put(E& lane, const V (&v)[N], int e) {
    if constexpr (kReals == 2)
      lane = {v[2 * e], v[2 * e + 1]};
    else
      lane = v[e];
  }
  template <int N>
  CHOL_INLINE static void get(const E& lane, V (&v)[N], int e) {
    if constexpr (kReals == 2) {
      v[2 * e] = lane.re;
      v[2 * e + 1] = lane.im;
    } else {
      v[e] = lane;
    }
  }
};

/// The named triangle of every matrix of a group as the lower triangle of one lane matrix, whose
/// storage is conj(A) for the upper triangle: its factor is conj(L), which is U where U belongs.
template <class T>
struct GroupTriangles {
  using Buffer = LaneBuffer<T>;
  using E = typename Buffer::E;
  using R = typename Buffer::R;

  /// What is contiguous in the matrices is contiguous in the buffer.
  static LaneMatrix<E> view(const host::LaneGroup& group, E* buffer) {
    const LaneMatrix<E> lower{buffer, 1, Buffer::column_stride(group.n)};
    return group.upper ? lower.transposed() : lower;
  }

  /// Calls run(offset, length, lanes, step) for the part of every column in the triangle.
  template <class Run>
  CHOL_INLINE static void for_each_column(const host::LaneGroup& group, LaneMatrix<E> lanes,
                                          Run&& run) {
    for (int64_t j = 0; j < group.n; ++j) {
      if (group.upper)
        run(j * group.lda, j + 1, &lanes.at(j, 0), lanes.cs);
      else
        run(j * group.lda + j, group.n - j, &lanes.at(j, j), lanes.rs);
    }
  }
  static void load(const host::LaneGroup& group, LaneMatrix<E> lanes) {
    R* const* matrix = reinterpret_cast<R* const*>(group.A);
    for_each_column(group, lanes, [&](int64_t offset, int64_t length, E* lane, int64_t step) {
      Buffer::load_run(matrix, offset, length, lane, step);
    });
  }
  /// Brings columns [from, to) of the next group near: beside the arithmetic, which leaves the way
  /// to memory idle.
  static void fetch_next(const host::LaneGroup& group, int64_t from, int64_t to) {
    if (group.next_A[0] == nullptr) return;
    for (int64_t j = from; j < to; ++j) {
      const int64_t top = group.upper ? 0 : j, bottom = group.upper ? j + 1 : group.n;
      for (int i = 0; i < Buffer::kLanes; ++i)
        fetch(static_cast<const T*>(group.next_A[i]) + top + j * group.lda,
              (bottom - top) * int64_t(sizeof(T)));
    }
  }
  static void store(const host::LaneGroup& group, LaneMatrix<E> lanes) {
    R* const* matrix = reinterpret_cast<R* const*>(group.A);
    for_each_column(group, lanes, [&](int64_t offset, int64_t length, E* lane, int64_t step) {
      Buffer::store_run(matrix, offset, length, lane, step);
    });
  }
};

/// Right-hand sides [column, column + count) of every matrix of a group.
template <class T, bool Store>
inline void move_right_hand_sides(const host::LaneGroup& group, int64_t column, int64_t count,
                                  LaneMatrix<LaneElement<T>> lanes, uint32_t kept = 0) {
  using Buffer = LaneBuffer<T>;
  auto* const* matrix = reinterpret_cast<typename Buffer::R* const*>(group.B);
  for (int64_t c = 0; c < count; ++c) {
    const int64_t offset = (column + c) * group.ldb;
    if constexpr (Store)
      Buffer::store_run(matrix, offset, group.n, &lanes.at(0, c), lanes.rs, kept);
    else
      Buffer::load_run(matrix, offset, group.n, &lanes.at(0, c), lanes.rs);
  }
}

/// Right-hand sides are taken this many at a time, so that they stay in cache beside the factor.
inline constexpr int64_t kRhsAtATime = 8;

template <class T>
struct LaneKernels {
  using Buffer = LaneBuffer<T>;
  using E = typename Buffer::E;
  using V = typename Buffer::V;
  using R = typename Buffer::R;
  static constexpr int NB = kLaneTile<T>;

  /// The buffer's parts: the triangle, the reciprocals of the diagonal, right-hand sides.
  struct Parts {
    LaneMatrix<E> L;
    V* reciprocal;
    LaneMatrix<E> X;
    Parts(const host::LaneGroup& group, void* buffer)
        : L(GroupTriangles<T>::view(group, static_cast<E*>(buffer))),
          reciprocal(reinterpret_cast<V*>(L.base + Buffer::column_stride(group.n) * group.n)),
          X{reinterpret_cast<E*>(reciprocal + group.n), 1, Buffer::column_stride(group.n)} {}
  };
  static size_t buffer_bytes(int64_t n, int64_t nrhs) {
    const int64_t stride = Buffer::column_stride(n);
    return sizeof(E) * stride * (n + smaller(nrhs, kRhsAtATime)) + sizeof(V) * n;
  }

  static void factor_group(host::LaneGroup& group, const Parts& parts) {
    GroupTriangles<T>::load(group, parts.L);
    V info = V::zero();
    factor<NB>(parts.L, group.n, parts.reciprocal, info,
               [&](int64_t from, int64_t to) { GroupTriangles<T>::fetch_next(group, from, to); });
    GroupTriangles<T>::store(group, parts.L);
    take_info(group, info);
  }
  static void take_info(host::LaneGroup& group, V info) {
    typename V::Real order[Buffer::kLanes];
    info.store(order);
    for (int i = 0; i < Buffer::kLanes; ++i) group.info[i] = static_cast<int>(order[i]);
  }

  /// Orders 1 .. N fully unrolled: the whole triangle in registers from load to store. Returns
  /// whether the group's order is one of them.
  template <int N>
  CHOL_INLINE static bool factor_unrolled(host::LaneGroup& group) {
    if (group.n == N) {
      group.upper ? factor_in_registers<N, true>(group) : factor_in_registers<N, false>(group);
      return true;
    }
    if constexpr (N > 1) return factor_unrolled<N - 1>(group);
    return false;
  }
  template <int N, bool Upper>
  static void factor_in_registers(host::LaneGroup& group) {
    R* const* matrix = reinterpret_cast<R* const*>(group.A);
    Tile<E, N, N> t;
    CHOL_UNROLL
    for (int j = 0; j < N; ++j) {
      if constexpr (Upper)
        Buffer::load_unrolled(matrix, j * group.lda, j + 1, [&](int i) -> E& { return t.e[j][i]; });
      else
        Buffer::load_unrolled(matrix, j * group.lda + j, N - j,
                              [&](int i) -> E& { return t.e[j + i][j]; });
    }
    V reciprocal[N], info = V::zero();
    factor_tile(t, reciprocal, info, 0);
    CHOL_UNROLL
    for (int j = 0; j < N; ++j) {
      if constexpr (Upper)
        Buffer::store_unrolled(matrix, j * group.lda, j + 1, [&](int i) { return t.e[j][i]; });
      else
        Buffer::store_unrolled(matrix, j * group.lda + j, N - j,
                               [&](int i) { return t.e[j + i][j]; });
    }
    take_info(group, info);
  }
  /// @param beside work to do beside the first right-hand sides.
  template <class Beside>
  CHOL_INLINE static void solve_group(const host::LaneGroup& group, const Parts& parts,
                                      uint32_t kept, Beside&& beside) {
    for (int64_t c = 0; c < group.nrhs; c += kRhsAtATime) {
      const auto at_first = [&](int64_t from, int64_t to) {
        if (c == 0) beside(from, to);
      };
      const int64_t count = smaller(kRhsAtATime, group.nrhs - c);
      move_right_hand_sides<T, false>(group, c, count, parts.X);
      if (group.upper)
        solve<NB, true>(parts.L, group.n, parts.reciprocal, parts.X, count, at_first);
      else
        solve<NB, false>(parts.L, group.n, parts.reciprocal, parts.X, count, at_first);
      move_right_hand_sides<T, true>(group, c, count, parts.X, kept);
    }
  }

  static void potrf(host::LaneGroup& group, void* buffer) {
    if (!factor_unrolled<kUnrolled<T>>(group)) factor_group(group, Parts(group, buffer));
  }
  static void potrs(host::LaneGroup& group, void* buffer) {
    const Parts parts(group, buffer);
    GroupTriangles<T>::load(group, parts.L);
    invert_diagonal(parts.L, group.n, parts.reciprocal);
    solve_group(group, parts, 0,
                [&](int64_t from, int64_t to) { GroupTriangles<T>::fetch_next(group, from, to); });
  }
  static void posv(host::LaneGroup& group, void* buffer) {
    const Parts parts(group, buffer);
    factor_group(group, parts);
    uint32_t failed = 0;
    for (int i = 0; i < Buffer::kLanes; ++i) failed |= uint32_t(group.info[i] != 0) << i;
    solve_group(group, parts, failed, NoWork{});
  }
  static void potri(host::LaneGroup& group, void* buffer) {
    const Parts parts(group, buffer);
    GroupTriangles<T>::load(group, parts.L);
    invert_diagonal(parts.L, group.n, parts.reciprocal);
    invert_factor(parts.L, group.n, parts.reciprocal);
    square_factor(parts.L, group.n);
    GroupTriangles<T>::store(group, parts.L);
  }
};

}  // namespace chol::CHOL_ISA
