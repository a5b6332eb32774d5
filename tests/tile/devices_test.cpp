// One matrix over several devices, on stand-ins: results by residuals, and that every wait is
// needed and none is missing.
#include <gtest/gtest.h>

#include <climits>
#include <limits>
#include <memory>
#include <random>

#include "base/precisions.h"
#include "tile/dropped_waits.hpp"
#include "tile/peer_copy.hpp"
#include "tile/potrf.hpp"
#include "tile/potri.hpp"
#include "tile/potrs.hpp"
#include "tile/redistribute.hpp"
#include "tile/stand_in_devices.hpp"

namespace chol::test {
namespace {

using tile::CyclicMatrix;
using tile::Devices;
using tile::Distribution;

/// A positive definite matrix whose block columns lie on stand-ins.
template <class T>
class Setting {
 public:
  Setting(int64_t n, int64_t nb, int devices, bool upper, int64_t panel_columns = 3)
      : machine(devices), n_(n), upper_(upper) {
    matrix.over = {n, nb, devices};
    matrix.by_rows = upper && devices > 1;
    std::mt19937_64 random(static_cast<uint64_t>(n * 100 + nb));
    std::uniform_real_distribution<RealOf<T>> uniform(-1, 1);
    const auto next = [&]() -> T {
      if constexpr (is_complex<T>)
        return {uniform(random), uniform(random)};
      else
        return uniform(random);
    };
    whole_.resize(static_cast<size_t>(n * n));
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j; i < n; ++i) lower(i, j) = i == j ? T(RealOf<T>(2 * n)) : next();
    for (int d = 0; d < devices; ++d) {
      memory_.emplace_back(static_cast<size_t>((n + 1) * matrix.over.columns_of(d) + 1),
                           std::numeric_limits<RealOf<T>>::quiet_NaN());
      matrix.local.push_back({memory_.back().data(), n + 1, upper});
      machine.own(memory_.back().data(), memory_.back().size() * sizeof(T), d);
      made_.push_back(std::make_unique<StandInDevice<T>>(machine, d, panel_columns));
      all.push_back(made_.back().get());
    }
    put();
  }

