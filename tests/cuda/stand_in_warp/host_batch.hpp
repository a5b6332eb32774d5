// Batches for tests of kernels on the host: input, expected results, and memory that must not
// change.
#pragma once

#include <cstring>
#include <limits>
#include <vector>

#include "batched/register/shapes.hpp"
#include "common/batch_view.cuh"
#include "elements.hpp"
#include "tally.hpp"

namespace chol::cuda {

inline Tally tally;

/// A block whose threads run in the opposite order of the previous case.
inline HostBlock block_of(int threads) { return {threads, tally.cases % 2 == 0}; }
/// The same of a cluster.
inline HostBlock cluster_of(int threads, int blocks) {
  return {threads, tally.cases % 2 == 0, blocks};
}
inline int random_below(int bound) {
  return static_cast<int>(engine() % static_cast<unsigned>(bound));
}

/// Consecutive matrices, with NaN in all memory that a kernel must not use, and right-hand sides.
template <class T, bool kSwapped>
struct Batch {
  static constexpr double kNaN = std::numeric_limits<Real<T>>::quiet_NaN();
  int count, n, nrhs, lda, ldb;
  std::vector<int64_t> orders;
  std::vector<int> info;
  std::vector<T> A, B;

  Batch(int count_, int n_, int nrhs_, int extra, bool mixed)
      : count(count_), n(n_), nrhs(nrhs_), lda(n_ + extra), ldb(n_ + 1) {
    const T nothing = from_real<T>(Real<T>(kNaN));
    for (int b = 0; b < count; ++b) orders.push_back(mixed ? random_below(n + 1) : n);
    info.assign(count, -99);
    A.assign(size_t(count) * lda * n, nothing);
    B.assign(size_t(count) * ldb * nrhs, nothing);
    for (int b = 0; b < count; ++b)
      for (int j = 0; j < orders[b]; ++j) {
        for (int i = j + 1; i < orders[b]; ++i)
          at(b, i, j) = scale(random_element<T>(), Real<T>(1) / Real<T>(n));
        at(b, j, j) = from_real<T>(Real<T>(1.5) + Real<T>(j % 3));
        for (int q = 0; q < nrhs; ++q) rhs(b, j, q) = random_element<T>();
      }
  }
  T& at(int b, int i, int j) {
    return A[(size_t(b) * n + (kSwapped ? i : j)) * lda + (kSwapped ? j : i)];
  }
  T& rhs(int b, int i, int q) { return B[(size_t(b) * nrhs + q) * ldb + i]; }

