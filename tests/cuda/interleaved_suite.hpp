// Interleaved batches on a device, through chol.h: residuals, info, memory outside the batch,
// comparison with the host backend, graphs.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>

#include "problem.hpp"
#include "suites.hpp"

namespace chol::test {

inline bool reduced = false;  ///< few sizes, for compute-sanitizer

/// The matrices of a Batch interleaved; all other memory is NaN.
template <class T>
struct Interleaved {
  int64_t rows, columns, ld, chunk, count;
  std::vector<T> a;

  Interleaved(int64_t rows_, int64_t columns_, int64_t ld_, int64_t chunk_, int64_t count_)
      : rows(rows_),
        columns(columns_),
        ld(ld_),
        chunk(chunk_),
        count(count_),
        a(static_cast<size_t>(ld * columns * chunk * ((count + chunk - 1) / chunk)),
          T(std::numeric_limits<Real<T>>::quiet_NaN())) {}
  size_t offset(int64_t b, int64_t i, int64_t j) const {
    return static_cast<size_t>((((b / chunk) * columns + j) * ld + i) * chunk + b % chunk);
  }
  /// Copies the triangles of a column-major batch, to() or from() it.
  template <class Move>
  void for_triangles(const Batch<T>& A, Move&& move) const {
    for (int64_t b = 0; b < count; ++b)
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = A.uplo == CHOL_LOWER ? j : 0; i < (A.uplo == CHOL_LOWER ? rows : j + 1);
             ++i)
          move(offset(b, i, j), static_cast<size_t>(b * A.stride + j * A.lda + i));
  }
  static Interleaved of(const Batch<T>& A, int64_t chunk, int64_t ld) {
    Interleaved P(A.n, A.n, ld, chunk, A.count);
    P.for_triangles(A, [&](size_t to, size_t from) { P.a[to] = A.a[from]; });
    return P;
  }
  Batch<T> apart(const Batch<T>& like) const {
    Batch<T> A = like;
    for_triangles(A, [&](size_t from, size_t to) { A.a[to] = a[from]; });
    return A;
  }
  /// Elements outside the triangles whose bits differ from those before.
  int64_t changed_outside(const Interleaved& before, const Batch<T>& A) const {
    std::vector<char> own(a.size(), 0);
    for_triangles(A, [&](size_t k, size_t) { own[k] = 1; });
    int64_t changed = 0;
    for (size_t k = 0; k < a.size(); ++k)
      changed += !own[k] && std::memcmp(&a[k], &before.a[k], sizeof(T)) != 0;
    return changed;
  }
};

template <class T>
struct Suite {
  chol_handle_t handle, host;
  chol_uplo_t uplo;
  static constexpr double kBound = 30;

  void check(bool good, const char* what, int64_t n, int64_t chunk, double value) const {
    if (good) return;
    if (++failures <= 60)
      std::printf("FAILED %s: %c uplo %c n %lld chunk %lld value %g\n", what, letter_of(T{}),
                  static_cast<char>(uplo), static_cast<long long>(n), static_cast<long long>(chunk),
                  value);
  }
  void ok(chol_status_t status, const char* what) const {
    if (status == CHOL_STATUS_SUCCESS) return;
    ++failures;
    std::printf("FAILED %s: %s\n", what, chol_last_error(handle));
  }

  /// Largest difference of the triangles relative to the largest element.
  double difference(const Batch<T>& X, const Batch<T>& Y) const {
    double most = 0, size = 0;
    for (int64_t b = 0; b < X.count; ++b)
      for (int64_t j = 0; j < X.n; ++j)
        for (int64_t i = j; i < X.n; ++i) {
          most = worse(most, std::abs(X.value(b, i, j) - Y.value(b, i, j)));
          size = worse(size, std::abs(Y.value(b, i, j)));
        }
    return size > 0 ? most / size : most;
  }

