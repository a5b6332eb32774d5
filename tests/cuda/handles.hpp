// Several handles: two streams, eight threads; and the memories that the arrays of a call may be
// in.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "calls.hpp"

namespace chol::test {

/// A separate handle and stream, and a batch of systems that is solved repeatedly.
struct Worker {
  chol_handle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  Batch<double> A;
  DeviceArray<double> input, work;
  DeviceArray<int> info;

  Worker(int64_t n, int64_t count, unsigned seed)
      : A(CHOL_LOWER, n, n, count, seed), input(A.a), work(A.a.size()), info(count) {
    expect_status(nullptr, chol_create_on(&handle, CHOL_BACKEND_CUDA, 0, nullptr),
                  "chol_create_on");
    CHOL_TEST_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    expect_status(handle, chol_set_stream(handle, stream), "chol_set_stream");
    // A copy of pageable memory may return before it has arrived, and this stream waits for none.
    CHOL_TEST_CUDA(cudaDeviceSynchronize());
  }
  ~Worker() {
    chol_destroy(handle);
    cudaStreamDestroy(stream);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  chol_status_t queue() const {
    CHOL_TEST_CUDA(cudaMemcpyAsync(work.data(), input.data(), sizeof(double) * A.a.size(),
                                   cudaMemcpyDeviceToDevice, stream));
    return chol_dpotrf_strided_batched(handle, CHOL_LOWER, A.n, work.data(), A.lda, A.stride,
                                       info.data(), A.count);
  }
  std::vector<double> result() const {
    CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
    return work.get();
  }
};

/// The results of each worker must be the same alone and concurrently with the others.
inline void check_side_by_side(size_t workers, bool threads) {
  std::vector<std::unique_ptr<Worker>> all;
  std::vector<std::vector<double>> wanted;
  for (size_t k = 0; k < workers; ++k) {
    all.push_back(std::make_unique<Worker>(20 + 37 * k, 300, unsigned(k)));
    expect_status(all[k]->handle, all[k]->queue(), "alone");
    wanted.push_back(all[k]->result());
  }
  std::vector<int> failed(workers, 0);
  const auto rounds = [&](size_t k, int count) {
    for (int round = 0; round < count; ++round) failed[k] += all[k]->queue() != CHOL_STATUS_SUCCESS;
  };
  if (threads) {
    std::vector<std::thread> running;
    for (size_t k = 0; k < workers; ++k) running.emplace_back(rounds, k, 50);
    for (std::thread& thread : running) thread.join();
  } else {
    for (int round = 0; round < 50; ++round)
      for (size_t k = 0; k < workers; ++k) rounds(k, 1);
  }
  for (size_t k = 0; k < workers; ++k) {
    expect(failed[k] == 0, "status beside others", 'd', CHOL_LOWER, all[k]->A.n, failed[k]);
    expect(all[k]->result() == wanted[k], "bits beside others", 'd', CHOL_LOWER, all[k]->A.n,
           double(workers));
  }
}

inline void check_places_of_arrays(chol_handle_t handle) {
  std::vector<double> host(16, 1.0);
  DeviceArray<double> device(16);
  int info = 0;
  const auto refused = [](chol_status_t status, const char* what) {
    expect(status == CHOL_STATUS_INVALID_VALUE, what, 'd', CHOL_LOWER, 4, status);
  };
  refused(chol_dpotrf(handle, CHOL_LOWER, 4, host.data(), 4, &info), "host array, CUDA handle");
  refused(chol_dpotrf(handle, CHOL_LOWER, 4, device.data(), 4, &info), "arrays in two places");

  const DeviceArray<int> infos(std::vector<int>{0, 0, 5, -3, 0});
  int64_t pageable[2] = {7, 7}, *pinned = nullptr;
  refused(chol_info_summary(handle, infos.data(), 5, &pageable[0], &pageable[1]),
          "summary into pageable memory");
  CHOL_TEST_CUDA(cudaMallocHost(reinterpret_cast<void**>(&pinned), 2 * sizeof *pinned));
  expect_status(handle, chol_info_summary(handle, infos.data(), 5, pinned, pinned + 1),
                "chol_info_summary");
  CHOL_TEST_CUDA(cudaDeviceSynchronize());
  expect(pinned[0] == 2 && pinned[1] == 2, "summary", 'd', CHOL_LOWER, pinned[0],
         double(pinned[1]));
  CHOL_TEST_CUDA(cudaFreeHost(pinned));
}

}  // namespace chol::test