  T& lower(int64_t i, int64_t j) { return whole_[static_cast<size_t>(j * n_ + i)]; }
  /// The triangle from the whole matrix to the devices; the rest of their memory holds NaN.
  void put() {
    for (int64_t j = 0; j < n_; ++j)
      for (int64_t i = j; i < n_; ++i) *matrix.at(i, j).first = lower(i, j);
  }
  void factor() {
    // A count first, as a caller does.
    size_t bytes = 0;
    for (int pass = 0; pass < 2; ++pass) {
      tile::PotrfWorkspace<T> work;
      for (size_t d = 0; d < all.size(); ++d) {
        Arena arena = pass == 0 ? Arena() : Arena(space_[d].data(), space_[d].size());
        if (pass == 1) machine.own(space_[d].data(), space_[d].size(), int(d));
        work.carve(arena, *all[d], matrix.over, n_, upper_);
        bytes = arena.used();
      }
      if (pass == 0) space_.assign(all.size(), std::vector<char>(bytes));
      if (pass == 1) tile::factor(all, matrix, work);
    }
    finish();
    info = tile::first_bad_minor(all);
  }
  void finish() {
    for (backend::PanelOps<T>* ops : all) ops->finish();
  }
  /// The largest |A - L L^H| of the leading `columns` over n eps a_ii.
  double residual(int64_t columns) {
    double worst = 0;
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = j; i < n_; ++i) {
        T sum = lower(i, j);
        for (int64_t k = 0; k <= j; ++k) sum -= factor_at(i, k) * conjugate(factor_at(j, k));
        const double error = double(std::abs(sum)) / (double(n_) * double(2 * n_)) /
                             double(std::numeric_limits<RealOf<T>>::epsilon());
        if (!(error <= worst)) worst = error;
      }
    return worst;
  }
  /// Solves with the factor for right-hand sides of random numbers; the largest |b - A x| over
  /// n eps a_ii.
  double solve(int64_t nrhs) {
    const int64_t ldb = n_ + 1;
    std::mt19937_64 random(5);
    std::uniform_real_distribution<RealOf<T>> uniform(-1, 1);
    std::vector<T> B(static_cast<size_t>(ldb * nrhs + 1));
    for (T& x : B) x = T(uniform(random));
    std::vector<T> X = B;
    tile::PotrsWorkspace<T> count, work;
    std::vector<std::vector<char>> space;
    for (size_t d = 0; d < all.size(); ++d) {
      Arena counted;
      count.carve(counted, matrix.over, nrhs);
      space.emplace_back(counted.used());
      // What was there before must not matter.
      std::fill(space.back().begin(), space.back().end(), char(-1));
      Arena arena(space.back().data(), space.back().size());
      machine.own(space.back().data(), space.back().size(), int(d));
      work.carve(arena, matrix.over, nrhs);
    }
    tile::FactorColumns<T> factor(matrix);
    tile::solve(all, factor, nrhs, X.data(), ldb, work);
    finish();
    double worst = 0;
    for (int64_t c = 0; c < nrhs; ++c)
      for (int64_t i = 0; i < n_; ++i) {
        T sum = B[size_t(c * ldb + i)];
        for (int64_t k = 0; k < n_; ++k) {
          const T a = i >= k ? lower(i, k) : conjugate(lower(k, i));
          // What lies in an upper triangle is the transpose of what its lower view shows.
          sum -= (upper_ ? conjugate(a) : a) * X[size_t(c * ldb + k)];
        }
        const double error =
            double(std::abs(sum)) / double(n_) / double(std::numeric_limits<RealOf<T>>::epsilon());
        if (!(error <= worst)) worst = error;
      }
    return worst;
  }
  /// Inverts with the factor; the largest |I - A X| over n eps.
  double invert() {
    std::vector<std::vector<char>> space;
    tile::PotriWorkspace<T> work;
    for (PanelOps* ops : all) {
      tile::PotriWorkspace<T> count;
      Arena counted;
      count.carve(counted, *ops, matrix.over);
      space.emplace_back(counted.used());
      Arena arena(space.back().data(), space.back().size());
      machine.own(space.back().data(), space.back().size(), int(space.size()) - 1);
      work.carve(arena, *ops, matrix.over);
    }
    if (n_ > 0) tile::invert(all, matrix, work);
    finish();
    const auto whole = [&](auto&& at, int64_t i, int64_t j) {
      return i >= j ? at(i, j) : conjugate(at(j, i));
    };
    double worst = 0;
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t j = 0; j < n_; ++j) {
        T sum = T(i == j ? -1 : 0);
        for (int64_t k = 0; k < n_; ++k)
          sum += whole([&](int64_t r, int64_t c) { return lower(r, c); }, i, k) *
                 whole([&](int64_t r, int64_t c) { return factor_at(r, c); }, k, j);
        const double error =
            double(std::abs(sum)) / double(n_) / double(std::numeric_limits<RealOf<T>>::epsilon());
        if (!(error <= worst)) worst = error;
      }
    return worst;
  }
  T factor_at(int64_t i, int64_t j) const { return *matrix.at(i, j).first; }
  /// Elements beside the triangle that are no NaN any more.
  int spoilt() const {
    int64_t numbers = 0;
    for (const std::vector<T>& memory : memory_)
      for (const T& x : memory) numbers += std::real(x) == std::real(x);
    return static_cast<int>(numbers - n_ * (n_ + 1) / 2);
  }

  Machine machine;
  CyclicMatrix<T> matrix;
  Devices<T> all;
  int info = -1;

 private:
  using PanelOps = backend::PanelOps<T>;

  int64_t n_;
  bool upper_;
  std::vector<T> whole_;
  std::vector<std::vector<T>> memory_;
  std::vector<std::vector<char>> space_;
  std::vector<std::unique_ptr<StandInDevice<T>>> made_;
};

template <class T>
class SeveralDevices : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SeveralDevices, Types);

/// Orders and widths of blocks that do and do not divide each other.
template <class Body>
void for_each_shape(Body&& body) {
  for (const bool upper : {false, true})
    for (const int devices : {1, 2, 3, 4})
      for (const int64_t n : {0, 1, 2, 5, 8, 13, 21})
        for (const int64_t nb : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, n})
          if (nb > 0) body(n, nb, devices, upper);
}

