// Handlers for loading the library, fork and exit.
#include <pthread.h>

#include "base/preloaded.hpp"
#include "preload/account.hpp"
#include "preload/thread_handle.hpp"

namespace chol::preload {
namespace {

void in_child() {
  forget_other_threads();
  Account::forget_all();
}

__attribute__((constructor)) void begin() {
  Account::begin();
  pthread_atfork(nullptr, nullptr, in_child);
}

__attribute__((destructor)) void end() { Account::report(); }

}  // namespace
}  // namespace chol::preload

extern "C" void chol_preload_tell_environment() { chol::preload::settings(); }
