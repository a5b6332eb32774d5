// Interleaved batches over orders, chunks and batch sizes: the factor, on the host with the bits of
// the column-major one, no changes outside the batch, packing in both directions, approximate roots
// within their bound.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "support/expect.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"
#include "support/setting.hpp"

namespace chol::test {
namespace {

constexpr int64_t kChunks[] = {1, 3, 8, 32, 33, 512};
constexpr int kVariants = 4;  ///< of which the last is not positive definite

/// Batches from 1 to 1000, fewer of the larger orders.
int64_t batch_of(int64_t n, size_t chunk_index) {
  constexpr int64_t kSmall[] = {1, 7, 65, 129, 515, 1000}, kLarge[] = {3, 9, 33, 1, 35, 67};
  return n <= 12 ? kSmall[(chunk_index + static_cast<size_t>(n)) % 6]
                 : kLarge[(chunk_index + static_cast<size_t>(n)) % 6];
}

/// The result of the host's column-major routine for one matrix.
template <class T>
struct Expected {
  Dense<T> A, L;
  int info;
};

template <class T>
std::vector<Expected<T>> expected_factors(chol_uplo_t uplo, int64_t n, int threads) {
  const Handle handle(CHOL_BACKEND_HOST, threads);
  std::vector<Expected<T>> all;
  for (int v = 0; v < kVariants; ++v) {
    Dense<T> A = reference<T>(n, v % 3).A;
    const int64_t bad = n / 2 + n % 3 % std::max<int64_t>(n - n / 2, 1);
    if (v == kVariants - 1) A(bad, bad) = n % 2 ? T(-1) : T(std::nan(""));
    Arrays<T> one(host_memory(), Layout::one, uniform(1, n));
    one.set_triangle(0, uplo, A);
    EXPECT_EQ(one.run(handle, Function::potrf, uplo), CHOL_STATUS_SUCCESS);
    if (v < kVariants - 1) {
      EXPECT_TRUE(is_factor(one, 0, uplo, A));
    }
    all.push_back({A, one.lower(0, uplo), one.info(0)});
  }
  return all;
}

/// The columns before the pivot that failed, or all.
template <class T>
testing::AssertionResult same_factor(const Arrays<T>& arrays, int64_t b, chol_uplo_t uplo,
                                     const Expected<T>& expected) {
  if (arrays.info(b) != expected.info)
    return testing::AssertionFailure()
           << "info = " << arrays.info(b) << " of matrix " << b << ", must be " << expected.info;
  const Dense<T> L = arrays.lower(b, uplo);
  const int64_t columns = expected.info > 0 ? expected.info - 1 : L.columns;
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = j; i < L.rows; ++i) {
      const bool spoiled = expected.info > 0 && i == expected.info - 1;
      if (!spoiled && !same_bits(L(i, j), expected.L(i, j)))
        return testing::AssertionFailure()
               << "element (" << i << ", " << j << ") of matrix " << b << " differs";
    }
  return testing::AssertionSuccess();
}

/// The same within the bound of residuals.
template <class T>
testing::AssertionResult near_factor(const Arrays<T>& arrays, int64_t b, chol_uplo_t uplo,
                                     const Expected<T>& expected) {
  return expected.info == 0 ? is_factor(arrays, b, uplo, expected.A)
                            : stopped_at(arrays, b, uplo, expected.A, expected.info);
}

CHOL_TEST(Interleaved, FactorInEveryChunk, kInterleaved) {
  for (int64_t n = 1; n <= 100; n += short_run() ? 7 : 1) {
    const int threads = static_cast<int>(1 + n % 3);
    const Handle handle(s.memory.backend(), threads);
    const auto expected = expected_factors<T>(s.uplo, n, threads);
    for (size_t c = 0; c < std::size(kChunks); ++c) {
      if (!takes(s, n + static_cast<int64_t>(c), 2)) continue;
      const int64_t batch = batch_of(n, c);
      SCOPED_TRACE(testing::Message()
                   << "n " << n << " chunk " << kChunks[c] << " batch " << batch);
      Arrays<T> arrays(s.memory, s.layout, uniform(batch, n, n % 3),
                       {n % 4, n % 2, Edge::end, kChunks[c]});
      for (int64_t b = 0; b < batch; ++b) {
        arrays.set_triangle(b, s.uplo, expected[static_cast<size_t>(b % kVariants)].A);
        arrays.spoil_diagonal(b);
      }
      run_well(arrays, handle, Function::potrf, s.uplo);
      for (int64_t b = 0; b < batch; ++b) {
        const Expected<T>& its = expected[static_cast<size_t>(b % kVariants)];
        ASSERT_TRUE(s.is_on_device() ? near_factor(arrays, b, s.uplo, its)
                                     : same_factor(arrays, b, s.uplo, its));
      }
    }
    if (testing::Test::HasFailure()) return;
  }
}

/// Every pivot failing.
CHOL_TEST(Interleaved, StopsAtEveryPivot, kInterleaved) {
  const Handle handle(s.memory.backend(), 1);
  for (const int64_t n : {1, 2, 5, 8, 13, 17, 23}) {
    Arrays<T> arrays(s.memory, s.layout, uniform(n + 1, n), {0, 0, Edge::end, 33});
    const Dense<T>& A = reference<T>(n).A;
    for (int64_t b = 0; b <= n; ++b) {
      Dense<T> M = A;
      if (b < n) M(b, b) = b % 3 == 0 ? T(0) : b % 3 == 1 ? T(std::nan("")) : T(-1);
      arrays.set_triangle(b, s.uplo, M);
    }
    run_well(arrays, handle, Function::potrf, s.uplo);
    for (int64_t b = 0; b < n; ++b) ASSERT_TRUE(stopped_at(arrays, b, s.uplo, A, b + 1));
    ASSERT_TRUE(is_factor(arrays, n, s.uplo, A));
  }
}

/// potrs and posv; a matrix that is not positive definite keeps its right-hand sides.
template <class T>
void solve_in_every_chunk(const Setting& s, Function function) {
  Random random(5);
  for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 31, 33, 64, 100})
    for (const int64_t nrhs : {0, 1, 3, 16}) {
      const Handle handle(s.memory.backend(), static_cast<int>(1 + nrhs % 2));
      for (size_t c = 0; c < std::size(kChunks); ++c) {
        if (!takes(s, n + nrhs + static_cast<int64_t>(c), 2)) continue;
        const int64_t batch = std::min<int64_t>(batch_of(n, c), 67);
        SCOPED_TRACE(testing::Message() << "n " << n << " nrhs " << nrhs << " chunk " << kChunks[c]
                                        << " batch " << batch);
        Arrays<T> arrays(s.memory, s.layout, uniform(batch, n, n % 2, nrhs, n % 3),
                         {1, 0, Edge::end, kChunks[c]});
        const Dense<T> B = random_dense<T>(n, nrhs, random);
        const auto fails = [&](int64_t b) { return function == Function::posv && b % 7 == 3; };
        for (int64_t b = 0; b < batch; ++b) {
          const Reference<T>& r = reference<T>(n, static_cast<int>(b % 3));
          Dense<T> M = function == Function::posv ? r.A : r.L;
          if (fails(b)) M(n - 1, n - 1) = T(-3);
          arrays.set_triangle(b, s.uplo, M);
          arrays.spoil_diagonal(b);
          arrays.set_rhs(b, B);
        }
        run_well(arrays, handle, function, s.uplo);
        for (int64_t b = 0; b < batch; ++b) {
          if (has_info(function)) {
            ASSERT_EQ(arrays.info(b), fails(b) ? n : 0);
          }
          if (!fails(b)) {
            ASSERT_TRUE(is_solution(arrays, b, reference<T>(n, static_cast<int>(b % 3)).A, B));
          }
        }
      }
    }
}
CHOL_TEST(Interleaved, Potrs, kInterleaved) { solve_in_every_chunk<T>(s, Function::potrs); }
CHOL_TEST(Interleaved, Posv, kInterleaved) { solve_in_every_chunk<T>(s, Function::posv); }

