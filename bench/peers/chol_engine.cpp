// chol itself, opened at run time: another build of it can be a second contestant.
#include <algorithm>
#include <stdexcept>

#include "base/scalar.hpp"
#include "chol.h"
#include "peers/engine.hpp"
#include "precision.hpp"

namespace chol::bench {
namespace {

/// The functions of one precision.
template <class T>
struct Functions {
  using R = RealOf<T>;
  using H = chol_handle_t;
  using U = chol_uplo_t;
  using S = chol_status_t;
  using I = int64_t;
  using Is = const int64_t*;
  using Ms = T* const*;
  using Cs = const T* const*;
  S (*potrf)(H, U, I, T*, I, int*);
  S (*potrs)(H, U, I, I, const T*, I, T*, I);
  S (*posv)(H, U, I, I, T*, I, T*, I, int*);
  S (*potri)(H, U, I, T*, I, int*);
  S (*pocon)(H, U, I, const T*, I, R, R*);
  S (*logdet)(H, U, I, const T*, I, R*);
  S (*potrf_batched)(H, U, I, Ms, I, int*, I);
  S (*potrs_batched)(H, U, I, I, Cs, I, Ms, I, I);
  S (*posv_batched)(H, U, I, I, Ms, I, Ms, I, int*, I);
  S (*potri_batched)(H, U, I, Ms, I, int*, I);
  S (*logdet_batched)(H, U, I, Cs, I, R*, I);
  S (*potrf_strided_batched)(H, U, I, T*, I, I, int*, I);
  S (*potrs_strided_batched)(H, U, I, I, const T*, I, I, T*, I, I, I);
  S (*posv_strided_batched)(H, U, I, I, T*, I, I, T*, I, I, int*, I);
  S (*potri_strided_batched)(H, U, I, T*, I, I, int*, I);
  S (*logdet_strided_batched)(H, U, I, const T*, I, I, R*, I);
  S (*potrf_vbatched)(H, U, I, Is, Ms, Is, int*, I);
  S (*potrs_vbatched)(H, U, I, I, Is, Is, Cs, Is, Ms, Is, I);
  S (*posv_vbatched)(H, U, I, I, Is, Is, Ms, Is, Ms, Is, int*, I);
  S (*potri_vbatched)(H, U, I, Is, Ms, Is, int*, I);
  S (*logdet_vbatched)(H, U, I, Is, Cs, Is, R*, I);
  S (*potrf_interleaved)(H, U, I, T*, I, I, int*, I);
  S (*potrs_interleaved)(H, U, I, I, const T*, I, T*, I, I, I);
  S (*posv_interleaved)(H, U, I, I, T*, I, T*, I, I, int*, I);
  S (*potri_interleaved)(H, U, I, T*, I, I, int*, I);
  S (*logdet_interleaved)(H, U, I, const T*, I, I, R*, I);
  S (*pack_interleaved_batched)(H, U, I, Cs, I, T*, I, I, I);
  S (*unpack_interleaved_batched)(H, U, I, const T*, I, Ms, I, I, I);
  S (*pack_interleaved_rhs_batched)(H, I, I, Cs, I, T*, I, I, I);
  S (*unpack_interleaved_rhs_batched)(H, I, I, const T*, I, Ms, I, I, I);

