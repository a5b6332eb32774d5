#include "device.h"

#ifdef CHOL_EXAMPLES_CUDA
#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "library.h"
#include "progress.h"

/* The arrays of chol_dposv_vbatched(), all of them in device memory, the sizes and info too. */
typedef struct {
  double *elements, *sides, **A, **B;
  int64_t *n, *nrhs;
  int* info;
} on_device_t;

bool device_available(chol_handle_t handle, const char** name) {
  return chol_backend_name(handle, CHOL_BACKEND_CUDA, name) == CHOL_STATUS_SUCCESS;
}

static bool cuda(cudaError_t error, failure_t* failure) {
  if (error == cudaSuccess) return true;
  return fail(failure, kExitLibrary, "CUDA: %s", cudaGetErrorString(error));
}

static bool upload(void** to, const void* from, size_t bytes, failure_t* failure) {
  return cuda(cudaMalloc(to, bytes), failure) &&
         cuda(cudaMemcpy(*to, from, bytes, cudaMemcpyHostToDevice), failure);
}

/* The systems' pointers, moved from the host's memory at `from` to the device's at `to`. */
static bool upload_pointers(double*** to, double* const* pointers, const double* from,
                            double* device, size_t batch, failure_t* failure) {
  double** moved = malloc(batch * sizeof(double*));
  if (!moved) return fail(failure, kExitLibrary, "no memory for %zu pointers", batch);
  for (size_t k = 0; k < batch; ++k) moved[k] = device + (pointers[k] - from);
  bool done = upload((void**)to, moved, batch * sizeof(double*), failure);
  free(moved);
  return done;
}

static bool upload_all(const systems_t* s, on_device_t* d, failure_t* failure) {
  const size_t batch = (size_t)s->batch;
  return upload((void**)&d->elements, s->elements, (size_t)s->element_count * sizeof(double),
                failure) &&
         upload((void**)&d->sides, s->sides, (size_t)s->side_count * sizeof(double), failure) &&
         upload_pointers(&d->A, s->A, s->elements, d->elements, batch, failure) &&
         upload_pointers(&d->B, s->B, s->sides, d->sides, batch, failure) &&
         upload((void**)&d->n, s->n, batch * sizeof(int64_t), failure) &&
         upload((void**)&d->nrhs, s->nrhs, batch * sizeof(int64_t), failure) &&
         cuda(cudaMalloc((void**)&d->info, batch * sizeof(int)), failure);
}

static bool solve(chol_handle_t handle, systems_t* s, const on_device_t* d, double* seconds,
                  failure_t* failure) {
  double begin = wall_seconds();
  /* The call queues its work on the handle's stream, here the default one, and returns. */
  if (!library(handle,
               chol_dposv_vbatched(handle, CHOL_LOWER, s->max_n, s->columns, d->n, d->nrhs, d->A,
                                   d->n, d->B, d->n, d->info, s->batch),
               failure) ||
      !cuda(cudaDeviceSynchronize(), failure)) {
    return false;
  }
  *seconds = wall_seconds() - begin;
  return cuda(cudaMemcpy(s->sides, d->sides, (size_t)s->side_count * sizeof(double),
                         cudaMemcpyDeviceToHost),
              failure) &&
         cuda(cudaMemcpy(s->info, d->info, (size_t)s->batch * sizeof(int), cudaMemcpyDeviceToHost),
              failure) &&
         systems_all_positive_definite(s, "chol on CUDA", failure);
}

bool device_solve(chol_handle_t handle, systems_t* systems, double* seconds, failure_t* failure) {
  on_device_t device = {0};
  bool done =
      upload_all(systems, &device, failure) && solve(handle, systems, &device, seconds, failure);
  cudaFree(device.elements);
  cudaFree(device.sides);
  cudaFree(device.A);
  cudaFree(device.B);
  cudaFree(device.n);
  cudaFree(device.nrhs);
  cudaFree(device.info);
  return done;
}
#else
bool device_available(chol_handle_t handle, const char** name) {
  (void)handle, (void)name;
  return false;
}

bool device_solve(chol_handle_t handle, systems_t* systems, double* seconds, failure_t* failure) {
  (void)handle, (void)systems, (void)seconds;
  return fail(failure, kExitLibrary, "this program was built without CUDA");
}
#endif
