// What ThreadSanitizer is told of the threads of a block, so that it finds what a kernel's barriers
// leave unordered, as a device's racecheck does: one thread of the host runs them all, and each is
// a thread to it (a fiber) that only barriers order. Without ThreadSanitizer there is nothing to
// tell.
#pragma once

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

/// A function that ThreadSanitizer does not see; what it calls is seen.
#define CHOL_UNINSTRUMENTED __attribute__((no_sanitize("thread")))

namespace chol::cuda {

#ifdef __SANITIZE_THREAD__

inline constexpr bool kFindsRaces = true;

/// A thread's history takes most of the memory, and the kernels have a thousand.
extern "C" __attribute__((weak)) const char* __tsan_default_options() { return "history_size=0"; }

/// A thread to ThreadSanitizer.
inline void* new_fiber() { return __tsan_create_fiber(0); }
inline void* fiber_that_runs() { return __tsan_get_current_fiber(); }
/// Right before the switch of contexts. Orders nothing. Its caller, which enters as one thread and
/// leaves as another, may tell ThreadSanitizer of neither.
__attribute__((always_inline)) CHOL_UNINSTRUMENTED inline void announce_switch_to(void* fiber) {
  __tsan_switch_to_fiber(fiber, __tsan_switch_to_fiber_no_sync);
}
/// While it lives what this thread reads and writes is none of the kernel's.
class Unseen {
 public:
  Unseen() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Unseen() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
};
/// What this thread has done comes before what others do after follow() of the same place.
__attribute__((always_inline)) CHOL_UNINSTRUMENTED inline void precede(const void* place) {
  __tsan_release(const_cast<void*>(place));
}
__attribute__((always_inline)) CHOL_UNINSTRUMENTED inline void follow(const void* place) {
  __tsan_acquire(const_cast<void*>(place));
}

#else

inline constexpr bool kFindsRaces = false;
inline void* new_fiber() { return nullptr; }
inline void* fiber_that_runs() { return nullptr; }
inline void announce_switch_to(void*) {}
struct Unseen {
  Unseen() {}
  ~Unseen() {}
};
inline void precede(const void*) {}
inline void follow(const void*) {}

#endif

}  // namespace chol::cuda
