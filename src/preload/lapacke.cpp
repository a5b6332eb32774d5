// LAPACKE: potrf, potrs, posv and potri with their _work forms, in both layouts.
//
// A row-major triangle is the other triangle of the transposed matrix, and the transposed factor of
// a Hermitian matrix is the factor of its conjugate: the matrix is factored in place. Only
// right-hand sides are transposed and conjugated.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

#include "preload/entry.hpp"
#include "preload/host.hpp"
#include "preload/names.h"

namespace chol::preload {
namespace {

constexpr int kRowMajor = 101, kColumnMajor = 102;
constexpr int kTransposeMemoryError = -1011;  // LAPACK_TRANSPOSE_MEMORY_ERROR of lapacke.h

/// Properties of one LAPACKE function besides those of its routine.
struct LapackeEntry {
  Entry entry;
  Original get_nancheck;
  const char* xerbla;     ///< LAPACKE_xerbla under the entry's decoration
  const char* name;       ///< as passed to LAPACKE_xerbla
  const char* work_name;  ///< the same of the _work form
  bool checks_nan;        ///< the form without _work
  bool has_rhs;
};

/// The arguments of a LAPACKE call.
template <class T>
struct Arguments {
  int layout;
  char uplo;
  int64_t n, nrhs;
  T* A;
  int64_t lda;
  T* B;
  int64_t ldb;
};

template <class T>
bool is_nan(T value) {
  if constexpr (is_complex<T>)
    return std::isnan(value.real()) || std::isnan(value.imag());
  else
    return std::isnan(value);
}

/// Whether arguments are checked for NaN: as set in the LAPACKE of the process, or without one in
/// the environment, as LAPACKE reads it.
bool wants_nan_check(Original& get_nancheck) {
  if (auto* get = get_nancheck.get<int()>()) return get() != 0;
  const char* value = secure_getenv("LAPACKE_NANCHECK");
  return !value || std::strtol(value, nullptr, 10) != 0;
}

template <class T>
bool triangle_has_nan(const Arguments<T>& in) {
  if (!in.A) return false;
  const bool lower = (in.uplo & ~0x20) == CHOL_LOWER;
  if (!lower && (in.uplo & ~0x20) != CHOL_UPPER) return false;
  const bool below = lower == (in.layout == kColumnMajor);  // of the diagonal, as stored
  for (int64_t j = 0; j < in.n; ++j)
    for (int64_t i = below ? j : 0; i < std::min(below ? in.n : j + 1, in.lda); ++i)
      if (is_nan(in.A[i + j * in.lda])) return true;
  return false;
}

template <class T>
bool rhs_have_nan(const Arguments<T>& in) {
  if (!in.B) return false;
  const bool by_columns = in.layout == kColumnMajor;
  const int64_t rows = by_columns ? in.n : in.nrhs, columns = by_columns ? in.nrhs : in.n;
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < std::min(rows, in.ldb); ++i)
      if (is_nan(in.B[i + j * in.ldb])) return true;
  return false;
}

/// Calls LAPACKE_xerbla of the process, or prints its message. Returns info.
int report_to_lapacke(const char* xerbla, const char* name, int info) {
  using Xerbla = void(const char*, int64_t);
  if (void* found = find_in_process(xerbla))
    reinterpret_cast<Xerbla*>(found)(name, info);
  else if (info == kTransposeMemoryError)
    std::printf("Not enough memory to transpose matrix in %s\n", name);
  else
    std::printf("Wrong parameter %d in %s\n", -info, name);
  return info;
}

template <class T>
T conjugated(T value) {
  if constexpr (is_complex<T>)
    return std::conj(value);
  else
    return value;
}

/// Row-major right-hand sides as columns of their conjugates, and back.
template <class T>
class RowMajorRhs {
 public:
  explicit RowMajorRhs(const Arguments<T>& in)
      : in_(in),
        ld_(std::max<int64_t>(1, in.n)),
        columns_(new (std::nothrow) T[static_cast<size_t>(ld_ * std::max<int64_t>(1, in.nrhs))]) {
    if (columns_) each([](T& row_major, T& column) { column = conjugated(row_major); });
  }
  void write_back() const {
    each([](T& row_major, T& column) { row_major = conjugated(column); });
  }
  T* columns() const { return columns_.get(); }
  int64_t ld() const { return ld_; }

