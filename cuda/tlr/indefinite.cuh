// L D L^H of one tile with rook pivoting, the bounded Bunch-Kaufman algorithm (Ashcraft, Grimes,
// Lewis 1998), with elements 1 and -1 in D; the algorithm is that of host/rook_pivoting.hpp and
// host/indefinite_factor.hpp. One block factors a panel of 32 columns. A column receives the
// pending updates of the panel when it is read. Many blocks then update the trailing matrix.
#pragma once

#include "common/scalar.cuh"

namespace chol::cuda::tlr {

inline constexpr int kIndefinitePanel = 32, kIndefiniteThreads = 512, kUpdateThreads = 256;
/// Capacity of a panel: one more column if the last pivot has order 2.
inline constexpr int kPanelRoom = kIndefinitePanel + 1;
inline constexpr int kIndefiniteProgress = 3;

/// A pivot of order 1, the first column of a pivot of order 2, its second column.
enum IndefiniteKind : int { kOne = 1, kFirst = 2, kSecond = 3 };

template <class T>
struct IndefiniteItem {
  int n;
  T* A;            ///< n by n, the lower triangle is read: L, unit lower triangular
  T* W;            ///< n by kPanelRoom: L D of a panel
  T* columns;      ///< 2 n: candidates; nullptr: they are in shared memory
  T* scales;       ///< 2 n: for each column of the factor, scales of one or two columns of L
  int* kinds;      ///< n
  int* order;      ///< n, followed by `progress`
  Real<T>* signs;  ///< n

  /// Begin and end of the last factored panel, and 0 or the position of a rejected pivot.
  __device__ int* progress() const { return order + n; }
};

template <class T>
class IndefinitePanel {
  using R = Real<T>;

 public:
  struct Memory {
    unsigned long long keys[2][kIndefiniteThreads / 32];
    double diagonals[2];
  };
  /// @param columns 2 n elements
  __device__ IndefinitePanel(const IndefiniteItem<T>& item, Memory& memory, T* columns)
      : item_(item),
        memory_(memory),
        columns_(columns),
        thread_(static_cast<int>(threadIdx.x)),
        n_(item.n),
        first_(item.progress()[1]) {}

  __device__ void run() {
    int k = first_;
    __syncthreads();  // all threads have read where the panel begins
    while (k < n_ && k - first_ < kIndefinitePanel) k += eliminate(k);
    if (thread_ > 0) return;
    item_.progress()[0] = first_;
    item_.progress()[1] = k;
  }

 private:
  /// A column: the modulus of its diagonal element, the largest modulus of the others, and its row.
  struct Candidate {
    double diagonal, largest;
    int row;
    __device__ bool is_pivot() const {
      constexpr double kAlpha = 0.6403882032022076;  // (1 + sqrt(17)) / 8
      return diagonal >= kAlpha * largest;
    }
  };
  __device__ T& a(int i, int j) const { return item_.A[i + int64_t{j} * n_]; }
  __device__ T& w(int i, int j) const { return item_.W[i + int64_t{j - first_} * n_]; }

