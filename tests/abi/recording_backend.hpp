// What the test plug-in tells about itself, beside its entry: found by dlsym.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chol::test {

/// What the plug-in's backends have seen since it was loaded.
struct Recording {
  int calls = 0;
  int live_backends = 0;
  int live_allocations = 0;
  int device_count = -1;
  int first_device = -1;
  int64_t last_n = -1;
  void* last_stream = nullptr;
  size_t last_workspace_bytes = 0;
};

using RecordingFunction = const Recording*();
inline constexpr const char* kRecordingSymbol = "chol_test_recording";

/// Memory that the plug-in calls device memory.
using AllocateFunction = void*(size_t bytes);
using ReleaseFunction = void(void* memory);
inline constexpr const char* kAllocateSymbol = "chol_test_allocate";
inline constexpr const char* kReleaseSymbol = "chol_test_release";

}  // namespace chol::test
