// The CUDA backend through chol.h on device arrays: residuals, info, untouched memory, variable
// batches, graphs, determinism. A program of its own, so that it runs where no test framework is.
#include <algorithm>
#include <chrono>
#include <functional>

#include "problem.hpp"

namespace chol::test {
namespace {

int failures = 0;
bool reduced = false;  ///< few sizes, for compute-sanitizer

void expect(bool good, const char* what, char precision, chol_uplo_t uplo, int64_t n,
            double value) {
  if (good) return;
  ++failures;
  if (failures <= 60)
    std::printf("FAILED %s: %c uplo %c n %lld value %g\n", what, precision, static_cast<char>(uplo),
                static_cast<long long>(n), value);
}

void expect_status(chol_handle_t handle, chol_status_t status, const char* what) {
  if (status == CHOL_STATUS_SUCCESS) return;
  ++failures;
  std::printf("FAILED %s: %s\n", what, chol_last_error(handle));
}

template <class T>
struct Suite {
  chol_handle_t handle;
  chol_uplo_t uplo;
  static constexpr double kBound = 30;

  char letter() const { return letter_of(T{}); }
  void check(bool good, const char* what, int64_t n, double value) const {
    expect(good, what, letter(), uplo, n, value);
  }
  void ok(chol_status_t status, const char* what) const { expect_status(handle, status, what); }

  Batch<T> factored(const Batch<T>& A, std::vector<int>* info) const {
    DeviceArray<T> device(A.a);
    DeviceArray<int> device_info(std::vector<int>(A.count, -99));
    ok(potrf_strided_of(T{})(handle, uplo, A.n, device.data(), A.lda, A.stride, device_info.data(),
                             A.count),
       "potrf_strided_batched");
    Batch<T> L = A;
    L.a = device.get();
    *info = device_info.get();
    return L;
  }

  void factors(const std::vector<int64_t>& sizes) const {
    for (int64_t n : sizes) {
      const int64_t count = n > 300 ? 2 : n > 64 ? 5 : 37;
      const Batch<T> A(uplo, n, n + n % 3 + (n == 0), count, static_cast<unsigned>(n));
      std::vector<int> info;
      const Batch<T> L = factored(A, &info);
      double residual = 0;
      for (int64_t b = 0; b < count; ++b) {
        check(info[b] == 0, "potrf info", n, info[b]);
        if (b < 3 || b == count - 1) residual = worse(residual, factor_residual(A, L, b));
      }
      check(residual < kBound, "potrf residual", n, residual);
      check(changed_outside(A, L) == 0, "potrf outside the triangle", n,
            double(changed_outside(A, L)));
    }
  }

  /// Matrix p of the batch fails at pivot p; all others must come out as if alone.
  void bad_pivots(const std::vector<int64_t>& sizes) const {
    for (int64_t n : sizes)
      for (int kind = 0; kind < 4; ++kind) {
        const Batch<T> one(uplo, n, n + 1, 1, 7);
        std::vector<int> info;
        const Batch<T> good = factored(one, &info);
        Batch<T> A(uplo, n, n + 1, n + 1, 7);
        for (int64_t b = 0; b < A.count; ++b)
          std::copy(one.a.begin(), one.a.begin() + A.stride, A.a.begin() + b * A.stride);
        const Real<T> nan = std::numeric_limits<Real<T>>::quiet_NaN();
        const Real<T> bad[] = {Real<T>(-1), nan, std::numeric_limits<Real<T>>::infinity(), 0};
        for (int64_t p = 0; p < n; ++p) A.lower(p, p, p) = T(bad[kind]);
        const Batch<T> L = factored(A, &info);
        for (int64_t p = 0; p <= n; ++p) {
          const int want = p < n ? static_cast<int>(p) + 1 : 0;
          check(info[p] == want, "info of a bad pivot", n, info[p] - want);
          int64_t different = 0;
          for (int64_t j = 0; j < (p < n ? p : n); ++j)
            for (int64_t i = j; i < n; ++i)
              if (L.value(p, i, j) != good.value(0, i, j)) ++different;
          check(different == 0, "columns before a bad pivot", n, double(different));
        }
        check(changed_outside(A, L) == 0, "outside, bad pivots", n, 0);
      }
  }

