// C ABI: tile low rank matrices, their factorization and what is computed with them.
#include "api/tlr.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <limits>

#include "base/environment.hpp"
#include "base/precisions.h"
#include "tlr/apply.hpp"
#include "tlr/factor.hpp"
#include "tlr/iterate.hpp"
#include "tlr/kernel.hpp"

namespace chol::api {

namespace {

bool does_hold(tlr::State state, Holds holds) {
  const bool matrix = state == tlr::State::assembled, factor = state == tlr::State::factored;
  switch (holds) {
    case Holds::anything:
      return true;
    case Holds::matrix_or_factor:
      return matrix || factor;
    case Holds::matrix:
      return matrix;
    case Holds::factor:
      return factor;
  }
  return false;
}

const char* state_name(tlr::State state) {
  static constexpr const char* kNames[] = {"nothing", "a matrix", "a factor",
                                           "what a failed call left"};
  return kNames[static_cast<size_t>(state)];
}

const char* needed_name(Holds holds) {
  static constexpr const char* kNames[] = {"anything", "a matrix or a factor", "a matrix",
                                           "a factor"};
  return kNames[static_cast<size_t>(holds)];
}

}  // namespace

Status check_matrix(const char* function, const routine::Handle& handle, const char* name,
                    chol_tlr_t A, Holds holds) {
  if (!A || A->magic != routine::TlrMatrix::kMagic)
    return Status::error(CHOL_STATUS_INVALID_VALUE,
                         "%s: %s is NULL or was destroyed, must come from chol_tlr_create",
                         function, name);
  if (A->handle != &handle)
    return Status::error(CHOL_STATUS_INVALID_VALUE,
                         "%s: %s belongs to another handle, must be used with the one that made it",
                         function, name);
  const tlr::State state = A->apply([](const auto& matrix) { return matrix.state; });
  if (!does_hold(state, holds))
    return Status::error(CHOL_STATUS_INVALID_VALUE, "%s: %s holds %s, must hold %s", function, name,
                         state_name(state), needed_name(holds));
  return Status::success();
}

namespace {

Status check_options(const char* function, const chol_tlr_options_t& options) {
  const auto wrong = [&](const char* name, double value, const char* rule) {
    return Status::error(CHOL_STATUS_INVALID_VALUE, "%s: options->%s = %g, must be %s", function,
                         name, value, rule);
  };
  if (options.size != sizeof(chol_tlr_options_t))
    return wrong("size", double(options.size), "what chol_tlr_options_init sets");
  if (!(options.eps > 0) || !std::isfinite(options.eps))
    return wrong("eps", options.eps, "finite and above 0");
  if (options.pivot < 0 || options.pivot > 2) return wrong("pivot", options.pivot, "0, 1 or 2");
  if (!std::isfinite(options.shift)) return wrong("shift", options.shift, "finite");
  if (options.sample_columns < 0)
    return wrong("sample_columns", options.sample_columns, "at least 0");
  return Status::success();
}

/// L D L^H has no half to multiply or solve with, because D stands between the factors.
Status check_half(const char* function, chol_tlr_t A) {
  if (!A->apply([](const auto& matrix) { return matrix.is_ldl(); })) return Status::success();
  return Status::error(CHOL_STATUS_NOT_SUPPORTED,
                       "%s: A is a factor L D L^H, must be L L^H for a half of it", function);
}

/// With tiles of an order proportional to sqrt(n), memory grows as n^1.5.
int64_t chosen_tile(int64_t n) {
  const int64_t tile = int64_t{std::lround(2 * std::sqrt(double(n)) / 64)} * 64;
  return std::clamp<int64_t>(tile, 64, 1024);
}

template <class T>
Status multiply_or_solve(const char* function, routine::Handle& handle, chol_tlr_t A, Holds holds,
                         int64_t nrhs, const char* first_name, const T* first, int64_t ld_first,
                         const char* second_name, const T* second, int64_t ld_second) {
  Status status = check_matrix(function, handle, "A", A, holds);
  if (!status.ok()) return status;
  const int64_t n = A->apply([](const auto& matrix) { return matrix.n; });
  const bool has_elements = n > 0 && nrhs > 0;
  const char* const ld_first_name = first_name[0] == 'B' ? "ldb" : "ldx";
  const char* const ld_second_name = second_name[0] == 'Y' ? "ldy" : "ldx";
  status = check(function, {at_least("nrhs", nrhs, 0), array(first_name, first, has_elements),
                            leading_dimension(ld_first_name, ld_first, n),
                            array(second_name, second, has_elements),
                            leading_dimension(ld_second_name, ld_second, n)});
  return status;
}

/// An array of the caller, n by `columns`, or a copy of it where the operations do not reach it.
template <class T>
class Reached {
 public:
  enum Use : uint8_t { in = 1, out = 2, in_out = 3 };
  Reached(backend::TileOps<T>& ops, const void* array, int64_t n, int64_t columns, int64_t ld,
          Use use)
      : ops_(ops),
        array_(static_cast<T*>(const_cast<void*>(array))),
        n_(n),
        columns_(columns),
        ld_of_array_(ld),
        elements(array_),
        ld(ld) {
    if (n * columns == 0 || ops.reaches(array)) return;
    copy_ = ops.buffer(n * columns);
    elements = copy_.get();
    this->ld = n;
    if (use & in) ops.transfer(n, columns, array_, ld, elements, n);
  }
  /// Copies the results to the caller's array.
  void write() {
    if (copy_.get()) ops_.transfer(n_, columns_, elements, ld, array_, ld_of_array_);
  }
  T* column(int64_t c) const { return elements + c * ld; }

