#include "base/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace chol {
namespace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

/// Leaves errno alone: a library call that succeeds does not change it.
void futex(const std::atomic<uint32_t>& word, int operation, uint32_t value) {
  const int before = errno;
  syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
  errno = before;
}

}  // namespace

void futex_wait(const std::atomic<uint32_t>& word, uint32_t seen) { futex(word, FUTEX_WAIT, seen); }

void futex_wake(const std::atomic<uint32_t>& word, int count) {
  futex(word, FUTEX_WAKE, static_cast<uint32_t>(count));
}

}  // namespace chol
