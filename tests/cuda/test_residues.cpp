// The arithmetic and the kernels of cuda/native/residues on the host: residues against integers of
// 128 bits, and whole left-looking factorizations of small matrices whose products of residues a
// loop forms, against products in long double.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "elements.hpp"
#include "native/residues/kernels.cuh"

namespace chol::cuda {

alignas(128) unsigned char shared[1];

namespace residues {
namespace {

using Wide = __int128;

int failures = 0;

void expect(bool good, const char* what, int64_t n, double value) {
  if (good) return;
  ++failures;
  std::printf("FAILED %s: %lld value %g\n", what, static_cast<long long>(n), value);
}

int modulo(Wide x, int modulus) {
  const int rest = static_cast<int>(x % modulus);
  return rest < 0 ? rest + modulus : rest;
}

/// Integers of both signs and every length up to `bits`, and the extremes.
std::vector<int64_t> integers(int bits) {
  std::vector<int64_t> all = {0, 1, -1, 127, 128, -128, -129, 32767, 32768, -32768};
  for (int k = 8; k <= bits; ++k)
    for (const int64_t near : {-1, 0, 1}) {
      all.push_back((int64_t{1} << k) + near);
      all.push_back(-(int64_t{1} << k) + near);
    }
  for (int k = 0; k < 2000; ++k) {
    const auto x = static_cast<int64_t>(engine() >> (64 - bits + k % bits));
    all.push_back(k % 2 ? x : -x);
  }
  return all;
}

/// Bytes represent an integer's residues for each modulus.
template <bool kLong, int kCount>
void conversion_of_integers(int bits) {
  const ToResidues<kCount>& to = moduli<kCount>().to;
  for (const int64_t x : integers(bits))
    for (int k = 0; k < kCount; ++k) {
      const int r = residue<kLong>(to, k, SignedBytes(x));
      const auto byte = static_cast<int8_t>(r);
      expect(modulo(byte, to.modulus[k]) == modulo(x, to.modulus[k]), "residue", x, r);
    }
}

/// Products of residues of two integers, summed, give the sum of their products.
template <int kCount>
void products_of_integers(int bits) {
  const Moduli<kCount>& all = moduli<kCount>();
  constexpr int kDepth = 40;
  double worst = 0;
  for (int round = 0; round < 300; ++round) {
    Wide exact = 0;
    int sums[kCount] = {};
    for (int j = 0; j < kDepth; ++j) {
      const auto some = [&] {
        return static_cast<int64_t>(engine() >> (64 - bits)) - (int64_t{1} << (bits - 1));
      };
      const int64_t x = some(), y = round % 3 ? some() : x;
      exact += Wide{x} * y;
      for (int k = 0; k < kCount; ++k)
        sums[k] += static_cast<int8_t>(residue<true>(all.to, k, SignedBytes(x))) *
                   static_cast<int8_t>(residue<true>(all.to, k, SignedBytes(y)));
    }
    Fraction fraction;
    for (int k = 0; k < kCount; ++k) fraction.add(all.from, k, sums[k]);
    const double got = static_cast<double>(fraction.value()) * all.from.unit;
    worst = std::max(worst, std::abs(got - static_cast<double>(exact)) / all.half);
  }
  // The fraction is rounded to 2^-64, once a modulus and times at most 192.
  const double bound = kCount * 192 * 0x1p-64 * 2 + 0x1p-52;
  expect(worst <= bound, "product", kCount, worst / bound);
}

void negations() {
  for (int re = -128; re < 128; ++re)
    for (int im = -128; im < 128; ++im) {
      const unsigned pair = static_cast<uint8_t>(re) | static_cast<unsigned>(im & 255) << 8;
      const unsigned turned = times_i(pair | pair << 16);
      const unsigned wanted = static_cast<unsigned>(-im & 255) | static_cast<unsigned>(re & 255)
                                                                     << 8;
      expect(turned == (wanted | wanted << 16), "product by i", re, im);
    }
}

/// One matrix and its factorization with panels of kPanel columns.
template <class T, bool swapped>
class Factorization {
 public:
  static constexpr int kPanel = 80, kParts = residues::kParts<T>;
  using R = Real<T>;

