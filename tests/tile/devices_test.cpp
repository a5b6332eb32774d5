// One matrix over several simulated devices: residuals, and a check that no wait is missing or
// superfluous.
#include <gtest/gtest.h>

#include <climits>
#include <limits>
#include <memory>
#include <random>

#include "base/precisions.h"
#include "tile/dropped_waits.hpp"
#include "tile/peer_copy.hpp"
#include "tile/redistribute.hpp"
#include "tile/setting.hpp"

namespace chol::test {
namespace {

using tile::CyclicMatrix;
using tile::Devices;
using tile::Distribution;

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

/// Copies in pieces of a few elements, in both directions; each event between the two devices is
/// needed.
TYPED_TEST(SeveralDevices, CopyThroughTheHost) {
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
        // The first wait of an empty queue and the last one, without later operations, are
        // redundant.
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

/// Drops each wait in turn. A few are redundant: as panels get shorter, the next panel in a slot
/// does not overlap the elements that are still read.
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

/// The same for operations with a factor: work(setting) for each setting.
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
        // Events order a device's full slot or part; with three blocks some of it is not used.
        EXPECT_GE(found * 5, needed * 4) << found << " of " << needed;
        EXPECT_GE(found, blocks - 1);
      }
}

TEST(Waits, OfSolvesAreFoundToBeMissing) {
  expect_missing_waits_found("potrs", [](Setting<double>& setting) { setting.solve(2); });
}

TEST(Waits, OfInversionsAreFoundToBeMissing) {
  expect_missing_waits_found("potri", [](Setting<double>& setting) { setting.invert(); });
}

/// Two calls of one handle are separated only by finish(): queued work of a solve must not conflict
/// with the factorization of the next posv or with copies of a new matrix.
TEST(Waits, OfSuccessiveCallsAreIndependent) {
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
      // Each of these is needed: without it the copies race with the work of the devices.
      tile::scatter<double>(setting.all, setting.matrix, {whole.data(), 13, upper});
      setting.factor();
      EXPECT_GT(setting.machine.races, 0);
    }
}

}  // namespace
}  // namespace chol::test
