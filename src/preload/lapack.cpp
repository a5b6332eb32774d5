// LAPACK's Fortran interface: potrf, potrf2, potf2, potrs, posv, potri, dsposv and zcposv under
// every decoration.
#include <algorithm>

#include "preload/entry.hpp"
#include "preload/host.hpp"
#include "preload/names.h"

namespace chol::preload {
namespace {

/// The triangle that a character names, as LSAME reads it; 0 when it names none.
int triangle(const char* uplo) {
  const int letter = *uplo & ~0x20;
  return letter == CHOL_LOWER || letter == CHOL_UPPER ? letter : 0;
}

// The position of the first argument that is wrong, or 0, in the order of LAPACK's own tests.
template <class T>
int wrong_argument(int uplo, const System<T>& system) {
  if (!uplo) return 1;
  if (system.n < 0) return 2;
  return system.lda < std::max<int64_t>(1, system.n) ? 4 : 0;
}
template <class T>
int wrong_argument_with_rhs(int uplo, const System<T>& system) {
  if (!uplo) return 1;
  if (system.n < 0) return 2;
  if (system.nrhs < 0) return 3;
  if (system.lda < std::max<int64_t>(1, system.n)) return 5;
  return system.ldb < std::max<int64_t>(1, system.n) ? 7 : 0;
}

/// Common sequence of a wrapper: check arguments, call chol, else `forward`, which returns whether
/// there was an original.
template <class T, class Integer, class Work, class Forward>
void call(Entry& entry, int wrong, const System<T>& system, Integer* info, Work work,
          Forward forward) {
  Tally tally(entry.account, system.n);
  if (entry.is_selected()) {
    if (wrong) {
      *info = -wrong;
      return report_argument(entry, wrong);
    }
    Outcome done;
    if (work(system, entry.original, &done)) {
      *info = done.info;
      tally.runs_on(done.place);
      return;
    }
  }
  tally.runs_on(Place::original);
  if (!forward()) *info = report_nobody(entry.original.symbol());
}

/// potrf and potri, under all names.
template <class T, class Integer, class Work>
void call_on_matrix(Entry& entry, Work work, const char* uplo, const Integer* n, T* A,
                    const Integer* lda, Integer* info) {
  using Function = void(const char*, const Integer*, T*, const Integer*, Integer*, size_t);
  const int letter = triangle(uplo);
  const System<T> system{static_cast<chol_uplo_t>(letter), *n, 0, A, *lda};
  call(entry, wrong_argument(letter, system), system, info, work, [&] {
    auto* original = entry.original.template get<Function>();
    if (original) original(uplo, n, A, lda, info, 1);
    return original != nullptr;
  });
}

/// potrs and posv. The factor of a potrs is read only.
template <class T, class Integer, class Work>
void call_with_rhs(Entry& entry, Work work, const char* uplo, const Integer* n, const Integer* nrhs,
                   T* A, const Integer* lda, T* B, const Integer* ldb, Integer* info) {
  using Function = void(const char*, const Integer*, const Integer*, T*, const Integer*, T*,
                        const Integer*, Integer*, size_t);
  const int letter = triangle(uplo);
  const System<T> system{static_cast<chol_uplo_t>(letter), *n, *nrhs, A, *lda, B, *ldb};
  call(entry, wrong_argument_with_rhs(letter, system), system, info, work, [&] {
    auto* original = entry.original.template get<Function>();
    if (original) original(uplo, n, nrhs, A, lda, B, ldb, info, 1);
    return original != nullptr;
  });
}

/// dsposv and zcposv; `workspace` of the original, which zcposv has one array more of.
template <class T, class Integer, class... Workspace>
void call_mixed(Entry& entry, const char* uplo, const Integer* n, const Integer* nrhs, T* A,
                const Integer* lda, const T* B, const Integer* ldb, T* X, const Integer* ldx,
                Integer* iter, Integer* info, Workspace... workspace) {
  using Function =
      void(const char*, const Integer*, const Integer*, T*, const Integer*, const T*,
           const Integer*, T*, const Integer*, Workspace..., Integer*, Integer*, size_t);
  const int letter = triangle(uplo);
  const System<T> system{
      static_cast<chol_uplo_t>(letter), *n, *nrhs, A, *lda, const_cast<T*>(B), *ldb};
  int wrong = wrong_argument_with_rhs(letter, system);
  if (!wrong && *ldx < std::max<Integer>(1, *n)) wrong = 9;
  MixedResult<T> result{X, *ldx};
  const auto work = [&](const System<T>& arguments, Original& original, Outcome* done) {
    const bool is_done = sposv(arguments, result, original, done);
    if (is_done) *iter = result.iter;
    return is_done;
  };
  call(entry, wrong, system, info, work, [&] {
    auto* original = entry.original.template get<Function>();
    if (original) original(uplo, n, nrhs, A, lda, B, ldb, X, ldx, workspace..., iter, info, 1);
    return original != nullptr;
  });
}

}  // namespace
}  // namespace chol::preload

