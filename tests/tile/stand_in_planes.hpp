// Products by residues on a simulated device, with the arithmetic of the kernels.
#pragma once

#include <cfloat>
#include <climits>
#include <cmath>
#include <vector>

#include "backend/plane_ops.hpp"
#include "base/scalar.hpp"
#include "tile/stand_in_machine.hpp"

// Keywords of nvcc, so that the arithmetic compiles for the host.
#ifndef __CUDACC__
#define __host__
#define __device__
#define __forceinline__ inline
#endif
#include "native/residues/arithmetic.cuh"

namespace chol::test {

template <class T>
class StandInPlanes final : public backend::PlaneOps<T> {
 public:
  using View = backend::View<T>;
  using Queue = backend::Queue;

  StandInPlanes(Machine& machine, int number, int64_t panels, int exact)
      : machine_(machine), number_(number), panels_(panels), exact_(exact) {}

  int64_t group_columns(int64_t, int64_t nb) const override { return panels_ * nb; }
  void carve(Arena&, int64_t n, int64_t, int64_t group) override {
    n_ = n;
    group_ = group;
    if (!machine_.computes) return;
    for (std::vector<Residues>& slot : slots_)
      slot.assign(static_cast<size_t>(n * group * kParts), Residues{});
    scales_.assign(static_cast<size_t>(n), Scale{});
  }
  void begin(Queue queue, const T* diagonal) override {
    operation(queue, 0);
    flagged_ = false;
    if (!machine_.computes) return;
    for (size_t i = 0; i < scales_.size(); ++i) {
      const double a = std::real(diagonal[i]);
      const bool is_good = a > 0 && a <= DBL_MAX;
      const double exponent = is_good ? std::floor((all().half_log2 - std::log2(a)) / 2 - 1e-3) : 0;
      machine_.write(queue_, &scales_[i]);
      scales_[i] = {std::exp2(exponent), std::exp2(-exponent), 0};
      flagged_ |= !is_good;
    }
  }
  void quantize(Queue queue, int slot, const View& A, int64_t row, int64_t column,
                int64_t columns) override {
    operation(queue, static_cast<double>((n_ - row) * columns) / kQuantizationRate);
    machine_.write(queue_, &flagged_);
    if (!machine_.computes) return;
    for (int64_t i = row; i < n_; ++i) {
      Scale& scale = scales_[static_cast<size_t>(i)];
      machine_.read(queue_, &scale);
      for (int64_t j = 0; j < columns; ++j) {
        const T* const x = A.at(i - row, j).first;
        machine_.read(queue_, x);
        for (int part = 0; part < kParts; ++part) {
          const int64_t integer = cuda::residues::round_to_integer(part_of(*x, part) * scale.up);
          Residues& residues = at(slot, i, column + j, part);
          machine_.write(queue_, &residues);
          for (int k = 0; k < kModuli; ++k)
            residues.of[k] = static_cast<int8_t>(cuda::residues::residue<sizeof(RealOf<T>) == 8>(
                all().to, k, cuda::residues::SignedBytes(integer)));
          scale.squares += static_cast<double>(integer) * static_cast<double>(integer);
        }
      }
      flagged_ |= !(scale.squares < all().half * (1 - 1e-9));
    }
  }
  bool is_exact() override {
    machine_.begin_operation(machine_.host, 0);
    machine_.read(machine_.host, &flagged_);
    return !flagged_ && exact_-- > 0;
  }
  void update(Queue queue, int slot, const View& C, int64_t row, int64_t column, int64_t rows,
              int64_t columns) override {
    operation(queue, static_cast<double>(rows * columns) *
                         (static_cast<double>(group_) / kRate + 1 / kReconstructionRate));
    if (!machine_.computes) return;
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = std::max<int64_t>(0, column + j - row); i < rows; ++i) {
        T* const c = C.at(i, j).first;
        machine_.read(queue_, c);
        const T product = multiply(slot, row + i, column + j);
        machine_.write(queue_, c);
        *c -= product;
      }
  }

 private:
  static constexpr int kModuli = sizeof(RealOf<T>) == 8 ? 14 : 7;
  static constexpr int kParts = is_complex<T> ? 2 : 1;
  /// Products, reconstructed elements and quantized elements a nanosecond: about those of double
  /// precision on an H200.
  static constexpr double kRate = 54000, kReconstructionRate = 30, kQuantizationRate = 150;
  struct Residues {
    int8_t of[kModuli];
  };
  struct Scale {
    double up, down, squares;
  };

  static const cuda::residues::Moduli<kModuli>& all() { return cuda::residues::moduli<kModuli>(); }
  static double part_of(T x, int part) {
    return static_cast<double>(part == 0 ? std::real(x) : std::imag(x));
  }
  void operation(Queue queue, double cost) {
    queue_ = number_ * backend::kQueues + static_cast<int>(queue);
    machine_.begin_operation(queue_, cost);
  }
  Residues& at(int slot, int64_t row, int64_t column, int part) {
    return slots_[slot][static_cast<size_t>((row * group_ + column) * kParts + part)];
  }
  /// The product of row i with the conjugate of row j.
  T multiply(int slot, int64_t i, int64_t j) {
    int sums[2][kModuli] = {};
    for (int64_t column = 0; column < group_; ++column)
      for (int a = 0; a < kParts; ++a)
        for (int b = 0; b < kParts; ++b) {
          const Residues &x = at(slot, i, column, a), &y = at(slot, j, column, b);
          machine_.read(queue_, &x);
          machine_.read(queue_, &y);
          const int sign = a == 0 && b == 1 ? -1 : 1;
          for (int k = 0; k < kModuli; ++k) sums[a == b ? 0 : 1][k] += sign * x.of[k] * y.of[k];
        }
    const Scale &of_i = scales_[static_cast<size_t>(i)], &of_j = scales_[static_cast<size_t>(j)];
    machine_.read(queue_, &of_i);
    machine_.read(queue_, &of_j);
    double parts[2];
    for (int part = 0; part < 2; ++part) {
      cuda::residues::Fraction fraction;
      for (int k = 0; k < kModuli; ++k) fraction.add(all().from, k, sums[part][k]);
      parts[part] =
          static_cast<double>(fraction.value()) * (all().from.unit * of_i.down) * of_j.down;
    }
    if constexpr (is_complex<T>)
      return {static_cast<RealOf<T>>(parts[0]), static_cast<RealOf<T>>(parts[1])};
    else
      return static_cast<T>(parts[0]);
  }

  Machine& machine_;
  int number_, queue_ = 0;
  int64_t panels_, n_ = 0, group_ = 0;
  int exact_;
  std::vector<Residues> slots_[backend::PlaneOps<T>::kSlots];
  std::vector<Scale> scales_;
  bool flagged_ = false;
};

}  // namespace chol::test
