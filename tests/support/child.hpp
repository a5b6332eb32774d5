// A condition that is evaluated in a child process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace chol::test {

/// Whether body() is true in a child process, which is killed if it hangs.
template <class Body>
bool holds_in_child(Body&& body) {
  constexpr unsigned kMostSeconds = 60;
  const pid_t child = fork();
  if (child == 0) {
    alarm(kMostSeconds);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace chol::test
