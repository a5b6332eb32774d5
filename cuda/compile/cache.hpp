// Compiled kernels kept on disk, so that a machine compiles each once.
#pragma once

#include <cstdint>
#include <string>

#include "compile/cubin.hpp"

namespace chol::cuda {

/// $XDG_CACHE_HOME/chol or ~/.cache/chol; empty where there is neither. It need not exist.
std::string cache_folder();

/// Whether the folder has the file whole; what is damaged is as good as not there.
bool load_cubin(const std::string& folder, const std::string& key, Cubin& cubin);

/// Puts the file there in one step, so that nobody ever reads half of it. A folder that cannot be
/// written keeps nothing: false.
bool store_cubin(const std::string& folder, const std::string& key, const Cubin& cubin);

/// 64 bits that tell texts apart (FNV-1a); `hash` is what came before.
uint64_t hash_of(const std::string& text, uint64_t hash = 14695981039346656037u);

}  // namespace chol::cuda
