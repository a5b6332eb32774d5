// The text of the kernels' headers, which the build embeds in the plug-in (embed.cmake).
#pragma once

#include <cstddef>

namespace chol::cuda {

struct EmbeddedHeader {
  const char* name;  ///< as it is included
  const char* text;
};
extern const EmbeddedHeader kEmbeddedHeaders[];
extern const size_t kEmbeddedHeaderCount;

}  // namespace chol::cuda
