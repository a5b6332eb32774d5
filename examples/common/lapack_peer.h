/**
 * The peer of the examples: LAPACK's dposv, if LAPACKE was found when they were built.
 */
#ifndef CHOL_EXAMPLES_LAPACK_PEER_H
#define CHOL_EXAMPLES_LAPACK_PEER_H

#include <stdbool.h>
#include <stdint.h>

bool lapack_available(void);

/**
 * Sets the number of threads of LAPACK's BLAS, if possible (OpenBLAS).
 * @return the previous number, to be restored; 0 if unknown.
 */
int lapack_set_threads(int threads);

/** dposv on the lower triangle; LAPACK's info, or -1 when it is not available or too large. */
int lapack_dposv(int64_t n, int64_t nrhs, double* A, int64_t lda, double* B, int64_t ldb);

#endif
