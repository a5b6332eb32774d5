// Operations on one of several devices, over the panels of native/ and cuBLAS.
#pragma once

#include <memory>

#include "multi/queues.hpp"
#include "tune/choice.hpp"
#include "tune/store.hpp"

namespace chol::cuda::multi {

/// @param choice for one matrix of the largest order: how panels are factored. @param tuning for
/// which orders products are by residues, if a call asks for that. @param stream after whose work a
/// call begins.
template <class T>
std::shared_ptr<backend::PanelOps<T>> make_panel_ops(Queues& queues, const Choice& choice,
                                                     const TuningStore& tuning,
                                                     cudaStream_t stream);

}  // namespace chol::cuda::multi
