// Any library with LAPACK's Fortran symbols: a loop over matrices, or its own threads on one.
#include <dlfcn.h>

#include <cmath>
#include <stdexcept>

#include "base/scalar.hpp"
#include "peers/engine.hpp"
#include "precision.hpp"

namespace chol::bench {
namespace {

/// The Fortran functions of one precision; the lengths of the character arguments come last.
template <class T>
struct Lapack {
  using R = RealOf<T>;
  void (*potrf)(const char*, const int*, T*, const int*, int*, size_t) = nullptr;
  void (*potrs)(const char*, const int*, const int*, const T*, const int*, T*, const int*, int*,
                size_t) = nullptr;
  void (*posv)(const char*, const int*, const int*, T*, const int*, T*, const int*, int*,
               size_t) = nullptr;
  void (*potri)(const char*, const int*, T*, const int*, int*, size_t) = nullptr;
  /// The last array is integer work for real types and real work for complex ones.
  void (*pocon)(const char*, const int*, const T*, const int*, const R*, R*, T*, void*, int*,
                size_t) = nullptr;
  void (*gemm)(const char*, const char*, const int*, const int*, const int*, const T*, const T*,
               const int*, const T*, const int*, const T*, T*, const int*, size_t,
               size_t) = nullptr;

  Lapack() {
    bind(potrf, "potrf");
    bind(potrs, "potrs");
    bind(posv, "posv");
    bind(potri, "potri");
    bind(pocon, "pocon");
    bind(gemm, "gemm");
  }

 private:
  /// The libraries were opened globally, the LAPACK before its BLAS: the first symbol is used.
  template <class Function>
  static void bind(Function*& function, const std::string& name) {
    const std::string symbol = precision_letter<T> + name + "_";
    function = reinterpret_cast<Function*>(find_symbol(RTLD_DEFAULT, symbol));
    if (!function) throw std::runtime_error("the library has no " + symbol);
  }
};

template <class T>
void solve_one(const Lapack<T>& lapack, Work& w, Routine routine, int64_t i) {
  using R = RealOf<T>;
  const int n = static_cast<int>(w.layout.n[i]), lda = static_cast<int>(w.layout.lda[i]);
  const int ldb = static_cast<int>(w.layout.ldb[i]), nrhs = static_cast<int>(w.c.nrhs);
  const char* uplo = &w.c.uplo;
  int* info = &w.info[i];
  switch (routine) {
    case Routine::potrf:
      return lapack.potrf(uplo, &n, w.a<T>(i), &lda, info, 1);
    case Routine::potrs:
      return lapack.potrs(uplo, &n, &nrhs, w.a<T>(i), &lda, w.b<T>(i), &ldb, info, 1);
    case Routine::posv:
      return lapack.posv(uplo, &n, &nrhs, w.a<T>(i), &lda, w.b<T>(i), &ldb, info, 1);
    case Routine::potri:
      return lapack.potri(uplo, &n, w.a<T>(i), &lda, info, 1);
    case Routine::pocon: {
      std::vector<T> work(3 * w.layout.n[i]);
      std::vector<double> more(w.layout.n[i]);
      const R norm = static_cast<R>(w.norm[i]);
      return lapack.pocon(uplo, &n, w.a<T>(i), &lda, &norm, &w.scalars<R>()[i], work.data(),
                          more.data(), info, 1);
    }
    case Routine::logdet: {
      R sum = 0;
      for (int64_t j = 0; j < n; ++j) sum += std::log(std::real(w.a<T>(i)[j + j * lda]));
      w.scalars<R>()[i] = 2 * sum;
      return;
    }
    case Routine::potrf_potrs:
      solve_one(lapack, w, Routine::potrf, i);
      return solve_one(lapack, w, Routine::potrs, i);
  }
}

class LapackEngine : public HostEngine {
 public:
  LapackEngine(const std::vector<std::string>& libraries, const std::string& set_threads) {
    for (const std::string& library : libraries) open_library(library);
    // Otherwise libflame initializes and finalizes itself in every call, which is not thread-safe.
    if (void* init = find_symbol(RTLD_DEFAULT, "FLA_Init")) reinterpret_cast<void (*)()>(init)();
    if (!set_threads.empty()) {
      set_threads_ = reinterpret_cast<void (*)(int)>(find_symbol(RTLD_DEFAULT, set_threads));
      if (!set_threads_) throw std::runtime_error("the library has no " + set_threads);
    }
  }
  std::string version() const override {
    if (void* config = find_symbol(RTLD_DEFAULT, "openblas_get_config"))
      return reinterpret_cast<const char* (*)()>(config)();
    if (void* core = find_symbol(RTLD_DEFAULT, "bli_info_get_version_str"))
      return std::string("BLIS ") + reinterpret_cast<const char* (*)()>(core)();
    if (void* text = find_symbol(RTLD_DEFAULT, "mkl_get_version_string")) {
      char words[200] = {};
      reinterpret_cast<void (*)(char*, int)>(text)(words, sizeof words - 1);
      return words;
    }
    return "LAPACK";
  }
  bool supports(const Case&) const override { return true; }
  bool gemm(char precision, int64_t order, const void* A, const void* B, void* C,
            int threads) override {
    if (set_threads_) set_threads_(threads);
    with_precision(precision, [&](auto type) {
      using T = decltype(type);
      const int n = static_cast<int>(order);
      const T one = 1, zero = 0;
      Lapack<T>().gemm("N", "N", &n, &n, &n, &one, static_cast<const T*>(A), &n,
                       static_cast<const T*>(B), &n, &zero, static_cast<T*>(C), &n, 1, 1);
    });
    return true;
  }

 protected:
  void prepare(Work& work) override {
    if (set_threads_) set_threads_(library_threads(work.c));
  }
  void execute(Work& work) override {
    with_precision(work.c.precision, [&](auto type) {
      using T = decltype(type);
      const Lapack<T>& lapack = functions<T>();
      for_each_matrix(work, [&](int64_t i) { solve_one(lapack, work, work.c.routine, i); });
    });
  }

 private:
  /// Bound at the first use, which is never timed, since the input is factored or checked before.
  template <class T>
  static const Lapack<T>& functions() {
    static const Lapack<T> bound;
    return bound;
  }
  void (*set_threads_)(int) = nullptr;
};

}  // namespace

std::unique_ptr<Engine> make_lapack_engine(const std::vector<std::string>& libraries,
                                           const std::string& set_threads) {
  return std::make_unique<LapackEngine>(libraries, set_threads);
}

}  // namespace chol::bench
