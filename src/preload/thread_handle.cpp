#include "preload/thread_handle.hpp"

#include <algorithm>
#include <atomic>

#include "preload/settings.hpp"

namespace chol::preload {

constinit thread_local ThreadHandle of_this_thread;

namespace {

void destroy_handle() {
  chol_destroy(of_this_thread.handle);
  of_this_thread.handle = nullptr;
}

struct AtThreadEnd {
  bool is_set = false;
  ~AtThreadEnd() {
    // exit() from a signal handler: threads of the interrupted call may still run.
    if (!of_this_thread.busy) destroy_handle();
  }
};
thread_local AtThreadEnd at_thread_end;

std::atomic<int> calls_sharing_cores{0};

/// At most as many threads as the intercepted BLAS would use; concurrent callers share the cores.
/// CHOL_NUM_THREADS has precedence.
void set_threads(chol_handle_t handle, Original& original, int callers) {
  int threads = 1;
  chol_set_num_threads(handle, 0);
  chol_get_num_threads(handle, &threads);
  const int limit = settings().sets_threads ? 0 : original.threads();
  if (limit > 0) threads = std::min(threads, limit);
  chol_set_num_threads(handle, std::max(1, threads / callers));
}

}  // namespace

bool HandleLease::create() {
  chol_handle_t& handle = of_this_thread.handle;
  if (chol_create_on(&handle, CHOL_BACKEND_HOST, 0, nullptr) != CHOL_STATUS_SUCCESS) return false;
  at_thread_end.is_set = true;  // the first use in a thread registers the destructor
  chol_set_offload(handle, settings().offload);
  return true;
}

void HandleLease::drop() { destroy_handle(); }

void HandleLease::share_cores(Original& original) {
  set_threads(handle_, original, calls_sharing_cores.fetch_add(1, std::memory_order_relaxed) + 1);
}

void HandleLease::give_back_cores() { calls_sharing_cores.fetch_sub(1, std::memory_order_relaxed); }

Place HandleLease::place_of_last() const {
  chol_backend_t backend = CHOL_BACKEND_HOST;
  chol_last_backend(handle_, &backend);
  return backend == CHOL_BACKEND_CUDA ? Place::device : Place::host;
}

void forget_other_threads() { calls_sharing_cores = of_this_thread.busy ? 1 : 0; }

}  // namespace chol::preload
