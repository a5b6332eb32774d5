#include <algorithm>
#include <cmath>

#include "base/precisions.h"
#include "base/scalar.hpp"
#include "base/status_error.hpp"
#include "common/device_type.hpp"
#include "multi/planes.hpp"
#include "native/persistent/persistent.hpp"
#include "native/residues/kernels.cuh"

namespace chol::cuda::multi {
namespace {

using backend::Queue;
using residues::kModuli;
using residues::kParts;
using residues::kThreads;
using residues::padded;
using residues::Sums;

/// A tile to be updated.
template <class T>
struct Difference {
  T* C;
  int64_t ld;
  int64_t rows, columns;
  int64_t below;  ///< number of rows by which its first row is below its first column
  const double *down_rows, *down_columns;
  Sums sums[kParts<T>];  ///< of the real and the imaginary parts
  residues::FromResidues<kModuli<T>> from;
};

/// The sum of products at `offset`, before the scales.
template <class T>
__device__ __forceinline__ double product_at(const Difference<T>& call, const Sums& sums,
                                             int64_t offset) {
  residues::Fraction fraction;
#pragma unroll
  for (int k = 0; k < kModuli<T>; ++k)
    fraction.add(call.from, k, sums.first[k * sums.stride + offset]);
  return static_cast<double>(fraction.value());
}

/// C -= the values of the sums of residues, except above the diagonal of the matrix. Threads along
/// the contiguous direction of C and of the sums.
template <class T, bool swapped>
__global__ void __launch_bounds__(kThreads) subtract_sums(Difference<T> call) {
  const int64_t fast_count = swapped ? call.columns : call.rows;
  const int64_t slow_count = swapped ? call.rows : call.columns;
  const int64_t fast = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (fast >= fast_count) return;
  for (int64_t slow = blockIdx.y; slow < slow_count; slow += gridDim.y) {
    const int64_t i = swapped ? slow : fast, j = swapped ? fast : slow;
    if (i + call.below < j) continue;
    const int64_t offset = slow * call.sums[0].ld + fast;
    // y 2^-s_i first, since the product of the scales could underflow.
    const double unit = call.from.unit * call.down_rows[i], down = call.down_columns[j];
    T* const c = call.C + slow * call.ld + fast;
    const double re = product_at(call, call.sums[0], offset) * unit * down;
    if constexpr (Traits<T>::is_complex) {
      const double im = product_at(call, call.sums[1], offset) * unit * down;
      *c = {static_cast<Real<T>>(c->re - re), static_cast<Real<T>>(c->im - im)};
    } else {
      *c = static_cast<T>(*c - re);
    }
  }
}

/// to := i times `rows` rows of pairs of bytes, four bytes a thread, for all moduli.
__global__ void __launch_bounds__(kThreads)
    multiply_rows_by_i(residues::Planes from, residues::Planes to, int rows, int64_t bytes) {
  const int64_t column = 4 * (int64_t(blockIdx.x) * kThreads + threadIdx.x);
  if (column >= bytes) return;
  for (int row = static_cast<int>(blockIdx.y); row < rows; row += static_cast<int>(gridDim.y)) {
    const int64_t plane = blockIdx.z;
    const int8_t* const x = from.first + plane * from.stride + row * from.ld + column;
    int8_t* const y = to.first + plane * to.stride + row * to.ld + column;
    *reinterpret_cast<unsigned*>(y) = residues::times_i(*reinterpret_cast<const unsigned*>(x));
  }
}

template <class Public>
class Planes final : public backend::PlaneOps<Public> {
  using T = Device<Public>;
  using View = backend::View<Public>;
  using Base = backend::PlaneOps<Public>;

 public:
  Planes(Queues& queues, const TuningStore& tuning) : queues_(queues), tuning_(tuning) {}

