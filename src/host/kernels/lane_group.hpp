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

/// A column stride that spreads a row's elements over the sets of the first-level cache.
CHOL_INLINE constexpr int64_t odd_stride(int64_t n) { return n | 1; }

/// Moves elements of a group's matrices to and from lanes in a buffer.
template <class T>
class LaneBuffer {
 public:
  using E = LaneElement<T>;
  using V = RealLaneOf<E>;
  using R = typename V::Real;
  static constexpr int kLanes = V::width;
  static constexpr int kReals = LaneTraits<E>::reals;

  static constexpr int kRun = kRowRun / kReals;         ///< elements that move at once
  static constexpr int kLine = kLineReals<R> / kReals;  ///< the same where they fill a line

  /// `length` elements that are contiguous in every matrix, at `offset` elements into it, to or
  /// from lanes[place[0]], lanes[place[1]], ... Lanes of `kept` are not stored.
  /// @param phase elements between the start of a line and the first one, 0 if lines start
  /// anywhere.
  /// @param beside called for all that moves at once: work to do beside it.
  template <class Beside = NoWork>
  CHOL_INLINE static void load_run(R* const* matrix, int64_t offset, int64_t length, E* lanes,
                                   const int32_t* place, int64_t phase = 0, Beside&& beside = {}) {
    for (int64_t at = 0; at < length;) {
      beside();
      const auto lane = [&](int e) -> E& { return lanes[place[at + e]]; };
      if (fills_line(at + phase, length - at)) {
        load_part<kReals * kLine>(matrix, offset + at, kLine, lane);
        at += kLine;
        continue;
      }
      const int64_t elements = smaller(kRun - (at + phase) % kRun, length - at);
      if (elements == kRun)
        load_part<kRowRun>(matrix, offset + at, kRun, lane);
      else
        load_part<kRowRun>(matrix, offset + at, elements, lane);
      at += elements;
    }
  }
  template <class Beside = NoWork>
  CHOL_INLINE static void store_run(R* const* matrix, int64_t offset, int64_t length,
                                    const E* lanes, const int32_t* place, int64_t phase = 0,
                                    uint32_t kept = 0, Beside&& beside = {}) {
    for (int64_t at = 0; at < length;) {
      beside();
      const auto lane = [&](int e) -> const E& { return lanes[place[at + e]]; };
      if (kept == 0 && fills_line(at + phase, length - at)) {
        store_part<kReals * kLine>(matrix, offset + at, kLine, lane,
                                   [](int) { return kReals * kLine; });
        at += kLine;
        continue;
      }
      const int64_t elements = smaller(kRun - (at + phase) % kRun, length - at);
      if (elements == kRun && kept == 0)
        store_part<kRowRun>(matrix, offset + at, kRun, lane, [](int) { return kRowRun; });
      else
        store_part<kRowRun>(matrix, offset + at, elements, lane, [&](int i) -> int64_t {
          return kept >> i & 1 ? 0 : kReals * elements;
        });
      at += elements;
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
  CHOL_INLINE static bool fills_line(int64_t at, int64_t left) {
    return kLine > kRun && at % kLine == 0 && left >= kLine;
  }

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

/// The named triangle of every matrix of a group as the lower triangle of matrices across lanes,
/// kept in `Triangle`. For the upper triangle that is conj(A): its factor is conj(L), which is U
/// where U belongs.
template <class T, class Triangle>
struct GroupTriangles {
  using Buffer = LaneBuffer<T>;
  using E = typename Buffer::E;
  using R = typename Buffer::R;
  const host::LaneGroup& group;
  const Triangle lanes;
  int32_t row[host::kMostLaneOrder], column[host::kMostLaneOrder];

  GroupTriangles(const host::LaneGroup& of, Triangle in) : group(of), lanes(in) {
    for (int64_t i = 0; i < group.n; ++i) {
      row[i] = static_cast<int32_t>(lanes.row_start(i));
      column[i] = static_cast<int32_t>(lanes.column_start(i));
    }
  }

  /// What moves at once in the columns of a triangle, about.
  static int64_t runs(int64_t n) {
    const int64_t whole = n / Buffer::kRun;
    return (Buffer::kRun * whole / 2 + n % Buffer::kRun) * (whole + 1);
  }

  /// Calls run(offset, length, lanes, place, phase) for the part of every column in the triangle.
  template <class Run>
  CHOL_INLINE void for_each_column(Run&& run) const {
    const bool columns_start_lines = group.lda % Buffer::kLine == 0;
    for (int64_t j = 0; j < group.n; ++j) {
      if (group.upper)
        run(j * group.lda, j + 1, lanes.base + row[j], column, 0);
      else
        run(j * group.lda + j, group.n - j, lanes.base + column[j], row + j,
            columns_start_lines ? j : 0);
    }
  }
  template <class Beside = NoWork>
  void load(Beside&& beside = {}) const {
    R* const* matrix = reinterpret_cast<R* const*>(group.A);
    for_each_column(
        [&](int64_t offset, int64_t length, E* lane, const int32_t* place, int64_t phase) {
          Buffer::load_run(matrix, offset, length, lane, place, phase, beside);
        });
  }
  template <class Beside = NoWork>
  void store(Beside&& beside = {}) const {
    R* const* matrix = reinterpret_cast<R* const*>(group.A);
    for_each_column(
        [&](int64_t offset, int64_t length, E* lane, const int32_t* place, int64_t phase) {
          Buffer::store_run(matrix, offset, length, lane, place, phase, 0, beside);
        });
  }
};

/// The triangles of the next group, brought near beside the work on this one, which leaves the way
/// to memory idle. Few lines at a time: each takes one of the core's dozen miss buffers, and all
/// loads wait when none is left. A line of every matrix in turn: as many streams for the hardware's
/// own prefetch to take up.
template <class T>
class NextGroup {
 public:
  static constexpr int kLanes = LaneBuffer<T>::kLanes;

  /// @param calls that have to bring everything, about.
  NextGroup(const host::LaneGroup& group, int64_t calls) : group_(group) {
    if (group.next_A[0] == nullptr) return;
    left_ = group.n;
    const int64_t bytes = int64_t(sizeof(T)) * group.n * (group.n + 1) / 2;
    per_call_ = kLanes * (bytes / kLine + group.n / 2) / calls + 1;
  }
  CHOL_INLINE void operator()() {
    if (left_ > 0 || at_ < end_) fetch_some();
  }

 private:
  static constexpr int64_t kLine = 64;

  __attribute__((noinline)) void fetch_some() {
    // GCC takes a prefetch for no effect and drops calls of functions that do nothing else.
    __asm__ volatile("");
    for (int64_t i = 0; i < per_call_; ++i) {
      while (at_ >= end_) {
        if (left_ == 0) return;
        start_column();
      }
      __builtin_prefetch(static_cast<const char*>(group_.next_A[lane_]) + at_, 0, 2);
      if (++lane_ == kLanes) {
        lane_ = 0;
        at_ += kLine;
      }
    }
  }
  /// Lines count from where they start in the first matrix. Columns may share one.
  void start_column() {
    const int64_t j = group_.n - left_--, top = group_.upper ? 0 : j;
    const int64_t first = (top + j * group_.lda) * int64_t(sizeof(T));
    const int64_t skew = reinterpret_cast<uintptr_t>(group_.next_A[0]) % kLine;
    at_ = larger(at_, (first + skew) / kLine * kLine - skew);
    end_ = ((group_.upper ? j + 1 : group_.n) + j * group_.lda) * int64_t(sizeof(T));
  }

  const host::LaneGroup& group_;
  int64_t left_ = 0;                        ///< columns
  int64_t at_ = INT64_MIN / 2, end_ = at_;  ///< bytes into every matrix
  int64_t per_call_ = 0;
  int lane_ = 0;
};

/// 0, 1, 2, ...: the places of elements that lie side by side in a buffer.
struct InOrder {
  int32_t place[host::kMostLaneOrder];
  constexpr InOrder() : place() {
    for (int i = 0; i < host::kMostLaneOrder; ++i) place[i] = i;
  }
};
inline constexpr InOrder kInOrder;

/// Right-hand sides [column, column + count) of every matrix of a group.
template <class T, bool Store>
inline void move_right_hand_sides(const host::LaneGroup& group, int64_t column, int64_t count,
                                  LaneMatrix<LaneElement<T>> lanes, uint32_t kept = 0) {
  using Buffer = LaneBuffer<T>;
  auto* const* matrix = reinterpret_cast<typename Buffer::R* const*>(group.B);
  for (int64_t c = 0; c < count; ++c) {
    const int64_t offset = (column + c) * group.ldb;
    if constexpr (Store)
      Buffer::store_run(matrix, offset, group.n, &lanes.at(0, c), kInOrder.place, 0, kept);
    else
      Buffer::load_run(matrix, offset, group.n, &lanes.at(0, c), kInOrder.place);
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

  using Triangles = GroupTriangles<T, PackedTriangle<E, NB>>;
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

  static void factor_group(host::LaneGroup& group, const Parts& parts) {
    const Triangles triangles(group, parts.L);
    NextGroup<T> next(group, tiles_of<NB>(group.n) + 2 * Triangles::runs(group.n));
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
      const auto at_first = [&] {
        if (c == 0) beside();
      };
      const int64_t count = smaller(kRhsAtATime, group.nrhs - c);
      move_right_hand_sides<T, false>(group, c, count, parts.X);
      if (group.upper)
        solve<true>(parts.L, group.n, parts.reciprocal, parts.X, count, at_first);
      else
        solve<false>(parts.L, group.n, parts.reciprocal, parts.X, count, at_first);
      move_right_hand_sides<T, true>(group, c, count, parts.X, kept);
    }
  }

  static void potrf(host::LaneGroup& group, void* buffer) {
    if (!factor_unrolled<kUnrolled<T>>(group)) factor_group(group, Parts(group.n, buffer));
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
    factor_group(group, parts);
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
