#include "preload/entry.hpp"

#include <cstdio>

namespace chol::preload {

void report_argument(const Entry& entry, int position) {
  using Xerbla = void(const char* name, const int64_t* position, size_t length);
  // A caller that reads 32 bits gets the low half: all supported machines are little endian.
  const int64_t info = position;
  void* found = find_in_process(entry.xerbla);
  if (!found) found = find_in_process("xerbla_");
  if (found)
    reinterpret_cast<Xerbla*>(found)(entry.lapack.text(), &info, entry.lapack.length());
  else
    std::fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n",
                 entry.lapack.text(), position);
}

int report_nobody(const char* symbol) {
  constexpr int kWorkMemoryError = -1010;  // LAPACK_WORK_MEMORY_ERROR of lapacke.h
  std::fprintf(stderr, "chol_preload: %s: no memory for chol and no other LAPACK in the process\n",
               symbol);
  return kWorkMemoryError;
}

}  // namespace chol::preload
