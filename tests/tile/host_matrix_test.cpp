// One matrix in host memory over simulated devices, as a whole and by superpanels.
#include "tile/host_matrix.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <random>

#include "tile/dropped_waits.hpp"
#include "tile/potri.hpp"
#include "tile/potrs.hpp"
#include "tile/redistribute.hpp"
#include "tile/stand_in_devices.hpp"

namespace chol::test {
namespace {

using tile::HostPlan;

template <class T>
struct HostSetting {
  HostSetting(int64_t order, HostPlan its_plan, int devices, bool is_upper)
      : n(order), plan(its_plan), upper(is_upper), machine(devices), A(size_t((n + 1) * n + 1)) {
    std::mt19937_64 random(static_cast<uint64_t>(n));
    std::uniform_real_distribution<RealOf<T>> uniform(-1, 1);
    std::fill(A.begin(), A.end(), T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j; i < n; ++i)
        *whole().at(i, j).first = i == j ? T(RealOf<T>(2 * n)) : T(uniform(random));
    original = A;
    for (int d = 0; d < devices; ++d) {
      made.push_back(std::make_unique<StandInDevice<T>>(machine, d, 3));
      all.push_back(made.back().get());
    }
  }
  backend::View<T> whole() { return {A.data(), n + 1, upper}; }
  void factor() {
    tile::HostWorkspace<T> work;
    for (size_t d = 0; d < all.size(); ++d) {
      tile::HostWorkspace<T> count;
      Arena counted;
      count.carve(counted, *all[d], int(all.size()), n, plan, upper);
      space.emplace_back(counted.used());
      Arena arena(space.back().data(), space.back().size());
      work.carve(arena, *all[d], int(all.size()), n, plan, upper);
    }
    info = tile::factor_host_matrix(all, whole(), n, plan, work, &progress);
  }
  /// A X = B with the factor in host memory; the largest |b - A x| over n eps.
  double solve(int64_t nrhs) {
    std::vector<std::vector<char>> memory;
    tile::StreamedPotrsWorkspace<T> work;
    const tile::Distribution over{n, plan.nb, int(all.size())};
    for (size_t d = 0; d < all.size(); ++d) {
      tile::StreamedPotrsWorkspace<T> count;
      Arena counted;
      count.carve(counted, over, nrhs);
      memory.emplace_back(counted.used(), char(-1));
      Arena arena(memory.back().data(), memory.back().size());
      work.carve(arena, over, nrhs);
    }
    std::vector<T> B(size_t(n * nrhs)), X;
    for (size_t i = 0; i < B.size(); ++i) B[i] = T(RealOf<T>(i % 7) - 3);
    X = B;
    const auto staging = make_staging();
    tile::FactorColumns<T> factor(all, over, whole(), work.ring, staging.get());
    tile::solve(all, factor, nrhs, X.data(), n, work.solve);
    for (backend::PanelOps<T>* ops : all) ops->finish();
    double worst = 0;
    for (int64_t c = 0; c < nrhs; ++c)
      for (int64_t i = 0; i < n; ++i) {
        T sum = B[size_t(c * n + i)];
        for (int64_t k = 0; k < n; ++k) {
          const int64_t row = std::max(i, k), column = std::min(i, k);
          const T a = original[size_t(whole().at(row, column).first - A.data())];
          sum -= ((i < k) != upper ? conjugate(a) : a) * X[size_t(c * n + k)];
        }
        const double error =
            double(std::abs(sum)) / double(n) / double(std::numeric_limits<RealOf<T>>::epsilon());
        if (!(error <= worst)) worst = error;
      }
    return worst;
  }
  std::unique_ptr<tile::Staging<T>> make_staging() {
    if (plan.staging == 0) return nullptr;
    return std::make_unique<tile::Staging<T>>(all, whole(), n, plan.staging, nullptr);
  }
  /// The inverse over the factor in host memory; the largest |I - A X| over n eps.
  double invert() {
    tile::CyclicMatrix<T> parts;
    parts.over = {n, plan.nb, int(all.size())};
    parts.by_rows = upper;
    std::vector<std::vector<T>> columns;
    std::vector<std::vector<char>> memory;
    tile::PotriWorkspace<T> work;
    for (size_t d = 0; d < all.size(); ++d) {
      columns.emplace_back(size_t(n * parts.over.columns_of(int(d))));
      parts.local.push_back({columns.back().data(), n, upper});
      tile::PotriWorkspace<T> count;
      Arena counted;
      count.carve(counted, *all[d], parts.over);
      memory.emplace_back(counted.used());
      Arena arena(memory.back().data(), memory.back().size());
      work.carve(arena, *all[d], parts.over);
    }
    const auto staging = make_staging();
    tile::load_factor(all, parts, whole(), staging.get());
    finish();
    tile::invert(all, parts, work);
    finish();
    tile::store_inverse(all, parts, whole(), staging.get());
    finish();
    double worst = 0;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        T sum = T(i == j ? -1 : 0);
        for (int64_t k = 0; k < n; ++k) sum += element(original, i, k) * element(A, k, j);
        const double error =
            double(std::abs(sum)) / double(n) / double(std::numeric_limits<RealOf<T>>::epsilon());
        if (!(error <= worst)) worst = error;
      }
    return worst;
  }
  /// Element of the full lower view.
  T element(const std::vector<T>& matrix, int64_t i, int64_t j) {
    const T a = matrix[size_t(whole().at(std::max(i, j), std::min(i, j)).first - A.data())];
    return i < j ? conjugate(a) : a;
  }
  void finish() {
    for (backend::PanelOps<T>* ops : all) ops->finish();
  }
  double residual(int64_t columns) {
    double worst = 0;
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = j; i < n; ++i) {
        T sum = original[size_t(whole().at(i, j).first - A.data())];
        for (int64_t k = 0; k <= j; ++k)
          sum -= *whole().at(i, k).first * conjugate(*whole().at(j, k).first);
        const double error = double(std::abs(sum)) / (double(n) * double(2 * n)) /
                             double(std::numeric_limits<RealOf<T>>::epsilon());
        if (!(error <= worst)) worst = error;
      }
    return worst;
  }
  int64_t numbers() const {
    int64_t count = 0;
    for (const T& x : A) count += std::real(x) == std::real(x);
    return count;
  }

