// The dense products in the portable vocabulary, compiled once a precision (CHOL_PRECISION,
// CHOL_ELEMENT).
#define CHOL_ISA portable
#include "host/simd/portable.hpp"

#include "host/kernels/within/product.hpp"

CHOL_DEFINE_PRODUCTS("portable")
