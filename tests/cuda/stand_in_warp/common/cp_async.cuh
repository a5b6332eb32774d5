#pragma once

#include <cstdint>
#include <cstring>

#include "warp.hpp"

namespace chol::cuda {

inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(static_cast<const unsigned char*>(p) - shared);
}
template <class T>
T* held_in_register(T* p) {
  return p;
}
template <class T>
const T* advanced(const T* p, int64_t step) {
  return p + step;
}
/// The destination is undefined until the copy has been waited for: NaN, and written as
/// ThreadSanitizer sees it.
template <int kBytes>
void copy_async(void* to, const void* from, int bytes = kBytes) {
  std::memset(to, 0xFF, kBytes);
  HostBlock::current->self().groups.back().push_back(
      {static_cast<unsigned char*>(to), from, bytes, kBytes - bytes});
}
template <int kBytes>
void copy_async(unsigned to, const void* from, int bytes = kBytes) {
  copy_async<kBytes>(shared + to, from, bytes);
}
template <int kBytes, bool>
void copy_async_of_line(void* to, const void* from) {
  copy_async<kBytes>(to, from);
}
inline void prefetch_to_l2(const void*) {}
inline void copy_async_once(unsigned to, const void* from, int bytes = 16) {
  copy_async<16>(shared + to, from, bytes);
}
template <int>
void meet_from_anywhere() {
  __syncthreads();
}
inline void close_copy_group() { HostBlock::current->self().groups.emplace_back(); }
template <int kPending>
void wait_for_copy_groups() {
  auto& groups = HostBlock::current->self().groups;
  const int arrived = static_cast<int>(groups.size()) - 1 - kPending;
  if (arrived <= 0) return;
  for (int k = 0; k < arrived; ++k)
    for (const PendingCopy& copy : groups[k]) {
      std::memcpy(copy.to, copy.from, copy.bytes);
      std::memset(copy.to + copy.bytes, 0, copy.zeros);
    }
  // Threads are reused for later blocks: remaining copies would be processed by every later wait.
  groups.erase(groups.begin(), groups.begin() + arrived);
}

}  // namespace chol::cuda