  int64_t n;
  HostPlan plan;
  bool upper;
  Machine machine;
  std::vector<T> A, original;
  std::vector<std::vector<char>> space;
  std::vector<std::unique_ptr<StandInDevice<T>>> made;
  tile::Devices<T> all;
  int info = -1;
  tile::HostProgress progress;
};

template <class T>
class HostMatrix : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(HostMatrix, Types);

/// Superpanels, and elements of a pinned buffer, some smaller than a block column.
constexpr std::pair<int64_t, size_t> kRoundsAndStaging[] = {{1, 0},  {2, 0},   {99, 0},   {1, 1},
                                                            {2, 30}, {99, 60}, {99, 1000}};

TYPED_TEST(HostMatrix, IsFactored) {
  for (const bool upper : {false, true})
    for (const int devices : {1, 2, 3})
      for (const int64_t n : {1, 6, 13, 26})
        for (const int64_t nb : {1, 2, 5})
          for (const auto& [rounds, staging] : kRoundsAndStaging) {
            const int64_t blocks = (n + nb - 1) / nb;
            HostSetting<TypeParam> setting(
                n, {nb, std::min(rounds * devices, blocks), staging * sizeof(TypeParam)}, devices,
                upper);
            setting.factor();
            SCOPED_TRACE(testing::Message()
                         << "n " << n << " nb " << nb << " devices " << devices << " rounds "
                         << rounds << " staging " << staging << (upper ? " upper" : " lower"));
            EXPECT_EQ(setting.info, 0);
            EXPECT_LT(setting.residual(n), 30);
            EXPECT_EQ(setting.machine.races, 0);
            EXPECT_EQ(setting.numbers(), n * (n + 1) / 2);
            EXPECT_LT(setting.solve(2), 30);
            EXPECT_EQ(setting.machine.races, 0);
            EXPECT_EQ(setting.progress.returned, staging > 0 ? n : 0);
            // In memory: each block column in both directions, with full diagonal blocks.
            if (setting.plan.blocks == blocks) {
              EXPECT_LE(setting.progress.moved, n * (n + nb));
            }
            if (n > 13) continue;
            EXPECT_LT(setting.invert(), 30);
            EXPECT_EQ(setting.machine.races, 0);
            EXPECT_EQ(setting.numbers(), n * (n + 1) / 2);
          }
}

TYPED_TEST(HostMatrix, IsFactoredByPlanes) {
  for (const bool upper : {false, true})
    for (const int devices : {1, 2, 3})
      for (const size_t staging : {0, 30})
        for (const int exact : {1, 1000}) {
          constexpr int64_t kOrder = 25;
          HostSetting<TypeParam> setting(kOrder, {2, 13, staging * sizeof(TypeParam)}, devices,
                                         upper);
          setting.plan.by_planes = true;
          for (auto& device : setting.made) device->use_planes(3, exact);
          setting.factor();
          SCOPED_TRACE(testing::Message() << devices << " devices, staging " << staging << " exact "
                                          << exact << (upper ? " upper" : " lower"));
          EXPECT_EQ(setting.info, 0);
          EXPECT_LT(setting.residual(kOrder), 30);
          EXPECT_EQ(setting.machine.races, 0);
          EXPECT_EQ(setting.numbers(), kOrder * (kOrder + 1) / 2);
        }
}

