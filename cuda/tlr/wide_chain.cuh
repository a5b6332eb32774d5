// Solves with a few block columns, one after the other, with many right-hand sides: the blocks of
// a chain, each with 32 rows of every tile and 32 right-hand sides. Between steps the blocks that
// have the same right-hand sides meet. All of them have to run at the same time.
#pragma once

#include "native/persistent/synchronize.cuh"
#include "tlr/wide_products.cuh"

namespace chol::cuda::tlr {

template <class Shape>
class WideChain {
  using T = typename Shape::T;
  static constexpr int kRows = Shape::kRows, kColumns = Shape::kColumns;

 public:
  __device__ WideChain(const WideCall& call, void* memory, int all, int block)
      : call_(call),
        products_(call, memory),
        all_(all),
        part_(block % call.parts),
        begin_column_(block / call.parts * kColumns),
        arrivals_(call.arrivals + block / call.parts * 32) {}

  __device__ void run(const ChainLink* links, int count) {
    for (int k = 0; k < count; ++k) {
      const ChainLink& link = links[k];
      if (link.first < link.end || link.first_identity < link.end_identity) {
        subtract_sums(link);
        meet();
      }
      solve(link);
      if (k + 1 == count) return;
      meet();
      if (link.first_right == link.end_right) continue;
      multiply_right(link);
      meet();
    }
  }

 private:
  /// All blocks with these right-hand sides; what they have written is there then.
  __device__ void meet() {
    __syncthreads();
    met_ += call_.parts;
    if (threadIdx.x == 0) {
      persistent::add_release(arrivals_, 1);
      persistent::wait_for(arrivals_, met_);
    }
    __syncthreads();
  }
  __device__ int order_of(const ChainLink& link) const {
    return call_.starts[link.target + 1] - call_.starts[link.target];
  }
  __device__ void subtract_sums(const ChainLink& link) const {
    const int order = order_of(link);
    T* const right = static_cast<T*>(call_.Y) + int64_t{call_.starts[link.target]} * all_;
    for (int row = part_ * kRows; row < order; row += call_.parts * kRows)
      products_.multiply_left(
          {link.target, row, link.first, link.end, link.first_identity, link.end_identity},
          begin_column_, all_, [&](int i, int j, T sum) {
            T& y = right[int64_t{i} * all_ + begin_column_ + j];
            y = subtract(y, sum);
          });
  }
  __device__ void solve(const ChainLink& link) const {
    const int order = order_of(link);
    const int64_t start = int64_t{call_.starts[link.target]} * all_ + begin_column_;
    T* const x = static_cast<T*>(call_.X) + start;
    for (int row = part_ * kRows; row < order; row += call_.parts * kRows)
      products_.multiply_inverse(static_cast<const T*>(call_.inverses[link.target]), order, row,
                                 static_cast<const T*>(call_.Y) + start, all_,
                                 [&](int i, int j, T value) { x[int64_t{i} * all_ + j] = value; });
  }
  __device__ void multiply_right(const ChainLink& link) const {
    for (int c = link.first_right + part_ * kRows; c < link.end_right; c += call_.parts * kRows)
      products_.multiply_right({c, smaller(kRows, link.end_right - c), link.target}, begin_column_,
                               all_);
  }

  const WideCall& call_;
  WideProducts<Shape> products_;
  int all_, part_, begin_column_;
  int* arrivals_;
  int met_ = 0;
};

}  // namespace chol::cuda::tlr
