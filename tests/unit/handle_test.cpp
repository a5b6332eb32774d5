// Handles: life, options, messages.
#include "support/handle.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "unit/valid_call.hpp"

namespace chol::test {
namespace {

TEST(HandleLife, CreateAndDestroy) {
  chol_handle_t handle = nullptr;
  ASSERT_EQ(chol_create(&handle), CHOL_STATUS_SUCCESS) << chol_last_error(nullptr);
  ASSERT_NE(handle, nullptr);
  EXPECT_STREQ(chol_last_error(handle), "");
  EXPECT_EQ(chol_destroy(handle), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(chol_destroy(nullptr), CHOL_STATUS_SUCCESS);
}

TEST(HandleLife, CreateChecksItsArguments) {
  EXPECT_EQ(chol_create(nullptr), CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(chol_last_error(nullptr), "chol_create: handle = NULL, must point to its elements");
  const int devices[] = {0};
  const struct {
    int backend, count;
    const int* devices;
    const char* message;
  } kFaults[] = {
      {7, 0, nullptr,
       "chol_create_on: backend = 7, must be CHOL_BACKEND_HOST (0) or CHOL_BACKEND_CUDA (1)"},
      {CHOL_BACKEND_HOST, 1, devices,
       "chol_create_on: device_count = 1, must be 0 for the host backend"},
      {CHOL_BACKEND_CUDA, -1, devices, "chol_create_on: device_count = -1, must be at least 0"},
      {CHOL_BACKEND_CUDA, 1, nullptr, "chol_create_on: devices = NULL, must point to its elements"},
  };
  for (const auto& fault : kFaults) {
    // An arbitrary address, which must be overwritten by NULL.
    auto handle = reinterpret_cast<chol_handle_t>(const_cast<int*>(devices));
    EXPECT_EQ(chol_create_on(&handle, static_cast<chol_backend_t>(fault.backend), fault.count,
                             fault.devices),
              CHOL_STATUS_INVALID_VALUE);
    EXPECT_EQ(handle, nullptr);
    EXPECT_STREQ(chol_last_error(nullptr), fault.message);
  }
}

TEST(HandleLife, MissingBackendIsNoDevice) {
  const Handle host;
  const char* name = nullptr;
  EXPECT_EQ(chol_backend_name(host, CHOL_BACKEND_CUDA, &name), CHOL_STATUS_NO_DEVICE);
  EXPECT_EQ(name, nullptr);
  ASSERT_EQ(chol_backend_name(host, CHOL_BACKEND_HOST, &name), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(std::string(name).substr(0, 4), "host");
  EXPECT_EQ(chol_set_stream(host, nullptr), CHOL_STATUS_NOT_SUPPORTED);
  EXPECT_STREQ(host.last_error(), "chol_set_stream: the handle has no CUDA backend");
}

TEST(HandleLife, ManyAtOnceOnManyThreads) {
  constexpr int kThreads = 16, kHandles = 20;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([] {
      std::vector<chol_handle_t> handles(kHandles);
      for (chol_handle_t& handle : handles) ASSERT_EQ(chol_create(&handle), CHOL_STATUS_SUCCESS);
      for (chol_handle_t handle : handles) {
        EXPECT_EQ(chol_set_num_threads(handle, 1), CHOL_STATUS_SUCCESS);
        ValidCall<double> valid(Function::posv, Layout::batched);
        EXPECT_EQ(invoke(handle, valid.call), CHOL_STATUS_SUCCESS);
      }
      for (chol_handle_t handle : handles) EXPECT_EQ(chol_destroy(handle), CHOL_STATUS_SUCCESS);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(HandleOptions, EveryCallRefusesNoHandle) {
  int threads = 0;
  const char* name = nullptr;
  EXPECT_EQ(chol_set_num_threads(nullptr, 1), CHOL_STATUS_INVALID_HANDLE);
  EXPECT_EQ(chol_get_num_threads(nullptr, &threads), CHOL_STATUS_INVALID_HANDLE);
  EXPECT_EQ(chol_set_stream(nullptr, nullptr), CHOL_STATUS_INVALID_HANDLE);
  EXPECT_EQ(chol_set_math_mode(nullptr, CHOL_MATH_IEEE), CHOL_STATUS_INVALID_HANDLE);
  EXPECT_EQ(chol_set_workspace(nullptr, nullptr, 0), CHOL_STATUS_INVALID_HANDLE);
  EXPECT_EQ(chol_backend_name(nullptr, CHOL_BACKEND_HOST, &name), CHOL_STATUS_INVALID_HANDLE);
  EXPECT_STREQ(chol_last_error(nullptr),
               "chol_backend_name: handle is NULL or was destroyed, must come from chol_create");
}

TEST(HandleOptions, Threads) {
  const Handle handle;
  int threads = 0;
  EXPECT_EQ(chol_get_num_threads(handle, &threads), CHOL_STATUS_SUCCESS);
  EXPECT_GE(threads, 1);
  const int by_default = threads;
  EXPECT_EQ(chol_set_num_threads(handle, 3), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(chol_get_num_threads(handle, &threads), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(threads, 3);
  EXPECT_EQ(chol_set_num_threads(handle, -1), CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(handle.last_error(), "chol_set_num_threads: threads = -1, must be at least 0");
  EXPECT_EQ(chol_set_num_threads(handle, 65537), CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(handle.last_error(), "chol_set_num_threads: threads = 65537, must be at most 65536");
  EXPECT_EQ(chol_get_num_threads(handle, &threads), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(threads, 3);
  EXPECT_EQ(chol_set_num_threads(handle, 65536), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(chol_get_num_threads(handle, nullptr), CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(handle.last_error(),
               "chol_get_num_threads: threads = NULL, must point to its elements");
  EXPECT_EQ(chol_set_num_threads(handle, 0), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(chol_get_num_threads(handle, &threads), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(threads, by_default);
}

TEST(HandleOptions, MathMode) {
  const Handle handle;
  EXPECT_EQ(chol_set_math_mode(handle, CHOL_MATH_FAST), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(chol_set_math_mode(handle, CHOL_MATH_IEEE), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(chol_set_math_mode(handle, static_cast<chol_math_mode_t>(9)),
            CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(handle.last_error(),
               "chol_set_math_mode: mode = 9, must be CHOL_MATH_IEEE (0), CHOL_MATH_FAST (1) or "
               "CHOL_MATH_TENSOR (2)");
}

TEST(HandleOptions, BackendNameChecksItsArguments) {
  const Handle handle;
  EXPECT_EQ(chol_backend_name(handle, CHOL_BACKEND_HOST, nullptr), CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(handle.last_error(), "chol_backend_name: name = NULL, must point to its elements");
}

TEST(LastError, StaysUntilTheNextFailureAndBelongsToItsHandle) {
  const Handle first, second;
  EXPECT_EQ(chol_set_num_threads(first, -5), CHOL_STATUS_INVALID_VALUE);
  const std::string message = first.last_error();
  EXPECT_EQ(message, "chol_set_num_threads: threads = -5, must be at least 0");
  EXPECT_EQ(chol_set_num_threads(first, 1), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(first.last_error(), message);
  EXPECT_STREQ(second.last_error(), "");
}

TEST(LastError, WithoutAHandleBelongsToItsThread) {
  EXPECT_EQ(chol_set_num_threads(nullptr, 1), CHOL_STATUS_INVALID_HANDLE);
  const std::string here = chol_last_error(nullptr);
  std::thread([] { EXPECT_STREQ(chol_last_error(nullptr), ""); }).join();
  EXPECT_EQ(chol_last_error(nullptr), here);
}

TEST(Status, EveryValueHasItsName) {
  const char* const kNames[] = {"SUCCESS",       "INVALID_VALUE",  "INVALID_HANDLE", "ALLOC_FAILED",
                                "NOT_SUPPORTED", "NO_DEVICE",      "DEVICE_ERROR",   "INTERNAL",
                                "CANCELLED",     "CALLBACK_FAILED"};
  for (int value = 0; value < 10; ++value)
    EXPECT_EQ(std::string("CHOL_STATUS_") + kNames[value],
              chol_status_string(static_cast<chol_status_t>(value)));
  for (const int value : {-1, 10, 1 << 30})
    EXPECT_STREQ(chol_status_string(static_cast<chol_status_t>(value)), "unknown chol_status_t");
}

TEST(Version, IsTheHeaders) {
  int major = -1, minor = -1, patch = -1;
  EXPECT_EQ(chol_version(&major, &minor, &patch), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(major, CHOL_VERSION_MAJOR);
  EXPECT_EQ(minor, CHOL_VERSION_MINOR);
  EXPECT_EQ(patch, CHOL_VERSION_PATCH);
  EXPECT_EQ(chol_version(nullptr, nullptr, nullptr), CHOL_STATUS_SUCCESS);
}

}  // namespace
}  // namespace chol::test
