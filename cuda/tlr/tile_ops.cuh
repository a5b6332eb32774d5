// backend::TileOps over the kernels of this folder.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>

#include "tlr/basis_ops.cuh"
#include "tlr/column_ops.cuh"
#include "tlr/core_ops.cuh"
#include "tlr/diagonal_ops.cuh"
#include "tlr/pivot_ops.cuh"
#include "tlr/sweep_ops.cuh"
#include "tlr/wide_ops.cuh"

namespace chol::cuda::tlr {

template <class T>
void CudaTileOps<T>::transfer(int64_t rows, int64_t columns, const T* from, int64_t ld_from, T* to,
                              int64_t ld_to) {
  if (rows == 0 || columns == 0) return;
  const size_t width = sizeof(T) * static_cast<size_t>(rows);
  // The copy engine limits the pitch: vectors are copied as one row.
  if (columns == 1 || (ld_from == rows && ld_to == rows))
    check(
        cudaMemcpyAsync(to, from, width * static_cast<size_t>(columns), cudaMemcpyDefault, stream_),
        "copy");
  else
    check(cudaMemcpy2DAsync(to, sizeof(T) * static_cast<size_t>(ld_to), from,
                            sizeof(T) * static_cast<size_t>(ld_from), width,
                            static_cast<size_t>(columns), cudaMemcpyDefault, stream_),
          "copy");
  wait("copy");
}

template <class T>
void CudaTileOps<T>::copy(const std::vector<backend::Copy<T>>& list) {
  constexpr size_t kMost = 32768;
  std::vector<CopyItem> items;
  for (size_t first = 0; first < list.size(); first += kMost) {
    items.clear();
    int64_t largest = 1;
    for (size_t i = first; i < std::min(list.size(), first + kMost); ++i) {
      const backend::Copy<T>& c = list[i];
      items.push_back({c.from, c.to, c.rows, c.columns, c.ld_from, c.ld_to, c.adjoint});
      largest = std::max(largest, c.rows * c.columns);
    }
    const dim3 grid(static_cast<unsigned>(std::clamp<int64_t>(largest / 2048, 1, 256)),
                    static_cast<unsigned>(items.size()));
    copy_kernel<D><<<grid, kThreads, 0, stream_>>>(send(items));
    checked("copy");
  }
}

template <class T>
void CudaTileOps<T>::multiply(const backend::ProductGroups<T>& groups) {
  std::vector<Term> terms;
  std::vector<Sum> sums;
  std::vector<Part> vectors, narrow, wide;
  std::vector<TallItem> tall;
  constexpr bool has_wide = sizeof(D) < 16;
  for (int64_t g = 0; g < groups.groups(); ++g) {
    if (groups.begin(g) == groups.end(g)) continue;
    const backend::Product<T>& first = groups.product(groups.begin(g));
    if (first.m == 0 || first.n == 0) continue;
    if (groups.end(g) == groups.begin(g) + 1 && is_tall(first)) {
      tall.push_back({nullptr, first.A, first.B, first.C, static_cast<int>(first.m),
                      static_cast<int>(first.n), static_cast<int>(first.k),
                      static_cast<int>(first.lda), static_cast<int>(first.ldb), 1,
                      static_cast<int>(first.ldc)});
      continue;
    }
    Sum sum{first.C,
            static_cast<int>(first.m),
            static_cast<int>(first.n),
            static_cast<int>(first.ldc),
            static_cast<int>(terms.size()),
            0,
            first.sign == 0};
    for (int64_t i = groups.begin(g); i < groups.end(g); ++i) {
      const backend::Product<T>& p = groups.product(i);
      if (p.k == 0) continue;
      terms.push_back({p.A, p.B, static_cast<int>(p.k), static_cast<int>(p.lda),
                       static_cast<int>(p.ldb),
                       (p.adjoint_a ? kAdjointA : 0) | (p.adjoint_b ? kAdjointB : 0) |
                           (p.sign < 0 ? kSubtract : 0)});
    }
    sum.count = static_cast<int>(terms.size()) - sum.first;
    if (sum.count == 0 && !sum.overwrite) continue;
    const bool is_vector = sum.n <= kMostVectors &&
                           std::all_of(terms.begin() + sum.first, terms.end(),
                                       [](const Term& term) { return !(term.flags & kAdjointB); });
    if (is_vector) {
      for (int i = 0; i < (sum.m + 31) / 32; ++i)
        vectors.push_back({static_cast<int>(sums.size()), static_cast<uint16_t>(i), 0});
      sums.push_back(sum);
      continue;
    }
    const bool is_wide = has_wide && sum.n > 32;
    const int columns = is_wide ? 64 : 32;
    for (int j = 0; j < (sum.n + columns - 1) / columns; ++j)
      for (int i = 0; i < (sum.m + 63) / 64; ++i)
        (is_wide ? wide : narrow)
            .push_back({static_cast<int>(sums.size()), static_cast<uint16_t>(i),
                        static_cast<uint16_t>(j)});
    sums.push_back(sum);
  }
  multiply_tall(tall);
  if (sums.empty()) return;
  store_.upload.keep_together(
      {bytes_of(terms), bytes_of(sums), bytes_of(vectors), bytes_of(narrow), bytes_of(wide)});
  const Term* const sent_terms = send(terms);
  const Sum* const sent_sums = send(sums);
  if (!vectors.empty())
    vectors_kernel<D><<<static_cast<unsigned>(vectors.size()), kVectorThreads, 0, stream_>>>(
        sent_terms, sent_sums, send(vectors));
  if (!narrow.empty())
    products_kernel<D, 32><<<static_cast<unsigned>(narrow.size()), kProductThreads, 0, stream_>>>(
        sent_terms, sent_sums, send(narrow));
  if constexpr (has_wide)
    if (!wide.empty())
      products_kernel<D, 64><<<static_cast<unsigned>(wide.size()), kProductThreads, 0, stream_>>>(
          sent_terms, sent_sums, send(wide));
  checked("products");
}

template <class T>
void CudaTileOps<T>::make_hermitian(const std::vector<T*>& tiles,
                                    const std::vector<int64_t>& orders) {
  std::vector<CopyItem> items;
  for (size_t t = 0; t < tiles.size(); ++t)
    items.push_back({nullptr, tiles[t], orders[t], orders[t], orders[t], orders[t], false});
  constexpr size_t kMost = 32768;
  for (size_t first = 0; first < items.size(); first += kMost) {
    const auto end = items.begin() + static_cast<int64_t>(std::min(items.size(), first + kMost));
    const std::vector<CopyItem> part(items.begin() + static_cast<int64_t>(first), end);
    hermitian_kernel<D>
        <<<dim3(64, static_cast<unsigned>(part.size())), kThreads, 0, stream_>>>(send(part));
    checked("diagonal tiles");
  }
}

template <class T>
void CudaTileOps<T>::read_diagonal(const T* A, int64_t n, R* host) {
  if (n == 0) return;
  Buffer<R> diagonal(n, memory());
  read_diagonal_kernel<D><<<blocks_for(n), kThreads, 0, stream_>>>(device(A), n, diagonal.get());
  checked("diagonal");
  std::copy_n(read(diagonal.get(), static_cast<size_t>(n)), n, host);
}

template <class T>
void CudaTileOps<T>::make_definite(T* A, int64_t n, R least) {
  const Buffer<T> tile(n * n);
  transfer(n, n, A, n, tile.get(), n);
  make_definite_on_host(tile.get(), n, least);
  transfer(n, n, tile.get(), n, A, n);
}

/// To := inverse(L) From or inverse(L^H) From. Zero blocks of the inverse are skipped.
template <class T>
void CudaTileOps<T>::add_inverse_products(const backend::TriangularSolve<T>& item, const T* from,
                                          T* to, int64_t ld_to,
                                          backend::ProductGroups<T>& groups) const {
  constexpr int64_t kRows = 128;
  // A pivot of order 2 may cross the boundary of two blocks of rows.
  const int64_t beside = item.has_pairs ? 1 : 0;
  for (int64_t first = 0; first < item.n; first += kRows) {
    const int64_t rows = std::min(kRows, item.n - first);
    const int64_t begin = std::max<int64_t>(first - beside, 0);
    groups.begin_group();
    if (item.adjoint)
      groups.add({true, false, 0, rows, item.columns, item.n - begin,
                  item.inverses + begin + first * item.n, item.n, from + begin, item.n, to + first,
                  ld_to});
    else
      groups.add({false, false, 0, rows, item.columns, std::min(first + rows + beside, item.n),
                  item.inverses + first, item.n, from, item.n, to + first, ld_to});
  }
}

template <class T>
void CudaTileOps<T>::solve(const std::vector<backend::TriangularSolve<T>>& list) {
  int64_t elements = 0;
  for (const auto& item : list) elements += item.n * item.columns;
  const Buffer<T> right = this->buffer(elements);
  std::vector<backend::Copy<T>> copies;
  backend::ProductGroups<T> groups;
  T* free = right.get();
  for (const auto& item : list) {
    if (item.columns == 0 || item.n == 0) continue;
    copies.push_back({false, item.n, item.columns, item.V, item.ldv, free, item.n});
    add_inverse_products(item, free, item.V, item.ldv, groups);
    free += item.n * item.columns;
  }
  copy(copies);
  multiply(groups);
}

template <class T>
void CudaTileOps<T>::evaluate(const backend::Covariance& covariance,
                              const std::vector<backend::Block<T>>& blocks) {
  constexpr size_t kMost = 32768;
  const double log_scale = log_matern_scale(covariance);
  for (size_t first = 0; first < blocks.size(); first += kMost) {
    std::vector<BlockItem> items;
    int64_t rows = 1, columns = 1;
    for (size_t i = first; i < std::min(blocks.size(), first + kMost); ++i) {
      const backend::Block<T>& b = blocks[i];
      items.push_back({b.elements, b.row, b.column, b.rows, b.columns, b.ld});
      rows = std::max(rows, b.rows);
      columns = std::max(columns, b.columns);
    }
    const dim3 grid(static_cast<unsigned>((rows + kCovarianceThreads - 1) / kCovarianceThreads),
                    static_cast<unsigned>((columns + kCovarianceColumns - 1) / kCovarianceColumns),
                    static_cast<unsigned>(items.size()));
    covariance_kernel<D>
        <<<grid, kCovarianceThreads, 0, stream_>>>(covariance, log_scale, send(items));
    checked("covariances");
  }
}

template <class T>
void CudaTileOps<T>::multiply_covariance(const backend::Covariance& covariance, const T* x, T* y) {
  constexpr int kParts = 16;
  const int64_t n = covariance.n;
  const Buffer<T> partial = this->buffer(n * kParts);
  const auto blocks = static_cast<unsigned>((n + kCovarianceThreads - 1) / kCovarianceThreads);
  covariance_product_kernel<D><<<dim3(blocks, kParts), kCovarianceThreads, 0, stream_>>>(
      covariance, log_matern_scale(covariance), device(x), device(partial.get()));
  sum_parts_kernel<D>
      <<<blocks, kCovarianceThreads, 0, stream_>>>(device(partial.get()), kParts, n, device(y));
  checked("product with covariances");
}

template <class T>
void CudaTileOps<T>::queue_inner(const T* x, const T* y, int64_t n, double* sums) {
  inner_kernel<D><<<kInnerBlocks, kThreads, 0, stream_>>>(device(x), device(y), n, sums);
  checked("inner product");
}

template <class T>
double CudaTileOps<T>::inner(const T* x, const T* y, int64_t n) {
  const Buffer<double> sums(kInnerBlocks, memory());
  queue_inner(x, y, n, sums.get());
  const double* const of_blocks = read(sums.get(), kInnerBlocks);
  double sum = 0;
  for (int block = 0; block < kInnerBlocks; ++block) sum += of_blocks[block];
  return sum;
}

template <class T>
void CudaTileOps<T>::for_each(int64_t count, const std::function<void(int64_t)>& body) {
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::jthread> helpers;
  for (int64_t t = 1; t < std::min<int64_t>(threads_, count); ++t) helpers.emplace_back(work);
  work();
}

template <class T>
std::unique_ptr<backend::TileOps<T>> make_tile_ops(backend::Backend& backend, Store& store,
                                                   int threads, cudaStream_t stream) {
  return std::make_unique<CudaTileOps<T>>(backend, store, threads, stream);
}

}  // namespace chol::cuda::tlr

#define CHOL_INSTANTIATE_TLR(T)                                                          \
  template std::unique_ptr<chol::backend::TileOps<T>> chol::cuda::tlr::make_tile_ops<T>( \
      chol::backend::Backend & backend, chol::cuda::tlr::Store & store, int threads,     \
      cudaStream_t stream);
