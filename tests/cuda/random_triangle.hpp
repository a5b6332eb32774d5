// A random factor in tiles of low rank, and reference solves and products with it.
#pragma once

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

#include "backend/tile_ops.hpp"
#include "elements.hpp"
#include "host/conjugate.hpp"

namespace chol::cuda::tlr {

using host::conjugate;

/// Tiles of low rank, of which some are dense and some zero, and inverses of diagonal tiles.
template <class D>
struct Triangle {
  using T = typename PublicOf<D>::Type;
  struct Block {
    int rows, columns;
    std::vector<T> elements;
    Block(int m, int n, double size) : rows(m), columns(n), elements(static_cast<size_t>(m) * n) {
      for (T& x : elements) {
        const D value = chol::cuda::scale(random_element<D>(), Real<D>(size));
        std::memcpy(static_cast<void*>(&x), &value, sizeof x);
      }
    }
    T& at(int i, int j) { return elements[i + static_cast<size_t>(j) * rows]; }
  };
  backend::LowerTiles<T> L;
  std::vector<Block> blocks, inverses;
  int n;

  /// @param shorter the block row of `last` rows
  Triangle(int tile, int count, int shorter, int last, bool has_pairs) {
    const int ranks[] = {5, 0, 17, -1, 1, 9};
    L.tile = tile;
    L.has_pairs = has_pairs;
    L.starts = {0};
    for (int i = 0; i < count; ++i)
      L.starts.push_back(L.starts.back() + (i == shorter ? last : tile));
    n = static_cast<int>(L.starts.back());
    blocks.reserve(static_cast<size_t>(count * count));
    for (int i = 0; i < count; ++i) {
      const int order = rows(i);
      inverses.emplace_back(order, order, 0.1);
      for (int j = 0; j < order; ++j)
        for (int row = 0; row < j; ++row)
          if (!has_pairs || row + 1 < j || row % 4 != 3) inverses.back().at(row, j) = T(0);
      for (int j = 0; j < i; ++j) {
        const int rank = std::min(ranks[(i + 2 * j) % 6], tile / 2);
        blocks.emplace_back(order, rank < 0 ? rows(j) : rank, 0.1);
        const T* const U = blocks.back().elements.data();
        blocks.emplace_back(rows(j), std::max(rank, 0), 0.1);
        L.tiles.push_back({U, rank < 0 ? nullptr : blocks.back().elements.data(), rank});
      }
    }
    for (Block& inverse : inverses) L.inverses.push_back(inverse.elements.data());
  }
  int rows(int64_t i) const { return static_cast<int>(L.starts[i + 1] - L.starts[i]); }

  /// y += L_ij x or L_ij^H x.
  void add(int i, int j, bool adjoint, const T* x, T* y) {
    const int64_t t = int64_t{i} * (i - 1) / 2 + j;
    Block &U = blocks[2 * t], &V = blocks[2 * t + 1];
    Block &left = adjoint ? V : U, &right = adjoint ? U : V;
    for (int c = 0; c < U.columns; ++c) {
      T z(0);
      if (L.tiles[t].rank >= 0) {
        for (int k = 0; k < right.rows; ++k) z += conjugate(right.at(k, c)) * x[k];
        for (int k = 0; k < left.rows; ++k) y[k] += left.at(k, c) * z;
      } else if (adjoint) {
        for (int k = 0; k < U.rows; ++k) y[c] += conjugate(U.at(k, c)) * x[k];
      } else {
        for (int k = 0; k < U.rows; ++k) y[k] += U.at(k, c) * x[c];
      }
    }
  }
  /// The inverse of block rows [first, end): by columns of the identity.
  std::vector<T> inverse_of(int first, int end) {
    const int64_t start = L.starts[first], order = L.starts[end] - start;
    std::vector<T> all(static_cast<size_t>(order * order));
    for (int64_t c = 0; c < order; ++c) {
      T* const x = all.data() + c * order;
      for (int i = first; i < end; ++i) {
        std::vector<T> right(static_cast<size_t>(rows(i)));
        for (int j = first; j < i; ++j) add(i, j, false, x + L.starts[j] - start, right.data());
        const int64_t row = L.starts[i] - start;
        for (int a = 0; a < rows(i); ++a) right[a] = (row + a == c ? T(1) : T(0)) - right[a];
        for (int a = 0; a < rows(i); ++a)
          for (int b = 0; b < rows(i); ++b) x[row + a] += inverses[i].at(a, b) * right[b];
      }
    }
    return all;
  }
  /// The sums alone, or the solution.
  std::vector<T> expected(bool adjoint, bool solves, const T* X) {
    const auto count = static_cast<int>(L.starts.size()) - 1;
    std::vector<T> result(static_cast<size_t>(n));
    for (int p = 0; p < count; ++p) {
      const int i = adjoint ? count - 1 - p : p;
      std::vector<T> sum(static_cast<size_t>(rows(i)));
      for (int q = 0; q < p; ++q) {
        const int j = adjoint ? count - 1 - q : q;
        add(std::max(i, j), std::min(i, j), adjoint, (solves ? result.data() : X) + L.starts[j],
            sum.data());
      }
      for (int a = 0; a < rows(i); ++a) {
        T& to = result[L.starts[i] + a];
        if (!solves) to = sum[a];
        for (int b = 0; solves && b < rows(i); ++b)
          to += (adjoint ? conjugate(inverses[i].at(b, a)) : inverses[i].at(a, b)) *
                (X[L.starts[i] + b] - sum[b]);
      }
    }
    return result;
  }
};

}  // namespace chol::cuda::tlr
