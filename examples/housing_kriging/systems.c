#include "systems.h"

#include <math.h>
#include <stdlib.h>

#include "lapack_peer.h"
#include "library.h"
#include "memory.h"
#include "progress.h"

static bool allocate(systems_t* s, failure_t* failure) {
  size_t batch = (size_t)s->batch;
  s->n = malloc(batch * sizeof(int64_t));
  s->nrhs = malloc(batch * sizeof(int64_t));
  s->A = malloc(batch * sizeof(double*));
  s->B = malloc(batch * sizeof(double*));
  s->info = malloc(batch * sizeof(int));
  for (int64_t k = 0; k < s->batch; ++k) {
    int64_t n = neighbourhood_size(s->where, k);
    s->element_count += n * n;
    s->side_count += n * s->columns;
  }
  if (!s->n || !s->nrhs || !s->A || !s->B || !s->info) {
    return fail(failure, kExitLibrary, "no memory for %zu systems", batch);
  }
  s->elements = allocate_doubles((size_t)s->element_count, "the matrices (--most)", failure);
  if (!s->elements) return false;
  s->sides = allocate_doubles((size_t)s->side_count, "the right-hand sides (--most)", failure);
  return s->sides != NULL;
}

bool systems_create(const housing_t* housing, const neighbourhoods_t* where, bool income,
                    systems_t* systems, failure_t* failure) {
  *systems = (systems_t){.housing = housing, .where = where, .batch = where->count};
  systems->columns = income ? kMostColumns : kMostColumns - 1;
  if (!allocate(systems, failure)) return false;
  double *A = systems->elements, *B = systems->sides;
  for (int64_t k = 0; k < systems->batch; ++k) {
    int64_t n = neighbourhood_size(where, k);
    systems->n[k] = n;
    systems->nrhs[k] = systems->columns;
    systems->A[k] = A;
    systems->B[k] = B;
    if (n > systems->max_n) systems->max_n = n;
    A += n * n;
    B += n * systems->columns;
  }
  return true;
}

void systems_free(systems_t* s) {
  free(s->n);
  free(s->nrhs);
  free(s->A);
  free(s->B);
  free(s->info);
  free(s->elements);
  free(s->sides);
}

static const block_t* neighbour(const systems_t* s, int64_t k, int64_t i) {
  return &s->housing->blocks[s->where->index[s->where->first[k] + i]];
}

static double correlation(const model_t* model, const block_t* a, const block_t* b) {
  return (1.0 - model->nugget) * exp(-block_distance(a, b) / model->range);
}

double systems_side(const systems_t* s, int64_t k, int64_t i, int column) {
  const block_t* block = neighbour(s, k, i);
  switch (column) {
    case kToCentre:
      return correlation(&s->model, block, s->where->centre[k]);
    case kLogValue:
      return block->log_value;
    case kLogIncome:
      return block->log_income;
    default:
      return 1.0;
  }
}

static void assemble_one(systems_t* s, int64_t k) {
  const int64_t n = s->n[k];
  for (int64_t j = 0; j < n; ++j) {
    const block_t* block = neighbour(s, k, j);
    double* column = s->A[k] + j * n;
    column[j] = 1.0;
    for (int64_t i = j + 1; i < n; ++i) {
      column[i] = correlation(&s->model, block, neighbour(s, k, i));
    }
    for (int c = 0; c < s->columns; ++c) s->B[k][j + c * n] = systems_side(s, k, j, c);
  }
}

void systems_assemble(systems_t* systems, const model_t* model) {
  systems->model = *model;
#pragma omp parallel for schedule(dynamic, 16)
  for (int64_t k = 0; k < systems->batch; ++k) assemble_one(systems, k);
}

bool systems_all_positive_definite(const systems_t* s, const char* by, failure_t* failure) {
  for (int64_t k = 0; k < s->batch; ++k) {
    if (s->info[k] == 0) continue;
    return fail(failure, kExitNotPositiveDefinite,
                "%s: system %lld of %lld (order %lld) is not positive definite: its leading minor "
                "of order %d is not; a larger --nugget helps where blocks coincide",
                by, (long long)k + 1, (long long)s->batch, (long long)s->n[k], s->info[k]);
  }
  return true;
}

bool systems_solve(chol_handle_t handle, systems_t* s, failure_t* failure) {
  /* n is also the leading dimension of both arrays: the systems are stored without gaps. */
  return library(handle,
                 chol_dposv_vbatched(handle, CHOL_LOWER, s->max_n, s->columns, s->n, s->nrhs, s->A,
                                     s->n, s->B, s->n, s->info, s->batch),
                 failure) &&
         systems_all_positive_definite(s, "chol", failure);
}

bool systems_solve_by_lapack(systems_t* s, int threads, failure_t* failure) {
  /* Systems this small are solved fastest by one thread each. */
  int blas_threads = lapack_set_threads(1);
  progress_t progress = progress_begin("LAPACK loop", s->batch);
  int64_t done = 0;
  (void)threads; /* without OpenMP there is but one */
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
  for (int64_t k = 0; k < s->batch; ++k) {
    s->info[k] = lapack_dposv(s->n[k], s->columns, s->A[k], s->n[k], s->B[k], s->n[k]);
#pragma omp critical
    progress_step(&progress, ++done);
  }
  progress_end(&progress);
  lapack_set_threads(blas_threads);
  return systems_all_positive_definite(s, "LAPACK", failure);
}

double systems_flops(const systems_t* s) {
  double flops = 0;
  for (int64_t k = 0; k < s->batch; ++k) {
    double n = (double)s->n[k];
    flops += n * n * n / 3 + 2 * n * n * (double)s->columns;
  }
  return flops;
}
