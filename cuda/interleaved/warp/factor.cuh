// Factorization of a matrix in shared memory by one or a few warps, as in left_looking/kernel.cuh
// with device memory: block columns from left to right, lanes hold rows, products by tensor cores
// with operands read in place.
#pragma once

#include "batched/left_looking/fused_rhs.cuh"
#include "batched/left_looking/panel_gemm.cuh"
#include "common/named_barrier.cuh"
#include "interleaved/warp/solve.cuh"

namespace chol::cuda {

/// Columns of a block column.
inline constexpr int kWarpFactorColumns = 16;

/// The work of a matrix's warps. @tparam kSolves whether one right-hand side is solved at the same
/// time.
template <class T, class Shape, bool kSolves>
struct WarpFactor {
  static constexpr int kColumns = kWarpFactorColumns, kWarps = Shape::kWarps;
  /// Whether registers are left to prefetch full columns of the diagonal block.
  static constexpr bool kReadEarly = Shape::kRegisters > (kSolves ? 20 + 16 * int(sizeof(T)) : 100);
  using R = Real<T>;
  using Triangle = ResidentTriangle<T, kColumns, true>;
  using Rows = RowBlock<T, kColumns>;
  using Product = TensorProduct<T, kColumns, false>;
  using Sums = typename Product::Sums;
  using Block = DiagonalBlock<T, kColumns>;
  Triangle L;
  Block& block;
  RightHandSide<T> right_hand_side;
  int warp, lane, group;
  int info;

  /// The warps of the matrix.
  __device__ __forceinline__ void meet() const {
    if constexpr (kWarps == 1)
      __syncwarp();
    else
      named_barrier_sync<32 * kWarps>(group);
  }

  /// Rows of four earlier columns, as an operand of a product: the elements that the lane reads of
  /// its column.
  struct Operand {
    static constexpr int kDepth = 4;
    const T* column;
    __device__ __forceinline__ const T* at(int row, int) const { return column + row; }
  };
  /// sums -= rows from `row` on times rows from the first one of block column J on, conjugated, of
  /// all block columns before that.
  template <int kRows>
  __device__ __forceinline__ void multiply(Sums& sums, int J, int row) const {
    const int below = row - Triangle::start(L.n, J);
    const auto multiply_four = [&](Operand& block, int pitch) {
      Product::template multiply_rows<1, kRows>(&sums, Operand{block.column + below}, block, lane);
      block.column += 4 * pitch;
    };
    int pitch = Triangle::pitch(L.n, 0);
    Operand block{L.a + Triangle::start(L.n, J) + lane % 4 * pitch};
#pragma unroll 1
    for (int k = 0; k < Triangle::stored(L.n, 0); k += 4) multiply_four(block, pitch);
#pragma unroll 1
    for (int K = 1; K < J; ++K) {
      pitch = Triangle::pitch(L.n, K);
      block.column = L.rows(K, Triangle::start(L.n, J)).a + lane % 4 * pitch;
#pragma unroll
      for (int k = 0; k < kColumns; k += 4) multiply_four(block, pitch);
    }
  }
  /// rows := those from `row` on of block column J, minus the product of the columns before. The
  /// sums are exchanged through the rows' memory.
  __device__ __forceinline__ void update(Rows& rows, int J, int row,
                                         const RowBlockPlace& place) const {
    const LowerView<T> here = L.rows(J, row);
    Sums sums;
    Product::begin(sums, here, place, lane);
    if (place.rows <= 16)
      multiply<2>(sums, J, row);
    else
      multiply<4>(sums, J, row);
    using Lane = typename Product::Lane;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (Lane::row(i, lane) >= place.rows) continue;
#pragma unroll
      for (int c = 0; c < kColumns / 4; ++c)
        *here.at(Lane::row(i, lane), Lane::column(c, lane)) =
            convert<T>(sums.a[i * (kColumns / 4) + c]);
    }
    __syncwarp();
    rows.template load<kColumns>(here, place, nullptr, lane);
  }

  /// @tparam kMost largest number of columns.
  template <int kMost>
  __device__ __forceinline__ void block_column(int J) {
    const int n = L.n, j = Triangle::start(n, J), columns = Triangle::width(n, J);
#pragma unroll 1
    for (int strip = warp; strip == warp || j + 32 * strip < n; strip += kWarps) {
      const int row = j + 32 * strip;
      const RowBlockPlace place{n - row, columns, strip == 0 ? 0 : -32, true};
      const LowerView<T> here = L.rows(J, row);
      Rows rows;
      if (row < n) {
        if (kMost < kColumns || J == 0)
          rows.template load<kMost>(here, place, nullptr, lane);
        else
          update(rows, J, row, place);
      }
      R root{};
      if (strip == 0) root = eliminate_first<kMost>(rows, here, place, j);
      if (strip == warp) meet();
      if (row >= n) continue;
      if (strip > 0) eliminate_below<kMost>(rows, place, j, row);
      rows.template store<kMost>(here, place, nullptr, lane);
      if (strip == 0) Rows::store_diagonal(here, columns, lane, lane, root);
    }
    const int bad = block.bad;
    info = info == 0 && bad >= 0 ? j + bad + 1 : info;
  }

  /// Factors block column J, which has arrived; all earlier ones are finished.
  __device__ __forceinline__ void factor(int J) {
    if (Triangle::width(L.n, J) <= 8)
      block_column<8>(J);
    else
      block_column<kColumns>(J);
  }

 private:
  /// The strip with the diagonal block.
  template <int kMost>
  __device__ __forceinline__ R eliminate_first(Rows& rows, const LowerView<T>& here,
                                               const RowBlockPlace& place, int j) {
    if constexpr (!kSolves) {
      return rows.template eliminate<kMost, true, kReadEarly>(block, place.columns, lane);
    } else {
      const R root =
          right_hand_side.template eliminate_first<kMost, kReadEarly>(rows, block, place, j, lane);
      if (lane < place.columns)
        *inverse_of_diagonal(here, place.columns, lane) = block.inverse_roots[lane];
      return root;
    }
  }
  template <int kMost>
  __device__ __forceinline__ void eliminate_below(Rows& rows, const RowBlockPlace& place, int j,
                                                  int row) {
    rows.template eliminate<kMost, false, true>(block, place.columns, lane);
    if constexpr (kSolves)
      right_hand_side.template eliminate_below<kMost>(rows, place, j, row, lane);
  }
};

}  // namespace chol::cuda
