// Rows of a block column in lanes: a warp holds 32 rows, each lane all columns of its own. Columns
// are eliminated with the diagonal block read from shared memory, where the warp that factors it
// publishes it.
#pragma once

#include <utility>

#include "batched/async_copy.cuh"
#include "common/scalar.cuh"
#include "common/view.cuh"

namespace chol::cuda {

/// Columns of a block column.
template <class T>
inline constexpr int kBlockColumnsOf = Traits<T>::is_complex ? 16 : 32;

/// The factored diagonal block of a block column: columns unscaled, each from its diagonal on, and
/// the reciprocal roots of the pivots. Columns lie from last to first, so that a warp may publish
/// one from row 0 on: what is above the diagonal lands where later columns follow.
template <class T, int kColumns>
struct DiagonalBlock {
  static constexpr int kWide = 16 / sizeof(T);  ///< elements of an access
  /// First row of column c that is kept: its diagonal, rounded down to a whole access.
  __host__ __device__ static constexpr int first_row(int c) { return c / kWide * kWide; }
  /// Where row 0 of column c would lie.
  __host__ __device__ static constexpr int origin(int c) {
    int elements = kColumns;
    for (int k = c + 1; k < kColumns; ++k) elements += kColumns - first_row(k);
    return elements - first_row(c);
  }
  static constexpr int kElements = origin(0) + kColumns;

  alignas(16) T elements[kElements];
  Real<T> inverse_roots[kColumns];
  int bad;  ///< first column whose pivot is not positive and finite, or -1
};

/// Which part of a block column a warp holds.
struct RowBlockPlace {
  int rows;      ///< from its first row to the end of the matrix
  int columns;   ///< of the block column
  int diagonal;  ///< the first row of the diagonal block, counted from its own
  bool aligned;  ///< whether its elements may be moved 16 bytes at a time
};

/// @tparam kColumnCount most columns of a block.
template <class T, int kColumnCount>
struct RowBlock {
  static constexpr int kColumns = kColumnCount;
  static constexpr int kWide = 16 / sizeof(T);
  /// Of a row in shared memory: an odd number of 16-byte accesses.
  static constexpr int kPitch = kColumns + kWide;
  static constexpr int kScratch = 32 * kPitch;  ///< elements

  T a[kColumns];

  /// Columns that row `row` has elements in.
  __device__ __forceinline__ static int limit(const RowBlockPlace& place, int row) {
    if (row >= place.rows) return 0;
    return place.diagonal < 0 ? place.columns : min(row + 1 - place.diagonal, place.columns);
  }

  /// The first kMost columns between registers and column storage, lanes along the rows.
  template <int kMost, bool kStore>
  __device__ __forceinline__ void move_columns(const LowerView<T>& A, const RowBlockPlace& place,
                                               int lane) {
    const int most = limit(place, lane);
    T* p = A.a + lane;
#pragma unroll
    for (int c = 0; c < kMost; ++c, p += A.ld) {
      if constexpr (kStore) {
        if (c < most) *p = a[c];
      } else {
        a[c] = c < most ? *p : from_real<T>(0);
      }
    }
  }

  /// Between `scratch` and row storage, lanes along the columns, kRun elements at a time.
  template <int kMost, bool kStore, int kRun>
  __device__ __forceinline__ static void move_rows(const LowerView<T>& A,
                                                   const RowBlockPlace& place, T* scratch,
                                                   int lane) {
    constexpr int kLine = kMost / kRun, kAtOnce = 32 / kLine;
    const int column = lane % kLine * kRun, first = lane / kLine;
    T* p = A.a + first * A.ld + column;
    T* s = scratch + first * kPitch + column;
    if (place.diagonal < 0 && place.rows >= 32 && place.columns == kMost) {
#pragma unroll
      for (int r = 0; r < 32; r += kAtOnce, p += kAtOnce * A.ld, s += kAtOnce * kPitch)
        if constexpr (!kStore)
          copy_async<kRun * sizeof(T)>(s, p);
        else if constexpr (kRun == 1)
          *p = *s;
        else
          *reinterpret_cast<float4*>(p) = *reinterpret_cast<const float4*>(s);
      return;
    }
#pragma unroll 4
    for (int r = 0; r < 32; r += kAtOnce, p += kAtOnce * A.ld, s += kAtOnce * kPitch) {
      const int elements = limit(place, first + r) - column;
      if constexpr (!kStore) {
        if (elements > 0) copy_async<kRun * sizeof(T)>(s, p, min(elements, kRun) * int(sizeof(T)));
      } else if constexpr (kRun == 1) {
        if (elements > 0) *p = *s;
      } else if (elements >= kRun) {
        *reinterpret_cast<float4*>(p) = *reinterpret_cast<const float4*>(s);
      } else {
#pragma unroll
        for (int k = 0; k < kRun; ++k)
          if (k < elements) p[k] = s[k];
      }
    }
  }
  template <int kMost, bool kStore>
  __device__ __forceinline__ static void move_rows(const LowerView<T>& A,
                                                   const RowBlockPlace& place, T* scratch,
                                                   int lane) {
    if (place.aligned)
      move_rows<kMost, kStore, kWide>(A, place, scratch, lane);
    else
      move_rows<kMost, kStore, 1>(A, place, scratch, lane);
  }
  /// Passes the lane's row to body(column, elements in shared memory), 16 bytes at a time.
  template <int kMost, class Body>
  __device__ __forceinline__ static void over_row(T* scratch, int lane, Body&& body) {
#pragma unroll
    for (int c = 0; c < kMost; c += kWide)
      body(c, reinterpret_cast<float4*>(scratch + lane * kPitch + c));
  }

