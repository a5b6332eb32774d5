// Variable batches, large batches, graphs, and that results depend on nothing but the matrix.
#pragma once

#include <algorithm>
#include <array>

#include "calls.hpp"

namespace chol::test {

template <class T>
struct Batches : Calls<T> {
  using Calls<T>::handle, Calls<T>::uplo, Calls<T>::kBound, Calls<T>::check, Calls<T>::ok,
      Calls<T>::factored;

  void variable(int64_t max_n, bool bound_given, int64_t count = 61) const {
    const int64_t nrhs = 3;
    std::mt19937_64 engine(max_n);
    std::vector<Batch<T>> As;
    std::vector<int64_t> orders, ldas, rhs, ldbs;
    std::vector<T> all, all_b;
    std::vector<size_t> starts, b_starts;
    for (int64_t b = 0; b < count; ++b) {
      const int64_t n = b == 3 ? 0 : b == 7 ? max_n : int64_t(engine() % (max_n + 1));
      As.emplace_back(uplo, n, n + b % 3 + 1, 1, static_cast<unsigned>(b));
      orders.push_back(n);
      ldas.push_back(As[b].lda);
      rhs.push_back(b % (nrhs + 1));
      ldbs.push_back(n + 1);
      starts.push_back(all.size());
      b_starts.push_back(all_b.size());
      all.insert(all.end(), As[b].a.begin(), As[b].a.end());
      for (int64_t k = 0; k < ldbs[b] * nrhs; ++k) all_b.push_back(random_element<T>(engine));
    }
    orders[11] = -2;            // position 4 of potrf, 5 of posv
    ldas[13] = orders[13] - 1;  // position 6, 8; when the order is 0, -1 is as bad
    DeviceArray<T> a(all), pa(all), b(all_b), x(all_b);
    std::vector<T*> pointers, pv_pointers, b_pointers, x_pointers;
    for (int64_t m = 0; m < count; ++m) {
      pointers.push_back(a.data() + starts[m]);
      pv_pointers.push_back(pa.data() + starts[m]);
      b_pointers.push_back(b.data() + b_starts[m]);
      x_pointers.push_back(x.data() + b_starts[m]);
    }
    pointers[17] = pv_pointers[17] = nullptr;  // position 5, 7
    if (orders[17] == 0) orders[17] = 1, ldas[17] = 2;
    DeviceArray<T*> dp(pointers), dpv(pv_pointers), db(b_pointers), dx(x_pointers);
    DeviceArray<int64_t> dn(orders), dl(ldas), dr(rhs), dlb(ldbs);
    DeviceArray<int> info(std::vector<int>(count, -99)), pv_info(std::vector<int>(count, -99));
    const int64_t bound = bound_given ? max_n : 0, rhs_bound = bound_given ? nrhs : 0;
    ok(potrf_vbatched_of(T{})(handle, uplo, bound, dn.data(), dp.data(), dl.data(), info.data(),
                              count),
       "potrf_vbatched");
    ok(potrs_vbatched_of(T{})(handle, uplo, bound, rhs_bound, dn.data(), dr.data(), dp.data(),
                              dl.data(), dx.data(), dlb.data(), count),
       "potrs_vbatched");
    ok(posv_vbatched_of(T{})(handle, uplo, bound, rhs_bound, dn.data(), dr.data(), dpv.data(),
                             dl.data(), db.data(), dlb.data(), pv_info.data(), count),
       "posv_vbatched");
    const std::vector<T> out = a.get(), X = x.get(), PX = b.get();
    const std::vector<int> infos = info.get(), pv_infos = pv_info.get();
    for (int64_t m = 0; m < count; ++m) {
      const int position = m == 11 ? 4 : m == 13 ? 6 : m == 17 ? 5 : 0;
      const int pv_position = m == 11 ? 5 : m == 13 ? 8 : m == 17 ? 7 : 0;
      check(infos[m] == -position, "vbatched info", max_n, infos[m]);
      check(pv_infos[m] == -pv_position, "posv_vbatched info", max_n, pv_infos[m]);
      Batch<T> L = As[m];
      std::copy(out.begin() + starts[m], out.begin() + starts[m] + L.a.size(), L.a.begin());
      if (position) {
        check(std::memcmp(L.a.data(), As[m].a.data(), sizeof(T) * L.a.size()) == 0,
              "vbatched leaves a bad matrix", max_n, double(m));
        continue;
      }
      const double residual = factor_residual(As[m], L, 0);
      check(residual < kBound, "vbatched residual", As[m].n, residual);
      check(changed_outside(As[m], L) == 0, "vbatched outside", As[m].n, 0);
      const T* B = all_b.data() + b_starts[m];
      const double solved = solve_residual(As[m], 0, B, X.data() + b_starts[m], ldbs[m], rhs[m]);
      const double both = solve_residual(As[m], 0, B, PX.data() + b_starts[m], ldbs[m], rhs[m]);
      check(solved < kBound, "potrs_vbatched residual", As[m].n, solved);
      check(both < kBound, "posv_vbatched residual", As[m].n, both);
    }
    ok(potri_vbatched_of(T{})(handle, uplo, bound, dn.data(), dp.data(), dl.data(), info.data(),
                              count),
       "potri_vbatched");
    check(info.get()[11] == -4, "potri_vbatched info", max_n, info.get()[11]);
  }

