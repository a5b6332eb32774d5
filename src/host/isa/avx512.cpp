// The host kernels in the avx512 vocabulary, compiled once a precision (CHOL_PRECISION,
// CHOL_ELEMENT).
#define CHOL_ISA avx512
#include "host/simd/avx512.hpp"

#include "host/kernels/fill_table.hpp"

CHOL_DEFINE_TABLE("avx512")
