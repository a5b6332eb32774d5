// Compiled kernels kept on disk, so that a machine compiles each once.
#pragma once

#include <cstdint>
#include <string>

#include "compile/cubin.hpp"

namespace chol::cuda {

/// $XDG_CACHE_HOME/chol or ~/.cache/chol; empty where there is neither. It need not exist.
std::string cache_folder();

/// Whether the folder has the file; a damaged file counts as missing.
bool load_cubin(const std::string& folder, const std::string& key, Cubin& cubin);

/// Writes the file atomically. False if the folder is not writable.
bool store_cubin(const std::string& folder, const std::string& key, const Cubin& cubin);

/// 64-bit hash of a text (FNV-1a), continued from `hash`.
uint64_t hash_of(const std::string& text, uint64_t hash = 14695981039346656037u);

}  // namespace chol::cuda
