// The arithmetic and the kernels of cuda/native/residues on the host: residues against integers of
// 128 bits, and whole left-looking factorizations of small matrices whose products of residues a
// loop forms, against products in long double.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "elements.hpp"
#include "native/residues/byte_product/bytes_of_sums.cuh"
#include "native/residues/byte_product/tiles.hpp"
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
void products_of_integers(int bits, int count = kCount) {
  const Moduli<kCount>& all = moduli<kCount>(count);
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
      for (int k = 0; k < count; ++k)
        sums[k] += static_cast<int8_t>(residue<true>(all.to, k, SignedBytes(x))) *
                   static_cast<int8_t>(residue<true>(all.to, k, SignedBytes(y)));
    }
    Fraction fraction, of_bytes;
    for (int k = 0; k < count; ++k) {
      fraction.add(all.from, k, sums[k]);
      const int byte = byte_of_sum(sums[k], all.from.modulus[k], all.from.reciprocal[k]);
      expect(byte >= -128 && byte <= 127, "byte", sums[k], byte);
      of_bytes.add(all.from, k, static_cast<int8_t>(byte));
    }
    for (const Fraction& what : {fraction, of_bytes}) {
      const double got = static_cast<double>(what.value()) * all.from.unit;
      worst = std::max(worst, std::abs(got - static_cast<double>(exact)) / all.half);
    }
  }
  // The fraction is rounded to 2^-64, once a modulus and times at most 192.
  const double bound = count * 192 * 0x1p-64 * 2 + 0x1p-52;
  expect(worst <= bound, "product", count, worst / bound);
}

/// Sums up to the ends of 32 bits.
void bytes_of_sums() {
  const Moduli<15>& all = moduli<15>();
  for (int k = 0; k < 15; ++k) {
    const int modulus = all.from.modulus[k];
    const auto try_sum = [&](int64_t sum) {
      if (sum < INT32_MIN || sum > INT32_MAX) return;
      const int byte = byte_of_sum(static_cast<int>(sum), modulus, all.from.reciprocal[k]);
      expect(byte >= -128 && byte <= 127 && (sum - byte) % modulus == 0, "byte of a sum", sum,
             byte);
    };
    for (const int64_t near : {int64_t{0}, int64_t{INT32_MIN}, int64_t{INT32_MAX}})
      for (int64_t d = -2000; d <= 2000; ++d) try_sum(near + d);
    for (int round = 0; round < 5000; ++round) try_sum(static_cast<int32_t>(engine() >> 32));
  }
}

/// Lane q of a quad ends with all eight bytes of group q.
void quads() {
  QuadTranspose lanes[4] = {{0}, {1}, {2}, {3}};
  uint32_t pairs[4][2], sent[4], received[4];
  const auto byte_at = [](int group, int place) { return uint32_t(16 * group + place); };
  for (int q = 0; q < 4; ++q)
    for (int half = 0; half < 2; ++half) {
      const auto byte = [&](int k) {  // as a sum that is not reduced to its byte
        return static_cast<int>(byte_at(2 * half + k / 2, 2 * q + k % 2)) - 256;
      };
      pairs[q][half] = four_bytes(byte(0), byte(1), byte(2), byte(3));
    }
  for (int q = 0; q < 4; ++q) sent[q] = lanes[q].first_sent(pairs[q]);
  for (int q = 0; q < 4; ++q) received[q] = sent[q ^ 2];
  for (int q = 0; q < 4; ++q) sent[q] = lanes[q].second_sent(pairs[q], received[q]);
  for (int q = 0; q < 4; ++q) {
    uint32_t eight[2];
    lanes[q].finish(sent[q ^ 1], eight);
    for (int place = 0; place < 8; ++place)
      expect((eight[place / 4] >> (8 * (place % 4)) & 255) == byte_at(q, place), "quad", q, place);
  }
}