TYPED_TEST(SeveralDevices, FactorTheMatrix) {
  for_each_shape([](int64_t n, int64_t nb, int devices, bool upper) {
    Setting<TypeParam> setting(n, nb, devices, upper);
    setting.factor();
    SCOPED_TRACE(testing::Message() << "n " << n << " nb " << nb << " devices " << devices
                                    << (upper ? " upper" : " lower"));
    EXPECT_EQ(setting.info, 0);
    EXPECT_LT(setting.residual(n), 30);
    EXPECT_EQ(setting.machine.races, 0);
    EXPECT_EQ(setting.spoilt(), 0);
  });
}

TYPED_TEST(SeveralDevices, SolveWithTheFactor) {
  for_each_shape([](int64_t n, int64_t nb, int devices, bool upper) {
    for (const int64_t nrhs : {0, 1, 3}) {
      Setting<TypeParam> setting(n, nb, devices, upper);
      setting.factor();
      SCOPED_TRACE(testing::Message() << "n " << n << " nb " << nb << " devices " << devices
                                      << (upper ? " upper" : " lower"));
      EXPECT_LT(setting.solve(nrhs), 30);
      EXPECT_EQ(setting.machine.races, 0);
    }
  });
}

TYPED_TEST(SeveralDevices, InvertTheMatrix) {
  for_each_shape([](int64_t n, int64_t nb, int devices, bool upper) {
    Setting<TypeParam> setting(n, nb, devices, upper);
    setting.factor();
    SCOPED_TRACE(testing::Message() << "n " << n << " nb " << nb << " devices " << devices
                                    << (upper ? " upper" : " lower"));
    EXPECT_LT(setting.invert(), 30);
    EXPECT_EQ(setting.machine.races, 0);
    EXPECT_EQ(setting.spoilt(), 0);
  });
}

TYPED_TEST(SeveralDevices, WorkWithoutPeerAccess) {
  for (const bool upper : {false, true})
    for (const int devices : {2, 3})
      for (const int64_t nb : {1, 3, 7}) {
        Setting<TypeParam> setting(13, nb, devices, upper);
        setting.machine.has_peer_access = false;
        setting.factor();
        SCOPED_TRACE(testing::Message()
                     << "nb " << nb << " devices " << devices << (upper ? " upper" : " lower"));
        EXPECT_LT(setting.residual(13), 30);
        EXPECT_LT(setting.solve(2), 30);
        EXPECT_LT(setting.invert(), 30);
        EXPECT_EQ(setting.machine.races, 0);
        EXPECT_EQ(setting.machine.refused, 0);
      }
}

/// By pieces of a few elements, in both directions; each event between the two devices is needed.
TYPED_TEST(SeveralDevices, CopyByWayOfTheHost) {
  for (const bool swapped : {false, true})
    for (const int at : {0, 1})
      for (const size_t room : {1, 3, 7, 1000}) {
        int waits = 1, found = 0;
        for (int dropped = -1; dropped < waits; ++dropped) {
          Machine machine(2);
          machine.has_peer_access = false;
          machine.dropped = dropped;
          StandInDevice<TypeParam> first(machine, 0, 3), second(machine, 1, 3);
          const Devices<TypeParam> devices{&first, &second};
          std::vector<TypeParam> from(30), to(40);
          machine.own(from.data(), 30 * sizeof(TypeParam), 0);
          machine.own(to.data(), 40 * sizeof(TypeParam), 1);
          for (size_t i = 0; i < 30; ++i) from[i] = TypeParam(RealOf<TypeParam>(i + 1));
          using tile::View;
          tile::copy_between<TypeParam>(
              devices, at, tile::Queue::receive, {1, View<TypeParam>{to.data(), 8, swapped}},
              {0, View<TypeParam>{from.data(), 6, swapped}}, 5, 5, room * sizeof(TypeParam));
          EXPECT_EQ(machine.refused, 0);
          for (size_t i = 0; i < 5; ++i)
            for (size_t j = 0; j < 5; ++j) EXPECT_EQ(to[i * 8 + j], from[i * 6 + j]);
          EXPECT_LE(machine.races, dropped < 0 ? 0 : INT_MAX);
          found += machine.races > 0;
          waits = machine.waits;
        }
        // The first wait of a queue that nothing was in, and the last, behind which nothing comes.
        EXPECT_GE(found, waits - 2) << room;
      }
}

