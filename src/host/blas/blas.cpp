#include "host/blas/blas.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <limits>
#include <mutex>
#include <utility>

#include "base/precisions.h"
#include "base/scalar.hpp"
#include "base/threads/openmp_runtime.hpp"

namespace chol::host {

#if defined(CHOL_BLAS_INT)
namespace {

using Int = CHOL_BLAS_INT;

}  // namespace

// Fortran passes the lengths of character arguments last.
extern "C" {
#define CHOL_DECLARE_GEMM(p, T, R)                                                                \
  void p##gemm_(const char*, const char*, const Int*, const Int*, const Int*, const T*, const T*, \
                const Int*, const T*, const Int*, const T*, T*, const Int*, size_t, size_t);
CHOL_FOR_EACH_PRECISION(CHOL_DECLARE_GEMM)
#undef CHOL_DECLARE_GEMM
#define CHOL_DECLARE_RANK_K(name, T, R)                                                       \
  void name(const char*, const char*, const Int*, const Int*, const R*, const T*, const Int*, \
            const R*, T*, const Int*, size_t, size_t);
CHOL_DECLARE_RANK_K(ssyrk_, float, float)
CHOL_DECLARE_RANK_K(dsyrk_, double, double)
CHOL_DECLARE_RANK_K(cherk_, std::complex<float>, float)
CHOL_DECLARE_RANK_K(zherk_, std::complex<double>, double)
#undef CHOL_DECLARE_RANK_K
}

namespace {

template <class T>
struct Blas;
#define CHOL_BIND_BLAS(T, gemm_name, rank_k_name)              \
  template <>                                                  \
  struct Blas<T> {                                             \
    static constexpr auto gemm = gemm_name;                    \
    static constexpr auto rank_k = rank_k_name;                \
    static constexpr char adjoint = is_complex<T> ? 'C' : 'T'; \
  };
CHOL_BIND_BLAS(float, sgemm_, ssyrk_)
CHOL_BIND_BLAS(double, dgemm_, dsyrk_)
CHOL_BIND_BLAS(std::complex<float>, cgemm_, cherk_)
CHOL_BIND_BLAS(std::complex<double>, zgemm_, zherk_)
#undef CHOL_BIND_BLAS

/// C(row, column) of the lower triangle is stored at (column, row) of the upper one, and so are its
/// operands.
template <class T>
void tile_product(const PanelMatrix& M, int64_t row, int64_t row_end, int64_t column,
                  int64_t column_end, int64_t first, int64_t last) {
  using R = RealOf<T>;
  const auto at = [&](int64_t i, int64_t j) {
    return static_cast<T*>(M.A) + (M.upper ? j + i * M.lda : i + j * M.lda);
  };
  const Int rows = static_cast<Int>(row_end - row), columns = static_cast<Int>(column_end - column);
  const Int depth = static_cast<Int>(last - first), ld = static_cast<Int>(M.lda);
  const char plain = 'N', adjoint = Blas<T>::adjoint, triangle = M.upper ? 'U' : 'L';
  if (row == column) {
    const R minus_one = -1, one = 1;
    Blas<T>::rank_k(&triangle, M.upper ? &adjoint : &plain, &rows, &depth, &minus_one,
                    at(row, first), &ld, &one, at(row, row), &ld, 1, 1);
    return;
  }
  const T minus_one = -1, one = 1;
  if (M.upper)
    Blas<T>::gemm(&adjoint, &plain, &columns, &rows, &depth, &minus_one, at(column, first), &ld,
                  at(row, first), &ld, &one, at(row, column), &ld, 1, 1);
  else
    Blas<T>::gemm(&plain, &adjoint, &rows, &columns, &depth, &minus_one, at(row, first), &ld,
                  at(column, first), &ld, &one, at(row, column), &ld, 1, 1);
}

}  // namespace

const int64_t kLargestBlasDimension = std::numeric_limits<Int>::max();

TileProduct blas_tile_product(char precision) {
  constexpr TileProduct kProducts[] = {tile_product<float>, tile_product<double>,
                                       tile_product<std::complex<float>>,
                                       tile_product<std::complex<double>>};
  return kProducts[precision_index(precision)];
}
#else
const int64_t kLargestBlasDimension = 0;

TileProduct blas_tile_product(char) { return nullptr; }
#endif

namespace {

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Process-wide number of threads of a BLAS: OpenBLAS over pthreads, BLIS. The first thread that
/// needs it to be one saves it, the last one restores it. OpenBLAS uses int, BLIS an integer of 32
/// or 64 bits: the widest type works for all.
class ProcessThreads {
 public:
  void set_one() {
    const std::lock_guard<std::mutex> lock(mutex_);
    look_up();
    if (!get_ || !set_ || users_++ > 0) return;
    before_ = static_cast<int>(get_());
    if (before_ != 1) set_(1);
  }
  void put_back() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!get_ || !set_ || --users_ > 0) return;
    if (before_ != 1) set_(before_);
  }
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  /// The users do not exist in the child and would not restore the program's setting there.
  void in_child() {
    const int users = std::exchange(users_, 0);
    mutex_.unlock();
    if (users > 0 && before_ != 1) set_(before_);
  }

 private:
  void look_up() {
    if (is_looked_up_) return;
    is_looked_up_ = true;
    // OpenBLAS over OpenMP uses OpenMP's number; setting it here would set it there.
    auto* const kind = find<int()>("openblas_get_parallel");
    constexpr int kOverPthreads = 1;
    if (kind && kind() == kOverPthreads) {
      get_ = find<int64_t()>("openblas_get_num_threads");
      set_ = find<void(int64_t)>("openblas_set_num_threads");
    } else if (!kind) {
      get_ = find<int64_t()>("bli_thread_get_num_threads");
      set_ = find<void(int64_t)>("bli_thread_set_num_threads");
    }
  }

  std::mutex mutex_;
  bool is_looked_up_ = false;
  int64_t (*get_)() = nullptr;
  void (*set_)(int64_t) = nullptr;
  int users_ = 0, before_ = 1;
};

constinit ProcessThreads process_threads;

int watch_forks() noexcept {
  return pthread_atfork([] { process_threads.before_fork(); }, [] { process_threads.after_fork(); },
                        [] { process_threads.in_child(); });
}

// Registered at load time: a fork before could leave the mutex locked in the child.
[[maybe_unused]] const int watches_forks = watch_forks();

/// MKL has a number for each thread; 0 selects that of the process.
int set_mkl_threads(int count) {
  static auto* const set = find<int(int)>("MKL_Set_Num_Threads_Local");
  return set ? set(count) : 0;
}

}  // namespace

// A BLAS over OpenMP uses OpenMP's number for the calling thread.
SerialBlas::SerialBlas() : openmp_threads_(openmp_max_threads()), mkl_threads_(set_mkl_threads(1)) {
  set_openmp_threads(1);
  process_threads.set_one();
}

SerialBlas::~SerialBlas() {
  process_threads.put_back();
  if (openmp_threads_ > 0) set_openmp_threads(openmp_threads_);
  set_mkl_threads(mkl_threads_);
}

}  // namespace chol::host
