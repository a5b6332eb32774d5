// Operations for L D L^H and for pivoting between tiles.
#pragma once

#include "tlr/device_ops.cuh"
#include "tlr/indefinite.cuh"

namespace chol::cuda::tlr {

/// See backend::Rearrangement.
template <class R>
struct RearrangedItem {
  const void* from;
  void* to;
  int64_t ld_from, ld_to, rows, columns;
  bool adjoint;
  const int64_t *row_order, *column_order;
  const R *row_signs, *column_signs;
};

/// block.y: index of the item.
template <class T>
__global__ void __launch_bounds__(kThreads)
    rearrange_kernel(const RearrangedItem<Real<T>>* __restrict__ items) {
  const RearrangedItem<Real<T>> item = items[blockIdx.y];
  const T* const from = static_cast<const T*>(item.from);
  T* const to = static_cast<T*>(item.to);
  for (int64_t e = first_of_thread(); e < item.rows * item.columns; e += grid_step()) {
    const int64_t i = e % item.rows, j = e / item.rows;
    const int64_t row = item.row_order ? item.row_order[i] : i;
    const int64_t column = item.column_order ? item.column_order[j] : j;
    T x =
        item.adjoint ? conj(from[column + row * item.ld_from]) : from[row + column * item.ld_from];
    if (item.row_signs) x = scale(x, item.row_signs[i]);
    if (item.column_signs) x = scale(x, item.column_signs[j]);
    to[i + j * item.ld_to] = x;
  }
}

struct NormItem {
  const void* x;
  int64_t count;
};
/// One partial sum of squares per block.
template <class T>
__global__ void __launch_bounds__(kThreads)
    norms_kernel(const NormItem* __restrict__ items, double* sums) {
  const NormItem item = items[blockIdx.x];
  const T* const x = static_cast<const T*>(item.x);
  double sum = 0;
  for (int64_t i = threadIdx.x; i < item.count; i += kThreads) {
    if constexpr (Traits<T>::is_complex)
      sum += double(x[i].re) * double(x[i].re) + double(x[i].im) * double(x[i].im);
    else
      sum += double(x[i]) * double(x[i]);
  }
  __shared__ double of_warps[kThreads / 32];
  sum = sum_lanes<32>(sum);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  sum = 0;
  for (const double of_warp : of_warps) sum += of_warp;
  sums[blockIdx.x] = sum;
}

/// Initialization before the first panel.
template <class T>
__global__ void __launch_bounds__(kThreads)
    begin_indefinite_kernel(const __grid_constant__ IndefiniteItem<T> item, const T* from) {
  for (int64_t e = first_of_thread(); e < int64_t{item.n} * item.n; e += grid_step())
    item.A[e] = from[e];
  for (int64_t i = first_of_thread(); i < item.n + kIndefiniteProgress; i += grid_step())
    item.order[i] = i < item.n ? static_cast<int>(i) : 0;
}

template <class T>
__global__ void __launch_bounds__(kIndefiniteThreads, 1)
    indefinite_panel_kernel(const __grid_constant__ IndefiniteItem<T> item) {
  __shared__ typename IndefinitePanel<T>::Memory memory;
  extern __shared__ __align__(16) char columns[];
  if (item.progress()[1] < item.n)
    IndefinitePanel<T>(item, memory, item.columns ? item.columns : reinterpret_cast<T*>(columns))
        .run();
}
template <class T>
__global__ void __launch_bounds__(kUpdateThreads)
    indefinite_update_kernel(const __grid_constant__ IndefiniteItem<T> item) {
  using Update = IndefiniteUpdate<T>;
  __shared__ Update memory;
  memory.run(item, static_cast<int>(blockIdx.x) * Update::kOrder,
             static_cast<int>(blockIdx.y) * Update::kOrder);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    indefinite_result_kernel(const __grid_constant__ IndefiniteItem<T> item, T* to) {
  for (int64_t e = first_of_thread(); e < int64_t{item.n} * item.n; e += grid_step())
    to[e] = indefinite_element(item, static_cast<int>(e % item.n), static_cast<int>(e / item.n));
}

template <class T>
void CudaTileOps<T>::rearrange(const std::vector<backend::Rearrangement<T>>& list) {
  constexpr size_t kMost = 32768;  // limit of blocks along y
  if (list.size() > kMost) {
    const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
    rearrange(std::vector<backend::Rearrangement<T>>(list.begin(), middle));
    return rearrange(std::vector<backend::Rearrangement<T>>(middle, list.end()));
  }
  std::vector<int64_t> orders;
  std::vector<R> signs;
  int64_t largest = 1;
  const auto enter = [](auto& all, const auto* part, int64_t count) {
    if (part) all.insert(all.end(), part, part + count);
  };
  for (const auto& item : list) {
    enter(orders, item.row_order, item.rows);
    enter(orders, item.column_order, item.columns);
    enter(signs, item.row_signs, item.rows);
    enter(signs, item.column_signs, item.columns);
    largest = std::max(largest, item.rows * item.columns);
  }
  store_.upload.keep_together(
      {bytes_of(orders), bytes_of(signs), sizeof(RearrangedItem<R>) * list.size()});
  const int64_t* order = send(orders);
  const R* sign = send(signs);
  const auto take = [](const auto*& from, const auto* part, int64_t count) {
    return part ? std::exchange(from, from + count) : nullptr;
  };
  std::vector<RearrangedItem<R>> items;
  for (const auto& item : list) {
    RearrangedItem<R> sent{item.from,    item.to, item.ld_from, item.ld_to, item.rows, item.columns,
                           item.adjoint, nullptr, nullptr,      nullptr,    nullptr};
    sent.row_order = take(order, item.row_order, item.rows);
    sent.column_order = take(order, item.column_order, item.columns);
    sent.row_signs = take(sign, item.row_signs, item.rows);
    sent.column_signs = take(sign, item.column_signs, item.columns);
    items.push_back(sent);
  }
  if (items.empty()) return;
  const dim3 grid(static_cast<unsigned>(std::clamp<int64_t>(largest / 2048, 1, 256)),
                  static_cast<unsigned>(items.size()));
  rearrange_kernel<D><<<grid, kThreads, 0, stream_>>>(send(items));
  checked("rearrangement");
}

template <class T>
void CudaTileOps<T>::norms(std::vector<backend::Norm<T>>& list) {
  if (list.empty()) return;
  std::vector<NormItem> items;
  for (const auto& item : list) items.push_back({item.x, item.count});
  const Buffer<double> sums(std::ssize(items), memory());
  norms_kernel<D>
      <<<static_cast<unsigned>(items.size()), kThreads, 0, stream_>>>(send(items), sums.get());
  checked("norms");
  const double* const found = read(sums.get(), items.size());
  for (size_t i = 0; i < list.size(); ++i) list[i].norm = std::sqrt(found[i]);
}

/// Panels have 32 or 33 columns, which bounds the number of launches. Surplus launches have no
/// effect.
template <class T>
void CudaTileOps<T>::queue_ldl(T* A, int64_t n, Indefinite& memory) {
  constexpr size_t kMostShared = 40 * 1024;
  memory.scratch = this->buffer(n * (n + kPanelRoom + 4));
  memory.integers = Buffer<int>(2 * n + kIndefiniteProgress, this->memory());
  memory.signs = Buffer<R>(n, this->memory());
  IndefiniteItem<D> item{static_cast<int>(n), device(memory.scratch.get()), {}, {}, {}, {}, {}, {}};
  item.W = item.A + n * n;
  item.scales = item.W + n * kPanelRoom;
  const size_t shared = sizeof(D) * 2 * static_cast<size_t>(n);
  item.columns = shared > kMostShared ? item.scales + 2 * n : nullptr;
  item.order = memory.integers.get();
  item.kinds = item.order + n + kIndefiniteProgress;
  item.signs = memory.signs.get();
  begin_indefinite_kernel<D><<<blocks_for(n * n), kThreads, 0, stream_>>>(item, device(A));
  constexpr int kOrder = IndefiniteUpdate<D>::kOrder;
  const auto across = static_cast<unsigned>((n + kOrder - 1) / kOrder);
  for (int64_t first = 0; first < n; first += kIndefinitePanel) {
    indefinite_panel_kernel<D><<<1, kIndefiniteThreads, item.columns ? 0 : shared, stream_>>>(item);
    if (first + kIndefinitePanel < n)
      indefinite_update_kernel<D><<<dim3(across, across), kUpdateThreads, 0, stream_>>>(item);
  }
  indefinite_result_kernel<D><<<blocks_for(n * n), kThreads, 0, stream_>>>(item, device(A));
  checked("L D L^H of a tile");
}

template <class T>
void CudaTileOps<T>::begin_ldl(T* A, int64_t n, T* inverses) {
  Strand& side = store_.strand(Store::diagonal);
  check(cudaEventRecord(side.begun, stream_), "diagonal tile");
  check(cudaStreamWaitEvent(side.stream, side.begun, 0), "diagonal tile");
  store_.pool.hold(Pool::beside);
  const OnStream on_side(stream_, side.stream);
  queue_ldl(A, n, indefinite_);
  invert_blocks(A, n, inverses, true);
  check(cudaEventRecord(side.ended, stream_), "diagonal tile");
}

template <class T>
int CudaTileOps<T>::end_ldl(int64_t n, int64_t* order, R* signs) {
  check(cudaStreamWaitEvent(stream_, store_.strand(Store::diagonal).ended, 0), "diagonal tile");
  const size_t count = static_cast<size_t>(n);
  const int* const found = read(indefinite_.integers.get(), count + kIndefiniteProgress);
  std::copy_n(found, n, order);
  const int info = found[n + 2];
  std::copy_n(read(indefinite_.signs.get(), count), n, signs);
  indefinite_ = {};
  store_.pool.end_hold(Pool::beside);
  return info;
}

}  // namespace chol::cuda::tlr