 private:
  template <class Move>
  void each(Move&& move) const {
    for (int64_t i = 0; i < in_.n; ++i)
      for (int64_t j = 0; j < in_.nrhs; ++j) move(in_.B[i * in_.ldb + j], columns_[i + j * ld_]);
  }
  const Arguments<T>& in_;
  int64_t ld_;
  std::unique_ptr<T[]> columns_;
};

/// The argument that holds a NaN, as LAPACKE returns it; 0 when none does.
template <class T>
int nan_argument(LapackeEntry& entry, const Arguments<T>& in) {
  if (!entry.checks_nan || !wants_nan_check(entry.get_nancheck)) return 0;
  if (triangle_has_nan(in)) return entry.has_rhs ? -5 : -4;
  return entry.has_rhs && rhs_have_nan(in) ? -7 : 0;
}

/// The leading dimension that is too small for a row, as LAPACKE returns it; 0 when none is.
template <class T>
int short_row(const LapackeEntry& entry, const Arguments<T>& in) {
  if (in.layout == kColumnMajor) return 0;
  if (in.lda < in.n) return entry.has_rhs ? -6 : -5;
  return entry.has_rhs && in.ldb < in.nrhs ? -8 : 0;
}

/// The position of the first invalid argument in LAPACK's call; 0 when all are valid.
template <class T>
int wrong_for_lapack(const LapackeEntry& entry, const Arguments<T>& in) {
  const int letter = in.uplo & ~0x20;
  const int64_t least = in.layout == kColumnMajor ? std::max<int64_t>(1, in.n) : INT64_MIN;
  if (letter != CHOL_LOWER && letter != CHOL_UPPER) return 1;
  if (in.n < 0) return 2;
  if (!entry.has_rhs) return in.lda < least ? 4 : 0;
  if (in.nrhs < 0) return 3;
  if (in.lda < least) return 5;
  return in.ldb < least ? 7 : 0;
}

/// The system as stored.
template <class T>
System<T> system_of(const Arguments<T>& in) {
  const bool lower = ((in.uplo & ~0x20) == CHOL_LOWER) == (in.layout == kColumnMajor);
  return {lower ? CHOL_LOWER : CHOL_UPPER, in.n, in.nrhs, in.A, std::max<int64_t>(1, in.lda), in.B,
          std::max<int64_t>(1, in.ldb)};
}

/// Computes the routine for valid arguments. Returns whether it was done, with LAPACKE's info.
template <class T, class Work>
bool compute(LapackeEntry& entry, const Arguments<T>& in, Work work, Outcome* outcome) {
  System<T> system = system_of(in);
  if (in.layout == kColumnMajor || !entry.has_rhs)
    return work(system, entry.entry.original, outcome);
  const RowMajorRhs<T> rhs(in);
  if (!rhs.columns()) {
    outcome->info = report_to_lapacke(entry.xerbla, entry.work_name, kTransposeMemoryError);
    return true;
  }
  system.B = rhs.columns();
  system.ldb = rhs.ld();
  const bool done = work(system, entry.entry.original, outcome);
  if (done && outcome->info == 0) rhs.write_back();
  return done;
}

/// The call in LAPACKE's order: layout, NaN, leading dimensions, LAPACK's own tests, computation.
/// Returns whether outcome.info is valid; if not, the original must be called.
template <class T, class Work>
bool answer(LapackeEntry& entry, const Arguments<T>& in, Work work, Outcome* outcome) {
  if (!entry.entry.is_selected()) return false;
  if (in.layout != kRowMajor && in.layout != kColumnMajor) {
    outcome->info = report_to_lapacke(entry.xerbla, entry.name, -1);
    return true;
  }
  outcome->info = nan_argument(entry, in);
  if (outcome->info != 0) return true;
  if (const int row = short_row(entry, in)) {
    outcome->info = report_to_lapacke(entry.xerbla, entry.work_name, row);
    return true;
  }
  if (const int wrong = wrong_for_lapack(entry, in)) {
    report_argument(entry.entry, wrong);
    outcome->info = -wrong - 1;
    return true;
  }
  return compute(entry, in, work, outcome);
}

template <class T, class Integer, class Work>
Integer call_on_matrix(LapackeEntry& entry, Work work, int layout, char uplo, Integer n, T* A,
                       Integer lda) {
  using Function = Integer(int, char, Integer, T*, Integer);
  Tally tally(entry.entry.account, n);
  Outcome outcome;
  const Arguments<T> in{layout, uplo, n, 0, A, lda, nullptr, 1};
  if (answer(entry, in, work, &outcome)) {
    tally.runs_on(outcome.place);
    return outcome.info;
  }
  tally.runs_on(Place::original);
  if (auto* original = entry.entry.original.template get<Function>())
    return original(layout, uplo, n, A, lda);
  return report_nobody(entry.name);
}

template <class T, class Integer, class Work>
Integer call_with_rhs(LapackeEntry& entry, Work work, int layout, char uplo, Integer n,
                      Integer nrhs, T* A, Integer lda, T* B, Integer ldb) {
  using Function = Integer(int, char, Integer, Integer, T*, Integer, T*, Integer);
  Tally tally(entry.entry.account, n);
  Outcome outcome;
  const Arguments<T> in{layout, uplo, n, nrhs, A, lda, B, ldb};
  if (answer(entry, in, work, &outcome)) {
    tally.runs_on(outcome.place);
    return outcome.info;
  }
  tally.runs_on(Place::original);
  if (auto* original = entry.entry.original.template get<Function>())
    return original(layout, uplo, n, nrhs, A, lda, B, ldb);
  return report_nobody(entry.name);
}

}  // namespace
}  // namespace chol::preload

