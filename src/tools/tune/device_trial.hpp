// The child's side of a search on a device.
#pragma once

namespace chol::tune {

/// Says the backend's name in a line ("!" and a reason where there is none), then answers every
/// line "routine form precision n seconds" by the Gflop/s of what chol_create makes of the tuning
/// file as it is then. Returns when there are no more.
int serve_device_trials();

}  // namespace chol::tune
