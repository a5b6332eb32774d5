// Right-hand sides and products by double precision tensor cores.
#pragma once

#include "batched/solve/rhs_view.cuh"
#include "common/warp_tile.cuh"

namespace chol::cuda {

/// Works on the transposed X, for which the result and the left operand of tensor_multiply have the
/// same layout: lane l has right-hand side l / 4 and of each tile the rows 2 (l % 4) and the next,
/// one term of either half of a product's sum. A complex right-hand side takes two columns, its
/// real and its imaginary part; products with imaginary factors use i times it.
template <class T, bool kSwapped, int kSets>
struct TensorColumns {
  using Tiles = TileTriangle<T, kSwapped>;
  static constexpr bool kComplex = Traits<T>::is_complex;
  static constexpr int kOfSet = kComplex ? 4 : 8;  ///< right-hand sides
  static constexpr int kWidth = kOfSet * kSets;
  static constexpr int kScratch = 0;
  static constexpr int kAhead = 2;

  struct Value {
    double c[kSets][2];
  };
  struct Operand {
    double x[kSets][2], turned[kComplex ? kSets : 1][2];
  };
  struct Fragment {
    T l[2];
  };
  int place, pair;

  __device__ __forceinline__ TensorColumns(T*, int lane) : place(lane / 4), pair(lane % 4) {}

  template <bool kForward>
  __device__ __forceinline__ Fragment fragment(const T* tile) const {
    Fragment f;
    if constexpr (kForward == kSwapped && Tiles::kWide == 2) {
      copy_wide<2>(f.l, tile + Tiles::offset(place, 2 * pair));
    } else {
#pragma unroll
      for (int k = 0; k < 2; ++k)
        copy_wide<1>(f.l + k, tile + (kForward == kSwapped ? Tiles::offset(place, 2 * pair + k)
                                                           : Tiles::offset(2 * pair + k, place)));
    }
    return f;
  }

  template <bool kForward, int kBuffer>
  __device__ __forceinline__ Operand operand(const Value& v) const {
    Operand o;
#pragma unroll
    for (int s = 0; s < kSets; ++s)
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        o.x[s][k] = v.c[s][k];
        if constexpr (kComplex) {
          const double other = __shfl_xor_sync(kFullWarp, v.c[s][k], 4);
          o.turned[s][k] = (place % 2 == 0) == kForward ? -other : other;
        }
      }
    return o;
  }

  template <bool kForward>
  __device__ __forceinline__ Value add_product(Value v, const Fragment& f, const Operand& o) const {
#pragma unroll
    for (int k = 0; k < 2; ++k)
#pragma unroll
      for (int s = 0; s < kSets; ++s) accumulate(v, f, o, s, k);
    return v;
  }
  /// Two sums halve the latency until the product can be used.
  template <bool kForward>
  __device__ __forceinline__ Value product(const Fragment& f, const Operand& o) const {
    Value sums[2] = {};
#pragma unroll
    for (int k = 0; k < 2; ++k)
#pragma unroll
      for (int s = 0; s < kSets; ++s) accumulate(sums[k], f, o, s, k);
#pragma unroll
    for (int s = 0; s < kSets; ++s)
#pragma unroll
      for (int e = 0; e < 2; ++e) sums[0].c[s][e] += sums[1].c[s][e];
    return sums[0];
  }
  __device__ __forceinline__ Value negated(Value v) const {
#pragma unroll
    for (int s = 0; s < kSets; ++s)
#pragma unroll
      for (int e = 0; e < 2; ++e) v.c[s][e] = -v.c[s][e];
    return v;
  }
  __device__ __forceinline__ void conjugate_if(bool yes, Value& v) const {
    if (kComplex && place % 2 == 1 && yes) v = negated(v);
  }
  __device__ __forceinline__ Value load(const RightHandSides<T>& rhs, int first,
                                        int64_t column) const {
    Value v;
#pragma unroll
    for (int s = 0; s < kSets; ++s)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int row = first + 2 * pair + e;
        v.c[s][e] = rhs.has(row, own(column, s)) ? *at(rhs, row, own(column, s)) : 0;
      }
    return v;
  }
  __device__ __forceinline__ void store(const Value& v, const RightHandSides<T>& rhs, int first,
                                        int64_t column) const {
#pragma unroll
    for (int s = 0; s < kSets; ++s)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int row = first + 2 * pair + e;
        if (rhs.has(row, own(column, s))) *at(rhs, row, own(column, s)) = v.c[s][e];
      }
  }

 private:
  __device__ __forceinline__ void accumulate(Value& v, const Fragment& f, const Operand& o, int s,
                                             int k) const {
    tensor_multiply(v.c[s][0], v.c[s][1], o.x[s][k], real(f.l[k]));
    if constexpr (kComplex) tensor_multiply(v.c[s][0], v.c[s][1], o.turned[s][k], f.l[k].im);
  }
  __device__ __forceinline__ int64_t own(int64_t column, int s) const {
    return column + kOfSet * s + (kComplex ? place / 2 : place);
  }
  __device__ __forceinline__ double* at(const RightHandSides<T>& rhs, int row,
                                        int64_t column) const {
    return reinterpret_cast<double*>(rhs.at(row, column)) + (kComplex ? place % 2 : 0);
  }
};

}  // namespace chol::cuda
