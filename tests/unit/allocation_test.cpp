// Every allocation of the library fails in turn: the call reports it, nothing leaks, and the handle
// still works. This program's malloc precedes the C library's.
//
// libgomp ends the process when it gets no memory, and the loader and the C library keep what they
// allocate: only allocations by chol, or by the C++ library on its behalf, fail and are counted.
// Under sanitizers, which bring a malloc of their own, the program is not built.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "support/handle.hpp"
#include "unit/valid_call.hpp"

namespace {

std::atomic<bool> armed{false};
std::atomic<long> until_failure{-1};  ///< -1: none fails
std::atomic<long> counted{0};
/// Allocations not yet released. A list of them, since the caller of free() cannot be determined: a
/// tail call leaves no return address.
std::array<std::atomic<void*>, 4096> living{};

/// Whether the code at this address belongs to chol or the C++ library.
bool concerns_chol(const void* caller) {
  Dl_info info;
  if (!dladdr(caller, &info) || !info.dli_fname) return false;
  return std::strstr(info.dli_fname, "libchol") || std::strstr(info.dli_fname, "libstdc++");
}

/// The result of allocate(), or nullptr if this allocation is to fail.
template <class Allocate>
void* allocated(const void* caller, Allocate&& allocate) {
  if (!armed || !concerns_chol(caller)) return allocate();
  ++counted;
  if (until_failure >= 0 && until_failure.fetch_sub(1) == 0) return nullptr;
  void* memory = allocate();
  for (std::atomic<void*>& place : living) {
    void* nothing = nullptr;
    if (place.compare_exchange_strong(nothing, memory)) break;
  }
  return memory;
}

void released(void* memory) {
  if (!armed || !memory) return;
  for (std::atomic<void*>& place : living) {
    void* expected = memory;
    if (place.compare_exchange_strong(expected, nullptr)) break;
  }
}

long leaked_blocks() {
  return std::count_if(living.begin(), living.end(),
                       [](const std::atomic<void*>& place) { return place != nullptr; });
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
  return allocated(__builtin_return_address(0), [&] { return __libc_malloc(bytes); });
}
CHOL_TEST_EXPORT void* calloc(size_t count, size_t bytes) {
  return allocated(__builtin_return_address(0), [&] { return __libc_calloc(count, bytes); });
}
CHOL_TEST_EXPORT void* realloc(void* memory, size_t bytes) {
  void* moved =
      allocated(__builtin_return_address(0), [&] { return __libc_realloc(memory, bytes); });
  if (moved && moved != memory) released(memory);
  return moved;
}
CHOL_TEST_EXPORT void* aligned_alloc(size_t alignment, size_t bytes) {
  return allocated(__builtin_return_address(0), [&] { return __libc_memalign(alignment, bytes); });
}
CHOL_TEST_EXPORT int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  *memory =
      allocated(__builtin_return_address(0), [&] { return __libc_memalign(alignment, bytes); });
  return *memory ? 0 : ENOMEM;
}
CHOL_TEST_EXPORT void free(void* memory) {
  released(memory);
  __libc_free(memory);
}
}

namespace chol::test {
namespace {

/// Counts allocations during its lifetime and makes one fail.
class Armed {
 public:
  explicit Armed(long failing) {
    counted = 0;
    for (std::atomic<void*>& place : living) place = nullptr;
    until_failure = failing;
    armed = true;
  }
  ~Armed() { armed = false; }
};

/// Fails allocation k = 0, 1, 2, ... of scenario() until it succeeds. The scenario returns the
/// first status that is not SUCCESS.
template <class Scenario>
void fail_every_allocation(Scenario&& scenario) {
  scenario();  // one-time initialization of the process
  for (long k = 0;; ++k) {
    ASSERT_LT(k, 10000) << "it never gets by";
    chol_status_t status;
    long allocations, leaked;
    {
      const Armed counting(k);
      status = scenario();
      allocations = counted;
      leaked = leaked_blocks();
    }
    EXPECT_EQ(leaked, 0) << "after failure of allocation " << k;
    if (allocations <= k) {
      EXPECT_EQ(status, CHOL_STATUS_SUCCESS);
      break;
    }
    // The library may succeed without this memory; otherwise it must report exactly this.
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

/// Memory kept by a handle is freed with it.
TEST(Allocation, NoLeaks) {
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

/// A tile low rank matrix is assembled, factored, copied and used; after any failure it can be
/// destroyed.
TEST(Allocation, OfTileLowRank) {
  constexpr int64_t kOrder = 50, kTile = 20;
  std::vector<double> dense(kOrder * kOrder);
  for (int64_t j = 0; j < kOrder; ++j)
    for (int64_t i = 0; i < kOrder; ++i)
      dense[i + j * kOrder] = std::exp(-0.1 * std::abs(double(i - j)));
  const Handle handle(CHOL_BACKEND_HOST, 1);
  // Cholesky, indefinite and pivoted.
  for (const int kind : {0, 1, 2})
    fail_every_allocation([&] {
      chol_tlr_options_t options;
      chol_tlr_options_init(&options);
      options.ldl = kind == 1;
      options.pivot = kind;
      chol_tlr_t A = nullptr, copy = nullptr;
      int info = 0;
      std::array<double, kOrder> x{}, y{};
      chol_status_t status = chol_tlr_create(handle, CHOL_TYPE_D, kOrder, kTile, &A);
      const auto then = [&](auto&& call) {
        if (status == CHOL_STATUS_SUCCESS) status = call();
      };
      then([&] {
        return chol_tlr_from_dense(handle, A, CHOL_LOWER, dense.data(), kOrder, nullptr);
      });
      then([&] { return chol_tlr_copy(handle, A, &copy); });
      then([&] { return chol_tlr_factor(handle, A, &options, &info); });
      then([&] { return chol_tlr_solve(handle, A, 1, x.data(), kOrder); });
      then([&] { return chol_tlr_multiply(handle, copy, 1, x.data(), kOrder, y.data(), kOrder); });
      EXPECT_EQ(chol_tlr_destroy(copy), CHOL_STATUS_SUCCESS);
      EXPECT_EQ(chol_tlr_destroy(A), CHOL_STATUS_SUCCESS);
      return status;
    });
}

/// A repeated call allocates nothing; with the queried workspace the first call does not either.
TEST(Allocation, NoneWhenWarm) {
  static char workspace[1 << 20];
  for (const bool given : {false, true})
    for (const Function function : kFunctions)
      for (const Layout layout : kLayouts) {
        if (!exists(function, layout)) continue;
        const Handle handle(CHOL_BACKEND_HOST, 1);
        ValidCall<double> first(function, layout), second(function, layout);
        size_t bytes = 0;
        if (given) chol_query_workspace(handle, &bytes);
        ASSERT_EQ(invoke(handle, first.call), CHOL_STATUS_SUCCESS);
        if (given) {
          EXPECT_TRUE(first.untouched());
          ASSERT_LE(bytes, sizeof workspace - 1);
          chol_query_workspace(handle, nullptr);
          ASSERT_EQ(chol_set_workspace(handle, bytes ? workspace + 1 : nullptr, bytes),
                    CHOL_STATUS_SUCCESS);
        }
        const Armed counting(-1);
        EXPECT_EQ(invoke(handle, second.call), CHOL_STATUS_SUCCESS);
        EXPECT_EQ(counted, 0) << public_name('d', function, layout);
      }
}

}  // namespace
}  // namespace chol::test