 private:
  backend::TileOps<T>& ops_;
  T* array_;
  int64_t n_, columns_, ld_of_array_;
  Buffer<T> copy_;

 public:
  T* elements;
  int64_t ld;
};

template <class Matrix>
struct ElementOf;
template <class T>
struct ElementOf<tlr::Matrix<T>> {
  using Type = T;
};

/// body(ops, matrix) with the operations for the matrix's type, unless this is a workspace query.
template <class Body>
Status with_ops(routine::Handle& handle, chol_tlr_t A, Body&& body) {
  if (handle.workspace_need) return Status::success();
  return A->apply([&]<class T>(tlr::Matrix<T>& matrix) -> Status {
    return body(*routine::tile_ops<T>(handle), matrix);
  });
}

Status check_pair(const char* function, const routine::Handle& handle, const char* name,
                  chol_tlr_t A, Holds holds, const char* other_name, chol_tlr_t other,
                  Holds other_holds) {
  Status status = check_matrix(function, handle, name, A, holds);
  if (status.ok()) status = check_matrix(function, handle, other_name, other, other_holds);
  if (!status.ok()) return status;
  const auto order = [](chol_tlr_t M) { return M->apply([](const auto& m) { return m.n; }); };
  if (A->matrix.index() == other->matrix.index() && order(A) == order(other)) return status;
  return Status::error(CHOL_STATUS_INVALID_VALUE,
                       "%s: %s is of another type or order than %s, must be of the same", function,
                       other_name, name);
}

}  // namespace

Status take_options(const char* function, const chol_tlr_options_t* given,
                    chol_tlr_options_t& options) {
  chol_tlr_options_init(&options);
  if (given) options = *given;
  return check_options(function, options);
}

Status make_matrix(routine::Handle& handle, chol_type_t type, int64_t n, int64_t tile,
                   std::unique_ptr<chol_tlr_s>& made) {
  made = std::make_unique<chol_tlr_s>();
  made->handle = &handle;
  const int64_t order = std::max<int64_t>(1, std::min(n, tile > 0 ? tile : chosen_tile(n)));
#define CHOL_MAKE(prefix, T, R)                              \
  if (type == static_cast<chol_type_t>(precision_letter<T>)) \
    made->matrix.emplace<routine::TlrMatrix::Pointer<T>>(    \
        std::make_unique<tlr::Matrix<T>>(n, order));
  CHOL_FOR_EACH_PRECISION(CHOL_MAKE)
#undef CHOL_MAKE
  return Status::success();
}

}  // namespace chol::api

using namespace chol;
using namespace chol::api;

extern "C" {

chol_status_t chol_tlr_options_init(chol_tlr_options_t* options) {
  if (!options) {
    thread_error() = check("chol_tlr_options_init", {array("options", options, true)});
    return CHOL_STATUS_INVALID_VALUE;
  }
  *options = {};
  options->size = sizeof *options;
  options->eps = 1e-6;
  options->compensate = 1;
  return CHOL_STATUS_SUCCESS;
}

chol_status_t chol_tlr_create(chol_handle_t handle, chol_type_t type, int64_t n, int64_t tile,
                              chol_tlr_t* A) {
  static constexpr const char* kFunction = "chol_tlr_create";
  if (A) *A = nullptr;
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    const char letter = static_cast<char>(type);
    if (letter != 's' && letter != 'd' && letter != 'c' && letter != 'z')
      return Status::error(CHOL_STATUS_INVALID_VALUE,
                           "%s: type = %d, must be one of chol_type_t ('s', 'd', 'c', 'z')",
                           kFunction, static_cast<int>(type));
    // A row number is returned in info, an int.
    if (n > std::numeric_limits<int>::max())
      return Status::error(CHOL_STATUS_INVALID_VALUE, "%s: n = %lld, must be at most 2^31 - 1",
                           kFunction, static_cast<long long>(n));
    Status status =
        check(kFunction, {at_least("n", n, 0), at_least("tile", tile, 0), array("A", A, true),
                          extent("A", 16, n, std::max<int64_t>(1, tile)),
                          extent("A", 16, n / std::max<int64_t>(1, tile), n)});
    std::unique_ptr<chol_tlr_s> made;
    if (status.ok()) status = make_matrix(h, type, n, tile, made);
    if (status.ok()) *A = made.release();
    return status;
  });
}

