// LAPACK's Fortran interface: potrf, potrf2, potf2, potrs, posv and potri under every decoration.
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

/// The common course of an entry: arguments, chol, else `forward`, which returns whether there was
/// an original.
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
