#include "triangle_copy.hpp"

namespace chol::bench {
namespace {

constexpr int kPiece = 16, kSector = 32;
constexpr int kWarps = 4;

/// A warp has kMatrices matrices at a time, with kPieces pieces of each a lane: the pieces of the
/// columns that contain elements of the triangle.
template <int kPieces, int kMatrices>
__global__ void __launch_bounds__(32 * kWarps)
    triangle_copy_kernel(int n, int pieces_of_column, int element_bytes, float4* const* A,
                         int64_t batch) {
  const int64_t first = (int64_t(blockIdx.x) * kWarps + threadIdx.x / 32) * kMatrices;
  const int lane = threadIdx.x % 32;
  float4 piece[kMatrices][kPieces];
  const auto for_each = [&](auto&& body) {
#pragma unroll
    for (int m = 0; m < kMatrices; ++m) {
      if (first + m >= batch) break;
      float4* const matrix = A[first + m];
#pragma unroll
      for (int k = 0; k < kPieces; ++k) {
        const int at = 32 * k + lane, column = at / pieces_of_column;
        const int end = (at - column * pieces_of_column + 1) * kPiece;  // in the column
        const int diagonal = column * element_bytes / kSector * kSector;
        if (column < n && end > diagonal) body(piece[m][k], matrix[at]);
      }
    }
  };
  for_each([](float4& x, const float4& there) { x = there; });
  for_each([](const float4& x, float4& there) { there = x; });
}

template <int kPieces, int kMatrices>
void launch(int64_t n, int64_t column_bytes, void* const* A, int64_t batch, cudaStream_t stream) {
  const int64_t matrices = kWarps * kMatrices;
  triangle_copy_kernel<kPieces, kMatrices>
      <<<static_cast<unsigned>((batch + matrices - 1) / matrices), 32 * kWarps, 0, stream>>>(
          int(n), int(column_bytes / kPiece), int(column_bytes / n),
          reinterpret_cast<float4* const*>(A), batch);
}

}  // namespace

bool run_triangle_copy(int64_t n, int64_t column_bytes, void* const* A, int64_t batch,
                       cudaStream_t stream) {
  if (column_bytes % kPiece) return false;
  const int64_t pieces = (n * column_bytes / kPiece + 31) / 32;
  if (pieces <= 1)
    launch<1, 8>(n, column_bytes, A, batch, stream);
  else if (pieces <= 2)
    launch<2, 4>(n, column_bytes, A, batch, stream);
  else if (pieces <= 4)
    launch<4, 4>(n, column_bytes, A, batch, stream);
  else if (pieces <= 8)
    launch<8, 2>(n, column_bytes, A, batch, stream);
  else if (pieces <= 16)
    launch<16, 2>(n, column_bytes, A, batch, stream);
  else if (pieces <= 32)
    launch<32, 1>(n, column_bytes, A, batch, stream);
  else
    return false;
  return true;
}

}  // namespace chol::bench