  Factorization(int n, bool is_graded) : n_(n), ld_(n + 3), A_(size_t(ld_) * n), x_(3 * n) {
    for (int j = 0; j < n; ++j)
      for (int i = j; i < n; ++i) {
        at(i, j) = i == j ? from_real<T>(R(n)) : random_element<T>();
        if (is_graded) at(i, j) = scale(at(i, j), R(std::ldexp(1.0, i % 17 * 3 - 20 + j % 17 * 3)));
      }
    original_ = A_;
    scales_ = {x_.data(), x_.data() + n, x_.data() + 2 * n};
    const int64_t ld = padded(n * kParts, kChunk) + kChunk, rows = padded(n);
    bytes_.assign(kModuli<T> * ld * rows, 0);
    planes_ = {bytes_.data(), ld, ld * rows};
  }
  T& at(int i, int j) { return A_[swapped ? i * size_t(ld_) + j : j * size_t(ld_) + i]; }

  void factor(bool backwards) {
    const HostBlock unused(kThreads, backwards);
    run(blocks(n_, kThreads), 1, backwards, [&] {
      find_scales<T>(LowerView<T>{A_.data(), ld_, swapped}, n_, moduli<kModuli<T>>().half_log2,
                     scales_, &flagged_);
    });
    for (int first = 0; first < n_; first += kPanel) {
      if (first > 0) subtract_products(first, backwards);
      factor_panel(first);
      if (first + kPanel < n_) quantize_rows(first, backwards);
    }
  }
  int flagged() const { return flagged_; }
  /// The largest residual over sqrt(a_ii a_jj), in units of the precision.
  double residual() {
    double worst = 0;
    for (int j = 0; j < n_; ++j)
      for (int i = j; i < n_; ++i) {
        using Sum = long double;
        const T a = value(original_, i, j);
        Sum re = real(a), im = part_of(a, 1) * (kParts - 1);
        for (int k = 0; k <= j; ++k) {
          const T x = value(A_, i, k), y = value(A_, j, k);
          const Sum xr = real(x), yr = real(y), xi = part_of(x, 1) * (kParts - 1),
                    yi = part_of(y, 1) * (kParts - 1);
          re -= xr * yr + xi * yi;
          im -= xi * yr - xr * yi;
        }
        const double size =
            std::sqrt(double(real(value(original_, i, i))) * double(real(value(original_, j, j))));
        worst = std::max(worst, double(std::hypot(re, im)) / size);
      }
    return worst / std::numeric_limits<R>::epsilon();
  }
  bool keeps_the_other_triangle() {
    for (int j = 0; j < n_; ++j)
      for (int i = 0; i < j; ++i)
        if (magnitude(at(i, j)) != 0) return false;
    return true;
  }

