// Every allocation of the library fails in turn: the call says so, nothing leaks, and the handle
// still works. This program's malloc stands before the C library's.
//
// libgomp ends the process when it gets no memory, and the loader and the C library keep what they
// allocate: only what chol and the C++ library ask for on its behalf fails and is counted. Under
// sanitizers, which bring a malloc of their own, the program is not built.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "support/handle.hpp"
#include "unit/valid_call.hpp"

namespace {

std::atomic<bool> armed{false};
std::atomic<long> until_failure{-1};  ///< -1: none fails
std::atomic<long> counted{0};
std::atomic<long> live{0};

/// Whether the code at this address belongs to chol or the C++ library.
bool concerns_chol(const void* caller) {
  Dl_info info;
  if (!dladdr(caller, &info) || !info.dli_fname) return false;
  return std::strstr(info.dli_fname, "libchol") || std::strstr(info.dli_fname, "libstdc++");
}

/// True when this allocation is to fail.
bool fails(const void* caller) {
  if (!armed || !concerns_chol(caller)) return false;
  ++counted;
  if (until_failure < 0 || until_failure.fetch_sub(1) != 0) {
    ++live;
    return false;
  }
  return true;
}

void released(const void* caller, const void* memory) {
  if (armed && memory && concerns_chol(caller)) --live;
}

}  // namespace

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* memory);

#define CHOL_TEST_EXPORT __attribute__((visibility("default")))
CHOL_TEST_EXPORT void* malloc(size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}
CHOL_TEST_EXPORT void* calloc(size_t count, size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, bytes);
}
CHOL_TEST_EXPORT void* realloc(void* memory, size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, bytes);
}
CHOL_TEST_EXPORT void* aligned_alloc(size_t alignment, size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
}
CHOL_TEST_EXPORT int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (fails(__builtin_return_address(0))) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}
CHOL_TEST_EXPORT void free(void* memory) {
  released(__builtin_return_address(0), memory);
  __libc_free(memory);
}
}

namespace chol::test {
namespace {

/// Counts, and fails, what is allocated while it lives.
class Armed {
 public:
  explicit Armed(long failing) {
    counted = live = 0;
    until_failure = failing;
    armed = true;
  }
  ~Armed() { armed = false; }
};

/// Fails allocation k = 0, 1, 2, ... of scenario() until it gets by without a failure. The scenario
/// returns the first status that is not SUCCESS.
template <class Scenario>
void fail_every_allocation(Scenario&& scenario) {
  scenario();  // what is made once a process is made now
  for (long k = 0;; ++k) {
    ASSERT_LT(k, 10000) << "it never gets by";
    chol_status_t status;
    long allocations, leaked;
    {
      const Armed counting(k);
      status = scenario();
      allocations = counted;
      leaked = live;
    }
    EXPECT_EQ(leaked, 0) << "after failure of allocation " << k;
    if (allocations <= k) {
      EXPECT_EQ(status, CHOL_STATUS_SUCCESS);
      break;
    }
    // Where the library can do without, it may; it may not report anything else.
    if (status != CHOL_STATUS_SUCCESS) {
      EXPECT_EQ(status, CHOL_STATUS_ALLOC_FAILED) << "after failure of allocation " << k;
    }
  }
}

TEST(Allocation, OfHandles) {
  for (const bool every_backend : {false, true})
    fail_every_allocation([&] {
      chol_handle_t handle = nullptr;
      const chol_status_t status = every_backend
                                       ? chol_create(&handle)
                                       : chol_create_on(&handle, CHOL_BACKEND_HOST, 0, nullptr);
      EXPECT_EQ(handle == nullptr, status != CHOL_STATUS_SUCCESS);
      chol_destroy(handle);
      return status;
    });
}

/// A call on a fresh handle with the allocation failing, then the same call again without: it
/// succeeds.
template <class T>
void fail_in_call(Function function, Layout layout, int threads) {
  for (long k = 0;; ++k) {
    const Handle handle(CHOL_BACKEND_HOST, threads);
    ValidCall<T> valid(function, layout);
    chol_status_t status;
    long allocations;
    {
      const Armed counting(k);
      status = invoke(handle, valid.call);
      allocations = counted;
    }
    if (allocations <= k) {
      EXPECT_EQ(status, CHOL_STATUS_SUCCESS);
      return;
    }
    ASSERT_EQ(status, CHOL_STATUS_ALLOC_FAILED) << "allocation " << k;
    EXPECT_NE(
        std::string(handle.last_error()).find(public_name(precision_letter<T>, function, layout)),
        std::string::npos)
        << handle.last_error();
    EXPECT_TRUE(valid.untouched());
    EXPECT_EQ(invoke(handle, valid.call), CHOL_STATUS_SUCCESS) << handle.last_error();
  }
}

template <class T>
void fail_in_every_call() {
  for (const Function function : kFunctions)
    for (const Layout layout : kLayouts)
      for (const int threads : {1, 2})
        if (exists(function, layout)) {
          SCOPED_TRACE(public_name(precision_letter<T>, function, layout));
          fail_in_call<T>(function, layout, threads);
        }
}
TEST(Allocation, OfCalls) {
  fail_in_every_call<float>();
  fail_in_every_call<double>();
  fail_in_every_call<std::complex<float>>();
  fail_in_every_call<std::complex<double>>();
}

/// What a handle holds after calls goes with it.
TEST(Allocation, NothingStaysBehind) {
  fail_every_allocation([] {
    chol_handle_t handle = nullptr;
    chol_status_t status = chol_create_on(&handle, CHOL_BACKEND_HOST, 0, nullptr);
    for (const Function function : kFunctions)
      for (const Layout layout : kLayouts)
        if (exists(function, layout) && status == CHOL_STATUS_SUCCESS) {
          ValidCall<double> valid(function, layout);
          status = invoke(handle, valid.call);
        }
    chol_destroy(handle);
    return status;
  });
}

/// Once a call has been made, the same call allocates nothing; with a workspace the first does not
/// either.
TEST(Allocation, NoneWhenWarm) {
  alignas(256) static char workspace[1 << 20];
  for (const bool given : {false, true})
    for (const Function function : kFunctions)
      for (const Layout layout : kLayouts) {
        if (!exists(function, layout)) continue;
        const Handle handle(CHOL_BACKEND_HOST, 1);
        ValidCall<double> first(function, layout), second(function, layout);
        ASSERT_EQ(given ? chol_set_workspace(handle, workspace, sizeof workspace)
                        : invoke(handle, first.call),
                  CHOL_STATUS_SUCCESS);
        const Armed counting(-1);
        EXPECT_EQ(invoke(handle, second.call), CHOL_STATUS_SUCCESS);
        EXPECT_EQ(counted, 0) << public_name('d', function, layout);
      }
}

}  // namespace
}  // namespace chol::test