  BatchProblem<T> problem(bool mixed) {
    BatchProblem<T> of_all;
    of_all.A = {A.data(), int64_t(lda) * n, nullptr, lda, nullptr};
    of_all.B = {B.data(), int64_t(ldb) * nrhs, nullptr, ldb, nullptr};
    of_all.count = count;
    of_all.n = n;
    of_all.nrhs = nrhs;
    of_all.orders = mixed ? orders.data() : nullptr;
    of_all.info = info.data();
    of_all.swapped = kSwapped;
    return of_all;
  }
};

template <class T>
bool same_bits(T x, T y) {
  return std::memcmp(&x, &y, sizeof(T)) == 0;
}

template <class T, bool kSwapped>
bool same_matrix(const Batch<T, kSwapped>& x, const Batch<T, kSwapped>& y, int b) {
  const size_t size = size_t(x.lda) * x.n;
  return std::memcmp(&x.A[b * size], &y.A[b * size], size * sizeof(T)) == 0;
}

/// The largest error of L L^H in its first columns, and of the solutions; NaN is kept.
template <class T, bool kSwapped, SmallTask kTask>
double largest_error(Batch<T, kSwapped>& before, Batch<T, kSwapped>& after, int b, int columns) {
  const int n = static_cast<int>(before.orders[b]);
  auto& factor = kFactors<kTask> ? after : before;
  double largest = 0;
  const auto consider = [&](T x) {
    const double error = magnitude(x);
    largest = error <= largest ? largest : error;
  };
  const auto product = [&](int i, int j) {
    T sum{};
    for (int k = 0; k <= std::min(i, j); ++k)
      sum = add_product_conj(sum, factor.at(b, i, k), factor.at(b, j, k));
    return sum;
  };
  if constexpr (kFactors<kTask>)
    for (int j = 0; j < columns; ++j)
      for (int i = j; i < n; ++i) consider(subtract(before.at(b, i, j), product(i, j)));
  if (kTask != SmallTask::factor && columns == n)
    for (int q = 0; q < before.nrhs; ++q)
      for (int i = 0; i < n; ++i) {
        T left = conj_if(kSwapped, before.rhs(b, i, q));
        for (int j = 0; j < n; ++j)
          left = subtract_product(left, product(i, j), conj_if(kSwapped, after.rhs(b, j, q)));
        consider(left);
      }
  return largest;
}

/// Whether everything except the triangles and their right-hand sides is unchanged.
template <class T, bool kSwapped>
bool rest_is_kept(Batch<T, kSwapped> before, Batch<T, kSwapped> after) {
  for (int b = 0; b < before.count; ++b)
    for (int j = 0; j < before.orders[b]; ++j) {
      for (int i = j; i < before.orders[b]; ++i) before.at(b, i, j) = after.at(b, i, j);
      for (int q = 0; q < before.nrhs; ++q) before.rhs(b, j, q) = after.rhs(b, j, q);
    }
  return std::memcmp(before.A.data(), after.A.data(), before.A.size() * sizeof(T)) == 0 &&
         std::memcmp(before.B.data(), after.B.data(), before.B.size() * sizeof(T)) == 0;
}

/// Every third matrix has a bad pivot.
template <class Data>
void spoil_pivots(Data& data, std::vector<int>& expected) {
  using T = std::decay_t<decltype(data.A[0])>;
  const Real<T> none[] = {0, -1, Real<T>(Data::kNaN), std::numeric_limits<Real<T>>::infinity()};
  for (int b = 0; b < data.count; b += 3) {
    if (data.orders[b] == 0) continue;
    const int k = random_below(static_cast<int>(data.orders[b]));
    data.at(b, k, k) = from_real<T>(none[random_below(4)]);
    expected[b] = k + 1;
  }
}
template <class T, bool kSwapped, SmallTask kTask>
bool is_right(Batch<T, kSwapped>& before, Batch<T, kSwapped>& after, int b, int expected) {
  if (kFactors<kTask> && after.info[b] != expected) return false;
  if (expected) {
    for (int i = 0; i < before.orders[b]; ++i)
      for (int q = 0; q < before.nrhs; ++q)
        if (!same_bits(before.rhs(b, i, q), after.rhs(b, i, q))) return false;
  }
  const int columns = expected ? expected - 1 : static_cast<int>(before.orders[b]);
  const double bound = 10 * (before.n + 4) * double(std::numeric_limits<Real<T>>::epsilon());
  return largest_error<T, kSwapped, kTask>(before, after, b, columns) <= bound;
}

/// Counts a case. @return whether all matrices, info and the memory that must not change are
/// correct.
template <SmallTask kTask, class T, bool kSwapped>
bool count_batch(Batch<T, kSwapped>& before, Batch<T, kSwapped>& after,
                 const std::vector<int>& expected) {
  bool right = rest_is_kept(before, after);
  for (int b = 0; b < before.count; ++b)
    right = right && is_right<T, kSwapped, kTask>(before, after, b, expected[b]);
  return tally.count(right);
}

template <class T>
void scale_all(std::vector<T>& elements, int exponent) {
  for (T& x : elements) x = scale(x, std::ldexp(Real<T>(1), exponent));
}
/// Exponents, to be doubled, at which pivots or their reciprocals are not normal numbers.
template <class T>
inline constexpr int kExtremes[] = {std::numeric_limits<Real<T>>::max_exponent / 2 - 1,
                                    -std::numeric_limits<Real<T>>::max_exponent / 2};
/// The same for a batch that launch(problem) factors, scaled by 2^(2 half).
template <class T, bool kSwapped, class Launch>
bool count_scaled(Batch<T, kSwapped>& before, int half, Launch&& launch) {
  auto after = before;
  for (int k = 0; k < 2; ++k) scale_all(after.A, half);
  launch(after.problem(false));
  scale_all(after.A, -half);
  // Elements outside of the triangle were scaled as well.
  for (size_t e = 0; e < before.A.size(); ++e)
    if (std::isnan(real(before.A[e]))) after.A[e] = before.A[e];
  return count_batch<SmallTask::factor>(before, after, std::vector<int>(before.count, 0));
}

}  // namespace chol::cuda
