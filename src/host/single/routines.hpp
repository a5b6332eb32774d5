// All routines for one matrix, with a given method and number of threads.
#pragma once

#include "backend/backend.hpp"
#include "host/dispatch.hpp"
#include "host/methods.hpp"
#include "host/single/task_ops.hpp"

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
  const PanelMatrix* next = nullptr;  ///< prefetched during the computation
  PanelMatrix panel() const { return {uplo == CHOL_UPPER, n, A, lda, next}; }
};

/// Matrix b of a problem.
template <class T>
OneMatrix<T> one_matrix(const backend::Problem<T>& problem, int64_t b) {
  const bool has_rhs = problem.B.first || problem.B.pointers;
  return {problem.uplo,
          problem.sizes.order(b),
          has_rhs ? problem.sizes.rhs_count(b) : 0,
          problem.A.matrix(b),
          problem.A.leading_dimension(b),
          has_rhs ? problem.B.matrix(b) : nullptr,
          has_rhs ? problem.B.leading_dimension(b) : 0};
}

/// The tuning case of a problem of order n with nrhs right-hand sides.
template <class T>
Case case_of(const backend::Problem<T>& problem, int64_t n, int64_t nrhs) {
  Case asked{problem.routine, problem.form, precision_letter<T>};
  asked.upper = problem.uplo == CHOL_UPPER;
  asked.variable = problem.sizes.variable();
  asked.n = n;
  asked.nrhs = nrhs;
  asked.batch = problem.sizes.count;
  return asked;
}
/// The tuning case of matrix b.
template <class T>
Case case_of(const backend::Problem<T>& problem, int64_t b) {
  return case_of(problem, problem.sizes.order(b), problem.sizes.rhs_count(b));
}
template <class T>
Case largest_case(const backend::Problem<T>& problem) {
  return case_of(problem, problem.sizes.n, problem.sizes.nrhs);
}

template <class T>
class MatrixWorker {
 public:
  using R = RealOf<T>;
  MatrixWorker(const Kernels& kernels, const Choice& choice, int threads)
      : kernels_(kernels),
        by_blas_(choice.is(kBlasTiles)),
        nb_(by_tiles(choice) ? tile_order(choice) : 0),
        few_rhs_(host::few_rhs(choice)),
        threads_(threads) {}

  /// Workspace of `routine` for orders up to n with nrhs right-hand sides.
  size_t workspace_bytes(Routine routine, int64_t n, int64_t nrhs) const;

  /// Runs the problem's routine on its matrix b and stores info or the result. `next` is
  /// prefetched.
  void run(const backend::Problem<T>& problem, int64_t b, const PanelMatrix* next,
           void* workspace) const;

  int potrf(const OneMatrix<T>& M, void* workspace) const;
  void potrs(const OneMatrix<T>& M, void* workspace) const;
  int posv(const OneMatrix<T>& M, void* workspace) const;
  int potri(const OneMatrix<T>& M, void* workspace) const;
  R pocon(const OneMatrix<T>& M, R anorm, void* workspace) const;
  static R logdet(const OneMatrix<T>& M);
  /// Index of the first zero diagonal element of a factor, counted from 1; 0 if there is none.
  static int first_zero_pivot(const OneMatrix<T>& M);

 private:
  /// Columns of a block of an inverse without tiles.
  static constexpr int kInverseColumns = 256;

  int64_t factor_panel(const OneMatrix<T>& M, Arena& arena) const;
  void solve_by_vectors(const OneMatrix<T>& M) const;
  KernelsOn on(const PanelMatrix& M) const { return {kernels_, sizeof(T), sizeof(R), M}; }
  /// To compute the size of the workspace.
  KernelsOn on_order(int64_t n) const { return on({false, n, nullptr, n}); }
  TileProduct product(int64_t lda) const;
  size_t factor_bytes(int64_t n) const;
  size_t inverse_bytes(int64_t n) const;
  void solve_vector_by_tiles(const PanelMatrix& M, T* x, Arena arena) const;
  size_t estimate_bytes(int64_t n) const;
  /// Whether solves with one right-hand side use several threads.
  bool is_spread() const { return nb_ > 0 && threads_ > 1; }
  /// Unknowns of a segment of such solves, a multiple of the vector length of any kernel; 0: all.
  int64_t segment() const { return (nb_ + 15) / 16 * 16; }
  size_t solve_bytes(int64_t n, int64_t nrhs) const;
  /// Order of a tile of an inverse.
  int inverse_tile() const { return nb_ > 0 ? nb_ : kInverseColumns; }

  const Kernels& kernels_;
  bool by_blas_;
  int nb_;       ///< order of tiles, 0: none
  int few_rhs_;  ///< largest number of right-hand sides for solves by vectors
  int threads_;
};

}  // namespace chol::host
