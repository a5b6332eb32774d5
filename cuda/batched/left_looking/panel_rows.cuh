// A panel of 32 rows of a block column in the registers of a warp, a row a lane. Columns are
// eliminated with the diagonal block, which the warp that factors it writes to shared memory.
#pragma once

#include <type_traits>
#include <utility>

#include "common/batch_view.cuh"
#include "common/cp_async.cuh"
#include "common/pivot.cuh"
#include "common/vector_access.cuh"

namespace chol::cuda {

/// Columns of a block column.
template <class T>
inline constexpr int kBlockColumnsOf = Traits<T>::is_complex ? 16 : 32;

/// The factored diagonal block of a block column: unscaled columns, each from its diagonal on, so
/// that no warp waits for a square root, and the reciprocal roots of the pivots. Columns are stored
/// from last to first, so that a warp may publish one from row 0 on: elements above the diagonal
/// are later overwritten by the following columns.
template <class T, int kColumns>
struct DiagonalBlock {
  static constexpr int kWide = 16 / sizeof(T);  ///< elements of an access
  /// First stored row of column c: its diagonal, rounded down to a whole access.
  __host__ __device__ static constexpr int first_row(int c) { return c / kWide * kWide; }
  /// Position of row 0 of column c, stored or not.
  __host__ __device__ static constexpr int origin(int c) {
    int elements = kColumns;
    for (int k = c + 1; k < kColumns; ++k) elements += kColumns - first_row(k);
    return elements - first_row(c);
  }
  static constexpr int kElements = origin(0) + kColumns;
  /// Position of the diagonal element of column c, where c depends on the lane.
  __device__ static __forceinline__ int diagonal(int c) {
    const int first = first_row(c), after = (kColumns - first) / kWide - 1;  // groups of columns
    return kColumns + (kWide - 1 - c % kWide) * (kColumns - first) +
           kWide * kWide * after * (after + 1) / 2 + c - first;
  }

  alignas(16) T elements[kElements];
  alignas(16) Real<T> inverse_roots[kColumns];
  int bad;  ///< first column whose pivot is not positive and finite, or -1
};

/// The part of a block column that a warp holds.
struct RowBlockPlace {
  int rows;      ///< from its first row to the end of the matrix
  int columns;   ///< of the block column
  int diagonal;  ///< the first row of the diagonal block, relative to its own first row
  bool aligned;  ///< whether its elements may be moved 16 bytes at a time
};

/// Operand eliminated together with a block column: none.
struct NothingAlong {
  static constexpr bool kIs = false;
};

/// @tparam kColumnCount most columns of a block.
template <class T, int kColumnCount>
struct RowBlock {
  static constexpr int kColumns = kColumnCount;
  static constexpr int kWide = 16 / sizeof(T);
  /// Of a row in shared memory: an odd number of 16-byte accesses.
  static constexpr int kPitch = kColumns + kWide;
  static constexpr int kScratch = 32 * kPitch;  ///< elements
  /// Whether a row leaves no registers for prefetched values.
  static constexpr bool kFillsRegisters = !Traits<T>::is_complex && kColumns * sizeof(T) >= 256;

  /// Default of whether a pivot is broadcast separately, while the rest of the previous column's
  /// update runs: a tenth to a fifth less time, if registers are left.
  static constexpr bool kPivotApart = kColumns <= 16;

  T a[kColumns];

  /// Columns that row `row` has elements in.
  __device__ __forceinline__ static int limit(const RowBlockPlace& place, int row) {
    if (row >= place.rows) return 0;
    return place.diagonal < 0 ? place.columns : min(row + 1 - place.diagonal, place.columns);
  }

  /// Moves the first kMost columns between registers and column storage, lanes along the rows.
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

  /// Moves elements between `scratch` and row storage, lanes along the columns, kRun elements at a
  /// time.
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
  /// Copies row storage to `scratch`.
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

  /// Right-looking elimination of the first `columns` columns, at most kMost. With kFactors these
  /// lanes have the rows of the diagonal block, whose columns are published; without, they are
  /// already published.
  /// @tparam kReadEarly whether a column of the diagonal block is read before the division by its
  /// pivot, which takes registers.
  /// @param along operand eliminated together with the diagonal block.
  /// @param first_lane of the warp that has the diagonal block's first row.
  /// @return the diagonal element of a lane whose row is in the diagonal block, to an ulp.
  template <int kMost, bool kFactors, bool kReadEarly, class Along = NothingAlong>
  __device__ __forceinline__ Real<T> eliminate(DiagonalBlock<T, kColumns>& block, int columns,
                                               int lane, Along&& along = {}, int first_lane = 0) {
    Pivots pivots;
    pivots.first_lane = first_lane;
    if constexpr (kFactors) next_pivot<0>(block, lane, pivots);
    eliminate_columns<kMost, kFactors, kReadEarly>(block, columns, lane, along, pivots,
                                                   std::make_integer_sequence<int, kMost>{});
    if constexpr (kFactors) return finish<kMost>(block, columns, lane);
    return Real<T>(0);
  }
  /// The same for rows below the diagonal block with its published columns: divided by the pivots
  /// and finally scaled. The bits are those of rows that are eliminated together with the diagonal
  /// block.
  template <int kMost>
  __device__ __forceinline__ void eliminate_by_pivots(const DiagonalBlock<T, kColumns>& block,
                                                      int columns) {
    divide_columns<kMost>(block, columns, std::make_integer_sequence<int, kMost>{});
    scale_columns<kMost>(block);
  }
  /// Stores the result of eliminate(). @param A from the first lane's row and the block's first
  /// column on. @param row of the lane, relative to the diagonal block's first.
  __device__ __forceinline__ static void store_diagonal(const LowerView<T>& A, int columns,
                                                        int lane, int row, Real<T> root) {
    __syncwarp();
    if (row < columns) *A.at(lane, row) = from_real<T>(root);
  }

