// Eigen's LLT, compiled for the machine it is built on: in place on the caller's matrices, with
// sizes known at run time (eigen) or, for the small orders below, at compile time (eigen-fixed).
#include "peers/eigen_llt.hpp"
#include "peers/engine.hpp"
#include "precision.hpp"

#if defined(EIGEN_VECTORIZE_AVX512)
#define CHOL_BENCH_EIGEN_ISA "AVX-512"
#elif defined(EIGEN_VECTORIZE_AVX)
#define CHOL_BENCH_EIGEN_ISA "AVX"
#else
#define CHOL_BENCH_EIGEN_ISA "baseline"
#endif

namespace chol::bench {
namespace {

template <class T>
void solve(int64_t n, int64_t nrhs, char uplo, T* A, int64_t lda, T* B, int64_t ldb) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using Stride = Eigen::OuterStride<>;
  const Eigen::Map<const Matrix, 0, Stride> factor(A, n, n, Stride(lda));
  Eigen::Map<Matrix, 0, Stride> X(B, n, nrhs, Stride(ldb));
  if (uplo == 'L') {
    factor.template triangularView<Eigen::Lower>().solveInPlace(X);
    factor.adjoint().template triangularView<Eigen::Upper>().solveInPlace(X);
  } else {
    factor.adjoint().template triangularView<Eigen::Lower>().solveInPlace(X);
    factor.template triangularView<Eigen::Upper>().solveInPlace(X);
  }
}

template <class T>
EigenKernel<T> dynamic_kernel(char uplo) {
  return uplo == 'L' ? &eigen_factor<T, Eigen::Dynamic, Eigen::Lower>
                     : &eigen_factor<T, Eigen::Dynamic, Eigen::Upper>;
}

class EigenEngine : public HostEngine {
 public:
  explicit EigenEngine(bool fixed_size) : fixed_size_(fixed_size) {}
  std::string version() const override {
    return "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + '.' +
           std::to_string(EIGEN_MAJOR_VERSION) + '.' + std::to_string(EIGEN_MINOR_VERSION) + ' ' +
           CHOL_BENCH_EIGEN_ISA;
  }
  bool supports(const Case& c) const override {
    if (c.routine != Routine::potrf && !has_rhs(c.routine)) return false;
    if (!fixed_size_) return true;
    return c.form != Form::vbatched && c.uplo == 'L' && with_precision(c.precision, [&](auto type) {
             return eigen_fixed_kernel<decltype(type)>(c.n) != nullptr;
           });
  }
  bool gemm(char precision, int64_t n, const void* A, const void* B, void* C,
            int threads) override {
    Eigen::setNbThreads(threads);
    with_precision(precision, [&](auto type) {
      using T = decltype(type);
      using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
      Eigen::Map<Matrix>(static_cast<T*>(C), n, n).noalias() =
          Eigen::Map<const Matrix>(static_cast<const T*>(A), n, n) *
          Eigen::Map<const Matrix>(static_cast<const T*>(B), n, n);
    });
    return true;
  }

 protected:
  void prepare(Work& work) override { Eigen::setNbThreads(library_threads(work.c)); }
  void execute(Work& work) override {
    with_precision(work.c.precision, [&](auto type) {
      using T = decltype(type);
      const Case& c = work.c;
      const Layout& layout = work.layout;
      const EigenKernel<T> factor =
          fixed_size_ ? eigen_fixed_kernel<T>(c.n) : dynamic_kernel<T>(c.uplo);
      for_each_matrix(work, [&](int64_t i) {
        const int64_t n = layout.n[i], lda = layout.lda[i];
        if (c.routine != Routine::potrs) work.info[i] = factor(n, work.a<T>(i), lda) ? 0 : 1;
        if (has_rhs(c.routine))
          solve(n, c.nrhs, c.uplo, work.a<T>(i), lda, work.b<T>(i), layout.ldb[i]);
      });
    });
  }

 private:
  bool fixed_size_;
};

}  // namespace

std::unique_ptr<Engine> make_eigen_engine(bool fixed_size) {
  return std::make_unique<EigenEngine>(fixed_size);
}

}  // namespace chol::bench
