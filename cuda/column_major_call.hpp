// A call of one matrix or a column-major batch whose bounds are known.
#pragma once

#include "backend/backend.hpp"
#include "device_state.hpp"

namespace chol::cuda {

/// Kernels use int for rows and small multiples of them.
Status check_order(int64_t n);

template <class T>
Status run_column_major(DeviceState& state, const backend::Problem<T>& problem,
                        const backend::Chosen& chosen, const backend::Resources& resources);

}  // namespace chol::cuda
