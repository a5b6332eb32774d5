// Argument rules of every routine.
#include "api/call.hpp"

#include <cstdio>

#include "base/precisions.h"

namespace chol::api {
namespace {

/// A rule that does not apply.
Argument none() { return at_least("", 0, 0); }

/// Name of a size argument: in a variable batch it is an upper bound.
template <class T>
const char* name_of(const Call<T>& call, const char* name, const char* bound_name) {
  return call.layout() == Layout::variable ? bound_name : name;
}

template <class T>
bool has_elements(const Call<T>& call) {
  return call.has_any() && (call.sizes.n > 0 || call.layout() == Layout::variable);
}
template <class T>
bool has_rhs_elements(const Call<T>& call) {
  return has_rhs(call.routine) && has_elements(call) &&
         (call.sizes.nrhs > 0 || call.layout() == Layout::variable);
}

template <class T>
Argument leading_dimension_of(const char* name, const Call<T>& call, const Matrices<T>& matrices) {
  if (call.layout() == Layout::variable) return array(name, matrices.view.lds, call.has_any());
  return leading_dimension(name, matrices.view.ld, call.sizes.n);
}

/// All rules but the array sizes, whose computation needs valid factors.
template <class T>
Status check_values(const char* function, const Call<T>& call) {
  const bool rhs = has_rhs(call.routine), varies = call.layout() == Layout::variable;
  const char* const n = name_of(call, "n", "max_n");
  const char* const nrhs = name_of(call, "nrhs", "max_nrhs");
  return check(
      function,
      {triangle(call.uplo), at_least(n, call.sizes.n, 0), countable(n, call.sizes.n),
       at_least(nrhs, call.sizes.nrhs, 0), array("n", call.sizes.orders, varies && call.has_any()),
       array("nrhs", call.sizes.rhs_counts, varies && rhs && call.has_any()),
       array("A", call.A.argument(), has_elements(call)), leading_dimension_of("lda", call, call.A),
       array("B", call.B.argument(), has_rhs_elements(call)),
       rhs ? leading_dimension_of("ldb", call, call.B) : none(),
       finite_not_negative("anorm", call.anorm),
       call.layout() == Layout::interleaved ? at_least("chunk", call.A.view.chunk, 1) : none(),
       array("info", call.info, has_info(call.routine) && call.has_any()),
       array(call.result_name(), call.result, has_result(call.routine) && call.has_any()),
       at_least("batch", call.sizes.count, 0)});
}

/// Strided matrices: no matrix overlaps another, and sizes in bytes fit 63 bits.
template <class T>
Status check_strides(const char* function, const Call<T>& call) {
  const int64_t steps = call.sizes.count > 1 ? call.sizes.count - 1 : 0;
  const int64_t n = call.sizes.n, nrhs = call.sizes.nrhs;
  const MatrixBatch<T>&A = call.A.view, &B = call.B.view;
  const int64_t ldb = has_rhs(call.routine) ? B.ld : 0;
  Status status = check(function, {extent("A", sizeof(T), A.ld, n, A.stride, steps),
                                   extent("B", sizeof(T), ldb, nrhs, B.stride, steps)});
  if (status.ok() && call.layout() == Layout::strided && steps > 0)
    status = check(function, {at_least("strideA", A.stride, A.ld * n, "lda * n"),
                              at_least("strideB", B.stride, ldb * nrhs, "ldb * nrhs")});
  return status;
}

template <class T>
Status check_extents(const char* function, const Call<T>& call) {
  const int64_t n = call.sizes.n, nrhs = call.sizes.nrhs, batch = call.sizes.count;
  const MatrixBatch<T>&A = call.A.view, &B = call.B.view;
  const bool any = has_elements(call), any_rhs = has_rhs_elements(call);
  switch (call.layout()) {
    case Layout::one:
    case Layout::strided:
      return check_strides(function, call);
    case Layout::pointers:
      return check(function, {extent("A", sizeof(T*), batch, any), extent("A", sizeof(T), A.ld, n),
                              extent("B", sizeof(T), any_rhs ? B.ld : 0, nrhs)});
    case Layout::variable:
      return check(function, {extent("A", sizeof(T*), batch, any)});
    case Layout::interleaved:
      return check(function,
                   {interleaved_extent("A", sizeof(T), A.ld, n, A.chunk, any ? batch : 0),
                    interleaved_extent("B", sizeof(T), any_rhs ? B.ld : 0, nrhs, A.chunk, batch)});
  }
  return Status::success();
}

/// One rule on element b of an array in host memory.
Status broken_element(const char* function, const char* name, int64_t b, int64_t value,
                      const char* relation, int64_t bound) {
  return Status::error(CHOL_STATUS_INVALID_VALUE,
                       "%s: %s[%" PRId64 "] = %" PRId64 ", must be at %s %" PRId64, function, name,
                       b, value, relation, bound);
}

/// What is wrong with matrix b of the pointer array `name`: its pointer is NULL, or its size
/// exceeds 63 bits.
template <class T>
Status check_array(const char* function, const char* name, int64_t b, const T* matrix, int64_t ld,
                   int64_t columns) {
  char element[32];
  std::snprintf(element, sizeof element, "%s[%" PRId64 "]", name, b);
  return check(function, {array(element, matrix, true), extent(element, sizeof(T), ld, columns)});
}

/// Matrix b of a batch of different sizes.
template <class T>
Status check_matrix(const char* function, const Call<T>& call, int64_t b) {
  const BatchSizes& sizes = call.sizes;
  const MatrixBatch<T>&A = call.A.view, &B = call.B.view;
  const int64_t n = sizes.orders[b], floor = n > 1 ? n : 1;
  if (n < 0) return broken_element(function, "n", b, n, "least", 0);
  if (sizes.n > 0 && n > sizes.n)
    return broken_element(function, "n", b, n, "most max_n =", sizes.n);
  if (n > std::numeric_limits<int>::max()) {
    char element[32];
    std::snprintf(element, sizeof element, "n[%" PRId64 "]", b);
    return check(function, {countable(element, n)});
  }
  if (A.lds[b] < floor) return broken_element(function, "lda", b, A.lds[b], "least", floor);
  if (n > 0 && (!A.pointers[b] || spans_too_much(sizeof(T), A.lds[b], n)))
    return check_array(function, "A", b, A.pointers[b], A.lds[b], n);
  if (!has_rhs(call.routine)) return Status::success();
  const int64_t nrhs = sizes.rhs_counts[b];
  if (nrhs < 0) return broken_element(function, "nrhs", b, nrhs, "least", 0);
  if (sizes.nrhs > 0 && nrhs > sizes.nrhs)
    return broken_element(function, "nrhs", b, nrhs, "most max_nrhs =", sizes.nrhs);
  if (B.lds[b] < floor) return broken_element(function, "ldb", b, B.lds[b], "least", floor);
  if (n > 0 && nrhs > 0 && (!B.pointers[b] || spans_too_much(sizeof(T), B.lds[b], nrhs)))
    return check_array(function, "B", b, B.pointers[b], B.lds[b], nrhs);
  return Status::success();
}

}  // namespace

template <class T>
Status check(const char* function, const Call<T>& call) {
  const Status status = check_values(function, call);
  return status.ok() ? check_extents(function, call) : status;
}

template <class T>
Status check_elements(const char* function, const Call<T>& call, BatchSizes* sizes) {
  if (call.layout() == Layout::pointers) {
    Status status;
    if (has_elements(call))
      status = check_pointers(function, "A", call.A.view.pointers, call.sizes.count);
    if (status.ok() && has_rhs_elements(call))
      status = check_pointers(function, "B", call.B.view.pointers, call.sizes.count);
    return status;
  }
  if (call.layout() != Layout::variable) return Status::success();
  sizes->n = sizes->nrhs = 0;
  for (int64_t b = 0; b < call.sizes.count; ++b) {
    Status status = check_matrix(function, call, b);
    if (!status.ok()) return status;
    sizes->n = std::max(sizes->n, call.sizes.orders[b]);
    if (call.sizes.rhs_counts) sizes->nrhs = std::max(sizes->nrhs, call.sizes.rhs_counts[b]);
  }
  return Status::success();
}

#define CHOL_INSTANTIATE(p, T, R)                        \
  template Status check<T>(const char*, const Call<T>&); \
  template Status check_elements<T>(const char*, const Call<T>&, BatchSizes*);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)

}  // namespace chol::api
