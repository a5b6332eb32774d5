// The kernels of cuda/tlr/indefinite.cuh, emulated on the host, against the host's rook pivoting.
#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "elements.hpp"
#include "host/conjugate.hpp"
#include "host/indefinite_factor.hpp"
#include "tally.hpp"
#include "tlr/indefinite.cuh"

namespace chol::cuda::tlr {
namespace {

Tally tally;

/// The arrays of L D L^H of a tile, as on a device.
template <class D>
struct Factor {
  using T = typename PublicOf<D>::Type;
  std::vector<T> A, scratch, L;
  std::vector<int> order, kinds;
  std::vector<RealOf<T>> signs;
  int info;

  Factor(const std::vector<T>& tile, int n)
      : A(tile),
        scratch(static_cast<size_t>(n) * (kPanelRoom + 4)),
        L(A.size()),
        order(static_cast<size_t>(n) + kIndefiniteProgress),
        kinds(static_cast<size_t>(n)),
        signs(static_cast<size_t>(n)) {
    std::memset(static_cast<void*>(scratch.data()), 0xFF, sizeof(T) * scratch.size());
    D* const W = reinterpret_cast<D*>(scratch.data());
    const IndefiniteItem<D> item{n,
                                 reinterpret_cast<D*>(A.data()),
                                 W,
                                 W + n * (kPanelRoom + 2),
                                 W + n * kPanelRoom,
                                 kinds.data(),
                                 order.data(),
                                 signs.data()};
    for (int i = 0; i < n; ++i) order[i] = i;
    for (int first = 0; first < n; first += kIndefinitePanel) factor_panel(item);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const D x = indefinite_element(item, i, j);
        std::memcpy(static_cast<void*>(&L[i + size_t(j) * n]), &x, sizeof x);
      }
    info = item.progress()[2];
  }
  static void factor_panel(const IndefiniteItem<D>& item) {
    if (item.progress()[1] < item.n) {
      static typename IndefinitePanel<D>::Memory memory;
      HostBlock(kIndefiniteThreads, tally.cases % 2 == 0).run([&] {
        IndefinitePanel<D>(item, memory, item.columns).run();
      });
    }
    static IndefiniteUpdate<D> update;
    constexpr int kOrder = IndefiniteUpdate<D>::kOrder;
    for (int column = 0; column < item.n; column += kOrder)
      for (int row = 0; row < item.n; row += kOrder)
        HostBlock(kUpdateThreads, tally.cases % 2 == 0).run([&] { update.run(item, row, column); });
  }
};

/// Random numbers with `diagonal` on the diagonal: small ones require pivots of order 2.
template <class D>
std::vector<typename PublicOf<D>::Type> random_tile(int n, double diagonal) {
  using T = typename PublicOf<D>::Type;
  std::vector<T> A(static_cast<size_t>(n) * n);
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      A[i + size_t(j) * n] = random_public_element<D>();
      if (i == j) A[i + size_t(j) * n] = std::real(A[i + size_t(j) * n]) * Real<D>(diagonal);
      A[j + size_t(i) * n] = host::conjugate(A[i + size_t(j) * n]);
    }
  return A;
}

template <class D>
void check(int n, double diagonal, double shift) {
  using T = typename PublicOf<D>::Type;
  std::vector<T> A = random_tile<D>(n, diagonal);
  for (int i = 0; i < n; ++i) A[i + size_t(i) * n] += Real<D>(shift);
  const Factor<D> found(A, n);
  std::vector<T> expected = A;
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::vector<RealOf<T>> signs(static_cast<size_t>(n));
  bool is_right =
      found.info == host::indefinite_factor(expected.data(), n, order.data(), signs.data());
  // The host may choose pivots in another order, but the signs agree.
  double sum_of_signs = 0;
  for (int i = 0; i < n; ++i) sum_of_signs += double(found.signs[i]) - double(signs[i]);
  order.assign(found.order.begin(), found.order.begin() + n);
  std::sort(order.begin(), order.end());
  for (int i = 0; i < n; ++i) is_right = is_right && order[i] == i;
  double error = 0, largest = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      T sum = -A[size_t(found.order[i]) + size_t(found.order[j]) * n];
      for (int k = 0; k < n; ++k)
        sum += found.L[i + size_t(k) * n] * found.signs[k] *
               host::conjugate(found.L[j + size_t(k) * n]);
      error = std::abs(sum) <= error ? error : std::abs(sum);  // NaN is kept
      // Elements of the unit triangular L are bounded.
      const int k = found.kinds[j] == kSecond ? j - 1 : j;
      if (i > j + 1) largest = std::max(largest, double(std::abs(found.A[i + size_t(k) * n])));
    }
  const double u = double(std::numeric_limits<Real<D>>::epsilon());
  if (!tally.count(is_right && sum_of_signs == 0 && error <= 30 * n * u * (1 + shift) &&
                   largest < 2.79))
    std::printf(
        "elements of %zu bytes, n %d, diagonal %g, shift %g: info %d, error %g, largest of L %g, "
        "correct %d\n",
        sizeof(T), n, diagonal, shift, found.info, error, largest, is_right);
}

/// A pivot that is zero or not finite is rejected.
template <class D>
void check_refused(int n, int row, double value) {
  using T = typename PublicOf<D>::Type;
  std::vector<T> A(static_cast<size_t>(n) * n);
  for (int i = 0; i < n; ++i) A[i + size_t(i) * n] = T(Real<D>(i == row ? value : 1 + i));
  const Factor<D> found(A, n);
  if (!tally.count(found.info == row + 1))
    std::printf("n %d, row %d of %g: info %d\n", n, row, value, found.info);
}

template <class D>
void check_orders() {
  check<D>(kFindsRaces ? 35 : 5, 0.1, 0);
  if (kFindsRaces) return;
  for (const int n : {1, 2, 3, 31, 32, 33, 65, 100})
    for (const double diagonal : {0., 0.5, 2.}) check<D>(n, diagonal, 0);
  check<D>(150, 0.1, 0);
  check<D>(70, 1, 30);
  check_refused<D>(40, 35, 0);
  check_refused<D>(40, 3, std::numeric_limits<double>::quiet_NaN());
  check_refused<D>(7, 6, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace chol::cuda::tlr

int main() {
  using namespace chol::cuda;
  for_each_type([](auto x) { tlr::check_orders<decltype(x)>(); });
  return tlr::tally.report();
}
