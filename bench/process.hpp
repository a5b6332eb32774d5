// A contestant's process, which is stopped whenever it is not the active one, so that no idle
// thread of a BLAS spins during a measurement.
#pragma once

#include <sys/types.h>

#include <string>

#include "catalog.hpp"
#include "protocol.hpp"

namespace chol::bench {

class Process {
 public:
  /// @param input descriptor of the shared input, -1 for none.
  Process(const Contestant& contestant, int input);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  const Contestant& contestant() const { return contestant_; }
  /// Resumes the process, waits for its reply, and stops it. If the process has died, the reply's
  /// text says so.
  Reply ask(const Request& request);

 private:
  Reply lost();

  Contestant contestant_;
  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace chol::bench
