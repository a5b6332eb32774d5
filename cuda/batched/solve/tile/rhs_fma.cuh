// Right-hand sides and products by plain multiply-adds.
#pragma once

#include "batched/solve/rhs_view.cuh"

namespace chol::cuda {

/// Lane l has row l % 8 of each tile and the columns of part l / 8, or with kOne one column for all
/// parts, each of which sums two of eight terms: a Value is then the sum of the parts.
template <class T, bool kSwapped, int kSets, bool kOne>
struct PlainColumns {
  using Tiles = TileTriangle<T, kSwapped>;
  static constexpr int kParts = 4;
  static constexpr int kHeld = kOne ? 1 : kSets;  ///< columns of a lane
  static constexpr int kTerms = kOne ? 2 : 8;     ///< of a product's sum, in a lane
  static constexpr int kWidth = kOne ? 1 : kParts * kHeld;
  /// Shared memory of a warp: two tiles of right-hand sides, the parts in different banks.
  static constexpr int kPitch = (Tiles::kOrder + 1) * kHeld;
  static constexpr int kScratch = kOne ? 0 : 2 * kParts * kPitch;
  static constexpr int kAhead = kOne ? 2 : 1;  ///< tiles read in advance

  struct Value {
    T c[kHeld];
  };
  struct Operand {
    T x[kTerms][kHeld];
  };
  struct Fragment {
    T l[kTerms];
  };
  T* scratch;
  int row, part;

  __device__ __forceinline__ PlainColumns(T* shared, int lane)
      : scratch(shared), row(lane % 8), part(lane / 8) {}

  template <bool kForward>
  __device__ __forceinline__ Fragment fragment(const T* tile) const {
    Fragment f;
    const int first = kOne ? kTerms * part : 0;
    if constexpr (kForward == kSwapped) {
      constexpr int kVector = kTerms < Tiles::kWide ? kTerms : Tiles::kWide;
#pragma unroll
      for (int k = 0; k < kTerms; k += kVector)
        copy_wide<kVector>(f.l + k, tile + Tiles::offset(row, first + k));
    } else {
#pragma unroll
      for (int k = 0; k < kTerms; ++k) f.l[k] = tile[Tiles::offset(first + k, row)];
    }
    return f;
  }

  /// @tparam kBuffer alternates between two, so that one barrier an operand is sufficient.
  template <bool kForward, int kBuffer>
  __device__ __forceinline__ Operand operand(const Value& v) const {
    Operand o;
    if constexpr (kOne) {
      const T sum = sum_parts(v.c[0]);
#pragma unroll
      for (int k = 0; k < kTerms; ++k) o.x[k][0] = from_lane(sum, kTerms * part + k);
    } else {
      T* const shared = scratch + (kBuffer * kParts + part) * kPitch;
      copy_wide<kHeld>(shared + row * kHeld, v.c);
      __syncwarp();
#pragma unroll
      for (int k = 0; k < kTerms; ++k) copy_wide<kHeld>(o.x[k], shared + k * kHeld);
    }
    return o;
  }

  template <bool kForward>
  __device__ __forceinline__ Value add_product(Value v, const Fragment& f, const Operand& o) const {
#pragma unroll
    for (int k = 0; k < kTerms; ++k)
#pragma unroll
      for (int q = 0; q < kHeld; ++q)
        v.c[q] = kForward ? subtract_product(v.c[q], negative(f.l[k]), o.x[k][q])
                          : add_conj_product(v.c[q], f.l[k], o.x[k][q]);
    return v;
  }
  template <bool kForward>
  __device__ __forceinline__ Value product(const Fragment& f, const Operand& o) const {
    return add_product<kForward>(Value{}, f, o);
  }
  __device__ __forceinline__ Value negated(Value v) const {
#pragma unroll
    for (int q = 0; q < kHeld; ++q) v.c[q] = negative(v.c[q]);
    return v;
  }
  __device__ __forceinline__ void conjugate_if(bool yes, Value& v) const {
#pragma unroll
    for (int q = 0; q < kHeld; ++q) v.c[q] = conj_if(yes, v.c[q]);
  }
  /// Rows `first` and on of the columns from `column` on.
  __device__ __forceinline__ Value load(const RightHandSides<T>& rhs, int first,
                                        int64_t column) const {
    Value v;
#pragma unroll
    for (int q = 0; q < kHeld; ++q) {
      const bool there = rhs.has(first + row, own(column, q)) && (!kOne || part == 0);
      v.c[q] = there ? *rhs.at(first + row, own(column, q)) : from_real<T>(0);
    }
    return v;
  }
  __device__ __forceinline__ void store(const Value& v, const RightHandSides<T>& rhs, int first,
                                        int64_t column) const {
#pragma unroll
    for (int q = 0; q < kHeld; ++q) {
      const T x = kOne ? sum_parts(v.c[q]) : v.c[q];
      if (rhs.has(first + row, own(column, q)) && (!kOne || part == 0))
        *rhs.at(first + row, own(column, q)) = x;
    }
  }

 private:
  __device__ __forceinline__ int64_t own(int64_t column, int q) const {
    return kOne ? column : column + part * kHeld + q;
  }
  /// The sum of the parts of a row.
  __device__ static __forceinline__ T sum_parts(T x) { return sum_lanes<32, 8>(x); }
};

}  // namespace chol::cuda
