// A contestant inside its own process: takes the shared input, restores it, runs one case on it.
// Contestants on the host derive from HostEngine; others (on a GPU) derive from Engine and keep
// their copies there.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "case.hpp"

namespace chol::bench {

/// The arrays of a case, with additional arrays of the calling conventions.
struct Work {
  Case c;
  Layout layout;
  char* A = nullptr;
  char* B = nullptr;
  std::vector<void*> A_of, B_of;  ///< where each matrix starts
  std::vector<int64_t> nrhs;
  std::vector<int> info;
  std::vector<double> norm;    ///< 1-norms of the input, for pocon
  std::vector<double> scalar;  ///< rcond or logdet, in the real type of the precision

  template <class T>
  T* a(int64_t i) const {
    return static_cast<T*>(A_of[i]);
  }
  template <class T>
  T* b(int64_t i) const {
    return static_cast<T*>(B_of[i]);
  }
  template <class R>
  R* scalars() {
    return reinterpret_cast<R*>(scalar.data());
  }
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string version() const = 0;
  virtual bool supports(const Case& c) const = 0;
  /// Takes a case; the input stays mapped until the next one.
  virtual void load(const Case& c, const char* input) = 0;
  /// Changes the triangle or the threads of the case in the same memory (share_memory).
  virtual void vary(const Case& c) = 0;
  virtual void restore() = 0;
  /// Runs the case synchronously. Throws std::runtime_error when it cannot.
  virtual void run() = 0;
  /// The result in host memory, to be checked.
  virtual const Work& result() = 0;
  /// One product C = A B of order n, synchronous; false if not available.
  virtual bool gemm(char, int64_t, const void*, const void*, void*, int) { return false; }
};

class HostEngine : public Engine {
 public:
  void load(const Case& c, const char* input) override;
  void vary(const Case& c) override;
  void restore() override;
  void run() override { execute(work_); }
  const Work& result() override {
    collect(work_);
    return work_;
  }

 protected:
  /// Called before anything of a case is timed.
  virtual void prepare(Work&) {}
  virtual void execute(Work& work) = 0;
  /// Converts the restored input to the layout of the case, and the result back; not timed.
  virtual void arrange(Work&) {}
  virtual void collect(Work&) {}

 private:
  /// Aligned as by malloc, as most callers' matrices are.
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  using Memory = std::unique_ptr<char, Free>;
  static Memory allocate(size_t bytes);
  void factor_input();

  Work work_;
  Memory memory_, factored_;
  const char* initial_ = nullptr;
  size_t bytes_ = 0;
};

/// Engines by name; NULL when the name is not known. Throws std::runtime_error when its library
/// cannot be opened.
std::unique_ptr<Engine> make_chol_engine(const std::string& library);
std::unique_ptr<Engine> make_lapack_engine(const std::vector<std::string>& libraries,
                                           const std::string& set_threads);
std::unique_ptr<Engine> make_mkl_compact_engine(const std::vector<std::string>& libraries);
std::unique_ptr<Engine> make_eigen_engine(bool fixed_size);

/// Opens a library permanently; throws std::runtime_error with the message of dlerror.
void* open_library(const std::string& path);
/// NULL when it is not there.
void* find_symbol(void* library, const std::string& name);

/// The loop over matrices as a user of LAPACK writes it: OpenMP, static for equal sizes.
template <class F>
void for_each_matrix(const Work& work, F&& f) {
  const int64_t count = work.layout.count();
  if (work.c.form == Form::one || work.c.threads == 1) {
    for (int64_t i = 0; i < count; ++i) f(i);
  } else if (work.c.form == Form::vbatched) {
#pragma omp parallel for schedule(dynamic, 16) num_threads(work.c.threads)
    for (int64_t i = 0; i < count; ++i) f(i);
  } else {
#pragma omp parallel for schedule(static) num_threads(work.c.threads)
    for (int64_t i = 0; i < count; ++i) f(i);
  }
}

/// Threads of the library inside one call: all of them on one matrix, one if the loop is threaded.
inline int library_threads(const Case& c) { return c.form == Form::one ? c.threads : 1; }

}  // namespace chol::bench
