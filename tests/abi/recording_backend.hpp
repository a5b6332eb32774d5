// Functions of the test plug-in besides its entry, looked up by dlsym.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace chol::test {

/// Counters of the plug-in's backends, over all threads, since it was loaded.
struct Recording {
  std::atomic<int> calls = 0;
  std::atomic<int> host_matrices = 0;  ///< calls among them with the matrix in host memory
  std::atomic<int> live_backends = 0;
  std::atomic<int> live_allocations = 0;
  std::atomic<int> device_count = -1;
  std::atomic<int> first_device = -1;
  std::atomic<int> panels[8] = {};  ///< that each of several devices has factored
  int64_t last_n = -1;
  void* last_stream = nullptr;
  size_t last_workspace_bytes = 0;
};

using RecordingFunction = const Recording*();
inline constexpr const char* kRecordingSymbol = "chol_test_recording";

// Environment variables that the backends obey, read at every call:
//   CHOL_TEST_NO_DEVICE     there is none
//   CHOL_TEST_NO_MEMORY     allocations fail
//   CHOL_TEST_FAIL_AFTER=k  a matrix in host memory gets k columns of its factor, then the call
//   fails
//   CHOL_TEST_DEVICES=k     there are k; without it any number is one
//   CHOL_TEST_NO_PANELS     it cannot be one of several devices
//   CHOL_TEST_FAIL_PANELS   panels of several devices fail
//   CHOL_TEST_FAIL_STORE=k  after k copies back to the host a device of several fails

/// Memory that the plug-in calls device memory.
using AllocateFunction = void*(size_t bytes);
using ReleaseFunction = void(void* memory);
inline constexpr const char* kAllocateSymbol = "chol_test_allocate";
inline constexpr const char* kReleaseSymbol = "chol_test_release";
/// For a real device: copies to or from it after all its work, and whether it exists.
using CopyFunction = void(void* to, const void* from, size_t bytes);
using IsThereFunction = bool();
inline constexpr const char* kCopySymbol = "chol_test_copy";
inline constexpr const char* kIsThereSymbol = "chol_test_is_there";

}  // namespace chol::test