  /// Longer groups need fewer reconstructions and more native products inside a group. Both cost
  /// about the same if the square of the length is 400 n: a reconstruction costs as much as
  /// products of depth 1000 to 2000, which run at 2 to 4 times the native rate.
  int64_t group_columns(int64_t n, int64_t nb) const override {
    // A group takes the products that all columns to the left take on one device, so that it pays
    // later.
    const ResidueRow* const row = tuning_.residues(precision_letter<Public>, n * 2 / 3);
    if (!row || nb % residues::kChunk != 0) return 0;
    const double best = std::sqrt(400. * static_cast<double>(n));
    const double panels = std::max(static_cast<double>(row->panel), best) / static_cast<double>(nb);
    const int64_t group = std::max<int64_t>(std::llround(panels), 1) * nb;
    return group < n && group * kParts<T> <= residues::kMostDepth ? group : 0;
  }
  void carve(Arena& arena, int64_t n, int64_t nb, int64_t group) override {
    n_ = n;
    depth_ = group * kParts<T>;
    const int64_t rows = padded(n);
    scales_ = {arena.take<double>(n), arena.take<double>(n), arena.take<double>(n)};
    diagonal_ = arena.take<T>(n);
    flagged_ = arena.take<int>(1);
    // Rows of a power of two of bytes would map to the same sets of the cache.
    const int64_t ld = depth_ + residues::kChunk;
    for (residues::Planes& slot : slots_) take_planes(arena, rows, ld, &slot);
    most_columns_ = std::min(rows, std::max(padded(nb), kMostColumns));
    most_elements_ = std::min(rows * rows, kMostRows * most_columns_);
    for (Scratch& scratch : scratch_) {
      for (int*& sums : scratch.sums) sums = arena.take<int>(kModuli<T> * most_elements_);
      if (Traits<T>::is_complex) take_planes(arena, most_columns_, ld, &scratch.turned);
    }
  }

  void begin(Queue queue, const Public* diagonal) override {
    const DeviceGuard guard(queues_.device());
    const cudaStream_t stream = queues_.stream(queue);
    const int64_t padding = padded(n_) - n_;
    check(cudaMemsetAsync(flagged_, residues::kNone & 255, sizeof(int), stream), "flag");
    for (const residues::Planes& slot : slots_)
      for (int k = 0; k < kModuli<T> && padding > 0; ++k)
        check(cudaMemsetAsync(slot.at(n_, 0) + k * slot.stride, 0, padding * slot.ld, stream),
              "padding of planes");
    check(cudaMemcpyAsync(diagonal_, diagonal, n_ * sizeof(T), cudaMemcpyHostToDevice, stream),
          "diagonal");
    residues::find_scales<T><<<blocks(n_, kThreads), kThreads, 0, stream>>>(
        LowerView<T>{diagonal_, 0, false}, static_cast<int>(n_),
        residues::moduli<kModuli<T>>().half_log2, scales_, flagged_);
    require(launched("scales of rows"));
  }

  void quantize(Queue queue, int slot, const View& A, int64_t row, int64_t column,
                int64_t columns) override {
    const DeviceGuard guard(queues_.device());
    residues::Planes planes = slots_[slot];
    planes.first = planes.at(row, column * kParts<T>);
    const residues::Quantization<T> call{
        reinterpret_cast<const T*>(A.first),
        A.ld,
        static_cast<int>(n_ - row),
        static_cast<int>(columns),
        {scales_.up + row, scales_.down + row, scales_.squares + row},
        planes,
        0,
        residues::moduli<kModuli<T>>().half * (1 - 1e-9),
        flagged_,
        residues::moduli<kModuli<T>>().to};
    const unsigned grid = blocks(n_ - row, residues::kRowsOfBlock);
    if (A.swapped)
      residues::quantize<T, true><<<grid, kThreads, 0, queues_.stream(queue)>>>(call);
    else
      residues::quantize<T, false><<<grid, kThreads, 0, queues_.stream(queue)>>>(call);
    require(launched("quantization"));
  }

  bool is_exact() override {
    const DeviceGuard guard(queues_.device());
    int flagged = 0;
    check(cudaMemcpy(&flagged, flagged_, sizeof flagged, cudaMemcpyDeviceToHost), "flag");
    return flagged == residues::kNone;
  }

  /// By tiles whose sums fit the workspace.
  void update(Queue queue, int slot, const View& C, int64_t row, int64_t column, int64_t rows,
              int64_t columns) override {
    const DeviceGuard guard(queues_.device());
    for (int64_t j = 0; j < columns; j += most_columns_) {
      const int64_t wide = std::min(most_columns_, columns - j);
      const int64_t most_rows =
          most_elements_ / padded(wide) / residues::kPadding * residues::kPadding;
      for (int64_t i = 0; i < rows; i += most_rows) {
        const int64_t high = std::min(most_rows, rows - i);
        if (row + i + high > column + j)
          update_tile(queue, slots_[slot], C.at(i, j), {row + i, column + j, high, wide});
      }
    }
  }