 private:
  using Block = DiagonalBlock<T, kColumns>;
  static constexpr int kReals = 16 / sizeof(Real<T>);  ///< of an access
  template <class Along>
  static constexpr bool kTakes = std::remove_reference_t<Along>::kIs;

  /// For the next column: its pivot, or the reciprocal root if the column is already published.
  struct Pivots {
    Real<T> next;
    alignas(16) Real<T> inverse_roots[kReals];
    int first_lane;
  };
  /// Publishes column c; with kPivotApart its pivot is broadcast separately.
  template <int c>
  __device__ __forceinline__ void next_pivot(Block& block, int lane, Pivots& pivots) const {
    constexpr int kOrigin = Block::origin(c);
    if constexpr (kPivotApart) pivots.next = from_lane(real(a[c]), c + pivots.first_lane);
    if (lane < kColumns) block.elements[kOrigin + lane] = a[c];
  }
  // A fold expression, so that positions in shared memory are constants.
  template <int kMost, bool kFactors, bool kReadEarly, class Along, int... c>
  __device__ __forceinline__ void eliminate_columns(Block& block, int columns, int lane,
                                                    Along& along, Pivots& pivots,
                                                    std::integer_sequence<int, c...>) {
    (eliminate_column<c, kMost, kFactors, kReadEarly>(block, columns, lane, along, pivots) && ...);
  }
  /// Columns past the last one, up to a multiple of four, give values that are not used. @return
  /// whether there are further columns.
  template <int c, int kMost, bool kFactors, bool kReadEarly, class Along>
  __device__ __forceinline__ bool eliminate_column(Block& block, int columns, int lane,
                                                   Along& along, Pivots& pivots) {
    if (c % 4 == 0 && c >= columns) return false;
    constexpr int kOrigin = Block::origin(c);
    constexpr int kFirst = (kFactors && !kPivotApart ? c : c + 1) / kWide * kWide;
    // At least the update on which the next column depends.
    constexpr int kEarly = kReadEarly ? kMost : (kFactors ? c + 1 : c) / kWide * kWide + kWide;
    T column[kColumns];
    const auto read = [&](int k) { copy_wide<kWide>(column + k, block.elements + kOrigin + k); };
    if constexpr (kFactors) {
      __syncwarp();
    } else if constexpr (c % kReals == 0) {
      copy_wide<kReals>(pivots.inverse_roots, block.inverse_roots + c);
    }
#pragma unroll
    for (int k = kFirst; k < kMost && k < kEarly; k += kWide) read(k);
    T m;
    if constexpr (kFactors) {
      m = divide_by_pivot<kFillsRegisters, kPivotApart>(
          a[c], kPivotApart ? pivots.next : real(column[c]));
    } else {
      a[c] = scale(a[c], pivots.inverse_roots[c % kReals]);
      m = scale(a[c], pivots.inverse_roots[c % kReals]);
    }
#pragma unroll
    for (int k = c + 1; k < kMost; ++k) {
      if (k >= kEarly && k % kWide == 0) read(k);
      a[k] = subtract_product_conj(a[k], m, column[k]);
      if constexpr (kFactors && c + 1 < kColumns)
        if (k == c + 1) next_pivot<(c + 1 < kColumns ? c + 1 : c)>(block, lane, pivots);
    }
    if constexpr (kTakes<Along>) along.template eliminate<c>(m, lane);
    return true;
  }
  template <int kMost, int... c>
  __device__ __forceinline__ void divide_columns(const Block& block, int columns,
                                                 std::integer_sequence<int, c...>) {
    (divide_column<c, kMost>(block, columns) && ...);
  }
  /// @return whether there are further columns.
  template <int c, int kMost>
  __device__ __forceinline__ bool divide_column(const Block& block, int columns) {
    if (c % 4 == 0 && c >= columns) return false;
    T column[kColumns];
#pragma unroll
    for (int k = c / kWide * kWide; k < kMost; k += kWide)
      copy_wide<kWide>(column + k, block.elements + Block::origin(c) + k);
    const T m = divide_by_pivot<kFillsRegisters, kPivotApart>(a[c], real(column[c]));
#pragma unroll
    for (int k = c + 1; k < kMost; ++k) a[k] = subtract_product_conj(a[k], m, column[k]);
    return true;
  }
  /// Each lane checks its own pivot and computes its root; then all scale their columns.
  template <int kMost>
  __device__ __forceinline__ Real<T> finish(Block& block, int columns, int lane) {
    using R = Real<T>;
    const bool is_row = lane < columns;
    const R pivot = is_row ? real(block.elements[Block::diagonal(lane)]) : R(1);
    const R inverse_root = reciprocal_sqrt(pivot);
    if (is_row) block.inverse_roots[lane] = inverse_root;
    const int bad = __reduce_min_sync(kFullWarp, is_row && !is_pivot(pivot) ? lane : kColumns);
    if (lane == 0) block.bad = bad < kColumns ? bad : -1;
    __syncwarp();
    scale_columns<kMost>(block);
    return sqrt_from(pivot, inverse_root);
  }
  template <int kMost>
  __device__ __forceinline__ void scale_columns(const Block& block) {
#pragma unroll
    for (int c = 0; c < kMost; c += kReals) {
      Real<T> inverse_roots[kReals];
      copy_wide<kReals>(inverse_roots, block.inverse_roots + c);
#pragma unroll
      for (int k = 0; k < kReals; ++k) a[c + k] = scale(a[c + k], inverse_roots[k]);
    }
  }
};

}  // namespace chol::cuda
