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
  static constexpr int kRun = 4 / kReals;  ///< elements of one load4

  static int64_t column_stride(int64_t n) { return n | 1; }

  /// `length` elements that are contiguous in every matrix, at `offset` elements into it, to or
  /// from `lanes`, whose elements are `step` apart.
  CHOL_INLINE static void load_run(const R* const* matrix, const int64_t* offset, int64_t length,
                                   E* lanes, int64_t step) {
    for (int64_t at = 0; at < length; at += kRun) {
      const int64_t count = smaller<int64_t>(4, kReals * (length - at));
      const auto row = [&](int i) { return matrix[i] + kReals * (offset[i] + at); };
      V v[4];
      if (count == 4)
        load4(
            row, [](int) { return 4; }, v);
      else
        load4(
            row, [&](int) { return count; }, v);
      for (int e = 0; e < kRun && kReals * e < count; ++e) put(lanes[(at + e) * step], v, e);
    }
  }
  CHOL_INLINE static void store_run(R* const* matrix, const int64_t* offset, int64_t length,
                                    const E* lanes, int64_t step) {
    for (int64_t at = 0; at < length; at += kRun) {
      const int64_t count = smaller<int64_t>(4, kReals * (length - at));
      const auto row = [&](int i) { return matrix[i] + kReals * (offset[i] + at); };
      V v[4] = {V::zero(), V::zero(), V::zero(), V::zero()};
      for (int e = 0; e < kRun && kReals * e < count; ++e) get(lanes[(at + e) * step], v, e);
      if (count == 4)
        store4(
            row, [](int) { return 4; }, v);
      else
        store4(
            row, [&](int) { return count; }, v);
    }
  }

 private:
  CHOL_INLINE static void put(E& lane, const V (&v)[4], int e) {
    if constexpr (kReals == 2)
      lane = {v[2 * e], v[2 * e + 1]};
    else
      lane = v[e];
  }
  CHOL_INLINE static void get(const E& lane, V (&v)[4], int e) {
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

  static LaneMatrix<E> view(const host::LaneGroup& group, E* buffer) {
    return {buffer, 1, Buffer::column_stride(group.n)};
  }

  template <class Run>
  CHOL_INLINE static void for_each_column(const host::LaneGroup& group, LaneMatrix<E> lanes,
                                          Run&& run) {
    R* matrix[Buffer::kLanes];
    int64_t offset[Buffer::kLanes];
    for (int i = 0; i < Buffer::kLanes; ++i) matrix[i] = static_cast<R*>(group.A[i]);
    for (int64_t j = 0; j < group.n; ++j) {
      const int64_t top = group.upper ? 0 : j;
      for (int i = 0; i < Buffer::kLanes; ++i) offset[i] = j * group.lda[i] + top;
      if (group.upper)
        run(matrix, offset, j + 1, &lanes.at(j, 0), lanes.cs);
      else
        run(matrix, offset, group.n - j, &lanes.at(j, j), lanes.rs);
    }
  }
  static void load(const host::LaneGroup& group, LaneMatrix<E> lanes) {
    for_each_column(group, lanes, [](auto&&... run) { Buffer::load_run(run...); });
  }
  static void store(const host::LaneGroup& group, LaneMatrix<E> lanes) {
    for_each_column(group, lanes, [](auto&&... run) { Buffer::store_run(run...); });
  }
};

/// Right-hand sides [column, column + count) of every matrix of a group.
template <class T, bool Store>
inline void move_right_hand_sides(const host::LaneGroup& group, int64_t column, int64_t count,
                                  LaneMatrix<LaneElement<T>> lanes) {
  using Buffer = LaneBuffer<T>;
  using R = typename Buffer::R;
  R* matrix[Buffer::kLanes];
  int64_t offset[Buffer::kLanes];
  for (int i = 0; i < Buffer::kLanes; ++i) matrix[i] = static_cast<R*>(group.B[i]);
  for (int64_t c = 0; c < count; ++c) {
    for (int i = 0; i < Buffer::kLanes; ++i) offset[i] = (column + c) * group.ldb[i];
    if constexpr (Store)
      Buffer::store_run(matrix, offset, group.n, &lanes.at(0, c), lanes.rs);
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
  static constexpr int NB = kLaneTile<T>;

  /// The buffer's parts: the triangle, the reciprocals of the diagonal, right-hand sides.
  struct Parts {
    LaneMatrix<E> L;
    V* reciprocal;
    LaneMatrix<E> X;
    Parts(const host::LaneGroup& group, void* buffer)
        : L(GroupTriangles<T>::view(group, static_cast<E*>(buffer))),
          reciprocal(reinterpret_cast<V*>(L.base + L.cs * group.n)),
          X{reinterpret_cast<E*>(reciprocal + group.n), 1, Buffer::column_stride(group.n)} {}
  };
  static size_t buffer_bytes(int64_t n, int64_t nrhs) {
    const int64_t stride = Buffer::column_stride(n);
    return sizeof(E) * stride * (n + smaller(nrhs, kRhsAtATime)) + sizeof(V) * n;
  }

  static V factor_group(host::LaneGroup& group, const Parts& parts) {
    GroupTriangles<T>::load(group, parts.L);
    V info = V::zero();
    factor<NB>(parts.L, group.n, parts.reciprocal, info);
    GroupTriangles<T>::store(group, parts.L);
    typename V::Real order[Buffer::kLanes];
    info.store(order);
    for (int i = 0; i < Buffer::kLanes; ++i) group.info[i] = static_cast<int>(order[i]);
    return info;
  }
  static void solve_group(const host::LaneGroup& group, const Parts& parts) {
    for (int64_t c = 0; c < group.nrhs; c += kRhsAtATime) {
      const int64_t count = smaller(kRhsAtATime, group.nrhs - c);
      move_right_hand_sides<T, false>(group, c, count, parts.X);
      if (group.upper)
        solve<NB, true>(parts.L, group.n, parts.reciprocal, parts.X, count);
      else
        solve<NB, false>(parts.L, group.n, parts.reciprocal, parts.X, count);
      move_right_hand_sides<T, true>(group, c, count, parts.X);
    }
  }

  static void potrf(host::LaneGroup& group, void* buffer) {
    factor_group(group, Parts(group, buffer));
  }
  static void potrs(host::LaneGroup& group, void* buffer) {
    const Parts parts(group, buffer);
    GroupTriangles<T>::load(group, parts.L);
    invert_diagonal(parts.L, group.n, parts.reciprocal);
    solve_group(group, parts);
  }
  static void posv(host::LaneGroup& group, void* buffer) {
    const Parts parts(group, buffer);
    factor_group(group, parts);
    for (int i = 0; i < Buffer::kLanes; ++i)
      if (group.info[i] != 0) {
        group.B[i] = group.discarded_B;
        group.ldb[i] = group.n;
      }
    solve_group(group, parts);
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
