// The tuning file of this process, CHOL_TUNING or the user's own, over the rows of a backend.
#pragma once

#include "backend/backend.hpp"

namespace chol::routine {

/// Applies the file's rows to those of the backend. Later handles reuse what the first one read,
/// unless the file has changed. An invalid file is an error if CHOL_TUNING names it (under the
/// preload a warning, once); the user's own file is ignored when invalid.
Status lay_tuning_file(backend::Backend& backend);

}  // namespace chol::routine
