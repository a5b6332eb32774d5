/* Under LeakSanitizer: used and destroyed handles leak nothing. With an argument one handle is not
 * destroyed, which must be reported. */
#include <stdio.h>

#include "chol.h"

static volatile chol_handle_t forgotten;

static chol_handle_t used_handle(void) {
  static double A[3 * 100 * 100];
  int info[3];
  chol_handle_t handle = NULL;
  if (chol_create(&handle) != CHOL_STATUS_SUCCESS) return NULL;
  for (int n = 5; n <= 100; n += 95) {
    for (int k = 0; k < 3 * n * n; ++k) A[k] = k % (n * n) % (n + 1) == 0 ? 4 : 0;
    chol_dpotrf(handle, CHOL_LOWER, n, A, n, info);
    chol_dpotrf_strided_batched(handle, CHOL_UPPER, n, A + n * n, n, n * n, info, 2);
    chol_dpotri(handle, CHOL_LOWER, n, A, n, info);
    chol_dpotrf(handle, CHOL_LOWER, -1, A, n, info);
  }
  return handle;
}

int main(int count, char** arguments) {
  (void)arguments;
  for (int i = 0; i < 20; ++i)
    if (chol_destroy(used_handle()) != CHOL_STATUS_SUCCESS) return 2;
  if (count > 1) forgotten = used_handle();
  forgotten = NULL;
  puts("done");
  return 0;
}
