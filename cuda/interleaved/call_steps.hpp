// A call of an interleaved batch: the routines that it consists of, in place or in slices.
#pragma once

#include "backend/backend.hpp"
#include "device_state.hpp"

namespace chol::cuda {

template <class T>
size_t interleaved_workspace(const DeviceState& state, const backend::Problem<T>& problem,
                             const backend::Chosen& chosen);

template <class T>
Status run_interleaved_call(DeviceState& state, const backend::Problem<T>& problem,
                            const backend::Chosen& chosen, const backend::Resources& resources);

}  // namespace chol::cuda