  Interleaved<T> right_hand_sides(int64_t n, int64_t nrhs, int64_t chunk, int64_t count) const {
    Interleaved<T> B(n, nrhs, n + 1, chunk, count);
    std::mt19937_64 engine(n);
    for (int64_t b = 0; b < count; ++b)
      for (int64_t c = 0; c < nrhs; ++c)
        for (int64_t i = 0; i < n; ++i) B.a[B.offset(b, i, c)] = random_element<T>(engine);
    return B;
  }
  double worst_solve(const Batch<T>& A, const Interleaved<T>& B, const Interleaved<T>& X) const {
    double most = 0;
    for (int64_t b : {int64_t(0), A.count / 2, A.count - 1})
      for (int64_t c = 0; c < B.columns; ++c) {
        std::vector<T> rhs(A.n), x(A.n);
        for (int64_t i = 0; i < A.n; ++i) {
          rhs[i] = B.a[B.offset(b, i, c)];
          x[i] = X.a[X.offset(b, i, c)];
        }
        most = worse(most, solve_residual(A, b, rhs.data(), x.data(), A.n, 1));
      }
    return most;
  }

  void all_routines(int64_t n, int64_t chunk, int64_t count) const {
    const Batch<T> A(uplo, n, n + 1, count, static_cast<unsigned>(n));
    const Interleaved<T> P = Interleaved<T>::of(A, chunk, n + n % 3);
    DeviceArray<T> a(P.a), pa(P.a);
    DeviceArray<int> info(std::vector<int>(count, -99));
    ok(potrf_interleaved_of(T{})(handle, uplo, n, a.data(), P.ld, chunk, info.data(), count),
       "potrf_interleaved");
    Interleaved<T> F = P;
    F.a = a.get();
    const Batch<T> L = F.apart(A);
    int64_t bad = 0;
    for (int i : info.get()) bad += i != 0;
    check(bad == 0, "potrf info", n, chunk, double(bad));
    double residual = 0;
    for (int64_t b : {int64_t(0), count / 3, count - 1})
      residual = worse(residual, factor_residual(A, L, b));
    check(residual < kBound, "potrf residual", n, chunk, residual);
    check(F.changed_outside(P, A) == 0, "potrf outside", n, chunk, 1);
    Batch<T> H = A;
    std::vector<int> host_info(count);
    ok(potrf_strided_of(T{})(host, uplo, n, H.a.data(), H.lda, H.stride, host_info.data(), count),
       "host potrf");
    const double apart = difference(L, H);
    check(apart < 60 * double(n) * epsilon<T>(), "potrf against the host", n, chunk, apart);
    for (int64_t nrhs : {1, 3}) solves(A, P, a, chunk, nrhs);
    log_determinants(L, P, a, chunk);
    inverses(A, H, P, F, a, chunk);
  }

  void solves(const Batch<T>& A, const Interleaved<T>& P, const DeviceArray<T>& factor,
              int64_t chunk, int64_t nrhs) const {
    const int64_t n = A.n, count = A.count;
    const Interleaved<T> B = right_hand_sides(n, nrhs, chunk, count);
    DeviceArray<T> x(B.a), px(B.a), pa(P.a);
    DeviceArray<int> info(std::vector<int>(count, -99));
    ok(potrs_interleaved_of(T{})(handle, uplo, n, nrhs, factor.data(), P.ld, x.data(), B.ld, chunk,
                                 count),
       "potrs_interleaved");
    ok(posv_interleaved_of(T{})(handle, uplo, n, nrhs, pa.data(), P.ld, px.data(), B.ld, chunk,
                                info.data(), count),
       "posv_interleaved");
    int64_t bad = 0;
    for (int i : info.get()) bad += i != 0;
    check(bad == 0, "posv info", n, chunk, double(bad));
    for (const DeviceArray<T>* solution : {&x, &px}) {
      Interleaved<T> X = B;
      X.a = solution->get();
      const double residual = worst_solve(A, B, X);
      check(residual < kBound, solution == &x ? "potrs residual" : "posv residual", n, chunk,
            residual);
      int64_t changed = 0;
      for (size_t k = 0; k < X.a.size(); ++k)
        changed += std::isnan(std::real(B.a[k])) && std::memcmp(&X.a[k], &B.a[k], sizeof(T)) != 0;
      check(changed == 0, "solution outside", n, chunk, double(changed));
    }
  }

