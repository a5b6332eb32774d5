// The child process of a search on a device.
#pragma once

namespace chol::tune {

/// Prints the backend's name ("!" and a reason if there is none), then answers every line "routine
/// form precision n seconds" with the Gflop/s of the current content of the tuning file. Returns at
/// the end of input.
int serve_device_trials();

}  // namespace chol::tune