TYPED_TEST(SeveralDevices, FindTheFirstBadMinorOnAnyDevice) {
  constexpr int64_t kOrder = 13;
  for (const bool upper : {false, true})
    for (const int devices : {1, 2, 3})
      for (const int64_t bad : {0, 1, 4, 8, 12})
        for (const bool nan : {false, true}) {
          Setting<TypeParam> setting(kOrder, 3, devices, upper);
          using R = RealOf<TypeParam>;
          setting.lower(bad, bad) = TypeParam(nan ? std::numeric_limits<R>::quiet_NaN() : R(-1));
          setting.put();
          setting.factor();
          EXPECT_EQ(setting.info, bad + 1);
          EXPECT_LT(setting.residual(bad), 30);
        }
}

/// Drops every wait in turn. A few order what never meets: where panels get shorter, a slot's next
/// panel leaves those of its elements alone that are still read.
TEST(Waits, AreFoundToBeMissing) {
  for (const bool upper : {false, true})
    for (const int devices : {2, 3})
      for (const int64_t blocks : {2, 4, 9}) {
        const auto make = [&] {
          return std::make_unique<Setting<double>>(2 * blocks - 1, 2, devices, upper);
        };
        const auto [found, needed] = drop_each_wait(make, [](auto& setting) { setting.factor(); });
        EXPECT_GE(found * 8, needed * 7) << blocks << " blocks, " << devices << " devices";
        EXPECT_GE(found, blocks - 1);
      }
}

/// The same of what is done with a factor: work(setting) in each.
template <class Work>
void expect_missing_waits_found(const char* what, Work&& work) {
  for (const bool upper : {false, true})
    for (const int devices : {2, 3})
      for (const int64_t blocks : {3, 7}) {
        SCOPED_TRACE(testing::Message() << what << ", " << blocks << " blocks, " << devices
                                        << " devices" << (upper ? " upper" : " lower"));
        const auto make = [&] {
          auto setting = std::make_unique<Setting<double>>(2 * blocks - 1, 2, devices, upper);
          setting->factor();
          return setting;
        };
        const auto [found, needed] = drop_each_wait(make, work);
        // Events order a device's whole slot or part, of which three blocks leave some untouched.
        EXPECT_GE(found * 6, needed * 5) << found << " of " << needed;
        EXPECT_GE(found, blocks - 1);
      }
}

TEST(Waits, OfSolvesAreFoundToBeMissing) {
  expect_missing_waits_found("potrs", [](Setting<double>& setting) { setting.solve(2); });
}

TEST(Waits, OfInversionsAreFoundToBeMissing) {
  expect_missing_waits_found("potri", [](Setting<double>& setting) { setting.invert(); });
}

/// Between two calls of one handle nothing but their own finish() stands: what a solve has queued
/// must not meet the factorization of the next posv, nor the copies that bring a matrix.
TEST(Waits, OfCallsThatFollowAreTheirOwn) {
  for (const bool upper : {false, true})
    for (const int devices : {1, 2, 3}) {
      Setting<double> setting(13, 2, devices, upper);
      std::vector<double> whole(13 * 13, 1.0), diagonal(13);
      for (int round = 0; round < 2; ++round) {
        for (int64_t j = 0; j < 13; ++j) whole[size_t(j * 14)] = 26;
        tile::scatter<double>(setting.all, setting.matrix, {whole.data(), 13, upper});
        setting.finish();
        setting.factor();
        setting.solve(2);
        tile::read_diagonal(setting.all, setting.matrix, diagonal.data());
        setting.finish();
        setting.invert();
        tile::gather<double>(setting.all, setting.matrix, {whole.data(), 13, upper});
        setting.finish();
        EXPECT_EQ(setting.machine.races, 0) << round;
      }
      // Each of these is needed: without it the copies race with what the devices do.
      tile::scatter<double>(setting.all, setting.matrix, {whole.data(), 13, upper});
      setting.factor();
      EXPECT_GT(setting.machine.races, 0);
    }
}

}  // namespace
}  // namespace chol::test