  void solves(const std::vector<int64_t>& sizes) const {
    for (int64_t n : sizes)
      for (int64_t nrhs : {1, 2, 3, 5, 37}) {
        if (n > 300 && nrhs > 3) continue;
        const int64_t count = 5, ldb = n + 2, stride = ldb * nrhs + 1;
        Batch<T> A(uplo, n, n + 1, count, static_cast<unsigned>(n + nrhs));
        std::mt19937_64 engine(n);
        std::vector<T> B(stride * count + 1);
        for (T& x : B) x = random_element<T>(engine);
        Batch<T> P = A;
        if (n > 1) P.lower(2, n / 2, n / 2) = T(-1);  // posv must leave this B alone

        DeviceArray<T> a(A.a), x(B), pa(P.a), px(B);
        DeviceArray<int> info(count);
        ok(potrf_strided_of(T{})(handle, uplo, n, a.data(), A.lda, A.stride, info.data(), count),
           "potrf for potrs");
        ok(potrs_strided_of(T{})(handle, uplo, n, nrhs, a.data(), A.lda, A.stride, x.data(), ldb,
                                 stride, count),
           "potrs_strided_batched");
        ok(posv_strided_of(T{})(handle, uplo, n, nrhs, pa.data(), A.lda, A.stride, px.data(), ldb,
                                stride, info.data(), count),
           "posv_strided_batched");
        const std::vector<T> X = x.get(), PX = px.get();
        const std::vector<int> posv_info = info.get();
        double residual = 0, posv_residual = 0;
        for (int64_t b = 0; b < count; ++b) {
          const T* rhs = B.data() + b * stride;
          residual = worse(residual, solve_residual(A, b, rhs, X.data() + b * stride, ldb, nrhs));
          if (b == 2 && n > 1) {
            check(posv_info[b] == n / 2 + 1, "posv info", n, posv_info[b]);
            check(std::memcmp(PX.data() + b * stride, rhs, sizeof(T) * stride) == 0,
                  "posv B of a bad matrix", n, double(nrhs));
          } else {
            check(posv_info[b] == 0, "posv info", n, posv_info[b]);
            posv_residual =
                worse(posv_residual, solve_residual(A, b, rhs, PX.data() + b * stride, ldb, nrhs));
          }
          for (int64_t c = 0; c < nrhs; ++c)
            for (int64_t i = n; i < ldb; ++i)
              if (X[b * stride + c * ldb + i] != rhs[c * ldb + i])
                check(false, "potrs outside B", n, double(nrhs));
        }
        check(residual < kBound, "potrs residual", n, residual);
        check(posv_residual < kBound, "posv residual", n, posv_residual);
      }
  }

