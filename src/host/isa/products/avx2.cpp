// The dense products in the avx2 vocabulary, compiled once a precision (CHOL_PRECISION,
// CHOL_ELEMENT).
#define CHOL_ISA avx2
#include "host/simd/avx2.hpp"

#include "host/kernels/within/product.hpp"

CHOL_DEFINE_PRODUCTS("avx2")