/// A zero on the diagonal prevents one inverse; that matrix is not changed.
CHOL_TEST(Interleaved, Potri, kInterleaved) {
  const Handle handle(s.memory.backend(), 2);
  for (const int64_t n : {1, 2, 3, 5, 8, 13, 16, 20, 33, 50})
    for (size_t c = 0; c < std::size(kChunks); ++c) {
      const int64_t batch = std::min<int64_t>(batch_of(n, c), 67);
      SCOPED_TRACE(testing::Message()
                   << "n " << n << " chunk " << kChunks[c] << " batch " << batch);
      Arrays<T> arrays(s.memory, s.layout, uniform(batch, n, 1), {0, 2, Edge::end, kChunks[c]});
      for (int64_t b = 0; b < batch; ++b) {
        Dense<T> L = reference<T>(n, static_cast<int>(b % 2)).L;
        if (b % 20 == 5) L(n / 2, n / 2) = T(0);
        arrays.set_triangle(b, s.uplo, L);
      }
      run_well(arrays, handle, Function::potri, s.uplo);
      for (int64_t b = 0; b < batch; ++b) {
        ASSERT_EQ(arrays.info(b), b % 20 == 5 ? n / 2 + 1 : 0);
        if (b % 20 != 5) {
          ASSERT_LT(inverse_ratio(reference<T>(n, static_cast<int>(b % 2)).A,
                                  arrays.hermitian(b, s.uplo)),
                    kThreshold);
        }
      }
    }
}

