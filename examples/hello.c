/* The smallest program: factor a 3 x 3 matrix, solve one system. */
#include <chol.h>
#include <stdio.h>

int main(void) {
  /* Column-major. Only the lower triangle is read; the 0s above the diagonal stay as they are. */
  double A[9] = {4, 2, 2, 0, 5, 3, 0, 0, 6};
  double b[3] = {14, 21, 26}; /* A * (1, 2, 3) */
  int info = 0;
  chol_handle_t handle;
  if (chol_create(&handle) != CHOL_STATUS_SUCCESS) {
    fprintf(stderr, "%s\n", chol_last_error(NULL));
    return 1;
  }
  if (chol_dposv(handle, CHOL_LOWER, 3, 1, A, 3, b, 3, &info) != CHOL_STATUS_SUCCESS) {
    fprintf(stderr, "%s\n", chol_last_error(handle));
    info = -1;
  } else if (info > 0) {
    fprintf(stderr, "the leading minor of order %d is not positive definite\n", info);
  } else {
    printf("x = %g %g %g\n", b[0], b[1], b[2]);
  }
  chol_destroy(handle);
  return info != 0;
}
