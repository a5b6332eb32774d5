#include "preload/thread_handle.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "preload/settings.hpp"

namespace chol::preload {
namespace {

/// No routine spreads a smaller matrix over threads.
constexpr int64_t kLeastThreaded = 48;
/// A larger matrix needs workspace that is worth giving back, against which a new handle is free.
constexpr int64_t kMostKept = 2048;

struct ThreadHandle {
  chol_handle_t handle = nullptr;
  bool busy = false;
  ~ThreadHandle() {
    // exit() out of a signal handler: the interrupted call's threads may still be at work.
    if (!busy) drop();
  }
  void drop() {
    chol_destroy(handle);
    handle = nullptr;
  }
};

thread_local ThreadHandle of_this_thread;
std::atomic<int> calls_sharing_cores{0};

/// At most as many threads as the BLAS that the caller meant would use; callers that work side by
/// side share the cores. CHOL_NUM_THREADS overrules the BLAS.
void set_threads(chol_handle_t handle, Original& original, int callers) {
  static const bool is_set = secure_getenv("CHOL_NUM_THREADS") != nullptr;
  int threads = 1;
  chol_set_num_threads(handle, 0);
  chol_get_num_threads(handle, &threads);
  const int limit = is_set ? 0 : original.threads();
  if (limit > 0) threads = std::min(threads, limit);
  chol_set_num_threads(handle, std::max(1, threads / callers));
}

}  // namespace

HandleLease::HandleLease(int64_t n, Original& original) {
  ThreadHandle& mine = of_this_thread;
  if (mine.busy) return;
  if (!mine.handle) {
    if (chol_create_on(&mine.handle, CHOL_BACKEND_HOST, 0, nullptr) != CHOL_STATUS_SUCCESS) return;
    chol_set_offload(mine.handle, settings().offload);
  }
  mine.busy = true;
  handle_ = mine.handle;
  keep_ = n <= kMostKept;
  shares_cores_ = n >= kLeastThreaded;
  if (shares_cores_)
    set_threads(mine.handle, original,
                calls_sharing_cores.fetch_add(1, std::memory_order_relaxed) + 1);
}

HandleLease::~HandleLease() {
  if (!handle_) return;
  if (shares_cores_) calls_sharing_cores.fetch_sub(1, std::memory_order_relaxed);
  ThreadHandle& mine = of_this_thread;
  mine.busy = false;
  if (!keep_) mine.drop();
}

Place HandleLease::place() const {
  if (!shares_cores_) return Place::host;  // a small matrix goes nowhere
  chol_backend_t backend = CHOL_BACKEND_HOST;
  chol_last_backend(handle_, &backend);
  return backend == CHOL_BACKEND_CUDA ? Place::device : Place::host;
}

void forget_other_threads() { calls_sharing_cores = of_this_thread.busy ? 1 : 0; }

}  // namespace chol::preload