  /// Copies column j of the trailing matrix before step k to x. The first of several off-diagonal
  /// elements of about the largest modulus is chosen. NaN counts as the largest.
  __device__ Candidate load(int k, int j, T* x) {
    // Double buffered: a thread may write the next values while others read these.
    turn_ ^= 1;
    unsigned long long *const keys = memory_.keys[turn_], key = 0;
    for (int i = k + thread_; i < n_; i += kIndefiniteThreads) {
      T value = i < j ? conj(a(j, i)) : a(i, j);
#pragma unroll 8
      for (int c = first_; c < k; ++c) value = subtract_product_conj(value, a(i, c), w(j, c));
      if (i == j) {
        value = from_real<T>(real(value));
        memory_.diagonals[turn_] = fabs(double(real(value)));
      } else {
        key = larger(key, key_of(value, i));
      }
      x[i] = value;
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      key = larger(key, __shfl_xor_sync(kFullWarp, key, distance));
    if (thread_ % 32 == 0) keys[thread_ / 32] = key;
    __syncthreads();
#pragma unroll
    for (int warp = 0; warp < kIndefiniteThreads / 32; ++warp) key = larger(key, keys[warp]);
    const unsigned long long bits = key & ~kRowBits;
    Candidate found{};
    found.diagonal = memory_.diagonals[turn_];
    memcpy(&found.largest, &bits, sizeof bits);
    found.row = bits == 0 ? k : static_cast<int>(kRowBits - (key & kRowBits));
    return found;
  }
  static constexpr unsigned long long kRowBits = 0xFFFF;
  __device__ static unsigned long long key_of(T x, int row) {
    const double size = size_of(x);
    unsigned long long bits;
    memcpy(&bits, &size, sizeof bits);
    return (bits & ~kRowBits) | (kRowBits - static_cast<unsigned long long>(row));
  }

  /// Interchanges rows and columns p < q of the trailing matrix, and the rows of L.
  __device__ void exchange(int p, int q, T* x, T* y) {
    if (p == q) return;
    for (int j = thread_; j < p; j += kIndefiniteThreads) swap(a(p, j), a(q, j));
    for (int j = first_ + thread_; j < p; j += kIndefiniteThreads) swap(w(p, j), w(q, j));
    for (int i = p + 1 + thread_; i < n_; i += kIndefiniteThreads) {
      if (i > q) {
        swap(a(i, p), a(i, q));
      } else if (i < q) {
        const T of_row = conj(a(q, i));
        a(q, i) = conj(a(i, p));
        a(i, p) = of_row;
      } else {
        a(q, p) = conj(a(q, p));
      }
    }
    if (thread_ == 0) {
      swap(a(p, p), a(q, q));
      swap(item_.order[p], item_.order[q]);
      swap(x[p], x[q]);
      swap(y[p], y[q]);
    }
    __syncthreads();
  }
  template <class E>
  __device__ static void swap(E& x, E& y) {
    const E was = x;
    x = y;
    y = was;
  }

  /// One step with a pivot of order 1 or 2; returns the order.
  __device__ int eliminate(int k) {
    T *x = columns_, *y = x + n_;
    Candidate before = load(k, k, x);
    if (k + 1 == n_ || before.is_pivot()) return eliminate_one(k, x);
    for (int p = k, j = before.row;;) {
      const Candidate found = load(k, j, y);
      if (found.is_pivot()) {
        exchange(k, j, x, y);
        return eliminate_one(k, y);
      }
      if (!(found.largest > before.largest)) {
        exchange(k, p, x, y);
        exchange(k + 1, j == k ? p : j, x, y);
        return eliminate_two(k, x, y);
      }
      p = j;
      j = found.row;
      before = found;
      swap(x, y);
    }
  }

  /// One thread stores the sign of a pivot of D.
  __device__ void note(int k, R pivot) const {
    item_.signs[k] = pivot < R(0) ? R(-1) : R(1);
    int& refused = item_.progress()[2];
    if (refused == 0 && !(fabs(double(pivot)) <= double(largest(pivot)) && pivot != R(0)))
      refused = k + 1;
  }
  __device__ int eliminate_one(int k, const T* x) {
    const R pivot = real(x[k]), divisor = pivot == R(0) ? R(1) : pivot;
    for (int i = k + 1 + thread_; i < n_; i += kIndefiniteThreads) {
      w(i, k) = x[i];
      a(i, k) = quotient(x[i], divisor);
    }
    if (thread_ == 0) {
      item_.kinds[k] = kOne;
      item_.scales[2 * k] = from_real<T>(static_cast<R>(sqrt(fabs(double(pivot)))));
      note(k, pivot);
    }
    __syncthreads();
    return 1;
  }
  /// The block is Q diag(high, low) Q^H. Rook pivoting ensures that c is not small against p and q.
  __device__ int eliminate_two(int k, const T* x, const T* y) {
    const R p = real(x[k]), q = real(y[k + 1]);
    const T c = x[k + 1];
    const R determinant = real(subtract_product_conj(from_real<T>(p * q), c, c));
    for (int i = k + 2 + thread_; i < n_; i += kIndefiniteThreads) {
      w(i, k) = x[i];
      w(i, k + 1) = y[i];
      a(i, k) = quotient(subtract_product(scale(x[i], q), y[i], c), determinant);
      a(i, k + 1) = quotient(subtract_product_conj(scale(y[i], p), x[i], c), determinant);
    }
    if (thread_ == 0) {
      const R size = static_cast<R>(size_of(c));
      const R middle = (p + q) / 2, radius = static_cast<R>(hypot(double(p - q) / 2, double(size)));
      const R high = middle + radius, low = middle - radius;
      const R first = high - q, length = static_cast<R>(hypot(double(first), double(size)));
      const T second = quotient(c, length);
      const R high_root = static_cast<R>(sqrt(fabs(double(high))));
      const R low_root = static_cast<R>(sqrt(fabs(double(low))));
      item_.kinds[k] = kFirst;
      item_.kinds[k + 1] = kSecond;
      item_.scales[2 * k] = from_real<T>(first / length * high_root);
      item_.scales[2 * k + 1] = scale(second, high_root);
      item_.scales[2 * k + 2] = scale(negative(conj(second)), low_root);
      item_.scales[2 * k + 3] = from_real<T>(first / length * low_root);
      note(k, high);
      note(k + 1, low);
    }
    __syncthreads();
    return 2;
  }
  __device__ static double size_of(T x) {
    if constexpr (Traits<T>::is_complex)
      return hypot(double(x.re), double(x.im));
    else
      return fabs(double(x));
  }
  __device__ static T quotient(T x, R y) {
    if constexpr (Traits<T>::is_complex)
      return {x.re / y, x.im / y};
    else
      return x / y;
  }

  const IndefiniteItem<T>& item_;
  Memory& memory_;
  T* const columns_;
  const int thread_, n_, first_;
  int turn_ = 0;
};

/// Trailing update A -= L (L D)^H, one block of the matrix per 256 threads.
template <class T>
struct IndefiniteUpdate {
  static constexpr int kOrder = sizeof(T) == 16 ? 32 : 64, kOfThread = kOrder / 16;
  T left[kPanelRoom][kOrder + 1], right[kPanelRoom][kOrder + 1];

