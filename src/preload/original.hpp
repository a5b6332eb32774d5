// The original functions: what a name would resolve to without this library.
#pragma once

#include <atomic>

namespace chol::preload {

/// The function `symbol` of the process: after this library in the global scope, else in an object
/// that was loaded in a local scope (as the modules of NumPy, SciPy and R load theirs), else in the
/// library `fallback`, which is then loaded. nullptr when there is none. Objects that were found
/// are never unloaded.
void* find_original(const char* symbol, const char* fallback);
inline constexpr const char* kSystemLapack = "liblapack.so.3";

/// The same for a function that a program may define itself, such as xerbla_: the executable's
/// comes first. This library defines none of these.
void* find_in_process(const char* symbol);

/// A cached find_original(). A name that was not found is looked for again: the program may load
/// its LAPACK later.
class Original {
 public:
  constexpr explicit Original(const char* symbol, const char* fallback = kSystemLapack) noexcept
      : symbol_(symbol), fallback_(fallback) {}
  const char* symbol() const { return symbol_; }

  /// nullptr, or the function as a pointer of type Function*.
  template <class Function>
  Function* get() {
    void* found = function_.load(std::memory_order_acquire);
    if (!found) {
      found = find_original(symbol_, fallback_);
      function_.store(found, std::memory_order_release);
    }
    return reinterpret_cast<Function*>(found);
  }

  /// How many threads the BLAS behind the function would use: what OPENBLAS_NUM_THREADS,
  /// MKL_NUM_THREADS or threadpoolctl have set. 0 when unknown.
  int threads();

 private:
  using Count = int();
  const char* symbol_;
  const char* fallback_;
  std::atomic<void*> function_{nullptr};
  std::atomic<Count*> count_{nullptr};
};

}  // namespace chol::preload
