// A CUDA driver on host memory with the functions that chol-tune calls, used as libcuda.so.1 in
// tests.
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace {

using Address = unsigned long long;
using Clock = std::chrono::steady_clock;

void* at(Address address) { return reinterpret_cast<void*>(address); }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) { return std::getenv("CHOL_TEST_NO_DEVICE") ? 100 : 0; }
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGetAttribute(int* value, int which, int) {
  switch (which) {
    case 16:  // multiprocessors
      *value = 1;
      break;
    case 38:  // second-level cache: small, or trials would be long here
      *value = 1;
      break;
    case 39:  // threads
      *value = 2048;
      break;
    case 81:  // shared memory of a multiprocessor
      *value = 228 << 10;
      break;
    case 82:  // registers
      *value = 65536;
      break;
    case 97:  // shared memory of a block
      *value = 227 << 10;
      break;
    case 106:  // blocks
      *value = 32;
      break;
    default:
      return 1;
  }
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = nullptr;
  return 0;
}
int cuCtxSetCurrent(void*) { return 0; }
int cuMemAlloc_v2(Address* address, size_t bytes) {
  *address = reinterpret_cast<Address>(std::malloc(bytes));
  return *address ? 0 : 2;
}
int cuMemFree_v2(Address address) {
  std::free(at(address));
  return 0;
}
int cuMemcpyHtoD_v2(Address to, const void* from, size_t bytes) {
  std::memcpy(at(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, Address from, size_t bytes) {
  std::memcpy(to, at(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void*) {
  std::memcpy(at(to), at(from), bytes);
  return 0;
}
int cuEventCreate(void** event, unsigned) {
  *event = new Clock::time_point;
  return 0;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<Clock::time_point*>(event);
  return 0;
}
int cuEventRecord(void* event, void*) {
  *static_cast<Clock::time_point*>(event) = Clock::now();
  return 0;
}
int cuEventSynchronize(void*) { return 0; }
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  const std::chrono::duration<float, std::milli> spent =
      *static_cast<Clock::time_point*>(end) - *static_cast<Clock::time_point*>(begin);
  *milliseconds = spent.count();
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
