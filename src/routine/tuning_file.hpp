// The tuning file of this process, CHOL_TUNING or the user's own, over the rows of a backend.
#pragma once

#include "backend/backend.hpp"

namespace chol::routine {

/// Lays the file's rows over those that the backend brought. A backend's second handle takes what
/// the first one read, unless the file has changed since. A file that was named has to be right,
/// but under the preload, which goes on without it and says so once; the user's own is done without
/// when it is not.
Status lay_tuning_file(backend::Backend& backend);

}  // namespace chol::routine