  void inverses(const std::vector<int64_t>& sizes) const {
    for (int64_t n : sizes) {
      const int64_t count = 3;
      const Batch<T> A(uplo, n, n + 1, count, static_cast<unsigned>(n));
      DeviceArray<T> a(A.a);
      DeviceArray<int> info(count);
      DeviceArray<Real<T>> logdet(count);
      ok(potrf_strided_of(T{})(handle, uplo, n, a.data(), A.lda, A.stride, info.data(), count),
         "potrf for potri");
      Batch<T> L = A, X = A;
      L.a = a.get();
      ok(logdet_strided_of(T{})(handle, uplo, n, a.data(), A.lda, A.stride, logdet.data(), count),
         "logdet_strided_batched");
      ok(potri_strided_of(T{})(handle, uplo, n, a.data(), A.lda, A.stride, info.data(), count),
         "potri_strided_batched");
      X.a = a.get();
      const std::vector<int> infos = info.get();
      const std::vector<Real<T>> logs = logdet.get();
      for (int64_t b = 0; b < count; ++b) {
        double error = 0, log = 0;
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t i = 0; i < n; ++i) {
            typename Batch<T>::Wide s = i == j;
            for (int64_t k = 0; k < n; ++k) s -= A.full(b, i, k) * X.full(b, k, j);
            sum += std::abs(s);
          }
          error = worse(error, sum);
          log += 2 * std::log(std::abs(L.value(b, j, j)));
        }
        error /= std::max<double>(1, n) * A.norm1(b) * X.norm1(b) * epsilon<T>();
        check(infos[b] == 0 && (n == 0 || error < kBound), "potri residual", n, error);
        check(std::abs(logs[b] - log) <= 100 * epsilon<T>() * std::max(1.0, std::abs(log)),
              "logdet", n, logs[b] - log);
      }
      check(changed_outside(A, X) == 0, "potri outside the triangle", n, 0);
      if (n < 2) continue;
      L.lower(1, n - 1, n - 1) = T(0);
      DeviceArray<T> singular(L.a);
      ok(potri_strided_of(T{})(handle, uplo, n, singular.data(), A.lda, A.stride, info.data(),
                               count),
         "potri of a singular factor");
      check(info.get()[1] == n, "potri info", n, info.get()[1]);
      X.a = singular.get();
      check(std::memcmp(&X.a[A.stride], &L.a[A.stride], sizeof(T) * A.stride) == 0,
            "potri leaves a singular factor", n, 0);
    }
  }

  void one_matrix(const std::vector<int64_t>& sizes) const {
    for (int64_t n : sizes) {
      const int64_t nrhs = 3;
      const Batch<T> A(uplo, n, n + 2, 1, static_cast<unsigned>(n));
      std::mt19937_64 engine(n);
      std::vector<T> B(n * nrhs + 1);
      for (T& x : B) x = random_element<T>(engine);
      DeviceArray<T> a(A.a), b(B), pa(A.a), pb(B);
      DeviceArray<int> info(std::vector<int>(1, -5));
      DeviceArray<Real<T>> rcond(1);
      ok(potrf_of(T{})(handle, uplo, n, a.data(), A.lda, info.data()), "potrf");
      check(info.get()[0] == 0, "potrf one info", n, info.get()[0]);
      Batch<T> L = A, X = A;
      L.a = a.get();
      const double residual = factor_residual(A, L, 0);
      check(residual < kBound, "potrf one residual", n, residual);
      check(changed_outside(A, L) == 0, "potrf one outside", n, 0);
      ok(potrs_of(T{})(handle, uplo, n, nrhs, a.data(), A.lda, b.data(), n), "potrs");
      const double solved = solve_residual(A, 0, B.data(), b.get().data(), n, nrhs);
      check(solved < kBound, "potrs one residual", n, solved);
      ok(posv_of(T{})(handle, uplo, n, nrhs, pa.data(), A.lda, pb.data(), n, info.data()), "posv");
      const double both = solve_residual(A, 0, B.data(), pb.get().data(), n, nrhs);
      check(both < kBound && info.get()[0] == 0, "posv one residual", n, both);
      const auto norm = static_cast<Real<T>>(A.norm1(0));
      ok(pocon_of(T{})(handle, uplo, n, a.data(), A.lda, norm, rcond.data()), "pocon");
      const double estimate = rcond.get()[0];
      ok(potri_of(T{})(handle, uplo, n, a.data(), A.lda, info.data()), "potri");
      X.a = a.get();
      const double exact = 1 / (A.norm1(0) * X.norm1(0));
      check(estimate >= exact * 0.999 && estimate <= 10 * exact, "pocon", n, estimate / exact);

      Batch<T> bad = A;
      const int64_t p = n * 2 / 3;
      bad.lower(0, p, p) = T(-3);
      DeviceArray<T> bad_a(bad.a), bad_b(B);
      ok(posv_of(T{})(handle, uplo, n, nrhs, bad_a.data(), A.lda, bad_b.data(), n, info.data()),
         "posv of a bad matrix");
      check(info.get()[0] == p + 1, "posv one info", n, info.get()[0] - double(p + 1));
      check(std::memcmp(bad_b.get().data(), B.data(), sizeof(T) * n * nrhs) == 0,
            "posv one leaves B", n, 0);
    }
  }

