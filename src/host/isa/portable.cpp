// The host kernels in the portable vocabulary, compiled once a precision (CHOL_PRECISION,
// CHOL_ELEMENT).
#define CHOL_ISA portable
#include "host/simd/portable.hpp"

#include "host/kernels/fill_table.hpp"

CHOL_DEFINE_TABLE("portable")
