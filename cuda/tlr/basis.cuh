// Bases of tall columns by the factorizations of cores: of the samples of a tile, of which the last
// columns are tests, and of a projection that is truncated. Q contains the vectors of the pivot
// columns, and the factor R = Q^H S the coefficients of all columns.
#pragma once

#include "tlr/blocked_factorization.cuh"
#include "tlr/core.cuh"

namespace chol::cuda::tlr {

/// `rest` is the squared norm of the residual: for samples its estimate, the mean square of the
/// tests; for a projection the sum over all remaining columns.
__device__ inline CoreResult result_of_basis(int rank, bool is_sufficient, double rest,
                                             double longest) {
  return {rank, is_sufficient, static_cast<float>(sqrt(rest)), static_cast<float>(sqrt(longest))};
}
/// Sets the elements of R that are written later or are zero.
template <class T>
__device__ void clear_factor(T* factor, int columns, int first, int step) {
  for (int e = first; e < columns * columns; e += step) factor[e] = from_real<T>(0);
}

template <class T, int kBlocks>
struct BlockedBasis : BlockedFactorization<T, kBlocks> {
  using Base = BlockedFactorization<T, kBlocks>;
  using Base::candidates, Base::columns, Base::m, Base::rows, Base::tolerance;
  using typename Base::R;
  int tests;

  __device__ BlockedBasis(const BasisItem& given, char* shared)
      : Base(given.core, given.tests, given.tolerance, shared), tests(given.tests) {}

  /// Called by each warp.
  __device__ double rest() const {
    const int first = tests > 0 ? m.place_of_tests(columns, tests) : 0;
    const int count = tests > 0 ? tests : candidates;
    double sum = 0;
    for (int c = this->lane; c < count; c += 32) sum += double(norm_of_key<R>(m.keys[first + c]));
    return sum_lanes<32>(sum) / (tests > 0 ? tests : 1);
  }

  __device__ CoreResult run() {
    this->load();
    clear_factor(this->factor, columns, this->block * kBlockedThreads + this->thread,
                 kBlocks * kBlockedThreads);
    double left = 0;
    R last = 0;
    int rank = 0;
    const double square = tolerance * tolerance;
    const auto limit_of = [&](R longest, int) {
      left = rest();
      last = longest;
      return typename Base::Limit{left <= square, 0, 1 - square / left};
    };
    const int most = smaller(rows, candidates);
    const bool is_sufficient = tests > 0 ? this->template factorize<false>(most, limit_of, rank)
                                         : this->template factorize<true>(most, limit_of, rank);
    this->synchronize();  // no block exits while other blocks read its shared memory
    return result_of_basis(rank, is_sufficient, left, double(last));
  }
};

/// The same for cores that exceed the shared memory.
template <class T, int kBlocks>
struct LargeBasis : CoreFactorization<T, kBlocks> {
  using Base = CoreFactorization<T, kBlocks>;
  using Base::candidates, Base::columns, Base::rows;
  using typename Base::R;
  int tests;
  double tolerance;

  __device__ LargeBasis(const BasisItem& given, char* shared)
      : Base(given.core, shared), tests(given.tests), tolerance(given.tolerance) {
    candidates = columns - tests;
    this->rest_from = tests > 0 ? candidates : 0;
  }

  __device__ CoreResult run() {
    this->load();
    clear_factor(this->factor, columns, this->block * kCoreThreads + this->thread,
                 kBlocks * kCoreThreads);
    const int most = smaller(rows, candidates);
    for (int rank = 0;; ++rank) {
      const auto best = this->longest(rank);
      const double left = double(best.rest) / (tests > 0 ? tests : 1);
      const bool is_sufficient = left <= tolerance * tolerance;
      if (is_sufficient || rank >= most || !(best.norm > R(0) && best.norm <= largest(R(0)))) {
        this->synchronize();
        this->write_basis(rank);
        this->synchronize();  // no block exits while other blocks read its shared memory
        return result_of_basis(rank, is_sufficient, left,
                               double(best.norm > R(0) ? best.norm : R(0)));
      }
      this->take(best, rank);
    }
  }
};

}  // namespace chol::cuda::tlr
