// Groups of matrices of similar orders, to fill the lanes with a variable-size batch.
#pragma once

#include "host/kernels/across/transpose.hpp"

namespace chol::CHOL_ISA {

/// GroupTriangles of matrices with an order and a leading dimension each. A matrix smaller than the
/// group's order is padded by the identity, which does not affect the bits of its factor.
template <class T, class Triangle>
class MixedTriangles {
 public:
  using Buffer = LaneBuffer<T>;
  using E = typename Buffer::E;
  using V = typename Buffer::V;
  using R = typename Buffer::R;
  static constexpr int kLanes = Buffer::kLanes;

  MixedTriangles(const host::LaneGroup& group, Triangle in) : places_(group, in), group_(group) {
    for (int i = 0; i < kLanes; ++i) least_ = smaller(least_, group.order[i]);
  }

  static int64_t runs(int64_t n) { return GroupTriangles<T, Triangle>::runs(n); }

  template <class Beside = NoWork>
  void load(Beside&& beside = {}) const {
    for_each_run(
        [&](R* const* column, int64_t row, int64_t length, E* lanes, const int32_t* place) {
          Buffer::load_run(column, row, length, lanes, place, 0, beside);
        },
        [&](R* const* start, const int* count, int64_t length, E* lanes, const int32_t* place) {
          beside();
          Buffer::load_cut(start, count, length, lanes, place);
        });
    end_in_identity();
  }
  template <class Beside = NoWork>
  void store(Beside&& beside = {}) const {
    for_each_run(
        [&](R* const* column, int64_t row, int64_t length, E* lanes, const int32_t* place) {
          Buffer::store_run(column, row, length, lanes, place, 0, 0, beside);
        },
        [&](R* const* start, const int* count, int64_t length, E* lanes, const int32_t* place) {
          beside();
          Buffer::store_cut(start, count, length, lanes, place);
        });
  }

 private:
  /// Calls whole(column, row, length, lanes, place) for the rows of a column that every matrix has,
  /// and cut(start, count, length, lanes, place) for at most kRun rows that only some have:
  /// count[i] reals at start[i].
  template <class Whole, class Cut>
  CHOL_INLINE void for_each_run(Whole&& whole, Cut&& cut) const {
    const bool upper = group_.upper;
    for (int64_t j = 0; j < group_.n; ++j) {
      R* column[kLanes];
      for (int i = 0; i < kLanes; ++i)
        column[i] = static_cast<R*>(group_.A[i]) +
                    (j < group_.order[i] ? Buffer::kReals * j * group_.ld[i] : 0);
      E* const lanes = places_.lanes.base + (upper ? places_.row[j] : places_.column[j]);
      const int32_t* const place = upper ? places_.column : places_.row;
      const int64_t top = upper ? 0 : j, bottom = upper ? j + 1 : group_.n;
      const int64_t all = upper ? (j < least_ ? bottom : top) : larger(top, least_);
      if (top < all) whole(column, top, all - top, lanes, place + top);
      for (int64_t row = all; row < bottom; row += Buffer::kRun) {
        const int64_t length = smaller<int64_t>(Buffer::kRun, bottom - row);
        int count[kLanes];
        R* start[kLanes];
        for (int i = 0; i < kLanes; ++i) {
          const int64_t end = j < group_.order[i] ? smaller(bottom, group_.order[i]) : 0;
          count[i] =
              static_cast<int>(Buffer::kReals * larger<int64_t>(0, smaller(length, end - row)));
          start[i] = count[i] > 0 ? column[i] + Buffer::kReals * row : column[i];
        }
        cut(start, count, length, lanes, place + row);
      }
    }
  }

  /// Loads fill the rows after a smaller matrix with zeros.
  void end_in_identity() const {
    R orders[kLanes];
    for (int i = 0; i < kLanes; ++i) orders[i] = static_cast<R>(group_.order[i]);
    const V order = V::load(orders), one = V::broadcast(1), most = V::broadcast(kLargest<R>);
    for (int64_t k = least_; k < group_.n; ++k) {
      E& diagonal = places_.lanes.base[places_.row[k] + places_.column[k]];
      const V k_in_lanes = V::broadcast(static_cast<R>(k));
      const V d = select(between(order, k_in_lanes, most), real_part(diagonal), one);
      if constexpr (Buffer::kReals == 2)
        diagonal.re = d;
      else
        diagonal = d;
    }
  }

  const GroupTriangles<T, Triangle> places_;
  const host::LaneGroup& group_;
  int64_t least_ = INT64_MAX;
};

}  // namespace chol::CHOL_ISA
