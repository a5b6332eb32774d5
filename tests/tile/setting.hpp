// A matrix over simulated devices, and operations with it.
#pragma once

#include <limits>
#include <memory>
#include <random>

#include "tile/potrf.hpp"
#include "tile/potri.hpp"
#include "tile/potrs.hpp"
#include "tile/stand_in_devices.hpp"

namespace chol::test {

/// A positive definite matrix whose block columns are on simulated devices.
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
  /// Copies the triangle to the devices; their other memory is set to NaN.
  void put() {
    for (int64_t j = 0; j < n_; ++j)
      for (int64_t i = j; i < n_; ++i) *matrix.at(i, j).first = lower(i, j);
  }
  /// Products by residues, in groups of this number of panels. @param exact as StandInDevice.
  void use_planes(int64_t panels, int exact) {
    by_planes_ = true;
    for (auto& device : made_) device->use_planes(panels, exact);
  }
  void factor() {
    // Computes the size first, as a caller does.
    size_t bytes = 0;
    for (int pass = 0; pass < 2; ++pass) {
      tile::PotrfWorkspace<T> work;
      for (size_t d = 0; d < all.size(); ++d) {
        Arena arena = pass == 0 ? Arena() : Arena(space_[d].data(), space_[d].size());
        if (pass == 1) machine.own(space_[d].data(), space_[d].size(), int(d));
        work.carve(arena, *all[d], matrix.over, n_, upper_, by_planes_);
        bytes = arena.used();
      }
      if (pass == 0) {
        space_.assign(all.size(), std::vector<char>(bytes));
        continue;
      }
      work.diagonal.resize(static_cast<size_t>(n_));
      for (int64_t i = 0; i < n_; ++i) work.diagonal[static_cast<size_t>(i)] = lower(i, i);
      tile::factor(all, matrix, work);
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
      // The previous content must have no effect.
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
          // An upper triangle contains the transpose of its lower view.
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
  /// Number of elements outside the triangle that are no longer NaN.
  int spoilt() const {
    int64_t numbers = 0;
    for (const std::vector<T>& memory : memory_)
      for (const T& x : memory) numbers += std::real(x) == std::real(x);
    return static_cast<int>(numbers - n_ * (n_ + 1) / 2);
  }

  Machine machine;
  tile::CyclicMatrix<T> matrix;
  tile::Devices<T> all;
  int info = -1;

 private:
  using PanelOps = backend::PanelOps<T>;

  int64_t n_;
  bool upper_, by_planes_ = false;
  std::vector<T> whole_;
  std::vector<std::vector<T>> memory_;
  std::vector<std::vector<char>> space_;
  std::vector<std::unique_ptr<StandInDevice<T>>> made_;
};

}  // namespace chol::test