  /// Many copies of one matrix must have the same bits, whatever their place and number; a batch of
  /// one is worked on as one matrix and may have others.
  void places(int64_t n, int64_t count) const {
    const Batch<T> one(uplo, n, n, 1, 5);
    const std::vector<T> two = factored_copies(one, 2);
    const int64_t different = places_unlike(two.data(), n * n, factored_copies(one, count));
    check(different == 0, "same bits at any place", n, double(different));
    if (n <= 300 && count <= 3000) solutions_at_places(one, count);
  }
  std::vector<T> factored_copies(const Batch<T>& one, int64_t count) const {
    const int64_t n = one.n;
    DeviceArray<T> a(repeated(one.a.data(), n * n, count));
    DeviceArray<int> infos(std::vector<int>(count, -9));
    std::vector<T*> pointers(count);
    for (int64_t b = 0; b < count; ++b) pointers[b] = a.data() + b * n * n;
    DeviceArray<T*> device_pointers(pointers);
    ok(potrf_batched_of(T{})(handle, uplo, n, device_pointers.data(), n, infos.data(), count),
       "potrf_batched");
    int64_t bad = 0;
    for (int i : infos.get()) bad += i != 0;
    check(bad == 0, "info of a large batch", n, double(bad));
    return a.get();
  }
  /// One right-hand side with the same matrix, alone and at every place of a batch.
  void solutions_at_places(const Batch<T>& one, int64_t count) const {
    const int64_t n = one.n, size = n * n;
    std::mt19937_64 engine(n);
    std::vector<T> b(n), alone;
    for (T& x : b) x = random_element<T>(engine);
    for (const int64_t copies : {int64_t(1), count}) {
      DeviceArray<T> a(repeated(one.a.data(), size, copies)), x(repeated(b.data(), n, copies));
      DeviceArray<int> infos(copies);
      ok(posv_strided_of(T{})(handle, uplo, n, 1, a.data(), n, size, x.data(), n, n, infos.data(),
                              copies),
         "posv_strided_batched");
      if (copies == 1) alone = x.get();
      const int64_t different = places_unlike(alone.data(), n, x.get());
      check(different == 0, "same solution at any place", n, double(different));
    }
  }
  static std::vector<T> repeated(const T* one, int64_t size, int64_t count) {
    std::vector<T> all;
    all.reserve(size * count);
    for (int64_t b = 0; b < count; ++b) all.insert(all.end(), one, one + size);
    return all;
  }
  /// How many of those in `all` have other bits.
  static int64_t places_unlike(const T* one, int64_t size, const std::vector<T>& all) {
    int64_t different = 0;
    for (size_t at = 0; at < all.size(); at += size)
      different += std::memcmp(&all[at], one, sizeof(T) * size) != 0;
    return different;
  }