 private:
  static int blocks(int64_t count, int64_t each) { return int((count + each - 1) / each); }
  T value(const std::vector<T>& of, int i, int j) const {
    return of[swapped ? i * size_t(ld_) + j : j * size_t(ld_) + i];
  }
  template <class Kernel>
  void run(int grid, int, bool backwards, Kernel&& kernel) {
    for (int block = 0; block < grid; ++block) HostBlock(kThreads, backwards).run(kernel, block);
  }
  void quantize_rows(int first, bool backwards) {
    const int row = first + kPanel;
    const Quantization<T> call{&at(row, first),
                               ld_,
                               n_ - row,
                               kPanel,
                               {scales_.up + row, scales_.down + row, scales_.squares + row},
                               {planes_.at(row, first * kParts), planes_.ld, planes_.stride},
                               first / kPanel,
                               moduli<kModuli<T>>().half,
                               &flagged_,
                               moduli<kModuli<T>>().to};
    run(blocks(n_ - row, kRowsOfBlock), 1, backwards, [&] { quantize<T, swapped>(call); });
  }
  void multiply(const int8_t* x, int64_t ldx, const int8_t* y, int64_t ldy, int rows, int columns,
                int depth, Sums sums) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        int sum = 0;
        for (int k = 0; k < depth; ++k) sum += x[i * ldx + k] * y[j * ldy + k];
        sums.first[swapped ? i * sums.ld + j : j * sums.ld + i] = sum;
      }
  }
  void subtract_products(int first, bool backwards) {
    const int rows = n_ - first, columns = std::min(kPanel, rows), depth = first * kParts;
    const int64_t ld = swapped ? columns : rows, stride = int64_t{1} * rows * columns;
    std::vector<int> sums(2 * kModuli<T> * stride);
    std::vector<int8_t> turned(kModuli<T> * planes_.ld * columns);
    const Sums re{sums.data(), ld, stride}, im{sums.data() + kModuli<T> * stride, ld, stride};
    for (int k = 0; k < kModuli<T>; ++k) {
      const int8_t* const x = planes_.at(first, 0) + k * planes_.stride;
      int8_t* const ix = turned.data() + k * planes_.ld * columns;
      multiply(x, planes_.ld, x, planes_.ld, rows, columns, depth,
               {re.first + k * stride, ld, stride});
      if (kParts == 1) continue;
      for (int j = 0; j < columns; ++j)
        for (int b = 0; b < depth; b += 4) {
          unsigned pairs;
          std::memcpy(&pairs, x + j * planes_.ld + b, 4);
          pairs = times_i(pairs);
          std::memcpy(ix + j * planes_.ld + b, &pairs, 4);
        }
      multiply(x, planes_.ld, ix, planes_.ld, rows, columns, depth,
               {im.first + k * stride, ld, stride});
    }
    const Reconstruction<T> call{&at(first, first),
                                 ld_,
                                 rows,
                                 columns,
                                 scales_.down + first,
                                 re,
                                 im,
                                 first / kPanel,
                                 &flagged_,
                                 moduli<kModuli<T>>().from};
    run(blocks(ld, kThreads), 1, backwards, [&] { reconstruct<T, swapped>(call); });
  }
  /// Unblocked, in the working precision.
  void factor_panel(int first) {
    for (int j = first; j < std::min(n_, first + kPanel); ++j) {
      const R pivot = std::sqrt(real(at(j, j)));
      at(j, j) = from_real<T>(pivot);
      for (int i = j + 1; i < n_; ++i) at(i, j) = scale(at(i, j), 1 / pivot);
      for (int c = j + 1; c < std::min(n_, first + kPanel); ++c)
        for (int i = c; i < n_; ++i) {
          const T x = at(i, j), y = at(c, j);
          if constexpr (kParts == 2)
            at(i, c) = {at(i, c).re - (x.re * y.re + x.im * y.im),
                        at(i, c).im - (x.im * y.re - x.re * y.im)};
          else
            at(i, c) -= x * y;
        }
    }
  }

  int n_, ld_, flagged_ = kNone;
  std::vector<T> A_, original_;
  std::vector<double> x_;
  std::vector<int8_t> bytes_;
  Scales scales_;
  Planes planes_;
};

template <class T, bool swapped>
void factorizations() {
  for (const int n : orders_to_try({81, 130, 200, 250}, {130}))
    for (const bool is_graded : {false, true}) {
      Factorization<T, swapped> factorization(n, is_graded);
      factorization.factor(n % 3 == 0);
      expect(factorization.flagged() == kNone, "flag", n, factorization.flagged());
      const double residual = factorization.residual();
      expect(residual < 30, "residual", n, residual);
      expect(factorization.keeps_the_other_triangle(), "other triangle", n, 0);
    }
}

/// What is no bound of a positive definite matrix is flagged: by the diagonal before all else, by a
/// row in the panel where it grows.
template <class T, bool swapped>
void flags() {
  using R = Real<T>;
  const R nan = std::numeric_limits<R>::quiet_NaN(), infinite = std::numeric_limits<R>::infinity();
  for (const R bad : {R(0), R(-1), nan, infinite}) {
    Factorization<T, swapped> factorization(100, false);
    factorization.at(90, 90) = from_real<T>(bad);
    factorization.factor(false);
    expect(factorization.flagged() == kScales, "flag of the diagonal", 90, double(bad));
  }
  for (const R bad : {R(1000), R(-1000), nan, infinite}) {
    Factorization<T, swapped> factorization(200, false);
    factorization.at(190, 100) = from_real<T>(bad);
    factorization.factor(true);
    expect(factorization.flagged() == 1, "flag of a row", 190, double(bad));
  }
}

int run() {
  conversion_of_integers<true, 14>(60);
  conversion_of_integers<false, 7>(30);
  products_of_integers<14>(51);
  products_of_integers<15>(54);
  products_of_integers<7>(24);
  negations();
  for_each_storage([]<class T, bool swapped>(T, std::bool_constant<swapped>) {
    factorizations<T, swapped>();
    if (!kFindsRaces) flags<T, swapped>();
  });
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace residues
}  // namespace chol::cuda

int main() { return chol::cuda::residues::run(); }