CHOL_TEST(Interleaved, Logdet, kInterleaved) {
  const Handle handle(s.memory.backend(), 2);
  for (const int64_t n : {1, 2, 5, 16, 33, 100})
    for (const int64_t chunk : kChunks) {
      Arrays<T> arrays(s.memory, s.layout, uniform(35, n, 1), {0, 0, Edge::end, chunk});
      Arrays<T> apart(s.memory, Layout::strided, uniform(35, n));
      for (int64_t b = 0; b < 35; ++b) {
        arrays.set_triangle(b, s.uplo, reference<T>(n, static_cast<int>(b % 3)).L);
        apart.set_triangle(b, s.uplo, reference<T>(n, static_cast<int>(b % 3)).L);
      }
      run_well(arrays, handle, Function::logdet, s.uplo);
      run_well(apart, handle, Function::logdet, s.uplo);
      // The order of sums on a device differs between forms.
      const double slack = s.is_on_device() ? 4 * epsilon<T>() * static_cast<double>(n) : 0;
      for (int64_t b = 0; b < 35; ++b)
        ASSERT_NEAR(arrays.result(b), apart.result(b), slack * (1 + std::abs(apart.result(b))));
    }
}

/// LAPACK's measures are below 300 with approximate roots, over the whole range of exponents; info
/// is unchanged.
template <class T>
void approximate_roots(const Setting& s, Function function) {
  const Handle handle(s.memory.backend(), 1);
  ASSERT_EQ(chol_set_math_mode(handle, CHOL_MATH_FAST), CHOL_STATUS_SUCCESS);
  Random random(11);
  for (int64_t n = 1; n <= 40; n += n < 20 ? 1 : 7) {
    Arrays<T> arrays(s.memory, s.layout, uniform(35, n, 1, 2), {0, 0, Edge::end, 16});
    std::vector<Dense<T>> matrices;
    const Dense<T> B = random_dense<T>(n, 2, random);
    for (int64_t b = 0; b < 35; ++b) {
      matrices.push_back(b % 5 == 4 ? graded_spd<T>(n, random) : random_spd<T>(n, random));
      Dense<T> M = matrices.back();
      if (b % 11 == 6) M(n - 1, n - 1) = T(-1);
      arrays.set_triangle(b, s.uplo, M);
      arrays.set_rhs(b, B);
    }
    run_well(arrays, handle, function, s.uplo);
    for (int64_t b = 0; b < 35; ++b) {
      ASSERT_EQ(arrays.info(b), b % 11 == 6 ? n : 0);
      if (arrays.info(b) != 0) continue;
      const Dense<T>& A = matrices[static_cast<size_t>(b)];
      ASSERT_LT(factor_ratios(A, arrays.lower(b, s.uplo), n).worst(), 300) << "n " << n;
      if (function == Function::posv && b % 5 != 4) {
        ASSERT_LT(solve_ratio(A, arrays.rhs(b), B), 300) << "n " << n;
      }
    }
  }
}
CHOL_TEST(Interleaved, ApproximateRoots, kInterleaved) {
  approximate_roots<T>(s, Function::potrf);
  approximate_roots<T>(s, Function::posv);
}

