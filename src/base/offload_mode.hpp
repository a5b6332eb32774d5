// The words of CHOL_OFFLOAD.
#pragma once

#include <cstdio>
#include <cstring>

#include "chol.h"

namespace chol {

/// What `word` says, or `otherwise` when it is unset, empty or none of the words.
/// @param complain to stderr about a word that is none.
inline chol_offload_t offload_mode(const char* word, chol_offload_t otherwise, bool complain) {
  if (!word || !*word) return otherwise;
  if (std::strcmp(word, "never") == 0) return CHOL_OFFLOAD_NEVER;
  if (std::strcmp(word, "auto") == 0) return CHOL_OFFLOAD_AUTO;
  if (std::strcmp(word, "always") == 0) return CHOL_OFFLOAD_ALWAYS;
  if (complain)
    std::fprintf(stderr, "# chol: CHOL_OFFLOAD = %s, must be never, auto or always (passed over)\n",
                 word);
  return otherwise;
}

}  // namespace chol
