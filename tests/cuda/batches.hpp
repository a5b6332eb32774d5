// Large batches, graphs, and independence of results from everything but the matrix.
#pragma once

#include <algorithm>
#include <array>

#include "calls.hpp"

namespace chol::test {

template <class T>
struct Batches : Calls<T> {
  using Calls<T>::handle, Calls<T>::uplo, Calls<T>::kBound, Calls<T>::check, Calls<T>::ok,
      Calls<T>::factored;

  /// Many copies of one matrix must have the same bits, for any position and number; a batch of one
  /// is treated as one matrix and may have other bits.
  void places(int64_t n, int64_t count) const {
    const Batch<T> one(uplo, n, n, 1, 5);
    const std::vector<T> two = factored_copies(one, 2);
    const int64_t different = places_unlike(two.data(), n * n, factored_copies(one, count));
    check(different == 0, "same bits at any position", n, double(different));
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
      check(different == 0, "same solution at any position", n, double(different));
    }
  }
  static std::vector<T> repeated(const T* one, int64_t size, int64_t count) {
    std::vector<T> all;
    all.reserve(size * count);
    for (int64_t b = 0; b < count; ++b) all.insert(all.end(), one, one + size);
    return all;
  }
  /// Number of those in `all` with different bits.
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
    call();  // the workspace is allocated from now on
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