/// Column-major matrices on one side of a packing call, the interleaved array on the other; all
/// memory of both is poisoned first.
template <class T>
class Packs {
 public:
  const int64_t n, columns, ld, ldp, chunk, batch;
  std::vector<T> apart, packed;

  Packs(Memory& memory, int64_t rows, int64_t cols, int64_t matrices, int64_t side_by_side)
      : n(rows),
        columns(cols),
        ld(rows + 1),
        ldp(rows + 2),
        chunk(side_by_side),
        batch(matrices),
        apart(static_cast<size_t>(ld * columns * batch)),
        packed(static_cast<size_t>(ldp * columns * chunk * ((batch + chunk - 1) / chunk))),
        apart_block_(memory, apart.size() * sizeof(T), Edge::end),
        packed_block_(memory, packed.size() * sizeof(T), Edge::end),
        pointers_(memory, pointers(), Edge::end) {
    poison_all(apart, 0);
    poison_all(packed, 1 << 19);
  }
  static void poison_all(std::vector<T>& values, int64_t first) {
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = poison<T>(first + static_cast<int64_t>(k));
  }
  T* apart_array() const { return apart_block_.template as<T>(); }
  T* packed_array() const { return packed_block_.template as<T>(); }
  T** pointer_array() const { return pointers_.template as<T*>(); }

  /// Uploads, calls and downloads.
  template <class Function>
  void run(const Handle& handle, Function&& call) {
    apart_block_.upload(apart.data());
    packed_block_.upload(packed.data());
    ASSERT_EQ(call(), CHOL_STATUS_SUCCESS) << handle.last_error();
    apart_block_.download(apart.data());
    packed_block_.download(packed.data());
  }
  size_t apart_at(int64_t b, int64_t i, int64_t j) const {
    return static_cast<size_t>((b * columns + j) * ld + i);
  }
  size_t packed_at(int64_t b, int64_t i, int64_t j) const {
    return static_cast<size_t>((((b / chunk) * columns + j) * ldp + i) * chunk + b % chunk);
  }
  /// `to` is unchanged except for the copied elements, which have the bits of `from`.
  template <class Copied>
  bool is_copy(bool packing, const std::vector<T>& before, Copied&& copied) const {
    std::vector<T> expected = before;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < n; ++i)
          if (copied(i, j)) {
            if (packing)
              expected[packed_at(b, i, j)] = apart[apart_at(b, i, j)];
            else
              expected[apart_at(b, i, j)] = packed[packed_at(b, i, j)];
          }
    const std::vector<T>& found = packing ? packed : apart;
    return std::memcmp(expected.data(), found.data(), found.size() * sizeof(T)) == 0;
  }

 private:
  std::vector<T*> pointers() const {
    std::vector<T*> all;
    for (int64_t b = 0; b < batch; ++b) all.push_back(apart_array() + b * ld * columns);
    return all;
  }
  Block apart_block_, packed_block_, pointers_;
};