TYPED_TEST(HostMatrix, FindsTheFirstBadMinor) {
  for (const int64_t bad : {0, 5, 12})
    for (const int64_t blocks : {2, 7})
      for (const size_t staging : {0, 30}) {
        HostSetting<TypeParam> setting(13, {2, blocks, staging * sizeof(TypeParam)}, 2, false);
        *setting.whole().at(bad, bad).first = TypeParam(-1);
        setting.original = setting.A;
        setting.factor();
        EXPECT_EQ(setting.info, bad + 1);
        EXPECT_LT(setting.residual(bad), 30);
      }
}

/// As offload requires: from a certain column on all columns are unchanged, and the others are
/// final.
TYPED_TEST(HostMatrix, IsUnchangedFromABadMinorOn) {
  for (const bool upper : {false, true})
    for (const int64_t bad : {0, 5, 12})
      for (const int64_t blocks : {2, 7})
        for (const size_t staging : {1, 30}) {
          HostSetting<TypeParam> setting(13, {2, blocks, staging * sizeof(TypeParam), true}, 2,
                                         upper);
          *setting.whole().at(bad, bad).first = TypeParam(-1);
          setting.original = setting.A;
          setting.factor();
          EXPECT_EQ(setting.info, bad + 1);
          const int64_t returned = setting.progress.returned;
          EXPECT_LE(returned, bad);
          EXPECT_GE(returned, staging == 1 ? bad : bad - 2);
          EXPECT_LT(setting.residual(returned), 30);
          for (int64_t j = returned; j < 13; ++j)
            for (int64_t i = j; i < 13; ++i) {
              const TypeParam* const now = setting.whole().at(i, j).first;
              EXPECT_EQ(*now, setting.original[size_t(now - setting.A.data())]);
            }
        }
}

/// Drops every wait in turn, including those of the host for a buffer; all that are not redundant
/// must be detected.
TEST(HostMatrixWaits, AreFoundToBeMissing) {
  for (const int64_t blocks : {4, 12})
    for (const size_t staging : {0, 30, 100}) {
      const auto make = [&] {
        return std::make_unique<HostSetting<double>>(
            24, HostPlan{2, blocks, staging * sizeof(double)}, 2, false);
      };
      const auto [found, needed] = drop_each_wait(make, [](auto& setting) { setting.factor(); });
      EXPECT_GE(found * 8, needed * 7) << blocks << " blocks, staging " << staging;
      EXPECT_GE(found, 12);
    }
}

/// The factor is streamed through the devices, each block column in one of three slots.
TEST(HostMatrixWaits, OfStreamedSolvesAreFoundToBeMissing) {
  for (const bool upper : {false, true}) {
    const auto make = [&] {
      auto setting = std::make_unique<HostSetting<double>>(24, HostPlan{2, 12}, 2, upper);
      setting->factor();
      return setting;
    };
    const auto [found, needed] = drop_each_wait(make, [](auto& setting) { setting.solve(2); });
    EXPECT_GE(found * 8, needed * 7) << found << " of " << needed;
    EXPECT_GE(found, 24);
  }
}

/// A buffer is refilled before its content is on the device, or read before it is full.
/// @param work work(setting), with a factor.
template <class Work>
void expect_waits_for_buffers_needed(Work&& work) {
  for (const bool upper : {false, true}) {
    int waits = 1, found = 0, of_host = 0;
    for (int dropped = 0; dropped < waits; ++dropped) {
      HostSetting<double> setting(24, {3, 8, 30 * sizeof(double)}, 2, upper);
      const int before = work(setting, dropped);
      waits = setting.machine.waits - before;
      if (!setting.machine.dropped_one_of_host) continue;
      ++of_host;
      found += setting.machine.races > 0;
    }
    EXPECT_GT(of_host, 20);
    // The host has waited for a later copy of the same device, so that earlier ones are complete.
    EXPECT_EQ(found, of_host);
  }
}

TEST(HostMatrixWaits, OfBuffersAreAllNeeded) {
  expect_waits_for_buffers_needed([](HostSetting<double>& setting, int dropped) {
    setting.machine.dropped = dropped;
    setting.factor();
    return 0;
  });
}

TEST(HostMatrixWaits, OfBuffersOfInversesAreAllNeeded) {
  expect_waits_for_buffers_needed([](HostSetting<double>& setting, int dropped) {
    setting.factor();
    const int before = setting.machine.waits;
    setting.machine.dropped = before + dropped;
    setting.invert();
    return before;
  });
}

TEST(HostMatrixWaits, OfBuffersOfStreamedSolvesAreAllNeeded) {
  expect_waits_for_buffers_needed([](HostSetting<double>& setting, int dropped) {
    setting.factor();
    const int before = setting.machine.waits;
    setting.machine.dropped = before + dropped;
    setting.solve(2);
    return before;
  });
}

