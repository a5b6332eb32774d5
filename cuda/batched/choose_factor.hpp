// Selection of the method that factors a batch: the first choice of the rows that is accepted.
#pragma once

#include "batched/method.hpp"
#include "tune/factor_rows.hpp"

namespace chol::cuda {

template <class T>
bool accepts_choice(const Case& asked, const FactorChoice& choice, const DeviceLimits& device) {
  const BatchMethod<T>* const method = batch_methods<T>.find(choice.method);
  return method && method->accepts(asked, choice.params, device);
}

/// Whether a multi-panel kernel with that many threads is built for the triangle.
template <class T>
bool has_multi_panel(const Case& asked, int threads, const DeviceLimits& device) {
  return accepts_choice<T>(asked, {factor::kMultiPanel, {{"threads", threads}}}, device);
}

/// Calls body(choice) for the choices of a row that can factor the case, best first, until it
/// returns true.
template <class T, class Body>
bool try_factor_choices(const Case& asked, const Choice& row, const DeviceLimits& device,
                        Body&& body) {
  const auto has = [&](int threads) { return has_multi_panel<T>(asked, threads, device); };
  return try_factor_rows(asked, row, has, [&](const FactorChoice& choice) {
    return accepts_choice<T>(asked, choice, device) && body(choice);
  });
}
/// The same for methods that factor and solve in one launch.
template <class T, class Body>
bool try_posv_choices(const Case& asked, const Choice& row, const DeviceLimits& device,
                      Body&& body) {
  return try_posv_rows(asked, row, [&](const FactorChoice& choice) {
    return accepts_choice<T>(asked, choice, device) && body(choice);
  });
}

}  // namespace chol::cuda