  void variable(int64_t max_n, bool bound_given) const {
    const int64_t count = 61, nrhs = 3;
    std::mt19937_64 engine(max_n);
    std::vector<Batch<T>> As;
    std::vector<int64_t> orders, ldas, rhs, ldbs;
    std::vector<T> all, all_b;
    std::vector<size_t> starts, b_starts;
    for (int64_t b = 0; b < count; ++b) {
      const int64_t n = b == 3 ? 0 : b == 7 ? max_n : int64_t(engine() % (max_n + 1));
      As.emplace_back(uplo, n, n + b % 3 + 1, 1, static_cast<unsigned>(b));
      orders.push_back(n);
      ldas.push_back(As[b].lda);
      rhs.push_back(b % (nrhs + 1));
      ldbs.push_back(n + 1);
      starts.push_back(all.size());
      b_starts.push_back(all_b.size());
      all.insert(all.end(), As[b].a.begin(), As[b].a.end());
      for (int64_t k = 0; k < ldbs[b] * nrhs; ++k) all_b.push_back(random_element<T>(engine));
    }
    orders[11] = -2;            // position 4 of potrf, 5 of posv
    ldas[13] = orders[13] - 1;  // position 6, 8; when the order is 0, -1 is as bad
    DeviceArray<T> a(all), pa(all), b(all_b), x(all_b);
    std::vector<T*> pointers, pv_pointers, b_pointers, x_pointers;
    for (int64_t m = 0; m < count; ++m) {
      pointers.push_back(a.data() + starts[m]);
      pv_pointers.push_back(pa.data() + starts[m]);
      b_pointers.push_back(b.data() + b_starts[m]);
      x_pointers.push_back(x.data() + b_starts[m]);
    }
    pointers[17] = pv_pointers[17] = nullptr;  // position 5, 7
    if (orders[17] == 0) orders[17] = 1, ldas[17] = 2;
    DeviceArray<T*> dp(pointers), dpv(pv_pointers), db(b_pointers), dx(x_pointers);
    DeviceArray<int64_t> dn(orders), dl(ldas), dr(rhs), dlb(ldbs);
    DeviceArray<int> info(std::vector<int>(count, -99)), pv_info(std::vector<int>(count, -99));
    const int64_t bound = bound_given ? max_n : 0, rhs_bound = bound_given ? nrhs : 0;
    ok(potrf_vbatched_of(T{})(handle, uplo, bound, dn.data(), dp.data(), dl.data(), info.data(),
                              count),
       "potrf_vbatched");
    ok(potrs_vbatched_of(T{})(handle, uplo, bound, rhs_bound, dn.data(), dr.data(), dp.data(),
                              dl.data(), dx.data(), dlb.data(), count),
       "potrs_vbatched");
    ok(posv_vbatched_of(T{})(handle, uplo, bound, rhs_bound, dn.data(), dr.data(), dpv.data(),
                             dl.data(), db.data(), dlb.data(), pv_info.data(), count),
       "posv_vbatched");
    const std::vector<T> out = a.get(), X = x.get(), PX = b.get();
    const std::vector<int> infos = info.get(), pv_infos = pv_info.get();
    for (int64_t m = 0; m < count; ++m) {
      const int position = m == 11 ? 4 : m == 13 ? 6 : m == 17 ? 5 : 0;
      const int pv_position = m == 11 ? 5 : m == 13 ? 8 : m == 17 ? 7 : 0;
      check(infos[m] == -position, "vbatched info", max_n, infos[m]);
      check(pv_infos[m] == -pv_position, "posv_vbatched info", max_n, pv_infos[m]);
      Batch<T> L = As[m];
      std::copy(out.begin() + starts[m], out.begin() + starts[m] + L.a.size(), L.a.begin());
      if (position) {
        check(std::memcmp(L.a.data(), As[m].a.data(), sizeof(T) * L.a.size()) == 0,
              "vbatched leaves a bad matrix", max_n, double(m));
        continue;
      }
      const double residual = factor_residual(As[m], L, 0);
      check(residual < kBound, "vbatched residual", As[m].n, residual);
      check(changed_outside(As[m], L) == 0, "vbatched outside", As[m].n, 0);
      const T* B = all_b.data() + b_starts[m];
      const double solved = solve_residual(As[m], 0, B, X.data() + b_starts[m], ldbs[m], rhs[m]);
      const double both = solve_residual(As[m], 0, B, PX.data() + b_starts[m], ldbs[m], rhs[m]);
      check(solved < kBound, "potrs_vbatched residual", As[m].n, solved);
      check(both < kBound, "posv_vbatched residual", As[m].n, both);
    }
    ok(potri_vbatched_of(T{})(handle, uplo, bound, dn.data(), dp.data(), dl.data(), info.data(),
                              count),
       "potri_vbatched");
    check(info.get()[11] == -4, "potri_vbatched info", max_n, info.get()[11]);
  }

