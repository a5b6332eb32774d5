// One call of a routine, in whatever form: the arguments as the caller gave them, their rules, and
// the step to the routine layer.
#pragma once

#include <cinttypes>
#include <type_traits>

#include "api/check.hpp"
#include "api/entry.hpp"
#include "routine/run.hpp"

namespace chol::api {

constexpr bool has_rhs(Routine routine) {
  return routine == Routine::potrs || routine == Routine::posv;
}
constexpr bool has_info(Routine routine) {
  return routine == Routine::potrf || routine == Routine::posv || routine == Routine::potri;
}
constexpr bool has_result(Routine routine) {
  return routine == Routine::pocon || routine == Routine::logdet;
}

/// Factors are read-only in potrs, pocon and logdet; the layers below infer this from the routine,
/// so that one problem type serves all.
template <class T>
T* writable(const T* factor) {
  return const_cast<T*>(factor);
}
template <class T>
T* const* writable(const T* const* factors) {
  return const_cast<T* const*>(factors);
}

/// Storage of the matrices of a call, as the suffix of the function's name says.
enum class Layout : uint8_t { one, pointers, strided, variable, interleaved };

/// The matrices that an argument and its leading dimension describe.
template <class T>
struct Matrices {
  Layout layout = Layout::one;
  MatrixBatch<T> view;

  /// The argument itself.
  const void* argument() const {
    return layout == Layout::pointers || layout == Layout::variable
               ? static_cast<const void*>(view.pointers)
               : static_cast<const void*>(view.first);
  }
};
template <class T>
Matrices<std::remove_const_t<T>> one(T* A, int64_t lda) {
  using Element = std::remove_const_t<T>;
  return {Layout::one, MatrixBatch<Element>::strided(writable<Element>(A), lda, 0)};
}
template <class T>
Matrices<std::remove_const_t<T>> pointers(T* const* A, int64_t lda) {
  using Element = std::remove_const_t<T>;
  return {Layout::pointers, MatrixBatch<Element>::pointer_array(writable<Element>(A), lda)};
}
template <class T>
Matrices<std::remove_const_t<T>> strided(T* A, int64_t lda, int64_t stride) {
  using Element = std::remove_const_t<T>;
  return {Layout::strided, MatrixBatch<Element>::strided(writable<Element>(A), lda, stride)};
}
template <class T>
Matrices<std::remove_const_t<T>> variable(T* const* A, const int64_t* lda) {
  using Element = std::remove_const_t<T>;
  return {Layout::variable, MatrixBatch<Element>::variable(writable<Element>(A), lda)};
}
template <class T>
Matrices<std::remove_const_t<T>> interleaved(T* A, int64_t lda, int64_t chunk) {
  using Element = std::remove_const_t<T>;
  return {Layout::interleaved, MatrixBatch<Element>::interleaved(writable<Element>(A), lda, chunk)};
}

template <class T>
struct Call {
  Routine routine;
  chol_uplo_t uplo;
  BatchSizes sizes;
  Matrices<T> A;
  Matrices<T> B = {};  ///< right-hand sides, of potrs and posv
  int* info = nullptr;
  RealOf<T>* result = nullptr;
  RealOf<T> anorm = 0;

  Layout layout() const { return A.layout; }
  bool has_any() const { return sizes.count > 0; }
  const char* result_name() const { return routine == Routine::pocon ? "rcond" : "logdet"; }
};

/// The first broken rule of a call, or success.
template <class T>
Status check(const char* function, const Call<T>& call);
/// The same checks on the contents of pointer and size arrays in host memory, O(batch); also
/// returns the largest sizes found.
template <class T>
Status check_elements(const char* function, const Call<T>& call, BatchSizes* sizes);

/// The backend that can access the arrays.
inline Status slot_of(routine::Handle& handle, const char* function,
                      std::initializer_list<routine::Handle::NamedArray> arrays,
                      routine::BackendSlot** slot) {
  return handle.slot_for(arrays.begin(), static_cast<int>(arrays.size()), function, slot);
}

/// Whether this thread can read the arrays of sizes and pointers, which are in the backend's
/// memory.
inline bool reads_host_arrays(const routine::BackendSlot& slot) {
  return slot.backend->kind() == CHOL_BACKEND_HOST;
}

/// Checks the pointers if the arrays are in host memory: O(batch).
template <class T>
Status check_pointers(const char* function, const char* name, T* const* pointers, int64_t batch) {
  for (int64_t b = 0; b < batch; ++b)
    if (!pointers[b])
      return Status::error(CHOL_STATUS_INVALID_VALUE,
                           "%s: %s[%" PRId64 "] = NULL, must point to its elements", function, name,
                           b);
  return Status::success();
}

}  // namespace chol::api
