#include "host/fork.hpp"

#include <pthread.h>

#include <system_error>
#include <thread>

namespace chol::host {
namespace {

thread_local bool came_through_fork = false;

}  // namespace

void watch_forks() {
  static const int once = pthread_atfork(nullptr, nullptr, [] { came_through_fork = true; });
  static_cast<void>(once);
}

bool team_was_lost() { return came_through_fork; }

bool run_on_new_thread(const std::function<void()>& body) {
  try {
    std::thread(body).join();
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

}  // namespace chol::host
