// A call of any routine and form: its workspace and its execution.
#pragma once

#include "backend/backend.hpp"
#include "device_state.hpp"

namespace chol::cuda {

template <class T>
size_t workspace_of(const DeviceState& state, const backend::Problem<T>& problem,
                    const RowTable& rows, const backend::Resources& resources);

template <class T>
Status run_call(DeviceState& state, const backend::Problem<T>& problem, const RowTable& rows,
                const backend::Resources& resources);

}  // namespace chol::cuda
