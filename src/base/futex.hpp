// Waiting in the kernel until a 32-bit word changes (futex(2)), for threads of one process.
#pragma once

#include <atomic>
#include <cstdint>

namespace chol {

/// Sleeps while `word` holds `seen`. May return early; the caller looks again.
void futex_wait(const std::atomic<uint32_t>& word, uint32_t seen);

/// Wakes at most `count` of the threads that sleep on `word`.
void futex_wake(const std::atomic<uint32_t>& word, int count);

}  // namespace chol