  /// a := or += the lane's row of `scratch`, or -= it.
  enum class Read { assign, add, subtract };
  template <int kMost, Read kRead>
  __device__ __forceinline__ void read_row(T* scratch, int lane) {
    __syncwarp();
    over_row<kMost>(scratch, lane, [&](int c, const float4* p) {
      T values[kWide];
      *reinterpret_cast<float4*>(values) = *p;
#pragma unroll
      for (int k = 0; k < kWide; ++k)
        a[c + k] = kRead == Read::assign ? values[k]
                   : kRead == Read::add  ? cuda::add(a[c + k], values[k])
                                         : subtract(a[c + k], values[k]);
    });
    __syncwarp();
  }

  template <int kMost>
  __device__ __forceinline__ void load(const LowerView<T>& A, const RowBlockPlace& place,
                                       T* scratch, int lane) {
    if (A.swapped) {
      copy_rows<kMost>(A, place, scratch, lane);
      read_row<kMost, Read::assign>(scratch, lane);
    } else {
      move_columns<kMost, false>(A, place, lane);
    }
  }
  /// Row storage to `scratch`.
  template <int kMost>
  __device__ __forceinline__ static void copy_rows(const LowerView<T>& A,
                                                   const RowBlockPlace& place, T* scratch,
                                                   int lane) {
    __syncwarp();
    move_rows<kMost, false>(A, place, scratch, lane);
    close_copy_group();
    wait_for_copy_groups<0>();
  }
  template <int kMost>
  __device__ __forceinline__ void store(const LowerView<T>& A, const RowBlockPlace& place,
                                        T* scratch, int lane) {
    if (!A.swapped) {
      move_columns<kMost, true>(A, place, lane);
      return;
    }
    __syncwarp();
    over_row<kMost>(scratch, lane, [&](int c, float4* p) {
      T values[kWide];
#pragma unroll
      for (int k = 0; k < kWide; ++k) values[k] = a[c + k];
      *p = *reinterpret_cast<const float4*>(values);
    });
    __syncwarp();
    move_rows<kMost, true>(A, place, scratch, lane);
    __syncwarp();
  }

  /// Right-looking elimination of the first `columns` columns, at most kMost. With kFactors the
  /// rows of the diagonal block are among these lanes', and its columns are published; without,
  /// they are there already.
  template <int kMost, bool kFactors>
  __device__ __forceinline__ void eliminate(DiagonalBlock<T, kColumns>& block, int columns,
                                            int lane) {
    int bad = -1;
    if constexpr (kFactors) publish<0>(block, lane);
    eliminate_columns<kMost, kFactors>(block, columns, lane, bad,
                                       std::make_integer_sequence<int, kMost>{});
    if (kFactors && lane == 0) block.bad = bad;
  }

 private:
  using Block = DiagonalBlock<T, kColumns>;

  template <int c>
  __device__ __forceinline__ void publish(Block& block, int lane) const {
    constexpr int kOrigin = Block::origin(c);
    if (lane < kColumns) block.elements[kOrigin + lane] = a[c];
  }
  // A fold, so that places in shared memory are constants.
  template <int kMost, bool kFactors, int... c>
  __device__ __forceinline__ void eliminate_columns(Block& block, int columns, int lane, int& bad,
                                                    std::integer_sequence<int, c...>) {
    (eliminate_column<c, kMost, kFactors>(block, columns, lane, bad) && ...);
  }
  /// @return whether there are further columns.
  template <int c, int kMost, bool kFactors>
  __device__ __forceinline__ bool eliminate_column(Block& block, int columns, int lane, int& bad) {
    using R = Real<T>;
    if (c >= columns) return false;
    constexpr int kOrigin = Block::origin(c);
    const T* const column = block.elements + kOrigin;
    R inverse_root;
    if constexpr (kFactors) {
      __syncwarp();
      const R pivot = real(column[c]);
      if (bad < 0 && !is_pivot(pivot)) bad = c;
      inverse_root = reciprocal_sqrt(pivot);
      a[c] = scale(a[c], inverse_root);
      if (lane == c) {
        a[c] = from_real<T>(sqrt_from(pivot, inverse_root));
        block.inverse_roots[c] = inverse_root;
      }
    } else {
      inverse_root = block.inverse_roots[c];
      a[c] = scale(a[c], inverse_root);
    }
    const T m = scale(a[c], inverse_root);
#pragma unroll
    for (int v = (c + 1) / kWide * kWide; v < kMost; v += kWide) {
      T values[kWide];
      *reinterpret_cast<float4*>(values) = *reinterpret_cast<const float4*>(column + v);
#pragma unroll
      for (int k = v; k < v + kWide; ++k) {
        if (k <= c) continue;
        a[k] = subtract_product_conj(a[k], m, values[k - v]);
        if constexpr (kFactors && c + 1 < kColumns)
          if (k == c + 1) publish<(c + 1 < kColumns ? c + 1 : c)>(block, lane);
      }
    }
    return true;
  }
};

}  // namespace chol::cuda
