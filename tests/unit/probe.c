/* Prints the settings of a process with a given environment, which is read once a process, one line
 * a fact. */
#include <stdio.h>
#include <stdlib.h>

#include "chol.h"

#define ORDER 20
#define BATCH 3

static double matrices[BATCH][ORDER * ORDER];

static void fill(void) {
  for (int b = 0; b < BATCH; ++b)
    for (int i = 0; i < ORDER; ++i) matrices[b][i * ORDER + i] = 4;
}

/* probe [HANDLES [COMMAND]]: makes so many handles and runs the command before it prints. */
int main(int count, char** arguments) {
  chol_handle_t handle = NULL;
  for (int left = count > 1 ? atoi(arguments[1]) : 0; left > 0; --left)
    if (chol_create(&handle) == CHOL_STATUS_SUCCESS) chol_destroy(handle);
  if (count > 2 && system(arguments[2]) != 0) return 1;
  const chol_status_t created = chol_create(&handle);
  printf("create: %s\n", chol_status_string(created));
  if (created != CHOL_STATUS_SUCCESS) {
    printf("message: %s\n", chol_last_error(NULL));
    return 0;
  }
  int threads = 0;
  const char* name = NULL;
  chol_get_num_threads(handle, &threads);
  chol_backend_name(handle, CHOL_BACKEND_HOST, &name);
  printf("threads: %d\nbackend: %s\n", threads, name);
  fflush(stdout);
  int info[BATCH];
  fill();
  chol_status_t status = chol_dpotrf(handle, CHOL_LOWER, ORDER, matrices[0], ORDER, info);
  printf("potrf: %s %d %g\n", chol_status_string(status), info[0], matrices[0][0]);
  fill();
  status = chol_dpotrf_strided_batched(handle, CHOL_UPPER, ORDER, matrices[0], ORDER, ORDER * ORDER,
                                       info, BATCH);
  printf("batch: %s %d %g\n", chol_status_string(status), info[BATCH - 1], matrices[BATCH - 1][0]);
  chol_destroy(handle);
  return 0;
}
