/* Use from C: one system, a batch, and a refused call. Exit code 0 on success. */
#include <chol.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(const char* what, int passed) {
  if (passed) return;
  ++failures;
  printf("FAILED: %s\n", what);
}

int main(void) {
  chol_handle_t handle;
  double A[9] = {4, 2, 2, 0, 5, 3, 0, 0, 6};
  double b[3] = {14, 21, 26};
  float batch[2][4] = {{4, 2, 0, 10}, {1, 2, 0, 1}};
  chol_complex_double z = 9;
  int info = -1, infos[2] = {-1, -1};

  check("create", chol_create(&handle) == CHOL_STATUS_SUCCESS);
  check("posv", chol_dposv(handle, CHOL_LOWER, 3, 1, A, 3, b, 3, &info) == CHOL_STATUS_SUCCESS);
  check("info", info == 0);
  check("solution", fabs(b[0] - 1) < 1e-14 && fabs(b[1] - 2) < 1e-14 && fabs(b[2] - 3) < 1e-14);
  check("batch", chol_spotrf_strided_batched(handle, CHOL_LOWER, 2, batch[0], 2, 4, infos, 2) ==
                     CHOL_STATUS_SUCCESS);
  check("batch info", infos[0] == 0 && infos[1] == 2);
  check("batch factor", batch[0][0] == 2 && batch[0][1] == 1 && batch[0][3] == 3);
  check("complex", chol_zpotrf(handle, CHOL_UPPER, 1, &z, 1, &info) == CHOL_STATUS_SUCCESS);
  check("complex factor", z == 3);
  check("refused", chol_dpotrf(handle, CHOL_LOWER, 5, A, 3, &info) == CHOL_STATUS_INVALID_VALUE);
  check("message", strcmp(chol_last_error(handle),
                          "chol_dpotrf: lda = 3, must be at least max(1, n) = 5") == 0);
  check("destroy", chol_destroy(handle) == CHOL_STATUS_SUCCESS);
  if (failures == 0) printf("C consumer: all right\n");
  return failures != 0;
}