  /// Many copies of one matrix must have the same bits, whatever their place.
  void places(int64_t n, int64_t count) const {
    const Batch<T> one(uplo, n, n, 1, 5);
    std::vector<int> info;
    const Batch<T> L = factored(one, &info);
    std::vector<T> all(n * n * count);
    for (int64_t b = 0; b < count; ++b)
      std::copy(one.a.begin(), one.a.begin() + n * n, all.begin() + b * n * n);
    DeviceArray<T> a(all);
    DeviceArray<int> infos(std::vector<int>(count, -9));
    std::vector<T*> pointers(count);
    for (int64_t b = 0; b < count; ++b) pointers[b] = a.data() + b * n * n;
    DeviceArray<T*> device_pointers(pointers);
    ok(potrf_batched_of(T{})(handle, uplo, n, device_pointers.data(), n, infos.data(), count),
       "potrf_batched");
    const std::vector<T> out = a.get();
    int64_t different = 0;
    for (int64_t b = 0; b < count; ++b)
      if (std::memcmp(&out[b * n * n], L.a.data(), sizeof(T) * n * n) != 0) ++different;
    check(different == 0, "same bits at any place", n, double(different));
    int64_t bad = 0;
    for (int i : infos.get()) bad += i != 0;
    check(bad == 0, "info of a large batch", n, double(bad));
  }

