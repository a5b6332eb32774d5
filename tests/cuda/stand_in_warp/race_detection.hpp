// Annotations for ThreadSanitizer, so that it finds accesses that a kernel's barriers leave
// unordered, as a device's racecheck does: one thread of the host runs all threads of a block, and
// each is a fiber ordered by barriers only. Without ThreadSanitizer they do nothing.
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

/// A function that is not instrumented by ThreadSanitizer; the functions it calls are.
#define CHOL_UNINSTRUMENTED __attribute__((no_sanitize("thread")))

namespace chol::cuda {

#ifdef __SANITIZE_THREAD__

inline constexpr bool kFindsRaces = true;

/// The history of the threads, up to a thousand, takes most of the memory.
extern "C" __attribute__((weak)) const char* __tsan_default_options() { return "history_size=0"; }

/// A fiber of ThreadSanitizer.
inline void* new_fiber() { return __tsan_create_fiber(0); }
inline void* fiber_that_runs() { return __tsan_get_current_fiber(); }
/// Called directly before a context switch, without ordering. Its caller, which enters as one
/// thread and leaves as another, must not be instrumented.
__attribute__((always_inline)) CHOL_UNINSTRUMENTED inline void announce_switch_to(void* fiber) {
  __tsan_switch_to_fiber(fiber, __tsan_switch_to_fiber_no_sync);
}
/// During its lifetime accesses of this thread are ignored.
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
/// Accesses of this thread before are ordered before those of others after follow() of the same
/// address.
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