/// A schedule of a realistic size without elements.
struct Schedule {
  Schedule(int64_t n, int devices, double share, size_t staging) : machine(devices) {
    machine.watches = machine.computes = false;
    machine.keeps_spans = true;
    for (int d = 0; d < devices; ++d) {
      made.push_back(std::make_unique<StandInDevice<double>>(machine, d, 1024));
      all.push_back(made.back().get());
    }
    bytes = static_cast<size_t>(share * double(n) * double(n) * sizeof(double));
    plan = tile::plan_host_matrix(all, std::vector<size_t>(size_t(devices), bytes), n, false);
    plan.staging = staging;
    tile::HostWorkspace<double> work;
    for (auto* ops : all) {
      Arena count;
      work.carve(count, *ops, devices, n, plan, false);
    }
    tile::factor_host_matrix<double>(all, {nullptr, n}, n, plan, work, &progress);
    least = tile::least_traffic(n, plan, double(bytes) / sizeof(double));
  }
  double moved_over_least() const { return double(progress.moved) / least; }

  Machine machine;
  tile::Devices<double> all;
  HostPlan plan;
  tile::HostProgress progress;
  size_t bytes = 0;
  double least = 0;

 private:
  std::vector<std::unique_ptr<StandInDevice<double>>> made;
};

TEST(HostTraffic, IsNearTheLowerBound) {
  constexpr int64_t kOrder = 65536;
  for (const int devices : {1, 2, 4}) {
    const Schedule in_memory(kOrder, devices, 1.5 / devices + .3, 0);
    EXPECT_EQ(in_memory.least, double(kOrder) * kOrder);
    EXPECT_LE(in_memory.moved_over_least(), 1.3) << devices;
    std::printf("%d devices, in memory: %.3f times the least\n", devices,
                in_memory.moved_over_least());
    for (const double share : {.5, .25}) {
      const Schedule parts(kOrder, devices, share / devices, 0);
      ASSERT_LT(parts.plan.blocks * parts.plan.nb, kOrder);
      const double w = double(parts.plan.blocks * parts.plan.nb), n = double(kOrder);
      std::printf("%d devices that hold %.2f of n^2: %.3f times the least\n", devices, share,
                  parts.moved_over_least());
      EXPECT_LE(double(parts.progress.moved), 1.05 * (n * n + n * n * n / (6 * w))) << devices;
      EXPECT_LE(parts.moved_over_least(), share == .5 ? 1.5 : 2) << devices;
    }
  }
}

/// The next superpanel's columns replace finished ones during the work on others: at the end of a
/// superpanel all of them have arrived.
TEST(HostTraffic, OverlapsWithProducts) {
  for (const size_t staging : {size_t{0}, size_t{16} << 20}) {
    constexpr int kDevices = 2;
    const Schedule parts(16384, kDevices, .3 / kDevices, staging);
    ASSERT_LT(2 * parts.plan.blocks * parts.plan.nb, 16384);
    const int64_t end = parts.machine.joins.front();
    int64_t loads = 0, before_last_product = 0, last_product = 0;
    const auto is = [](const Machine::Span& span, backend::Queue queue) {
      return span.queue % backend::kQueues == static_cast<int>(queue);
    };
    for (const Machine::Span& span : parts.machine.spans)
      if (span.start < end && is(span, backend::Queue::update))
        last_product = std::max(last_product, span.end);
    for (const Machine::Span& span : parts.machine.spans)
      if (span.start < end && span.queue != parts.machine.host && is(span, backend::Queue::load)) {
        ++loads;
        before_last_product += span.start < last_product;
      }
    if (staging == 0) {
      EXPECT_EQ(loads, 2 * parts.plan.blocks);
    }
    EXPECT_GT(2 * before_last_product, loads) << staging;
  }
}

TEST(HostPlan, TakesAsManyColumnsAsFit) {
  Machine machine(2);
  StandInDevice<double> first(machine, 0, 1024), second(machine, 1, 1024);
  const tile::Devices<double> devices{&first, &second};
  constexpr int64_t kOrder = 2000;
  const auto plan = [&](size_t bytes) {
    return tile::plan_host_matrix(devices, {bytes, bytes}, kOrder, false);
  };
  const HostPlan whole = plan(size_t{1} << 30);
  EXPECT_GE(whole.nb * whole.blocks, kOrder);
  const HostPlan parts = plan(kOrder * kOrder * 8 / 4);
  ASSERT_TRUE(parts);
  EXPECT_LT(parts.nb * parts.blocks, kOrder);
  EXPECT_EQ(parts.blocks % 2, 0);
  EXPECT_FALSE(plan(1000));
}

}  // namespace
}  // namespace chol::test
