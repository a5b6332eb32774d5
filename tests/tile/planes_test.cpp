// CHOL_MATH_TENSOR over several simulated devices, with the residue arithmetic of the kernels.
#include <gtest/gtest.h>

#include <climits>

#include "tile/dropped_waits.hpp"
#include "tile/setting.hpp"

namespace chol::test {
namespace {

constexpr int kAlways = INT_MAX;

template <class T>
class Planes : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Planes, Types);

/// Groups of panels that do and do not divide the number of blocks. @param body takes a setting.
template <class T, class Body>
void for_each_group(int exact, Body&& body) {
  for (const bool upper : {false, true})
    for (const int devices : {1, 2, 3})
      for (const int64_t n : {0, 1, 7, 16, 23})
        for (const int64_t nb : {1, 2, 3})
          for (const int64_t panels : {1, 2, 3, 5}) {
            SCOPED_TRACE(testing::Message()
                         << "n " << n << " nb " << nb << " devices " << devices << " panels "
                         << panels << (upper ? " upper" : " lower"));
            Setting<T> setting(n, nb, devices, upper);
            setting.use_planes(panels, exact);
            body(setting, n);
          }
}

TYPED_TEST(Planes, FactorTheMatrix) {
  for_each_group<TypeParam>(kAlways, [](Setting<TypeParam>& setting, int64_t n) {
    setting.factor();
    EXPECT_EQ(setting.info, 0);
    EXPECT_LT(setting.residual(n), 30);
    EXPECT_EQ(setting.machine.races, 0);
    EXPECT_EQ(setting.spoilt(), 0);
  });
}

/// A group that exceeds the bound, and all after it, are subtracted natively: if it is the first
/// one, the factor has the bits of the native one.
TYPED_TEST(Planes, ContinueNatively) {
  for (const int exact : {0, 1, 2})
    for_each_group<TypeParam>(exact, [&](Setting<TypeParam>& setting, int64_t n) {
      setting.factor();
      if (exact == 0) {
        Setting<TypeParam> natively(n, setting.matrix.over.nb, setting.matrix.over.devices,
                                    setting.matrix.local.front().swapped);
        natively.factor();
        for (int64_t j = 0; j < n; ++j)
          for (int64_t i = j; i < n; ++i)
            EXPECT_EQ(setting.factor_at(i, j), natively.factor_at(i, j));
      }
      EXPECT_EQ(setting.info, 0);
      EXPECT_LT(setting.residual(n), 30);
      EXPECT_EQ(setting.machine.races, 0);
      EXPECT_EQ(setting.spoilt(), 0);
    });
}

/// A diagonal element that is negative or NaN, and one that becomes negative by the products.
TYPED_TEST(Planes, FindTheFirstBadMinor) {
  constexpr int64_t kOrder = 15;
  enum class Kind { negative, nan, by_products };
  for (const bool upper : {false, true})
    for (const int devices : {1, 2, 3})
      for (const int64_t bad : {1, 4, 8, 14})
        for (const Kind kind : {Kind::negative, Kind::nan, Kind::by_products}) {
          SCOPED_TRACE(testing::Message() << "bad " << bad << " devices " << devices << " kind "
                                          << int(kind) << (upper ? " upper" : " lower"));
          Setting<TypeParam> setting(kOrder, 2, devices, upper);
          using R = RealOf<TypeParam>;
          if (kind == Kind::by_products)
            setting.lower(bad, bad - 1) = TypeParam(R(4 * kOrder));
          else
            setting.lower(bad, bad) =
                TypeParam(kind == Kind::nan ? std::numeric_limits<R>::quiet_NaN() : R(-1));
          setting.put();
          setting.use_planes(2, kAlways);
          setting.factor();
          EXPECT_EQ(setting.info, bad + 1);
          EXPECT_LT(setting.residual(bad), 30);
        }
}

/// In CHOL_MATH_TENSOR most products are formed by residues: those with all groups but the last.
TEST(PlanesOfGroups, FormTheProducts) {
  Setting<double> natively(23, 1, 2, false), by_planes(23, 1, 2, false);
  by_planes.use_planes(4, kAlways);
  natively.factor();
  by_planes.factor();
  int64_t different = 0;
  for (int64_t j = 0; j < 23; ++j)
    for (int64_t i = j; i < 23; ++i) {
      const bool same = natively.factor_at(i, j) == by_planes.factor_at(i, j);
      EXPECT_TRUE(same || j >= 4) << i << " " << j;
      different += !same;
    }
  EXPECT_GT(different, 50);
}

/// Drops every wait in turn, including those of a group that exceeds the bound.
TEST(Waits, WithPlanesAreFoundToBeMissing) {
  for (const bool upper : {false, true})
    for (const int devices : {2, 3})
      for (const int64_t blocks : {5, 9})
        for (const int exact : {kAlways, 1}) {
          SCOPED_TRACE(testing::Message() << blocks << " blocks, " << devices << " devices, exact "
                                          << exact << (upper ? " upper" : " lower"));
          const auto make = [&] {
            auto setting = std::make_unique<Setting<double>>(2 * blocks - 1, 2, devices, upper);
            setting->use_planes(2, exact);
            return setting;
          };
          const auto [found, needed] =
              drop_each_wait(make, [](auto& setting) { setting.factor(); });
          // Panels broadcast again reuse slots for which no operation waits again.
          EXPECT_GE(found * 6, needed * 5) << found << " of " << needed;
          EXPECT_GE(found, blocks - 1);
        }
}

}  // namespace
}  // namespace chol::test