chol_status_t chol_tlr_destroy(chol_tlr_t A) {
  if (!A) return CHOL_STATUS_SUCCESS;
  return enter_matrix(A, "chol_tlr_destroy", Holds::anything, [&] {
    delete A;
    return Status();
  });
}

chol_status_t chol_tlr_factor(chol_handle_t handle, chol_tlr_t A, const chol_tlr_options_t* given,
                              int* info) {
  static constexpr const char* kFunction = "chol_tlr_factor";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    chol_tlr_options_t options;
    Status status = check_matrix(kFunction, h, "A", A, Holds::matrix);
    if (status.ok()) status = take_options(kFunction, given, options);
    if (status.ok()) status = check(kFunction, {array("info", info, true)});
    if (!status.ok()) return status;
    return with_ops(h, A, [&](auto& ops, auto& matrix) {
      tlr::Control control(kFunction, options);
      const Status factored = tlr::factor(ops, matrix, options, control, info);
      if (environment().verbose) control.print(matrix.n, matrix.tile);
      return factored;
    });
  });
}

chol_status_t chol_tlr_solve(chol_handle_t handle, chol_tlr_t A, int64_t nrhs, void* B,
                             int64_t ldb) {
  static constexpr const char* kFunction = "chol_tlr_solve";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    const Status status =
        multiply_or_solve<void>(kFunction, h, A, Holds::factor, nrhs, "B", B, ldb, "B", B, ldb);
    if (!status.ok()) return status;
    return with_ops(h, A, [&]<class T>(auto& ops, tlr::Matrix<T>& matrix) {
      Reached<T> X(ops, B, matrix.n, nrhs, ldb, Reached<T>::in_out);
      tlr::solve(ops, matrix, nrhs, X.elements, X.ld);
      X.write();
      return Status();
    });
  });
}

chol_status_t chol_tlr_solve_half(chol_handle_t handle, chol_tlr_t A, int adjoint, int64_t nrhs,
                                  void* B, int64_t ldb) {
  static constexpr const char* kFunction = "chol_tlr_solve_half";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    Status status =
        multiply_or_solve<void>(kFunction, h, A, Holds::factor, nrhs, "B", B, ldb, "B", B, ldb);
    if (status.ok()) status = check_half(kFunction, A);
    if (!status.ok()) return status;
    return with_ops(h, A, [&]<class T>(auto& ops, tlr::Matrix<T>& matrix) {
      Reached<T> X(ops, B, matrix.n, nrhs, ldb, Reached<T>::in_out);
      tlr::solve_half(ops, matrix, adjoint != 0, nrhs, X.elements, X.ld);
      X.write();
      return Status();
    });
  });
}

chol_status_t chol_tlr_multiply(chol_handle_t handle, chol_tlr_t A, int64_t nrhs, const void* X,
                                int64_t ldx, void* Y, int64_t ldy) {
  static constexpr const char* kFunction = "chol_tlr_multiply";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    const Status status = multiply_or_solve<void>(kFunction, h, A, Holds::matrix_or_factor, nrhs,
                                                  "X", X, ldx, "Y", Y, ldy);
    if (!status.ok()) return status;
    return with_ops(h, A, [&]<class T>(auto& ops, tlr::Matrix<T>& matrix) {
      const Reached<T> from(ops, X, matrix.n, nrhs, ldx, Reached<T>::in);
      Reached<T> to(ops, Y, matrix.n, nrhs, ldy, Reached<T>::out);
      tlr::multiply(ops, matrix, nrhs, from.elements, from.ld, to.elements, to.ld);
      to.write();
      return Status();
    });
  });
}

chol_status_t chol_tlr_multiply_half(chol_handle_t handle, chol_tlr_t A, int adjoint, int64_t nrhs,
                                     const void* X, int64_t ldx, void* Y, int64_t ldy) {
  static constexpr const char* kFunction = "chol_tlr_multiply_half";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    Status status =
        multiply_or_solve<void>(kFunction, h, A, Holds::factor, nrhs, "X", X, ldx, "Y", Y, ldy);
    if (status.ok()) status = check_half(kFunction, A);
    if (!status.ok()) return status;
    return with_ops(h, A, [&]<class T>(auto& ops, tlr::Matrix<T>& matrix) {
      const Reached<T> from(ops, X, matrix.n, nrhs, ldx, Reached<T>::in);
      Reached<T> to(ops, Y, matrix.n, nrhs, ldy, Reached<T>::out);
      tlr::multiply_half(ops, matrix, adjoint != 0, nrhs, from.elements, from.ld, to.elements,
                         to.ld);
      to.write();
      return Status();
    });
  });
}