  void log_determinants(const Batch<T>& L, const Interleaved<T>& P, const DeviceArray<T>& factor,
                        int64_t chunk) const {
    DeviceArray<Real<T>> logdet(L.count);
    ok(logdet_interleaved_of(T{})(handle, uplo, L.n, factor.data(), P.ld, chunk, logdet.data(),
                                  L.count),
       "logdet_interleaved");
    const auto got = logdet.get();
    for (int64_t b : {int64_t(0), L.count - 1}) {
      double sum = 0;
      for (int64_t j = 0; j < L.n; ++j) sum += 2 * std::log(std::real(L.value(b, j, j)));
      const double off = std::abs(got[b] - sum) / (std::abs(sum) + double(L.n));
      check(off < 20 * epsilon<T>(), "logdet", L.n, chunk, off);
    }
  }

  void inverses(const Batch<T>& A, const Batch<T>& host_factor, const Interleaved<T>& P,
                const Interleaved<T>& F, const DeviceArray<T>& factor, int64_t chunk) const {
    const int64_t n = A.n, count = A.count;
    if (n > 40 && n % 10 != 0) return;
    DeviceArray<int> info(std::vector<int>(count, -99));
    ok(potri_interleaved_of(T{})(handle, uplo, n, factor.data(), P.ld, chunk, info.data(), count),
       "potri_interleaved");
    Interleaved<T> X = F;
    X.a = factor.get();
    Batch<T> H = host_factor;
    std::vector<int> host_info(count);
    ok(potri_strided_of(T{})(host, uplo, n, H.a.data(), H.lda, H.stride, host_info.data(), count),
       "host potri");
    const double apart = difference(X.apart(A), H);
    check(apart < 100 * double(n) * epsilon<T>(), "potri against the host", n, chunk, apart);
    check(X.changed_outside(P, A) == 0, "potri outside", n, chunk, 1);
    int64_t bad = 0;
    for (int i : info.get()) bad += i != 0;
    check(bad == 0, "potri info", n, chunk, double(bad));
  }

