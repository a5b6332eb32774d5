#include "case_marker.hpp"

namespace chol::bench {
namespace {

__global__ void case_marker_kernel() {}

}  // namespace

void mark_case(int number, cudaStream_t stream) {
  case_marker_kernel<<<number + 1, 1, 0, stream>>>();
}

}  // namespace chol::bench
