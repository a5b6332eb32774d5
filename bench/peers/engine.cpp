#include "peers/engine.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <stdexcept>

#include "base/scalar.hpp"
#include "input.hpp"
#include "precision.hpp"

namespace chol::bench {
namespace {

template <class T>
double one_norm(const T* A, int64_t n, int64_t lda) {
  double largest = 0;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::abs(A[i + j * lda]);
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace

HostEngine::Memory HostEngine::allocate(size_t bytes) {
  Memory memory(static_cast<char*>(std::malloc(std::max<size_t>(bytes, 1))));
  if (!memory) throw std::bad_alloc();
  return memory;
}

void HostEngine::load(const Case& c, const char* input) {
  factored_.reset();
  memory_.reset();
  work_ = Work{};
  work_.c = c;
  work_.layout = layout_of(c);
  const Layout& layout = work_.layout;
  const size_t size = element_size(c.precision);
  bytes_ = input_bytes(layout, c.precision);
  memory_ = allocate(bytes_);
  initial_ = input;
  work_.A = memory_.get();
  work_.B = work_.A + size * static_cast<size_t>(layout.a_elements);
  for (int64_t i = 0; i < layout.count(); ++i) {
    work_.A_of.push_back(work_.A + size * static_cast<size_t>(layout.a[i]));
    work_.B_of.push_back(work_.B + size * static_cast<size_t>(layout.b[i]));
  }
  work_.nrhs.assign(layout.count(), c.nrhs);
  work_.info.assign(layout.count(), 0);
  work_.scalar.assign(layout.count(), 0);
  prepare(work_);
  restore();
  if (wants_factor(c.routine)) factor_input();
}

void HostEngine::vary(const Case& c) {
  work_.c = c;
  prepare(work_);
}

void HostEngine::restore() {
  std::memcpy(memory_.get(), initial_, bytes_);
  arrange(work_);
}

/// potrs and similar routines start from a factor computed by this contestant.
void HostEngine::factor_input() {
  if (work_.c.routine == Routine::pocon)
    with_precision(work_.c.precision, [&](auto type) {
      using T = decltype(type);
      for (int64_t i = 0; i < work_.layout.count(); ++i)
        work_.norm.push_back(one_norm(work_.a<T>(i), work_.layout.n[i], work_.layout.lda[i]));
    });
  const Case asked = work_.c;
  work_.c.routine = Routine::potrf;
  execute(work_);
  collect(work_);
  work_.c = asked;
  factored_ = allocate(bytes_);
  std::memcpy(factored_.get(), memory_.get(), bytes_);
  initial_ = factored_.get();
}

void* open_library(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) throw std::runtime_error(dlerror());
  return library;
}

void* find_symbol(void* library, const std::string& name) { return dlsym(library, name.c_str()); }

}  // namespace chol::bench
