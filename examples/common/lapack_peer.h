/**
 * What the examples compare chol with: LAPACK's own dposv, where LAPACKE was found when they were
 * built.
 */
#ifndef CHOL_EXAMPLES_LAPACK_PEER_H
#define CHOL_EXAMPLES_LAPACK_PEER_H

#include <stdbool.h>
#include <stdint.h>

bool lapack_available(void);

/**
 * Lets LAPACK's BLAS use that many threads, where it is one whose threads can be set (OpenBLAS).
 * @return how many it used before, to be set again; 0 where it cannot be told.
 */
int lapack_set_threads(int threads);

/** dposv on the lower triangle; LAPACK's info, or -1 when it is not available or too large. */
int lapack_dposv(int64_t n, int64_t nrhs, double* A, int64_t lda, double* B, int64_t ldb);

#endif
