// Products by double precision tensor cores.
#pragma once

namespace chol::cuda {

/// One step of the double precision tensor cores, exact multiply-adds in IEEE
/// arithmetic: C (8 x 8) += A (8 x 4) B (4 x 8). Lane: a = A[lane / 4][lane %
/// 4], b = B[lane % 4][lane / 4], c = C[lane / 4][2 (lane % 4) + {0, 1}].
__device__ __forceinline__ void tensor_multiply(double& c0, double& c1, double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, "
      "{%0, %1};"
      : "+d"(c0), "+d"(c1)
      : "d"(a), "d"(b));
}

/// Two steps that share B, rows of A and C eight further in the second: one instruction where the
/// device has it (since 9.0), at twice the rate of two small ones.
__device__ __forceinline__ void tensor_multiply(double (&c)[2][2], const double (&a)[2], double b) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(c[0][0]), "+d"(c[0][1]), "+d"(c[1][0]), "+d"(c[1][1])
      : "d"(a[0]), "d"(a[1]), "d"(b));
#else
#pragma unroll
  for (int i = 0; i < 2; ++i) tensor_multiply(c[i][0], c[i][1], a[i], b);
#endif
}

}  // namespace chol::cuda