  /// A captured call replayed on new data.
  void graph(int64_t n) const {
    const int64_t count = 50;
    const Batch<T> A(uplo, n, n, count, 1), B(uplo, n, n, count, 2);
    DeviceArray<T> a(A.a);
    DeviceArray<int> info(count);
    cudaStream_t stream;
    CHOL_TEST_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ok(chol_set_stream(handle, stream), "chol_set_stream");
    CHOL_TEST_CUDA(cudaDeviceSynchronize());
    const auto call = [&] {
      ok(potrf_strided_of(T{})(handle, uplo, n, a.data(), n, A.stride, info.data(), count),
         "potrf in a graph");
    };
    call();  // the workspace is there from now on
    CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHOL_TEST_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    call();
    CHOL_TEST_CUDA(cudaStreamEndCapture(stream, &graph));
    CHOL_TEST_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 20; ++round) {
      const Batch<T>& input = round % 2 ? A : B;
      a.put(input.a);
      CHOL_TEST_CUDA(cudaDeviceSynchronize());  // the copy is not in this stream's order
      CHOL_TEST_CUDA(cudaGraphLaunch(exec, stream));
      CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
    }
    Batch<T> L = A;
    L.a = a.get();
    const double residual = factor_residual(A, L, count - 1);
    check(residual < kBound, "graph replay", n, residual);
    CHOL_TEST_CUDA(cudaGraphExecDestroy(exec));
    CHOL_TEST_CUDA(cudaGraphDestroy(graph));
    ok(chol_set_stream(handle, nullptr), "chol_set_stream");
    CHOL_TEST_CUDA(cudaStreamDestroy(stream));
  }

  void run() const {
    if (reduced) {
      factors({1, 5, 16, 33, 70, 150, 290});
      solves({7, 40, 200});
      inverses({9, 45});
      variable(90, true);
      return;
    }
    factors({0,  1,  2,   3,   4,   5,   6,   7,   8,   9,   11,  12,  13,  15,  16,  17,  20,
             23, 24, 25,  27,  28,  31,  32,  33,  40,  47,  48,  49,  63,  64,  65,  80,  81,
             96, 97, 100, 127, 128, 129, 160, 161, 192, 193, 200, 256, 257, 300, 384, 500, 513});
    bad_pivots({1, 3, 4, 8, 13, 16, 24, 32, 33, 64, 70, 130, 200, 300});
    solves({1,  2,  4,  5,  8,  13, 16,  17,  24,  31,  32,  33,
            40, 63, 64, 79, 80, 97, 120, 128, 168, 200, 300, 500});
    inverses({0, 1, 2, 5, 16, 31, 32, 33, 64, 100, 130});
    one_matrix({1, 7, 32, 60, 128, 200, 300, 513, 1000});
    for (int64_t max_n : {10, 32, 60, 100, 300}) {
      variable(max_n, true);
      variable(max_n, false);
    }
    places(4, 600001);
    places(17, 70001);
    places(40, 70001);
    for (int64_t n : {8, 50, 300}) graph(n);
  }
};

template <class T>
void run_suite(chol_handle_t handle) {
  for (chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
    const auto start = std::chrono::steady_clock::now();
    Suite<T>{handle, uplo}.run();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%c %c: %d failures so far, %.1f s\n", letter_of(T{}), static_cast<char>(uplo),
                failures, seconds.count());
    std::fflush(stdout);
  }
}

void check_places_of_arrays(chol_handle_t handle) {
  std::vector<double> host(16, 1.0);
  DeviceArray<double> device(16);
  int info = 0;
  const chol_status_t on_host = chol_dpotrf(handle, CHOL_LOWER, 4, host.data(), 4, &info);
  expect(on_host == CHOL_STATUS_INVALID_VALUE, "host array on a CUDA handle", 'd', CHOL_LOWER, 4,
         on_host);
  std::printf("message: %s\n", chol_last_error(handle));
  const chol_status_t mixed = chol_dpotrf(handle, CHOL_LOWER, 4, device.data(), 4, &info);
  expect(mixed == CHOL_STATUS_INVALID_VALUE, "arrays in two places", 'd', CHOL_LOWER, 4, mixed);
  std::printf("message: %s\n", chol_last_error(handle));
}

}  // namespace
}  // namespace chol::test

int main(int argc, char** argv) {
  using namespace chol::test;
  for (int k = 1; k < argc; ++k) reduced = reduced || std::strcmp(argv[k], "--reduced") == 0;
  if (!device_present()) return 0;
  chol_handle_t handle = nullptr;
  if (chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr) != CHOL_STATUS_SUCCESS) {
    std::printf("FAILED chol_create_on: %s\n", chol_last_error(nullptr));
    return 1;
  }
  const auto wanted = [&](char letter) {
    bool any = false, named = false;
    for (int k = 1; k < argc; ++k)
      if (argv[k][0] != '-') any = true, named = named || argv[k][0] == letter;
    return !any || named;
  };
  check_places_of_arrays(handle);
  if (wanted('s')) run_suite<float>(handle);
  if (wanted('d')) run_suite<double>(handle);
  if (wanted('c')) run_suite<std::complex<float>>(handle);
  if (wanted('z')) run_suite<std::complex<double>>(handle);
  chol_destroy(handle);
  std::printf(failures ? "FAILED: %d\n" : "PASSED\n", failures);
  return failures != 0;
}