chol_status_t chol_tlr_logdet(chol_handle_t handle, chol_tlr_t A, double* logdet, int* sign) {
  static constexpr const char* kFunction = "chol_tlr_logdet";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    Status status = check_matrix(kFunction, h, "A", A, Holds::factor);
    if (status.ok()) status = check(kFunction, {array("logdet", logdet, true)});
    if (!status.ok()) return status;
    return with_ops(h, A, [&](auto& ops, auto& matrix) {
      int determinant = 1;
      *logdet = tlr::logdet(ops, matrix, &determinant);
      if (sign) *sign = determinant;
      return Status();
    });
  });
}

chol_status_t chol_tlr_error(chol_handle_t handle, chol_tlr_t factor, chol_tlr_t original,
                             int iterations, double* norm2) {
  static constexpr const char* kFunction = "chol_tlr_error";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    Status status = check_pair(kFunction, h, "factor", factor, Holds::matrix_or_factor, "original",
                               original, Holds::matrix_or_factor);
    if (status.ok())
      status =
          check(kFunction, {at_least("iterations", iterations, 1), array("norm2", norm2, true)});
    if (!status.ok()) return status;
    return with_ops(h, factor, [&]<class T>(auto& ops, tlr::Matrix<T>& matrix) {
      const auto& other = *std::get<routine::TlrMatrix::Pointer<T>>(original->matrix);
      const auto by = [&ops](const tlr::Matrix<T>& M) -> tlr::Apply<T> {
        return [&ops, &M](const T* x, T* y) { tlr::multiply(ops, M, 1, x, M.n, y, M.n); };
      };
      *norm2 = tlr::norm_of_difference<T>(ops, matrix.n, by(other), by(matrix), iterations);
      return Status();
    });
  });
}

chol_status_t chol_tlr_error_kernel(chol_handle_t handle, chol_tlr_t factor,
                                    const chol_kernel_t* kernel, int dim, const double* points,
                                    int64_t ldp, int iterations, double* norm2) {
  static constexpr const char* kFunction = "chol_tlr_error_kernel";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    Status status = check_matrix(kFunction, h, "factor", factor, Holds::matrix_or_factor);
    if (!status.ok()) return status;
    const int64_t n = factor->apply([](const auto& matrix) { return matrix.n; });
    status = check_kernel(kFunction, kernel, dim, points, ldp, n);
    if (status.ok())
      status =
          check(kFunction, {at_least("iterations", iterations, 1), array("norm2", norm2, true)});
    if (!status.ok()) return status;
    return with_ops(h, factor, [&]<class T>(auto& ops, tlr::Matrix<T>& matrix) {
      const tlr::CovarianceKernel<T> exact(ops, *kernel, dim, n, points, ldp);
      *norm2 = tlr::norm_of_difference<T>(
          ops, n, [&](const T* x, T* y) { ops.multiply_covariance(exact.covariance(), x, y); },
          [&](const T* x, T* y) { tlr::multiply(ops, matrix, 1, x, n, y, n); }, iterations);
      return Status();
    });
  });
}

chol_status_t chol_tlr_pcg(chol_handle_t handle, chol_tlr_t original, chol_tlr_t factor,
                           int64_t nrhs, const void* B, int64_t ldb, void* X, int64_t ldx,
                           double tolerance, int most, int* iterations, double* residuals) {
  static constexpr const char* kFunction = "chol_tlr_pcg";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    Status status = check_pair(kFunction, h, "original", original, Holds::matrix, "factor", factor,
                               Holds::factor);
    if (status.ok())
      status = multiply_or_solve<void>(kFunction, h, original, Holds::matrix, nrhs, "B", B, ldb,
                                       "X", X, ldx);
    if (status.ok())
      status =
          check(kFunction, {finite_not_negative("tolerance", tolerance), at_least("most", most, 0),
                            array("iterations", iterations, nrhs > 0)});
    if (!status.ok()) return status;
    return with_ops(h, original, [&]<class T>(auto& ops, tlr::Matrix<T>& matrix) {
      const auto& other = *std::get<routine::TlrMatrix::Pointer<T>>(factor->matrix);
      const Reached<T> right(ops, B, matrix.n, nrhs, ldb, Reached<T>::in);
      Reached<T> solution(ops, X, matrix.n, nrhs, ldx, Reached<T>::out);
      for (int64_t c = 0; c < nrhs; ++c)
        iterations[c] = tlr::conjugate_gradients(
            ops, matrix, other, right.column(c), solution.column(c), tolerance, most,
            residuals ? residuals + c * (int64_t{most} + 1) : nullptr);
      solution.write();
      return Status();
    });
  });
}

}  // extern "C"
