// Repeated calls on a device, for tests of bitwise reproducibility.
#pragma once

#include "device.hpp"
#include "spin.hpp"

namespace chol::test {

/// The same bits each time, also while another kernel occupies half of the multiprocessors.
/// @param call has queue(), and check(what) of its result.
template <class Call>
void repeat(Call& call, int times, cudaStream_t other, int multiprocessors) {
  for (int k = 0; k < times; ++k) {
    if (k % 4 == 3) CHOL_TEST_CUDA(spin(multiprocessors / 2, 128 * 1024, 400000 + 1000 * k, other));
    call.queue();
    call.check(k % 4 == 3 ? "bits during another kernel" : "bits of repeats");
  }
  CHOL_TEST_CUDA(cudaStreamSynchronize(other));
}

/// The same of a graph that call.stream captures. @param between launches from check to check.
template <class Call>
void replay(Call& call, int times, int between) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHOL_TEST_CUDA(cudaStreamBeginCapture(call.stream, cudaStreamCaptureModeThreadLocal));
  call.queue();
  CHOL_TEST_CUDA(cudaStreamEndCapture(call.stream, &graph));
  CHOL_TEST_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  for (int k = 0; k < times; ++k) {
    CHOL_TEST_CUDA(cudaGraphLaunch(executable, call.stream));
    if (k % between == between - 1) call.check("bits of a graph");
  }
  CHOL_TEST_CUDA(cudaGraphExecDestroy(executable));
  CHOL_TEST_CUDA(cudaGraphDestroy(graph));
}

}  // namespace chol::test
