// Every routine on one matrix, by a plan, with a given number of threads.
#pragma once

#include "backend/backend.hpp"
#include "host/dispatch.hpp"

namespace chol::host {

/// One matrix of a problem.
template <class T>
struct OneMatrix {
  chol_uplo_t uplo;
  int64_t n, nrhs;
  T* A;
  int64_t lda;
  T* B;
  int64_t ldb;
  const PanelMatrix* next = nullptr;  ///< fetched into the cache along the way
  PanelMatrix panel() const { return {uplo == CHOL_UPPER, n, A, lda, next}; }
};

template <class T>
class MatrixWorker {
 public:
  using R = RealOf<T>;
  MatrixWorker(const Kernels& kernels, const Plan& plan, int threads)
      : kernels_(kernels), plan_(plan), threads_(threads) {}

  /// Workspace of `routine` for orders up to n with nrhs right-hand sides.
  size_t workspace_bytes(Routine routine, int64_t n, int64_t nrhs) const;

  int potrf(const OneMatrix<T>& M, void* workspace) const;
  void potrs(const OneMatrix<T>& M, void* workspace) const;
  int posv(const OneMatrix<T>& M, void* workspace) const;
  int potri(const OneMatrix<T>& M, void* workspace) const;
  R pocon(const OneMatrix<T>& M, R anorm, void* workspace) const;
  static R logdet(const OneMatrix<T>& M);
  /// The first diagonal element of a factor that is zero, counted from 1; 0 when there is none.
  static int first_zero_pivot(const OneMatrix<T>& M);

 private:
  int64_t factor_panel(const OneMatrix<T>& M, Arena& arena) const;
  void solve_by_vectors(const OneMatrix<T>& M) const;
  size_t solve_columns_bytes(int64_t n, int64_t columns) const;

  const Kernels& kernels_;
  const Plan& plan_;
  int threads_;
};

}  // namespace chol::host