 private:
  static constexpr int64_t kMostRows = 16384, kMostColumns = 2048 / kParts<T>;
  struct Tile {
    int64_t row, column, rows, columns;  ///< of the matrix
  };
  struct Scratch {
    int* sums[kParts<T>];
    residues::Planes turned;  ///< complex: i times rows
  };

  void update_tile(Queue queue, const residues::Planes& planes, const View& C, const Tile& tile) {
    const cudaStream_t stream = queues_.stream(queue);
    Scratch& scratch = scratch_[queue == Queue::panel ? 0 : 1];
    residues::Planes left = planes, right = planes;
    left.first = planes.at(tile.row, 0);
    right.first = planes.at(tile.column, 0);
    const int64_t rows = padded(tile.rows), columns = padded(tile.columns);
    const int64_t ld = C.swapped ? columns : rows;
    Difference<T> call{reinterpret_cast<T*>(C.first),
                       C.ld,
                       tile.rows,
                       tile.columns,
                       tile.row - tile.column,
                       scales_.down + tile.row,
                       scales_.down + tile.column,
                       {},
                       residues::moduli<kModuli<T>>().from};
    for (int part = 0; part < kParts<T>; ++part)
      call.sums[part] = {scratch.sums[part], ld, rows * columns};
    multiply(queue, C.swapped, left, right, rows, columns, call.sums[0]);
    if constexpr (Traits<T>::is_complex) {
      const dim3 grid(blocks(depth_, 4 * kThreads), static_cast<unsigned>(columns), kModuli<T>);
      multiply_rows_by_i<<<grid, kThreads, 0, stream>>>(right, scratch.turned,
                                                        static_cast<int>(columns), depth_);
      require(launched("product by i"));
      multiply(queue, C.swapped, left, scratch.turned, rows, columns, call.sums[1]);
    }
    const int64_t fast = C.length(tile.rows, tile.columns), slow = C.lines(tile.rows, tile.columns);
    const dim3 grid(blocks(fast, kThreads), static_cast<unsigned>(std::min<int64_t>(slow, 65535)));
    if (C.swapped)
      subtract_sums<T, true><<<grid, kThreads, 0, stream>>>(call);
    else
      subtract_sums<T, false><<<grid, kThreads, 0, stream>>>(call);
    require(launched("reconstruction"));
  }
  /// One call a modulus.
  void multiply(Queue queue, bool swapped, const residues::Planes& left,
                const residues::Planes& right, int64_t rows, int64_t columns, const Sums& sums) {
    Blas& blas = queues_.blas(queue);
    require(blas.use(queues_.stream(queue)));
    const residues::Planes &a = swapped ? right : left, &b = swapped ? left : right;
    const int64_t rows_a = swapped ? columns : rows, rows_b = swapped ? rows : columns;
    for (int k = 0; k < kModuli<T>; ++k)
      require(blas.multiply_bytes(rows_a, rows_b, depth_, a.first + k * a.stride, a.ld,
                                  b.first + k * b.stride, b.ld, sums.first + k * sums.stride,
                                  sums.ld));
  }

  static void take_planes(Arena& arena, int64_t rows, int64_t ld, residues::Planes* planes) {
    planes->first = arena.take<int8_t>(kModuli<T> * rows * ld);
    planes->ld = ld;
    planes->stride = rows * ld;
  }
  static unsigned blocks(int64_t count, int64_t each) {
    return static_cast<unsigned>((count + each - 1) / each);
  }
  void require(const Status& status) const {
    if (!status.ok())
      throw StatusError(
          Status::error(status.code(), "device %d: %s", queues_.device(), status.message()));
  }
  void check(cudaError_t error, const char* doing) const { require(status_of(error, doing)); }

  Queues& queues_;
  const TuningStore& tuning_;
  int64_t n_ = 0;
  int64_t depth_ = 0;  ///< real numbers of a row of a group
  residues::Scales scales_;
  T* diagonal_ = nullptr;
  int* flagged_ = nullptr;
  residues::Planes slots_[Base::kSlots];
  int64_t most_columns_ = 0, most_elements_ = 0;  ///< of a tile
  Scratch scratch_[2];                            ///< of the queue of panels, and of updates
};

}  // namespace

template <class T>
std::unique_ptr<backend::PlaneOps<T>> make_planes(Queues& queues, const TuningStore& tuning) {
  return std::make_unique<Planes<T>>(queues, tuning);
}

#define CHOL_INSTANTIATE(prefix, T, R) \
  template std::unique_ptr<backend::PlaneOps<T>> make_planes<T>(Queues&, const TuningStore&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda::multi