  __device__ void run(const IndefiniteItem<T>& item, int row, int column) {
    const int begin = item.progress()[0], end = item.progress()[1], n = item.n;
    if (row < column || row + kOrder <= end || column + kOrder <= end) return;
    const int thread = static_cast<int>(threadIdx.x), count = end - begin;
    for (int e = thread; e < count * kOrder; e += kUpdateThreads) {
      const int i = e % kOrder, c = e / kOrder;
      left[c][i] = row + i < n && row + i >= end ? item.A[row + i + int64_t{begin + c} * n]
                                                 : from_real<T>(0);
      right[c][i] = column + i < n && column + i >= end ? item.W[column + i + int64_t{c} * n]
                                                        : from_real<T>(0);
    }
    __syncthreads();
    T sums[kOfThread][kOfThread];
    const int x = thread % 16, y = thread / 16;
    const auto each = [&](auto&& body) {
#pragma unroll
      for (int j = 0; j < kOfThread; ++j)
#pragma unroll
        for (int i = 0; i < kOfThread; ++i) body(sums[j][i], x + 16 * i, y + 16 * j);
    };
    each([&](T& sum, int i, int j) {
      const bool is_there = row + i < n && column + j >= end && row + i >= column + j;
      sum = is_there ? item.A[row + i + int64_t{column + j} * n] : from_real<T>(0);
    });
    for (int c = 0; c < count; ++c)
      each(
          [&](T& sum, int i, int j) { sum = subtract_product_conj(sum, left[c][i], right[c][j]); });
    each([&](T sum, int i, int j) {
      if (row + i < n && column + j >= end && row + i >= column + j)
        item.A[row + i + int64_t{column + j} * n] = sum;
    });
  }
};

/// Element (i, j) of the factor.
template <class T>
__device__ __forceinline__ T indefinite_element(const IndefiniteItem<T>& item, int i, int j) {
  const int kind = item.kinds[j], k = kind == kSecond ? j - 1 : j, n = item.n;
  const T* const scales = item.scales + 2 * j;
  if (i < k) return from_real<T>(0);
  if (i == k) return scales[0];
  if (i == k + 1 && kind != kOne) return scales[1];
  const T* const l = item.A + i + int64_t{k} * n;
  if (kind == kOne) return scale(l[0], real(scales[0]));
  return add_conj_product(add_conj_product(from_real<T>(0), conj(l[0]), scales[0]), conj(l[n]),
                          scales[1]);
}
}  // namespace chol::cuda::tlr
