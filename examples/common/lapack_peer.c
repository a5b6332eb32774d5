#include "lapack_peer.h"

#ifdef CHOL_EXAMPLES_LAPACKE
#include <lapacke.h>
#include <limits.h>

/* Which BLAS is behind LAPACK is known when the program is loaded, not before. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

bool lapack_available(void) { return true; }

int lapack_set_threads(int threads) {
  if (!openblas_set_num_threads || !openblas_get_num_threads) return 0;
  int before = openblas_get_num_threads();
  if (threads > 0) openblas_set_num_threads(threads);
  return before;
}

int lapack_dposv(int64_t n, int64_t nrhs, double* A, int64_t lda, double* B, int64_t ldb) {
  if (lda > INT_MAX || ldb > INT_MAX || nrhs > INT_MAX) return -1;
  /* The _work form leaves out LAPACKE's own pass over the matrix for NaNs: a fairer clock. */
  return (int)LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, (lapack_int)nrhs, A,
                                 (lapack_int)lda, B, (lapack_int)ldb);
}
#else
bool lapack_available(void) { return false; }

int lapack_set_threads(int threads) {
  (void)threads;
  return 0;
}

int lapack_dposv(int64_t n, int64_t nrhs, double* A, int64_t lda, double* B, int64_t ldb) {
  (void)n, (void)nrhs, (void)A, (void)lda, (void)B, (void)ldb;
  return -1;
}
#endif
