/* A program that knows nothing of OpenMP opens chol, uses it on several threads, closes it while
 * they wait for more work, and opens it again: reopen LIBRARY api|preload. Threads whose code was
 * unmapped would end the process. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chol.h"

enum { kOrder = 800, kThreads = 4 };

static int fail(const char* what) {
  printf("FAILED: %s\n", what);
  return 1;
}

/* The function with its type. ISO C has no cast for this. */
static void find(void* library, const char* name, void* function) {
  void* found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
}

static int factor_by_api(void* library, double* A, int* info) {
  chol_status_t (*create_on)(chol_handle_t*, chol_backend_t, int, const int*);
  chol_status_t (*set_num_threads)(chol_handle_t, int);
  chol_status_t (*potrf)(chol_handle_t, chol_uplo_t, int64_t, double*, int64_t, int*);
  chol_status_t (*destroy)(chol_handle_t);
  chol_handle_t handle = NULL;
  find(library, "chol_create_on", &create_on);
  find(library, "chol_set_num_threads", &set_num_threads);
  find(library, "chol_dpotrf", &potrf);
  find(library, "chol_destroy", &destroy);
  if (!create_on || !set_num_threads || !potrf || !destroy) return fail(dlerror());
  if (create_on(&handle, CHOL_BACKEND_HOST, 0, NULL)) return fail("chol_create_on");
  if (set_num_threads(handle, kThreads)) return fail("chol_set_num_threads");
  if (potrf(handle, CHOL_LOWER, kOrder, A, kOrder, info)) return fail("chol_dpotrf");
  return destroy(handle) ? fail("chol_destroy") : 0;
}

static int factor_by_lapack(void* library, double* A, int* info) {
  void (*potrf)(const char*, const int*, double*, const int*, int*, size_t);
  const int n = kOrder;
  find(library, "dpotrf_", &potrf);
  if (!potrf) return fail(dlerror());
  potrf("L", &n, A, &n, info, 1);
  return 0;
}

int main(int count, char** arguments) {
  const int by_api = count == 3 && strcmp(arguments[2], "api") == 0;
  double* A = malloc(sizeof *A * kOrder * kOrder);
  if (count != 3 || !A) return fail("usage");
  for (int round = 0; round < 10; ++round) {
    void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    int info = -1;
    if (!library) return fail(dlerror());
    for (int k = 0; k < kOrder * kOrder; ++k) A[k] = k % (kOrder + 1) ? 0 : 4;
    if (by_api ? factor_by_api(library, A, &info) : factor_by_lapack(library, A, &info)) return 1;
    if (info != 0 || A[kOrder * kOrder - 1] != 2) return fail("a wrong factor");
    dlclose(library);
    usleep(20000);
  }
  free(A);
  puts("ok");
  return 0;
}
