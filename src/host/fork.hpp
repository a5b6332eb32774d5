// OpenMP after fork(). The thread that forks comes to the child with the team that it had, but the
// team's threads stay behind, and its next parallel region waits for them for ever (libgomp, as of
// GCC 14). A new thread starts without a team and makes one of its own.
#pragma once

#include <functional>

namespace chol::host {

/// Makes team_was_lost() work; any number of calls.
void watch_forks();

/// Whether this thread came here through a fork, with a team that may not be there.
bool team_was_lost();

/// Runs body on a thread of its own and waits for it. Returns false, and runs nothing, when there
/// can be no thread.
bool run_on_new_thread(const std::function<void()>& body);

}  // namespace chol::host