/// The tiles of each modulus cover the triangle, once.
void tiles() {
  for (const bool above : {false, true})
    for (const int narrow : {100, 256, 1000, 1024})
      for (const int more : {0, 1, 300, 5000}) {
        const int wide = narrow + more;
        const TriangleOfProducts product{above ? narrow : wide, above ? wide : narrow, 3, above};
        std::vector<int> count(size_t(3) * product.row_tiles() * product.column_tiles());
        const auto at = [&](int modulus, int row, int column) -> int& {
          return count[(size_t(modulus) * product.row_tiles() + row) * product.column_tiles() +
                       column];
        };
        for (int t = 0; t < product.tiles(); ++t) {
          const TriangleOfProducts::Tile tile = product.tile(t);
          ++at(tile.modulus, tile.row / kClusterRows, tile.column / kTileColumns);
        }
        for (int modulus = 0; modulus < 3; ++modulus)
          for (int row = 0; row < product.row_tiles(); ++row)
            for (int column = 0; column < product.column_tiles(); ++column)
              expect(at(modulus, row, column) == (above ? row <= column : row >= column), "tile",
                     wide, row - 0.001 * column);
      }
}

/// The positions of a staircase's bytes are distinct and within bounds.
void folds() {
  for (const int panels : {1, 2, 3, 4, 7, 8}) {
    const Fold fold{4, 8, panels};
    for (const int n : {4 * panels, 4 * panels - 3}) {
      std::vector<int> used(size_t(n) * fold.slots() * fold.bytes);
      for (int row = 0; row < n; ++row)
        for (int column = 0; column < row / 4 * 8; ++column) {
          const Fold::Place place = fold.place(row, column);
          const bool is_inside = place.row >= 0 && place.row < n && place.column >= 0 &&
                                 place.column < int64_t{fold.slots()} * fold.bytes;
          expect(is_inside, "place", row, column);
          if (!is_inside) continue;
          expect(++used[place.row * fold.slots() * fold.bytes + place.column] == 1,
                 "place of two bytes", row, column);
        }
    }
  }
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
  static constexpr int kPanel = 128, kParts = residues::kParts<T>;
  using R = Real<T>;

  /// @param by_bytes whether products are reduced to bytes, with planes as a staircase
  enum Kind { random, graded, smooth };
  Factorization(int n, Kind kind, int count = kModuli<T>, bool by_bytes = false)
      : n_(n),
        ld_(n + 3),
        moduli_(moduli<kModuli<T>>(count)),
        by_bytes_(by_bytes),
        A_(size_t(ld_) * n),
        x_(3 * n) {
    for (int j = 0; j < n; ++j)
      for (int i = j; i < n; ++i) {
        at(i, j) = i == j ? from_real<T>(R(n)) : random_element<T>();
        if (kind == smooth)
          at(i, j) = from_real<T>(R(std::exp((i - j) * (j - i) * 5e-4) + (i == j ? 0.3 : 0)));
        if (kind == graded)
          at(i, j) = scale(at(i, j), R(std::ldexp(1.0, i % 17 * 3 - 20 + j % 17 * 3)));
      }
    original_ = A_;
    scales_ = {x_.data(), x_.data() + n, x_.data() + 2 * n};
    Fold fold;
    if (by_bytes) fold = {kPanel, kPanel * kParts, blocks(n, kPanel)};
    const int64_t columns = by_bytes ? fold.slots() * fold.bytes : n * kParts;
    const int64_t ld = padded(columns, kChunk) + kChunk, rows = padded(n);
    bytes_.assign(count * ld * rows, 0);
    planes_ = {bytes_.data(), ld, ld * rows, fold};
  }
  T& at(int i, int j) { return A_[swapped ? i * size_t(ld_) + j : j * size_t(ld_) + i]; }

  void factor(bool backwards) {
    const HostBlock unused(kThreads, backwards);
    run(blocks(n_, kThreads), 1, backwards, [&] {
      find_scales<T>(LowerView<T>{A_.data(), ld_, swapped}, n_, moduli_.half_log2, scales_,
                     &flagged_);
    });
    for (int first = 0; first < n_; first += kPanel) {
      if (first > 0) subtract_products(first, backwards);
      factor_panel(first);
      if (first + kPanel < n_) quantize_rows(first, backwards);
    }
  }
  int flagged() const { return flagged_; }
  /// Natively, by the kernels used if a panel is flagged.
  void factor_flagged(bool backwards) {
    flagged_ = kScales;
    for (int first = 0; first < n_; first += kPanel) {
      const NativeUpdate<T> call{A_.data(),      ld_,      n_, first, std::min(kPanel, n_ - first),
                                 first / kPanel, &flagged_};
      if (first > 0)
        run(call.tiles_down() * call.tiles_across(), 1, backwards,
            [&] { update_if_flagged<T, swapped>(call); });
      factor_panel(first);
    }
  }
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
                               {planes_.at(row, first * kParts), planes_.ld, planes_.stride, {}},
                               first / kPanel,
                               moduli_.half,
                               &flagged_,
                               moduli_.to};
    run(blocks(n_ - row, kRowsOfBlock), 1, backwards, [&] { quantize<T, swapped>(call); });
  }
  /// Bytes of rows, one row after the other, in a possibly folded storage.
  static std::vector<int8_t> gathered(const Planes& planes, int k, int first, int rows, int depth) {
    std::vector<int8_t> bytes(size_t(rows) * depth);
    for (int i = 0; i < rows; ++i)
      for (int b = 0; b < depth; ++b)
        bytes[size_t(i) * depth + b] = planes.at(first + i, b)[k * planes.stride];
    return bytes;
  }
  /// Of the rows from `first` on and those of Y from first_y on, of modulus k.
  template <class Sum>
  void multiply(int k, int first, const Planes& Y, int first_y, int columns,
                const SumsOf<Sum>& sums) const {
    const int depth = first * kParts, rows = n_ - first;
    const std::vector<int8_t> x = gathered(planes_, k, first, rows, depth);
    const std::vector<int8_t> y = gathered(Y, k, first_y, columns, depth);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        int sum = 0;
        for (int b = 0; b < depth; ++b) sum += x[size_t(i) * depth + b] * y[size_t(j) * depth + b];
        if (sizeof(Sum) == 1)
          sum = byte_of_sum(sum, moduli_.from.modulus[k], moduli_.from.reciprocal[k]);
        sums.first[k * sums.stride + (swapped ? i * sums.ld + j : j * sums.ld + i)] =
            static_cast<Sum>(sum);
      }
  }
  void subtract_products(int first, bool backwards) {
    if (by_bytes_)
      subtract_products_as<int8_t>(first, backwards);
    else
      subtract_products_as<int>(first, backwards);
  }
  template <class Sum>
  void subtract_products_as(int first, bool backwards) {
    const int rows = n_ - first, columns = std::min(kPanel, rows), depth = first * kParts;
    const int64_t ld = swapped ? columns : rows, stride = int64_t{1} * rows * columns;
    const int count = moduli_.to.count;
    std::vector<Sum> sums(2 * count * stride);
    const int64_t whole = padded(depth, 4);
    std::vector<int8_t> bytes(count * whole * columns);
    const Planes turned{bytes.data(), whole, whole * columns, {}};
    const SumsOf<Sum> re{sums.data(), ld, stride}, im{sums.data() + count * stride, ld, stride};
    if (kParts == 2)
      for (int k = 0; k < count; ++k)
        for (int row = 0; row < columns; ++row) multiply_row_by_i(first, turned, row, depth, k);
    for (int k = 0; k < count; ++k) {
      multiply(k, first, planes_, first, columns, re);
      if (kParts == 2) multiply(k, first, turned, 0, columns, im);
    }
    const Reconstruction<T, Sum> call{
        &at(first, first), ld_,       rows,        columns, scales_.down + first, re, im,
        first / kPanel,    &flagged_, moduli_.from};
    run(blocks(ld, kThreads), 1, backwards, [&] { reconstruct<T, swapped>(call); });
  }
  void multiply_row_by_i(int first, const Planes& turned, int row, int depth, int k) const {
    for (int b = 0; b < depth; b += 4) {
      unsigned pairs;
      std::memcpy(&pairs, planes_.at(first + row, b) + k * planes_.stride, 4);
      pairs = times_i(pairs);
      std::memcpy(turned.at(row, b) + k * turned.stride, &pairs, 4);
    }
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
  const Moduli<kModuli<T>>& moduli_;
  bool by_bytes_;
  std::vector<T> A_, original_;
  std::vector<double> x_;
  std::vector<int8_t> bytes_;
  Scales scales_;
  Planes planes_;
};