using namespace chol;
using namespace chol::preload;

#define CHOL_DEFINE_ENTRY(before, after, letter, routine, family)           \
  static constinit Entry before##letter##routine##after##_entry = {         \
      letter##routine##_account, selection_bit(Family::family, #letter[0]), \
      LapackName(#letter #routine), #before "xerbla" #after,                \
      Original(#before #letter #routine #after)};

#define CHOL_DEFINE_ON_MATRIX(before, after, Integer, letter, T, routine, family)               \
  CHOL_DEFINE_ENTRY(before, after, letter, routine, family)                                     \
  extern "C" CHOL_EXPORT void before##letter##routine##after(                                   \
      const char* uplo, const Integer* n, T* A, const Integer* lda, Integer* info) {            \
    call_on_matrix(before##letter##routine##after##_entry, preload::family<T>, uplo, n, A, lda, \
                   info);                                                                       \
  }

#define CHOL_DEFINE_WITH_RHS(before, after, Integer, letter, T, routine, family)                \
  CHOL_DEFINE_ENTRY(before, after, letter, routine, family)                                     \
  extern "C" CHOL_EXPORT void before##letter##routine##after(                                   \
      const char* uplo, const Integer* n, const Integer* nrhs, T* A, const Integer* lda, T* B,  \
      const Integer* ldb, Integer* info) {                                                      \
    call_with_rhs(before##letter##routine##after##_entry, preload::family<T>, uplo, n, nrhs, A, \
                  lda, B, ldb, info);                                                           \
  }

#define CHOL_DEFINE_FACTORIZATION(routine, letter, T)                   \
  static constinit Account letter##routine##_account(#letter #routine); \
  CHOL_FOR_EACH_DECORATION(CHOL_DEFINE_ON_MATRIX, letter, T, routine, potrf)

#define CHOL_DEFINE_LAPACK(letter, T, R)                                   \
  CHOL_FOR_EACH_FACTORIZATION(CHOL_DEFINE_FACTORIZATION, letter, T)        \
  static constinit Account letter##potri_account(#letter "potri");         \
  CHOL_FOR_EACH_DECORATION(CHOL_DEFINE_ON_MATRIX, letter, T, potri, potri) \
  static constinit Account letter##potrs_account(#letter "potrs");         \
  CHOL_FOR_EACH_DECORATION(CHOL_DEFINE_WITH_RHS, letter, T, potrs, potrs)  \
  static constinit Account letter##posv_account(#letter "posv");           \
  CHOL_FOR_EACH_DECORATION(CHOL_DEFINE_WITH_RHS, letter, T, posv, posv)
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_LAPACK)

#define CHOL_DEFINE_DSPOSV(before, after, Integer, routine)                                    \
  CHOL_DEFINE_ENTRY(before, after, d, routine, posv)                                           \
  extern "C" CHOL_EXPORT void before##d##routine##after(                                       \
      const char* uplo, const Integer* n, const Integer* nrhs, double* A, const Integer* lda,  \
      const double* B, const Integer* ldb, double* X, const Integer* ldx, double* work,        \
      float* swork, Integer* iter, Integer* info) {                                            \
    call_mixed(before##d##routine##after##_entry, uplo, n, nrhs, A, lda, B, ldb, X, ldx, iter, \
               info, work, swork);                                                             \
  }
#define CHOL_DEFINE_ZCPOSV(before, after, Integer, routine)                                    \
  CHOL_DEFINE_ENTRY(before, after, z, routine, posv)                                           \
  extern "C" CHOL_EXPORT void before##z##routine##after(                                       \
      const char* uplo, const Integer* n, const Integer* nrhs, std::complex<double>* A,        \
      const Integer* lda, const std::complex<double>* B, const Integer* ldb,                   \
      std::complex<double>* X, const Integer* ldx, std::complex<double>* work,                 \
      std::complex<float>* swork, double* rwork, Integer* iter, Integer* info) {               \
    call_mixed(before##z##routine##after##_entry, uplo, n, nrhs, A, lda, B, ldb, X, ldx, iter, \
               info, work, swork, rwork);                                                      \
  }
static constinit Account dsposv_account("dsposv");
static constinit Account zcposv_account("zcposv");
CHOL_FOR_EACH_DECORATION(CHOL_DEFINE_DSPOSV, sposv)
CHOL_FOR_EACH_DECORATION(CHOL_DEFINE_ZCPOSV, cposv)