using namespace chol;
using namespace chol::preload;

#define CHOL_DEFINE_ENTRY(work, after, letter, routine, has_rhs)                   \
  static constinit LapackeEntry letter##routine##work##after##_entry = {           \
      {letter##routine##_account, selection_bit(Family::routine, #letter[0]),      \
       LapackName(#letter #routine), sizeof #after > 1 ? "xerbla_64_" : "xerbla_", \
       Original("LAPACKE_" #letter #routine #work #after)},                        \
      Original("LAPACKE_get_nancheck" #after),                                     \
      "LAPACKE_xerbla" #after,                                                     \
      "LAPACKE_" #letter #routine #work,                                           \
      "LAPACKE_" #letter #routine "_work",                                         \
      sizeof #work == 1,                                                           \
      has_rhs};

#define CHOL_DEFINE_ON_MATRIX(work, after, Integer, letter, T, routine)                            \
  CHOL_DEFINE_ENTRY(work, after, letter, routine, false)                                           \
  extern "C" CHOL_EXPORT Integer LAPACKE_##letter##routine##work##after(                           \
      int layout, char uplo, Integer n, T* A, Integer lda) {                                       \
    return call_on_matrix(letter##routine##work##after##_entry, preload::routine<T>, layout, uplo, \
                          n, A, lda);                                                              \
  }

#define CHOL_DEFINE_WITH_RHS(work, after, Integer, letter, T, routine)                            \
  CHOL_DEFINE_ENTRY(work, after, letter, routine, true)                                           \
  extern "C" CHOL_EXPORT Integer LAPACKE_##letter##routine##work##after(                          \
      int layout, char uplo, Integer n, Integer nrhs, T* A, Integer lda, T* B, Integer ldb) {     \
    return call_with_rhs(letter##routine##work##after##_entry, preload::routine<T>, layout, uplo, \
                         n, nrhs, A, lda, B, ldb);                                                \
  }

#define CHOL_DEFINE_ROUTINE(DEFINE, letter, T, routine)                            \
  static constinit Account letter##routine##_account("LAPACKE_" #letter #routine); \
  CHOL_FOR_EACH_LAPACKE_FORM(DEFINE, letter, T, routine)

#define CHOL_DEFINE_LAPACKE(letter, T, R)                      \
  CHOL_DEFINE_ROUTINE(CHOL_DEFINE_ON_MATRIX, letter, T, potrf) \
  CHOL_DEFINE_ROUTINE(CHOL_DEFINE_ON_MATRIX, letter, T, potri) \
  CHOL_DEFINE_ROUTINE(CHOL_DEFINE_WITH_RHS, letter, T, potrs)  \
  CHOL_DEFINE_ROUTINE(CHOL_DEFINE_WITH_RHS, letter, T, posv)
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_LAPACKE)