template <class T, bool swapped>
void factorizations() {
  using Matrix = Factorization<T, swapped>;
  for (const int n : orders_to_try({129, 200, 300}, {200}))
    for (const auto kind : {Matrix::graded, Matrix::random, Matrix::smooth}) {
      if (kFindsRaces && kind != Matrix::graded) break;
      double residuals[2];
      for (const bool by_bytes : {false, true}) {
        engine.seed(static_cast<unsigned>(n));
        Matrix factorization(n, kind, kModuli<T>, by_bytes);
        factorization.factor(n % 3 == 0);
        expect(factorization.flagged() == kNone, "flag", n, factorization.flagged());
        residuals[by_bytes] = factorization.residual();
        expect(residuals[by_bytes] < 30, "residual", n, residuals[by_bytes]);
        expect(factorization.keeps_the_other_triangle(), "other triangle", n, 0);
      }
      // Weights of the fraction are rounded, so that congruent sums differ in its last bits.
      expect(std::abs(residuals[0] - residuals[1]) < 5, "sums and bytes differ", n,
             residuals[1] - residuals[0]);
    }
}

/// The native update of panels after a flagged one.
template <class T, bool swapped>
void native_updates(int n) {
  Factorization<T, swapped> factorization(n, Factorization<T, swapped>::graded);
  factorization.factor_flagged(true);
  const double residual = factorization.residual();
  expect(residual < 30, "residual of native updates", n, residual);
  expect(factorization.keeps_the_other_triangle(), "other triangle of native updates", n, 0);
}

