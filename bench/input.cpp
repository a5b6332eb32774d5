#include "input.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <complex>
#include <system_error>

#include "base/scalar.hpp"
#include "precision.hpp"

namespace chol::bench {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// splitmix64 (Steele, Lea, Flood 2014): a generator that starts anywhere, one a matrix.
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [-1, -1/4) or [1/4, 1), so that no product is denormal.
  template <class R>
  R real() {
    const uint64_t bits = next();
    const R magnitude = R(0.25) + R(0.75) * static_cast<R>(bits >> 40) * R(0x1p-24);
    return bits & 1 ? magnitude : -magnitude;
  }
  template <class T>
  T element() {
    if constexpr (is_complex<T>) {
      const RealOf<T> re = real<RealOf<T>>();
      return T(re, real<RealOf<T>>());
    } else {
      return real<T>();
    }
  }
};

template <class T>
void fill_matrix(T* A, int64_t n, int64_t lda, Random random) {
  const auto diagonal = static_cast<RealOf<T>>((is_complex<T> ? 1.5 : 1.0) * n + 1);
  for (int64_t j = 0; j < n; ++j) {
    A[j + j * lda] = T(diagonal + random.real<RealOf<T>>());
    for (int64_t i = j + 1; i < n; ++i) {
      A[i + j * lda] = random.element<T>();
      A[j + i * lda] = conjugate(A[i + j * lda]);
    }
    for (int64_t i = n; i < lda; ++i) A[i + j * lda] = random.element<T>();
  }
}

template <class T>
void fill(const Case& c, const Layout& layout, char* memory) {
  T* A = reinterpret_cast<T*>(memory);
  T* B = A + layout.a_elements;
#pragma omp parallel for schedule(dynamic, 64)
  for (int64_t i = 0; i < layout.count(); ++i) {
    Random random{static_cast<uint64_t>(i) * 0x632be59bd9b4e019u};
    fill_matrix(A + layout.a[i], layout.n[i], layout.lda[i], random);
    random.state = ~random.state;
    if (has_rhs(c.routine))
      for (int64_t k = 0; k < layout.ldb[i] * c.nrhs; ++k) B[layout.b[i] + k] = random.element<T>();
  }
}

}  // namespace

SharedMemory::SharedMemory(size_t bytes) : bytes_(bytes ? bytes : 1) {
  descriptor_ = memfd_create("chol-bench", 0);
  if (descriptor_ < 0) fail("memfd_create");
  if (ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0) fail("ftruncate");
  void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) fail("mmap");
  data_ = static_cast<char*>(mapped);
}

SharedMemory::SharedMemory(int descriptor, size_t bytes)
    : descriptor_(descriptor), bytes_(bytes ? bytes : 1) {
  void* mapped = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) fail("mmap");
  data_ = static_cast<char*>(mapped);
}

SharedMemory::~SharedMemory() {
  if (data_) munmap(data_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

size_t input_bytes(const Layout& layout, char precision) {
  return element_size(precision) * static_cast<size_t>(layout.a_elements + layout.b_elements);
}

void fill_input(const Case& c, const Layout& layout, char* memory) {
  with_precision(c.precision, [&](auto type) { fill<decltype(type)>(c, layout, memory); });
}

}  // namespace chol::bench
