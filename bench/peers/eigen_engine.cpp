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
    return c.form != Form::vbatched && with_precision(c.precision, [&](auto type) {
             return eigen_fixed_kernel<decltype(type)>(c.n, c.uplo) != nullptr;
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
      const EigenKernel<T> kernel = fixed_size_ ? eigen_fixed_kernel<T>(work.c.n, work.c.uplo)
                                                : eigen_dynamic_kernel<T>(work.c.uplo);
      const Layout& layout = work.layout;
      for_each_matrix(work, [&](int64_t i) {
        work.info[i] = kernel(work.c.routine, layout.n[i], work.c.nrhs, work.a<T>(i), layout.lda[i],
                              work.b<T>(i), layout.ldb[i]);
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
