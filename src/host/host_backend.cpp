#include "host/host_backend.hpp"

#include <omp.h>

#include <cmath>
#include <cstdlib>
#include <new>

// Scaffold: unblocked loops, so that everything above can be built and tested; the SIMD kernels
// replace this file's solver.
namespace chol::host {
namespace {

template <class T>
T conj_of(T x) {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}

template <class T>
struct Plain {
  using R = RealOf<T>;
  T* a;
  int64_t rs, cs;
  T& at(int64_t i, int64_t j) const { return a[i * rs + j * cs]; }
  int potrf(int64_t n) const {
    for (int64_t j = 0; j < n; ++j) {
      R d = std::real(at(j, j));
      for (int64_t k = 0; k < j; ++k) d -= std::norm(at(j, k));
      if (!(d > 0) || !std::isfinite(d)) return static_cast<int>(j + 1);
      d = std::sqrt(d);
      at(j, j) = d;
      for (int64_t i = j + 1; i < n; ++i) {
        T s = at(i, j);
        for (int64_t k = 0; k < j; ++k) s -= at(i, k) * conj_of(at(j, k));
        at(i, j) = s / d;
      }
    }
    return 0;
  }
  void solve(int64_t n, T* x, bool upper) const {
    const auto el = [&](int64_t i, int64_t j) { return upper ? conj_of(at(i, j)) : at(i, j); };
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < i; ++k) x[i] -= el(i, k) * x[k];
      x[i] /= std::real(at(i, i));
    }
    for (int64_t i = n - 1; i >= 0; --i) {
      for (int64_t k = i + 1; k < n; ++k) x[i] -= conj_of(el(k, i)) * x[k];
      x[i] /= std::real(at(i, i));
    }
  }
};

template <class T>
class PlainSolver : public virtual backend::Solver<T> {};

class HostBackend final : public backend::Backend {
 public:
  HostBackend() {
    for (int r = 0; r < kRoutineCount; ++r)
      for (Form form : {Form::one, Form::batch})
        for (char p : {'s', 'd', 'c', 'z'}) {
          const TuningRow row{static_cast<Routine>(r), form, p, INT64_MAX, Plan{}};
          tuning_.load_rows(&row, 1);
        }
  }
  const char* name() const override { return "host plain"; }
  chol_backend_t kind() const override { return CHOL_BACKEND_HOST; }
  TuningStore& tuning() override { return tuning_; }
  bool accepts(const TuningRow&) const override { return true; }
  backend::Place place_of(const void*) const override { return backend::Place::host; }
  void* allocate(size_t bytes) override {
    return std::aligned_alloc(Arena::kAlignment, (bytes + 255) / 256 * 256);
  }
  void release(void* memory) override { std::free(memory); }
  int default_threads() const override { return omp_get_max_threads(); }

#define SOLVER(T)                                                                                  \
  size_t workspace_bytes(const backend::Problem<T>&, const PlanTable&, int) const override {       \
    return 0;                                                                                      \
  }                                                                                                \
  Status run(const backend::Problem<T>& p, const PlanTable&, const backend::Resources&) override { \
    return run_plain(p);                                                                           \
  }
  SOLVER(float)
  SOLVER(double)
  SOLVER(std::complex<float>)
  SOLVER(std::complex<double>)

 private:
  template <class T>
  Status run_plain(const backend::Problem<T>& p) {
    for (int64_t b = 0; b < p.sizes.count; ++b) {
      const int64_t n = p.sizes.order(b);
      const bool upper = p.uplo == CHOL_UPPER;
      const int64_t ld = p.A.leading_dimension(b);
      const Plain<T> L{p.A.matrix(b), upper ? ld : 1, upper ? 1 : ld};
      int info = 0;
      if (p.routine == Routine::potrf || p.routine == Routine::posv) info = L.potrf(n);
      if ((p.routine == Routine::potrs || p.routine == Routine::posv) && info == 0)
        for (int64_t c = 0; c < p.sizes.rhs_count(b); ++c)
          L.solve(n, p.B.matrix(b) + c * p.B.leading_dimension(b), upper);
      if (p.routine == Routine::potri) {
        for (int64_t k = n; k > 0; --k)
          if (L.at(k - 1, k - 1) == T(0)) info = static_cast<int>(k);
        std::vector<T> X(n * n);
        for (int64_t c = 0; c < n; ++c) {
          X[c * n + c] = 1;
          L.solve(n, &X[c * n], upper);
        }
        if (!info)
          for (int64_t c = 0; c < n; ++c)
            for (int64_t i = c; i < n; ++i)
              L.at(i, c) = upper ? conj_of(X[c * n + i]) : X[c * n + i];
      }
      if (p.routine == Routine::logdet) {
        RealOf<T> sum = 0;
        for (int64_t k = 0; k < n; ++k) sum += 2 * std::log(std::real(L.at(k, k)));
        p.result[b] = sum;
      }
      if (p.routine == Routine::pocon) p.result[b] = 1;
      if (p.info) p.info[b] = info;
    }
    return Status::success();
  }
  TuningStore tuning_;
};

}  // namespace

backend::Backend* open(Status& status) {
  auto* made = new (std::nothrow) HostBackend;
  if (!made) status = Status::error(CHOL_STATUS_ALLOC_FAILED, "host backend: out of memory");
  return made;
}

}  // namespace chol::host
