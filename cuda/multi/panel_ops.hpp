// Operations on one of several devices, over the panels of native/ and cuBLAS.
#pragma once

#include <memory>

#include "multi/queues.hpp"
#include "tune/choice.hpp"
#include "tune/store.hpp"

namespace chol::cuda::multi {

/// @param choice for one matrix as large as there is: how panels are factored.
/// @param tuning which orders form their products by residues, when a call asks for that.
/// @param stream behind whose work a call begins.
template <class T>
std::shared_ptr<backend::PanelOps<T>> make_panel_ops(Queues& queues, const Choice& choice,
                                                     const TuningStore& tuning,
                                                     cudaStream_t stream);

}  // namespace chol::cuda::multi
