// C ABI: assembly of tile low rank matrices.
#include <cmath>

#include "api/tlr.hpp"
#include "base/environment.hpp"
#include "tlr/assemble.hpp"
#include "tlr/describe.hpp"
#include "tlr/kernel.hpp"
#include "tlr/order_points.hpp"

namespace chol::api {
namespace {

Status check_points(const char* function, int dim, int64_t n, const double* points, int64_t ldp) {
  Status status =
      check(function, {at_least("dim", dim, 1), at_least("n", n, 0), array("points", points, n > 0),
                       at_least("ldp", ldp, dim, "dim"), extent("points", sizeof(double), ldp, n)});
  if (!status.ok()) return status;
  for (int64_t i = 0; i < n; ++i)
    for (int d = 0; d < dim; ++d)
      if (!std::isfinite(points[d + i * ldp]))
        return Status::error(CHOL_STATUS_INVALID_VALUE,
                             "%s: coordinate %d of point %lld = %g, must be finite", function, d,
                             static_cast<long long>(i), points[d + i * ldp]);
  return status;
}

/// Assembles from run(ops, assemble), a function of the type that calls assemble(source).
template <class Run>
Status assemble(const char* function, routine::Handle& handle, chol_tlr_t A,
                const chol_tlr_options_t& options, Run&& run) {
  if (handle.workspace_need) return Status::success();
  return A->apply([&]<class T>(tlr::Matrix<T>& matrix) -> Status {
    const auto ops = routine::tile_ops<T>(handle);
    tlr::Control control(function, options);
    const Status status = run(*ops, [&](tlr::Source<T>& source) {
      return tlr::assemble(*ops, matrix, source, options, control);
    });
    matrix.flops = control.flops();
    if (environment().verbose) control.print(matrix.n, matrix.tile, tlr::count_tiles(matrix));
    return status;
  });
}

}  // namespace

Status check_kernel(const char* function, const chol_kernel_t* kernel, int dim,
                    const double* points, int64_t ldp, int64_t n) {
  Status status = check(function, {array("kernel", kernel, true)});
  if (!status.ok()) return status;
  const auto wrong = [&](const char* name, double value, const char* rule) {
    return Status::error(CHOL_STATUS_INVALID_VALUE, "%s: kernel->%s = %g, must be %s", function,
                         name, value, rule);
  };
  if (kernel->size != sizeof(chol_kernel_t))
    return wrong("size", double(kernel->size), "sizeof(chol_kernel_t)");
  if (kernel->kind < CHOL_KERNEL_EXPONENTIAL || kernel->kind > CHOL_KERNEL_MATERN)
    return wrong("kind", kernel->kind, "one of chol_kernel_kind_t");
  if (!(kernel->variance > 0) || !std::isfinite(kernel->variance))
    return wrong("variance", kernel->variance, "finite and above 0");
  if (!(kernel->nugget >= 0) || !std::isfinite(kernel->nugget))
    return wrong("nugget", kernel->nugget, "finite and at least 0");
  if (kernel->kind == CHOL_KERNEL_MATERN && (!(kernel->nu > 0) || !std::isfinite(kernel->nu)))
    return wrong("nu", kernel->nu, "finite and above 0");
  status = check_points(function, dim, n, points, ldp);
  if (!status.ok()) return status;
  if (kernel->lengths != 1 && kernel->lengths != dim)
    return wrong("lengths", kernel->lengths, "1 or dim");
  status = check(function, {array("kernel->length", kernel->length, true)});
  for (int d = 0; status.ok() && d < kernel->lengths; ++d)
    if (!(kernel->length[d] > 0) || !std::isfinite(kernel->length[d]))
      return wrong("length", kernel->length[d], "finite and above 0");
  return status;
}

}  // namespace chol::api

using namespace chol;
using namespace chol::api;

extern "C" {

chol_status_t chol_tlr_order_points(int dim, int64_t n, const double* points, int64_t ldp,
                                    int64_t tile, int64_t* permutation) {
  static constexpr const char* kFunction = "chol_tlr_order_points";
  const Status status = guarded(kFunction, [&]() -> Status {
    Status checked = check_points(kFunction, dim, n, points, ldp);
    if (checked.ok())
      checked =
          check(kFunction, {at_least("tile", tile, 1), array("permutation", permutation, n > 0)});
    if (checked.ok()) tlr::order_points(dim, n, points, ldp, tile, permutation);
    return checked;
  });
  if (!status.ok()) thread_error() = status;
  return static_cast<chol_status_t>(status.code());
}

chol_status_t chol_tlr_from_kernel(chol_handle_t handle, chol_tlr_t A, const chol_kernel_t* kernel,
                                   int dim, const double* points, int64_t ldp,
                                   const chol_tlr_options_t* given) {
  static constexpr const char* kFunction = "chol_tlr_from_kernel";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    chol_tlr_options_t options;
    Status status = check_matrix(kFunction, h, "A", A, Holds::anything);
    if (!status.ok()) return status;
    const int64_t n = A->apply([](const auto& matrix) { return matrix.n; });
    status = check_kernel(kFunction, kernel, dim, points, ldp, n);
    if (status.ok()) status = take_options(kFunction, given, options);
    if (!status.ok()) return status;
    return assemble(kFunction, h, A, options, [&]<class T>(backend::TileOps<T>& ops, auto&& run) {
      const tlr::CovarianceKernel<T> covariance(ops, *kernel, dim, n, points, ldp);
      tlr::CovarianceSource<T> source(covariance.covariance());
      return run(source);
    });
  });
}

chol_status_t chol_tlr_from_blocks(chol_handle_t handle, chol_tlr_t A, chol_tlr_block_t fill,
                                   void* context, const chol_tlr_options_t* given) {
  static constexpr const char* kFunction = "chol_tlr_from_blocks";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    chol_tlr_options_t options;
    Status status = check_matrix(kFunction, h, "A", A, Holds::anything);
    if (status.ok() && !fill)
      status = Status::error(CHOL_STATUS_INVALID_VALUE, "%s: fill = NULL, must be a function",
                             kFunction);
    if (status.ok()) status = take_options(kFunction, given, options);
    if (!status.ok()) return status;
    return assemble(kFunction, h, A, options, [&]<class T>(backend::TileOps<T>&, auto&& run) {
      tlr::CallbackSource<T> source(kFunction, fill, context);
      return run(source);
    });
  });
}

chol_status_t chol_tlr_from_dense(chol_handle_t handle, chol_tlr_t A, chol_uplo_t uplo,
                                  const void* dense, int64_t lda, const chol_tlr_options_t* given) {
  static constexpr const char* kFunction = "chol_tlr_from_dense";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    chol_tlr_options_t options;
    Status status = check_matrix(kFunction, h, "A", A, Holds::anything);
    if (!status.ok()) return status;
    const int64_t n = A->apply([](const auto& matrix) { return matrix.n; });
    status = check(kFunction, {triangle(uplo), array("dense", dense, n > 0),
                               leading_dimension("lda", lda, n)});
    if (status.ok()) status = take_options(kFunction, given, options);
    if (!status.ok()) return status;
    return assemble(kFunction, h, A, options, [&]<class T>(backend::TileOps<T>&, auto&& run) {
      tlr::DenseSource<T> source(static_cast<const T*>(dense), lda, uplo == CHOL_UPPER);
      return run(source);
    });
  });
}

}  // extern "C"
