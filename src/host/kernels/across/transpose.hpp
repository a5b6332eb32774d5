// Moves elements of column-major matrices to and from lanes: transposed in registers, a whole line
// at a time if possible.
#pragma once

#include "host/kernels/kernel_table.hpp"
#include "host/kernels/within/scalar.hpp"
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

/// A column stride that spreads a row's elements over the sets of the first-level cache.
CHOL_INLINE constexpr int64_t odd_stride(int64_t n) { return n | 1; }

/// body(Count<0>{}), ..., body(Count<N - 1>{}).
template <int N, class Body>
CHOL_INLINE void unrolled(Body&& body) {
  if constexpr (N > 0) {
    unrolled<N - 1>(body);
    body(Count<N - 1>{});
  }
}

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
  /// Up to this many elements are moved one by one: a wider access may touch a line outside the
  /// triangle, which would then be read from memory in vain.
  static constexpr int kHalfRun = 4 / kReals;

  /// `length` elements that are contiguous in every matrix, at `offset` elements into it, to or
  /// from lanes[place[0]], lanes[place[1]], ... Lanes of `kept` are not stored.
  /// @param phase elements between the start of a line and the first one, 0 if lines are
  /// misaligned.
  /// @param beside called for every piece: work interleaved with the transfer.
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
      else if (kHalfRun < kRun && elements <= kHalfRun)
        load_part<kReals * kHalfRun>(matrix, offset + at, elements, lane);
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
      const auto count = [&](int i) -> int64_t { return kept >> i & 1 ? 0 : kReals * elements; };
      if (elements == kRun && kept == 0)
        store_part<kRowRun>(matrix, offset + at, kRun, lane, [](int) { return kRowRun; });
      else if (kHalfRun < kRun && elements <= kHalfRun)
        store_part<kReals * kHalfRun>(matrix, offset + at, elements, lane, count);
      else
        store_part<kRowRun>(matrix, offset + at, elements, lane, count);
      at += elements;
    }
  }

  /// At most kRun elements, of which matrix i has count[i] reals at start[i]; the lanes of the
  /// others become zero.
  CHOL_INLINE static void load_cut(R* const* start, const int* count, int64_t length, E* lanes,
                                   const int32_t* place) {
    V v[kRowRun];
    load_reals([&](int i) { return start[i]; }, [&](int i) { return count[i]; }, v);
    CHOL_UNROLL
    for (int e = 0; e < kRun; ++e)
      if (e < length) put(lanes[place[e]], v, e);
  }
  CHOL_INLINE static void store_cut(R* const* start, const int* count, int64_t length,
                                    const E* lanes, const int32_t* place) {
    V v[kRowRun];
    CHOL_UNROLL
    for (int e = 0; e < kRun; ++e) get(lanes[place[e < length ? e : 0]], v, e);
    store_reals([&](int i) { return start[i]; }, [&](int i) { return count[i]; }, v);
  }

  static constexpr int kPiece = 4 / kReals;  ///< elements that straight-line code moves at once
  /// and those where masks cost nothing: rows of doubles are stored as two consecutive halves and
  /// loaded by halves.
  static constexpr bool kHasWide = kMasksRows && sizeof(T) < 16;
  static constexpr int kLoadPiece = kHasWide && sizeof(R) == 4 ? 2 * kPiece : kPiece;
  static constexpr int kStorePiece = kHasWide ? 2 * kPiece : kPiece;
  /// Width of the accesses to a column's last elements: exact where masks are slow.
  static constexpr int kLastReals = kHasWide ? 4 : 2;

  /// load_run and store_run in such pieces, of a length that is a constant; lane(e) is where
  /// element e is kept.
  /// @tparam First elements of the first piece, 0 for as many as of the others.
  template <int Length, int First = 0, int At = 0, class Lane>
  CHOL_INLINE static void load_unrolled(R* const* matrix, int64_t offset, const Lane& lane) {
    if constexpr (At < Length) {
      using Piece = PieceOf<Length - At, First ? First : kLoadPiece>;
      load_part<Piece::reals>(matrix, offset + At, Piece::elements,
                              [&](int e) -> E& { return lane(At + e); });
      load_unrolled<Length, 0, At + Piece::elements>(matrix, offset, lane);
    }
  }
  template <int Length, int First = 0, int At = 0, class Lane>
  CHOL_INLINE static void store_unrolled(R* const* matrix, int64_t offset, const Lane& lane) {
    if constexpr (At < Length) {
      using Piece = PieceOf<Length - At, First ? First : kStorePiece>;
      store_part<Piece::reals>(
          matrix, offset + At, Piece::elements, [&](int e) { return lane(At + e); },
          [](int) { return kReals * Piece::elements; });
      store_unrolled<Length, 0, At + Piece::elements>(matrix, offset, lane);
    }
  }

 private:
  /// Number of elements of a piece, at most Most of those left, and its number of reals.
  template <int Left, int Most>
  struct PieceOf {
    static constexpr int whole = Left < Most ? Left : Most;
    static constexpr int half = 2 / kReals;
    static constexpr int elements = whole >= kPiece || kLastReals == 4 ? whole
                                    : whole >= half                    ? half
                                                                       : 1;
    static constexpr int reals = elements > kPiece ? 8 : elements == kPiece ? 4 : kLastReals;
  };
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

  /// Approximate number of elements that are moved at a time in the columns of a triangle.
  static int64_t runs(int64_t n) {
    const int64_t whole = n / Buffer::kRun;
    return (Buffer::kRun * whole / 2 + n % Buffer::kRun) * (whole + 1);
  }

  /// Calls run(offset, length, lanes, place, phase) for the part of every column in the triangle.
  template <class Run>
  CHOL_INLINE void for_each_column(Run&& run) const {
    // Whether all columns have the same alignment to lines: those of an upper triangle if lda is a
    // multiple of a line.
    const bool alike = group.lda % Buffer::kLine == 0;
    const auto first = static_cast<int64_t>(reinterpret_cast<uintptr_t>(group.A[0]) / sizeof(T));
    const int64_t phase = alike ? first % Buffer::kLine : 0;
    for (int64_t j = 0; j < group.n; ++j) {
      if (group.upper)
        run(j * group.lda, j + 1, lanes.base + row[j], column, phase);
      else
        run(j * group.lda + j, group.n - j, lanes.base + column[j], row + j, alike ? j : 0);
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

/// 0, 1, 2, ...: the positions of contiguous elements in a buffer.
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

}  // namespace chol::CHOL_ISA
