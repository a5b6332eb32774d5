// All methods that tuning rows of a CUDA device may name.
#pragma once

#include <span>

#include "tune/choice.hpp"

namespace chol::cuda {

std::span<const MethodInfo* const> all_methods();

}  // namespace chol::cuda