/// Packs, poisons the source, and unpacks; pack() and unpack() call the C functions.
template <class T, class Pack, class Unpack, class Copied>
void there_and_back(Packs<T>& p, const Handle& handle, Pack&& pack, Unpack&& unpack,
                    Copied&& copied) {
  const std::vector<T> first = p.packed, original = p.apart;
  p.run(handle, pack);
  ASSERT_TRUE(p.is_copy(true, first, copied));
  Packs<T>::poison_all(p.apart, 1 << 20);
  const std::vector<T> before = p.apart;
  p.run(handle, unpack);
  ASSERT_TRUE(p.is_copy(false, before, copied));
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t j = 0; j < p.columns; ++j)
      for (int64_t i = 0; i < p.n; ++i)
        if (copied(i, j)) {
          ASSERT_TRUE(same_bits(p.apart[p.apart_at(b, i, j)], original[p.apart_at(b, i, j)]));
        }
}

template <class T>
void triangles_there_and_back(const Setting& s, int64_t n, int64_t chunk, int64_t batch,
                              bool pointers) {
  const Handle handle(s.memory.backend(), 2);
  Packs<T> p(s.memory, n, n, batch, chunk);
  const auto pack = [&] {
    return pointers ? Api<T>::pack_batched(handle, s.uplo, n, p.pointer_array(), p.ld,
                                           p.packed_array(), p.ldp, chunk, batch)
                    : Api<T>::pack(handle, s.uplo, n, p.apart_array(), p.ld, p.ld * n,
                                   p.packed_array(), p.ldp, chunk, batch);
  };
  const auto unpack = [&] {
    return pointers ? Api<T>::unpack_batched(handle, s.uplo, n, p.packed_array(), p.ldp,
                                             p.pointer_array(), p.ld, chunk, batch)
                    : Api<T>::unpack(handle, s.uplo, n, p.packed_array(), p.ldp, p.apart_array(),
                                     p.ld, p.ld * n, chunk, batch);
  };
  there_and_back(p, handle, pack, unpack,
                 [&](int64_t i, int64_t j) { return s.uplo == CHOL_UPPER ? i <= j : i >= j; });
}

template <class T>
void whole_there_and_back(const Setting& s, int64_t n, int64_t nrhs, int64_t chunk, int64_t batch,
                          bool pointers) {
  const Handle handle(s.memory.backend(), 2);
  Packs<T> p(s.memory, n, nrhs, batch, chunk);
  const auto pack = [&] {
    return pointers ? Api<T>::pack_rhs_batched(handle, n, nrhs, p.pointer_array(), p.ld,
                                               p.packed_array(), p.ldp, chunk, batch)
                    : Api<T>::pack_rhs(handle, n, nrhs, p.apart_array(), p.ld, p.ld * nrhs,
                                       p.packed_array(), p.ldp, chunk, batch);
  };
  const auto unpack = [&] {
    return pointers ? Api<T>::unpack_rhs_batched(handle, n, nrhs, p.packed_array(), p.ldp,
                                                 p.pointer_array(), p.ld, chunk, batch)
                    : Api<T>::unpack_rhs(handle, n, nrhs, p.packed_array(), p.ldp, p.apart_array(),
                                         p.ld, p.ld * nrhs, chunk, batch);
  };
  there_and_back(p, handle, pack, unpack, [](int64_t, int64_t) { return true; });
}

CHOL_TEST(Interleaved, PackedAndUnpacked, kInterleaved) {
  for (const int64_t n : {1, 2, 3, 4, 5, 8, 9, 17, 33})
    for (size_t c = 0; c < std::size(kChunks); ++c)
      for (const bool pointers : {false, true}) {
        if (!takes(s, n + static_cast<int64_t>(c) + pointers, 2)) continue;
        const int64_t batch = std::min<int64_t>(batch_of(n, c), 200);
        SCOPED_TRACE(testing::Message()
                     << "n " << n << " chunk " << kChunks[c] << " batch " << batch);
        triangles_there_and_back<T>(s, n, kChunks[c], batch, pointers);
        whole_there_and_back<T>(s, n, 1 + n % 3, kChunks[c], batch, pointers);
        if (testing::Test::HasFailure()) return;
      }
}

}  // namespace
}  // namespace chol::test
