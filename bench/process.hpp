// A contestant's process: started, asked, and stopped whenever it is not the one at work, so that
// no idle thread of a BLAS spins beside the one that is timed.
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
  /// Wakes the process, waits for its answer, puts it to sleep. A process that died says so in the
  /// reply's text.
  Reply ask(const Request& request);

 private:
  Reply lost();

  Contestant contestant_;
  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace chol::bench