  /// More elements than 32 bits count; every matrix a copy of the first.
  void elements_beyond_32_bits(int64_t n) const {
    const int64_t count = (int64_t(1) << 31) / (n * n) + 12, size = n * n;
    size_t free_bytes = 0, all_bytes = 0;
    CHOL_TEST_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
    if (free_bytes < sizeof(T) * size_t(count * size) + (size_t(1) << 30)) return;
    const Batch<T> one(uplo, n, n, 1, 3);
    DeviceArray<T> a(count * size);
    CHOL_TEST_CUDA(cudaMemcpy(a.data(), one.a.data(), sizeof(T) * size, cudaMemcpyHostToDevice));
    for (int64_t filled = 1; filled < count; filled *= 2)
      CHOL_TEST_CUDA(cudaMemcpy(a.data() + filled * size, a.data(),
                                sizeof(T) * size * std::min(filled, count - filled),
                                cudaMemcpyDeviceToDevice));
    DeviceArray<int> info(std::vector<int>(count, -9));
    ok(potrf_strided_of(T{})(handle, uplo, n, a.data(), n, size, info.data(), count),
       "potrf of many elements");
    std::vector<T> first(size), last(size);
    CHOL_TEST_CUDA(cudaMemcpy(first.data(), a.data(), sizeof(T) * size, cudaMemcpyDeviceToHost));
    CHOL_TEST_CUDA(cudaMemcpy(last.data(), a.data() + (count - 1) * size, sizeof(T) * size,
                              cudaMemcpyDeviceToHost));
    check(std::memcmp(first.data(), last.data(), sizeof(T) * size) == 0, "the last of many", n, 0);
    DeviceArray<int64_t> summary(2);
    ok(chol_info_summary(handle, info.data(), count, summary.data(), summary.data() + 1),
       "chol_info_summary");
    check(summary.get() == std::vector<int64_t>{0, -1}, "info of many elements", n,
          double(summary.get()[0]));
  }

  /// A hundred runs have the same bits.
  void runs(int64_t n, int64_t count) const {
    const Batch<T> A(uplo, n, n, count, 8);
    std::vector<int> info;
    const Batch<T> first = factored(A, &info);
    DeviceArray<T> before(A.a), work(A.a.size());
    DeviceArray<int> infos(count);
    int different = 0;
    for (int run = 0; run < 100; ++run) {
      CHOL_TEST_CUDA(
          cudaMemcpy(work.data(), before.data(), sizeof(T) * A.a.size(), cudaMemcpyDeviceToDevice));
      ok(potrf_strided_of(T{})(handle, uplo, n, work.data(), n, A.stride, infos.data(), count),
         "potrf again");
      different += std::memcmp(work.get().data(), first.a.data(), sizeof(T) * A.a.size()) != 0;
    }
    check(different == 0, "same bits in every run", n, different);
  }

  /// A captured call replayed a thousand times on new data.
  void graph(int64_t n) const {
    const int64_t count = 50;
    std::array<DeviceArray<T>, 4> inputs;
    std::vector<std::vector<T>> wanted;
    std::vector<int> no_info;
    size_t size = 0;
    for (unsigned k = 0; k < inputs.size(); ++k) {
      const Batch<T> A(uplo, n, n, count, k);
      inputs[k].assign(A.a);
      wanted.push_back(factored(A, &no_info).a);
      size = A.a.size();
    }
    const int64_t stride = Batch<T>(uplo, n, n, 1, 0).stride;
    DeviceArray<T> a(size);
    DeviceArray<int> info(count);
    cudaStream_t stream;
    CHOL_TEST_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ok(chol_set_stream(handle, stream), "chol_set_stream");
    const auto load = [&](unsigned k) {
      CHOL_TEST_CUDA(cudaMemcpyAsync(a.data(), inputs[k].data(), sizeof(T) * size,
                                     cudaMemcpyDeviceToDevice, stream));
    };
    const auto call = [&] {
      ok(potrf_strided_of(T{})(handle, uplo, n, a.data(), n, stride, info.data(), count),
         "potrf in a graph");
    };
    load(0);
    call();  // the workspace is there from now on
    CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHOL_TEST_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    call();
    CHOL_TEST_CUDA(cudaStreamEndCapture(stream, &graph));
    CHOL_TEST_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    int different = 0;
    for (unsigned round = 0; round < 1000; ++round) {
      const unsigned k = round % inputs.size();
      load(k);
      CHOL_TEST_CUDA(cudaGraphLaunch(exec, stream));
      if (round % 97 > 0 && round < 996) continue;
      CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
      different += std::memcmp(a.get().data(), wanted[k].data(), sizeof(T) * size) != 0;
    }
    check(different == 0, "graph replay", n, different);
    CHOL_TEST_CUDA(cudaGraphExecDestroy(exec));
    CHOL_TEST_CUDA(cudaGraphDestroy(graph));
    ok(chol_set_stream(handle, nullptr), "chol_set_stream");
    CHOL_TEST_CUDA(cudaStreamDestroy(stream));
  }
};

}  // namespace chol::test