  explicit Functions(void* library);
};

/// Compares the types above with chol.h's prototypes at compile time.
#define CHOL_BENCH_FUNCTIONS(X)   \
  X(potrf)                        \
  X(potrs)                        \
  X(posv)                         \
  X(potri)                        \
  X(pocon)                        \
  X(logdet)                       \
  X(potrf_batched)                \
  X(potrs_batched)                \
  X(posv_batched)                 \
  X(potri_batched)                \
  X(logdet_batched)               \
  X(potrf_strided_batched)        \
  X(potrs_strided_batched)        \
  X(posv_strided_batched)         \
  X(potri_strided_batched)        \
  X(logdet_strided_batched)       \
  X(potrf_vbatched)               \
  X(potrs_vbatched)               \
  X(posv_vbatched)                \
  X(potri_vbatched)               \
  X(logdet_vbatched)              \
  X(potrf_interleaved)            \
  X(potrs_interleaved)            \
  X(posv_interleaved)             \
  X(potri_interleaved)            \
  X(logdet_interleaved)           \
  X(pack_interleaved_batched)     \
  X(unpack_interleaved_batched)   \
  X(pack_interleaved_rhs_batched) \
  X(unpack_interleaved_rhs_batched)
#define CHOL_BENCH_SAME(name) \
  static_assert(std::is_same_v<decltype(&chol_d##name), decltype(Functions<double>::name)>);
CHOL_BENCH_FUNCTIONS(CHOL_BENCH_SAME)
#undef CHOL_BENCH_SAME

template <class Function>
void bind(Function*& function, void* library, const std::string& name) {
  function = reinterpret_cast<Function*>(find_symbol(library, name));
  if (!function) throw std::runtime_error("the library has no " + name);
}

template <class T>
Functions<T>::Functions(void* library) {
  const std::string prefix = std::string("chol_") + precision_letter<T>;
#define CHOL_BENCH_BIND(name) bind(name, library, prefix + #name);
  CHOL_BENCH_FUNCTIONS(CHOL_BENCH_BIND)
#undef CHOL_BENCH_BIND
}

class CholEngine : public HostEngine {
 public:
  explicit CholEngine(const std::string& path)
      : library_(open_library(path)), s_(library_), d_(library_), c_(library_), z_(library_) {
    bind(create_on_, library_, "chol_create_on");
    bind(set_num_threads_, library_, "chol_set_num_threads");
    bind(last_error_, library_, "chol_last_error");
    bind(backend_name_, library_, "chol_backend_name");
    const chol_status_t status = create_on_(&handle_, CHOL_BACKEND_HOST, 0, nullptr);
    if (status != CHOL_STATUS_SUCCESS) throw std::runtime_error(last_error_(nullptr));
  }
  std::string version() const override {
    const char* name = "";
    backend_name_(handle_, CHOL_BACKEND_HOST, &name);
    return name;
  }
  bool supports(const Case& c) const override {
    return c.routine != Routine::pocon || c.form == Form::one;
  }

 protected:
  void prepare(Work& work) override {
    require(set_num_threads_(handle_, work.c.threads));
    while (work.c.apart && std::ssize(callers_) < work.c.threads) {
      require(create_on_(&callers_.emplace_back(), CHOL_BACKEND_HOST, 0, nullptr));
      require(set_num_threads_(callers_.back(), 1));
    }
    if (work.c.form != Form::interleaved) return;
    const int64_t chunk = chunk_of(work.c), chunks = (work.c.batch + chunk - 1) / chunk;
    const size_t whole = element_size(work.c.precision) * static_cast<size_t>(chunk * chunks);
    packed_A_ = make_packed(whole * static_cast<size_t>(work.layout.lda[0] * work.c.n));
    packed_B_ = make_packed(whole * static_cast<size_t>(work.layout.ldb[0] * work.c.nrhs));
  }
  void arrange(Work& work) override { repack(work, true); }
  void collect(Work& work) override { repack(work, false); }
  void execute(Work& work) override {
    with_precision(work.c.precision, [&](auto type) {
      using T = decltype(type);
      Routine routine = work.c.routine;
      if (routine == Routine::potrf_potrs) {
        call<T>(work, Routine::potrf);
        routine = Routine::potrs;
      }
      call<T>(work, routine);
    });
  }

 private:
  void require(chol_status_t status) const {
    if (status != CHOL_STATUS_SUCCESS) throw std::runtime_error(last_error_(handle_));
  }

  template <class T>
  const Functions<T>& functions() const {
    if constexpr (std::is_same_v<T, float>)
      return s_;
    else if constexpr (std::is_same_v<T, double>)
      return d_;
    else if constexpr (std::is_same_v<T, std::complex<float>>)
      return c_;
    else
      return z_;
  }

  template <class T>
  void call(Work& work, Routine routine) {
    switch (work.c.form) {
      case Form::one:
        for (int64_t i = 0; i < work.layout.count(); ++i) require(one<T>(work, routine, i));
        return;
      case Form::batched:
        return require(work.c.apart ? apart<T>(work, routine)
                                    : batched<T>(work, routine, handle_, 0, work.c.batch));
      case Form::strided_batched:
        return require(strided<T>(work, routine));
      case Form::vbatched:
        return require(variable<T>(work, routine));
      case Form::interleaved:
        return require(interleaved<T>(work, routine));
    }
  }

  template <class T>
  chol_status_t one(Work& w, Routine routine, int64_t i) const {
    const Functions<T>& f = functions<T>();
    using R = RealOf<T>;
    const int64_t n = w.layout.n[i], lda = w.layout.lda[i], ldb = w.layout.ldb[i];
    const auto uplo = static_cast<chol_uplo_t>(w.c.uplo);
    switch (routine) {
      case Routine::potrf:
        return f.potrf(handle_, uplo, n, w.a<T>(i), lda, &w.info[i]);
      case Routine::potrs:
        return f.potrs(handle_, uplo, n, w.c.nrhs, w.a<T>(i), lda, w.b<T>(i), ldb);
      case Routine::posv:
        return f.posv(handle_, uplo, n, w.c.nrhs, w.a<T>(i), lda, w.b<T>(i), ldb, &w.info[i]);
      case Routine::potri:
        return f.potri(handle_, uplo, n, w.a<T>(i), lda, &w.info[i]);
      case Routine::pocon:
        return f.pocon(handle_, uplo, n, w.a<T>(i), lda, static_cast<R>(w.norm[i]),
                       &w.scalars<R>()[i]);
      default:
        return f.logdet(handle_, uplo, n, w.a<T>(i), lda, &w.scalars<R>()[i]);
    }
  }

  /// Matrices [first, first + count) by one handle.
  template <class T>
  chol_status_t batched(Work& w, Routine routine, chol_handle_t handle, int64_t first,
                        int64_t count) const {
    const Functions<T>& f = functions<T>();
    const int64_t n = w.c.n, lda = w.layout.lda[0], ldb = w.layout.ldb[0];
    const auto uplo = static_cast<chol_uplo_t>(w.c.uplo);
    T* const* A = reinterpret_cast<T* const*>(w.A_of.data()) + first;
    T* const* B = reinterpret_cast<T* const*>(w.B_of.data()) + first;
    int* info = w.info.data() + first;
    switch (routine) {
      case Routine::potrf:
        return f.potrf_batched(handle, uplo, n, A, lda, info, count);
      case Routine::potrs:
        return f.potrs_batched(handle, uplo, n, w.c.nrhs, A, lda, B, ldb, count);
      case Routine::posv:
        return f.posv_batched(handle, uplo, n, w.c.nrhs, A, lda, B, ldb, info, count);
      case Routine::potri:
        return f.potri_batched(handle, uplo, n, A, lda, info, count);
      default:
        return f.logdet_batched(handle, uplo, n, A, lda, w.scalars<RealOf<T>>() + first, count);
    }
  }

  /// Independent concurrent callers: the capacity of the machine for as many threads.
  template <class T>
  chol_status_t apart(Work& w, Routine routine) const {
    const int callers = w.c.threads;
    int worst = CHOL_STATUS_SUCCESS;
#pragma omp parallel for schedule(static, 1) num_threads(callers) reduction(max : worst)
    for (int i = 0; i < callers; ++i) {
      const int64_t first = w.c.batch * i / callers, last = w.c.batch * (i + 1) / callers;
      worst = std::max<int>(worst, batched<T>(w, routine, callers_[i], first, last - first));
    }
    return static_cast<chol_status_t>(worst);
  }

  template <class T>
  chol_status_t strided(Work& w, Routine routine) const {
    const Functions<T>& f = functions<T>();
    const int64_t n = w.c.n, lda = w.layout.lda[0], ldb = w.layout.ldb[0], count = w.c.batch;
    const int64_t stride_a = lda * n, stride_b = ldb * w.c.nrhs;
    const auto uplo = static_cast<chol_uplo_t>(w.c.uplo);
    T* A = w.a<T>(0);
    T* B = w.b<T>(0);
    int* info = w.info.data();
    switch (routine) {
      case Routine::potrf:
        return f.potrf_strided_batched(handle_, uplo, n, A, lda, stride_a, info, count);
      case Routine::potrs:
        return f.potrs_strided_batched(handle_, uplo, n, w.c.nrhs, A, lda, stride_a, B, ldb,
                                       stride_b, count);
      case Routine::posv:
        return f.posv_strided_batched(handle_, uplo, n, w.c.nrhs, A, lda, stride_a, B, ldb,
                                      stride_b, info, count);
      case Routine::potri:
        return f.potri_strided_batched(handle_, uplo, n, A, lda, stride_a, info, count);
      default:
        return f.logdet_strided_batched(handle_, uplo, n, A, lda, stride_a, w.scalars<RealOf<T>>(),
                                        count);
    }
  }

  template <class T>
  chol_status_t variable(Work& w, Routine routine) const {
    const Functions<T>& f = functions<T>();
    const int64_t max_n = w.c.n, max_nrhs = w.c.nrhs, count = w.c.batch;
    const auto uplo = static_cast<chol_uplo_t>(w.c.uplo);
    const int64_t* n = w.layout.n.data();
    const int64_t* nrhs = w.nrhs.data();
    const int64_t* lda = w.layout.lda.data();
    const int64_t* ldb = w.layout.ldb.data();
    T* const* A = reinterpret_cast<T* const*>(w.A_of.data());
    T* const* B = reinterpret_cast<T* const*>(w.B_of.data());
    int* info = w.info.data();
    switch (routine) {
      case Routine::potrf:
        return f.potrf_vbatched(handle_, uplo, max_n, n, A, lda, info, count);
      case Routine::potrs:
        return f.potrs_vbatched(handle_, uplo, max_n, max_nrhs, n, nrhs, A, lda, B, ldb, count);
      case Routine::posv:
        return f.posv_vbatched(handle_, uplo, max_n, max_nrhs, n, nrhs, A, lda, B, ldb, info,
                               count);
      case Routine::potri:
        return f.potri_vbatched(handle_, uplo, max_n, n, A, lda, info, count);
      default:
        return f.logdet_vbatched(handle_, uplo, max_n, n, A, lda, w.scalars<RealOf<T>>(), count);
    }
  }

  template <class T>
  chol_status_t interleaved(Work& w, Routine routine) const {
    const Functions<T>& f = functions<T>();
    const int64_t n = w.c.n, nrhs = w.c.nrhs, lda = w.layout.lda[0], ldb = w.layout.ldb[0];
    const int64_t chunk = chunk_of(w.c), count = w.c.batch;
    const auto uplo = static_cast<chol_uplo_t>(w.c.uplo);
    T* A = reinterpret_cast<T*>(packed_A_.get());
    T* B = reinterpret_cast<T*>(packed_B_.get());
    int* info = w.info.data();
    switch (routine) {
      case Routine::potrf:
        return f.potrf_interleaved(handle_, uplo, n, A, lda, chunk, info, count);
      case Routine::potrs:
        return f.potrs_interleaved(handle_, uplo, n, nrhs, A, lda, B, ldb, chunk, count);
      case Routine::posv:
        return f.posv_interleaved(handle_, uplo, n, nrhs, A, lda, B, ldb, chunk, info, count);
      case Routine::potri:
        return f.potri_interleaved(handle_, uplo, n, A, lda, chunk, info, count);
      default:
        return f.logdet_interleaved(handle_, uplo, n, A, lda, chunk, w.scalars<RealOf<T>>(), count);
    }
  }

  /// Between the column-major input and the interleaved arrays.
  void repack(Work& work, bool pack) const {
    if (work.c.form != Form::interleaved) return;
    with_precision(work.c.precision, [&](auto type) { repack_as<decltype(type)>(work, pack); });
  }
  template <class T>
  void repack_as(Work& w, bool pack) const {
    const Functions<T>& f = functions<T>();
    const int64_t n = w.c.n, nrhs = w.c.nrhs, lda = w.layout.lda[0], ldb = w.layout.ldb[0];
    const int64_t chunk = chunk_of(w.c), count = w.c.batch;
    const auto uplo = static_cast<chol_uplo_t>(w.c.uplo);
    T* const* A = reinterpret_cast<T* const*>(w.A_of.data());
    T* const* B = reinterpret_cast<T* const*>(w.B_of.data());
    T* P = reinterpret_cast<T*>(packed_A_.get());
    T* Q = reinterpret_cast<T*>(packed_B_.get());
    require(pack ? f.pack_interleaved_batched(handle_, uplo, n, A, lda, P, lda, chunk, count)
                 : f.unpack_interleaved_batched(handle_, uplo, n, P, lda, A, lda, chunk, count));
    if (!has_rhs(w.c.routine)) return;
    require(pack
                ? f.pack_interleaved_rhs_batched(handle_, n, nrhs, B, ldb, Q, ldb, chunk, count)
                : f.unpack_interleaved_rhs_batched(handle_, n, nrhs, Q, ldb, B, ldb, chunk, count));
  }

  /// Aligned to a cache line, as users of this layout do.
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  using Packed = std::unique_ptr<char, Free>;
  static Packed make_packed(size_t bytes) {
    constexpr size_t kLine = 64;
    Packed memory(static_cast<char*>(std::aligned_alloc(kLine, (bytes / kLine + 1) * kLine)));
    if (!memory) throw std::bad_alloc();
    return memory;
  }
  Packed packed_A_, packed_B_;

  void* library_;
  Functions<float> s_;
  Functions<double> d_;
  Functions<std::complex<float>> c_;
  Functions<std::complex<double>> z_;
  decltype(&chol_create_on) create_on_ = nullptr;
  decltype(&chol_set_num_threads) set_num_threads_ = nullptr;
  decltype(&chol_last_error) last_error_ = nullptr;
  decltype(&chol_backend_name) backend_name_ = nullptr;
  chol_handle_t handle_ = nullptr;
  std::vector<chol_handle_t> callers_;  ///< of one thread each
};

}  // namespace

std::unique_ptr<Engine> make_chol_engine(const std::string& library) {
  return std::make_unique<CholEngine>(library);
}

}  // namespace chol::bench