  /// Every third matrix fails at a different pivot; the others have the same results as in a batch
  /// without them.
  void bad_pivots(int64_t n, int64_t chunk) const {
    const int64_t count = 3 * n + 5;
    const Batch<T> A(uplo, n, n, count, 3);
    Batch<T> broken = A;
    const auto pivot_of = [&](int64_t b) { return b % 3 == 1 ? (b / 3) % n : -1; };
    const Real<T> values[] = {-3, 0, std::numeric_limits<Real<T>>::quiet_NaN(),
                              std::numeric_limits<Real<T>>::infinity()};
    for (int64_t b = 0; b < count; ++b)
      if (pivot_of(b) >= 0) broken.lower(b, pivot_of(b), pivot_of(b)) = T(values[b % 4]);
    const Interleaved<T> P = Interleaved<T>::of(A, chunk, n),
                         Q = Interleaved<T>::of(broken, chunk, n);
    const Interleaved<T> B = right_hand_sides(n, 1, chunk, count);
    DeviceArray<T> good(P.a), bad(Q.a), vgood(P.a), vbad(Q.a), x(B.a), y(B.a);
    DeviceArray<int> info(std::vector<int>(count, -99));
    const auto factor = [&](DeviceArray<T>& matrices) {
      ok(potrf_interleaved_of(T{})(handle, uplo, n, matrices.data(), n, chunk, info.data(), count),
         "potrf_interleaved");
    };
    const auto solve = [&](DeviceArray<T>& matrices, DeviceArray<T>& rhs) {
      ok(posv_interleaved_of(T{})(handle, uplo, n, 1, matrices.data(), n, rhs.data(), B.ld, chunk,
                                  info.data(), count),
         "posv_interleaved");
    };
    factor(good);
    factor(bad);
    const auto infos = info.get();
    solve(vgood, x);
    solve(vbad, y);
    const auto posv_infos = info.get();
    Interleaved<T> L = P, M = P;
    L.a = good.get(), M.a = bad.get();
    const Batch<T> expected = L.apart(A), got = M.apart(A);
    const std::vector<T> X = x.get(), Y = y.get();
    int64_t wrong_info = 0, wrong_factor = 0, wrong_rhs = 0;
    for (int64_t b = 0; b < count; ++b) {
      const int64_t p = pivot_of(b), columns = p < 0 ? n : p;
      wrong_info += infos[b] != p + 1 || posv_infos[b] != p + 1;
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = j; i < n; ++i)
          wrong_factor += got.value(b, i, j) != expected.value(b, i, j);
      for (int64_t i = 0; i < n; ++i) {
        const size_t k = B.offset(b, i, 0);
        wrong_rhs += std::memcmp(&Y[k], p < 0 ? &X[k] : &B.a[k], sizeof(T)) != 0;
      }
    }
    check(wrong_info == 0, "info of a bad pivot", n, chunk, double(wrong_info));
    check(wrong_factor == 0, "factor before a bad pivot", n, chunk, double(wrong_factor));
    check(wrong_rhs == 0, "right-hand sides of bad pivots", n, chunk, double(wrong_rhs));
  }

  /// Copies of one matrix have the same bits, whatever their place.
  void places(int64_t n, int64_t chunk, int64_t count) const {
    const Batch<T> one(uplo, n, n, 1, 5);
    Interleaved<T> P(n, n, n, chunk, count);
    for (int64_t b = 0; b < count; ++b)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i) P.a[P.offset(b, i, j)] = one.a[j * n + i];
    DeviceArray<T> a(P.a);
    DeviceArray<int> info(std::vector<int>(count, -9));
    ok(potrf_interleaved_of(T{})(handle, uplo, n, a.data(), n, chunk, info.data(), count),
       "potrf_interleaved");
    P.a = a.get();
    int64_t different = 0;
    for (int64_t b = 1; b < count; ++b)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i)
          different +=
              std::memcmp(&P.a[P.offset(b, i, j)], &P.a[P.offset(0, i, j)], sizeof(T)) != 0;
    check(different == 0, "same bits at any position", n, chunk, double(different));
  }

  /// A captured call replayed on new data.
  void graph(int64_t n) const {
    const int64_t count = 77, chunk = 32;
    const Batch<T> A(uplo, n, n, count, 1);
    const Interleaved<T> P = Interleaved<T>::of(A, chunk, n);
    DeviceArray<T> a(P.a);
    DeviceArray<int> info(count);
    cudaStream_t stream;
    CHOL_TEST_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ok(chol_set_stream(handle, stream), "chol_set_stream");
    CHOL_TEST_CUDA(cudaDeviceSynchronize());
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHOL_TEST_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    ok(potrf_interleaved_of(T{})(handle, uplo, n, a.data(), n, chunk, info.data(), count),
       "potrf in a graph");
    CHOL_TEST_CUDA(cudaStreamEndCapture(stream, &graph));
    CHOL_TEST_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 3; ++round) {
      a.put(P.a);
      CHOL_TEST_CUDA(cudaDeviceSynchronize());
      CHOL_TEST_CUDA(cudaGraphLaunch(exec, stream));
      CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
    }
    Interleaved<T> F = P;
    F.a = a.get();
    const double residual = factor_residual(A, F.apart(A), count - 1);
    check(residual < kBound, "graph replay", n, chunk, residual);
    CHOL_TEST_CUDA(cudaGraphExecDestroy(exec));
    CHOL_TEST_CUDA(cudaGraphDestroy(graph));
    ok(chol_set_stream(handle, nullptr), "chol_set_stream");
    CHOL_TEST_CUDA(cudaStreamDestroy(stream));
  }

  /// Orders above those of the typed suite, and tests for devices only.
  void run() const {
    if (reduced) {
      for (int64_t n : {9, 24, 48, 150}) all_routines(n, 32, 45);
      bad_pivots(17, 33);
      return;
    }
    for (int64_t n : {105, 130, 145, 177, 208, 230, 260}) all_routines(n, 32, 13);
    // Several slices of the batch, divided at and within chunks.
    constexpr int64_t kLarge = 1110, kSlice = (int64_t(1) << 30) / (kLarge * kLarge * sizeof(T));
    for (int64_t chunk : {8, 512}) all_routines(kLarge, chunk, kSlice + 5);
    bad_pivots(230, 33);
    for (int64_t n : {5, 18, 31, 50}) places(n, 33, 1001);
    places(230, 33, 101);
    for (int64_t n : {8, 24, 40, 230}) graph(n);
  }
};

}  // namespace chol::test
