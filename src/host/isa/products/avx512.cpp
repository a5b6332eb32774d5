// The dense products in the avx512 vocabulary, compiled once a precision (CHOL_PRECISION,
// CHOL_ELEMENT).
#define CHOL_ISA avx512
#include "host/simd/avx512.hpp"

#include "host/kernels/within/product.hpp"

CHOL_DEFINE_PRODUCTS("avx512")
