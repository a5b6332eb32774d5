// A batch to factor, to solve, or both, as bench_device times it with chol and with a peer.
#pragma once

#include "measure.hpp"

namespace chol::bench {

template <class T>
std::vector<T> random_right_sides(int64_t n, int64_t nrhs) {
  std::vector<T> B(n * nrhs);
  std::mt19937_64 engine(n * nrhs);
  for (T& x : B) x = test::random_element<T>(engine);
  return B;
}

/// potrf_batched (nrhs = 0), posv_batched, or potrs_batched where it does not factor.
template <class T>
struct BatchedCase {
  chol_uplo_t uplo;
  int64_t n, nrhs, batch;
  bool factors;
  DeviceBatch<T> A;
  RepeatedArrays<T> B;  ///< the same for every matrix; none where nrhs = 0

  BatchedCase(chol_uplo_t uplo_, int64_t n_, int64_t nrhs_, int64_t batch_, bool factors_)
      : uplo(uplo_),
        n(n_),
        nrhs(nrhs_),
        batch(batch_),
        factors(factors_),
        A(n_, batch_),
        B(random_right_sides<T>(n_, nrhs_), n_ * nrhs_, batch_) {}

  const char* name() const {
    return nrhs == 0 ? "potrf_batched" : factors ? "posv_batched" : "potrs_batched";
  }
  double flops() const {
    const double solve = 2.0 * double(n * n * nrhs);
    return factor_of<T>() * double(batch) * (solve + (factors ? potrf_flops(double(n)) : 0));
  }
  double bytes() const {
    const double triangle = triangle_sectors(n, sizeof(T)) * (factors ? 2 : 1);
    return (triangle + 2.0 * double(n * nrhs) * sizeof(T)) * double(batch);
  }

  /// The input; the factors if only a solve is timed.
  void restore() const {
    B.restore();
    A.restore();
    if (!factors) factor();
  }
  void run() const {
    if (nrhs == 0)
      factor();
    else if (factors)
      ours(test::posv_batched_of(T{})(handle, uplo, n, nrhs, A.pointers.data(), n,
                                      B.pointers.data(), n, A.info.data(), batch));
    else
      ours(test::potrs_batched_of(T{})(handle, uplo, n, nrhs, A.pointers.data(), n,
                                       B.pointers.data(), n, batch));
  }

 private:
  void factor() const {
    ours(test::potrf_batched_of(T{})(handle, uplo, n, A.pointers.data(), n, A.info.data(), batch));
  }
};

/// Time of a peer; 0 if it did not run.
struct PeerTime {
  const char* name;
  double ms;
};

/// cuSOLVER's batched routines, and cuBLAS for several right-hand sides.
template <class T>
PeerTime cusolver(const BatchedCase<T>& c) {
  const cublasFillMode_t uplo =
      c.uplo == CHOL_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  const int n = int(c.n), nrhs = int(c.nrhs), batch = int(c.batch);
  T **const A = c.A.pointers.data(), **const B = c.B.pointers.data();
  const double ms = median_ms([&] { c.restore(); },
                              [&] {
                                if (c.factors) peer_potrf(uplo, n, A, c.A.info.data(), batch);
                                if (nrhs == 1) peer_potrs(uplo, n, A, B, c.A.info.data(), batch);
                                if (nrhs <= 1) return;
                                peer_trsm(uplo, false, n, nrhs, A, B, batch);
                                peer_trsm(uplo, true, n, nrhs, A, B, batch);
                              });
  return {nrhs == 0   ? "cusolverDnpotrfBatched"
          : nrhs == 1 ? "cusolverDnpotrsBatched"
                      : "cublastrsmBatched",
          ms};
}

template <class T>
PeerTime no_peer(const BatchedCase<T>&) {
  return {"cusolverDnpotrfBatched", 0};
}

template <class T, class Peer>
void bench_batched(const BatchedCase<T>& c, const Peer& beside) {
  const double ms = median_ms([&] { c.restore(); }, [&] { c.run(); });
  const PeerTime peer = beside(c);
  print(c.name(), letter_of(T{}), char(c.uplo), c.n, c.nrhs, c.batch, c.flops(), ms, peer.ms,
        peer.name, c.bytes());
}

}  // namespace chol::bench