/// A modulus fewer costs eight bits of a product, four of each factor: sqrt(256) times the error.
template <class T, bool swapped>
void few_moduli() {
  constexpr int kMost = kModuli<T>, kLeast = kMost == 7 ? 4 : 13;
  const int n = 300;
  double before = 0;
  for (int count = kMost; count >= kLeast; --count) {
    Factorization<T, swapped> factorization(n, Factorization<T, swapped>::smooth, count);
    factorization.factor(false);
    expect(factorization.flagged() == kNone, "flag of few moduli", count, 0);
    const double residual = factorization.residual();
    // From 0.19 sqrt(k) units with the most.
    const double bound = 3 * std::pow(16.0, kMost - count) * 0.2 * std::sqrt(n) + 30;
    expect(residual < bound, "residual of few moduli", count, residual / bound);
    expect(residual >= before, "residual of fewer moduli", count, residual);
    before = residual;
  }
  if (kLeast == 4) expect(before > 100, "residual of the fewest moduli", kLeast, before);
}

/// Matrices that violate the bound of positive definite ones are flagged: by the diagonal at the
/// start, or by a row in the panel where it grows.
template <class T, bool swapped>
void flags() {
  using R = Real<T>;
  const R nan = std::numeric_limits<R>::quiet_NaN(), infinite = std::numeric_limits<R>::infinity();
  for (const R bad : {R(0), R(-1), nan, infinite}) {
    Factorization<T, swapped> factorization(100, Factorization<T, swapped>::random);
    factorization.at(90, 90) = from_real<T>(bad);
    factorization.factor(false);
    expect(factorization.flagged() == kScales, "flag of the diagonal", 90, double(bad));
  }
  for (const R bad : {R(1000), R(-1000), nan, infinite}) {
    Factorization<T, swapped> factorization(300, Factorization<T, swapped>::random);
    factorization.at(290, 200) = from_real<T>(bad);
    factorization.factor(true);
    expect(factorization.flagged() == 1, "flag of a row", 290, double(bad));
  }
}

int run() {
  conversion_of_integers<true, 14>(60);
  conversion_of_integers<false, 7>(30);
  products_of_integers<14>(51);
  products_of_integers<15>(54);
  products_of_integers<7>(24);
  for (int count = 4; count < 7; ++count) products_of_integers<7>(4 * count - 3, count);
  products_of_integers<14>(48, 13);
  bytes_of_sums();
  quads();
  tiles();
  folds();
  negations();
  for_each_storage([]<class T, bool swapped>(T, std::bool_constant<swapped>) {
    factorizations<T, swapped>();
    native_updates<T, swapped>(kFindsRaces ? 150 : 300);
    if (!kFindsRaces) flags<T, swapped>();
    if (!kFindsRaces && !Traits<T>::is_complex) few_moduli<T, swapped>();
  });
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace residues
}  // namespace chol::cuda

int main() { return chol::cuda::residues::run(); }
