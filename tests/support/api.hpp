// The C functions of one precision under names without the letter, so that a typed test can call
// them.
#pragma once

#include "base/precisions.h"
#include "chol.h"

namespace chol::test {

template <class T>
struct Api;

#define CHOL_TEST_FORMS(p, routine)                                                      \
  static constexpr auto routine##_batched = chol_##p##routine##_batched;                 \
  static constexpr auto routine##_strided_batched = chol_##p##routine##_strided_batched; \
  static constexpr auto routine##_vbatched = chol_##p##routine##_vbatched;               \
  static constexpr auto routine##_interleaved = chol_##p##routine##_interleaved;
#define CHOL_TEST_COPIES(p, direction)                                                   \
  static constexpr auto direction = chol_##p##direction##_interleaved;                   \
  static constexpr auto direction##_batched = chol_##p##direction##_interleaved_batched; \
  static constexpr auto direction##_rhs = chol_##p##direction##_interleaved_rhs;         \
  static constexpr auto direction##_rhs_batched = chol_##p##direction##_interleaved_rhs_batched;
#define CHOL_TEST_API(p, T, R)                       \
  template <>                                        \
  struct Api<T> {                                    \
    static constexpr auto potrf = chol_##p##potrf;   \
    static constexpr auto potrs = chol_##p##potrs;   \
    static constexpr auto posv = chol_##p##posv;     \
    static constexpr auto potri = chol_##p##potri;   \
    static constexpr auto pocon = chol_##p##pocon;   \
    static constexpr auto logdet = chol_##p##logdet; \
    CHOL_TEST_FORMS(p, potrf)                        \
    CHOL_TEST_FORMS(p, potrs)                        \
    CHOL_TEST_FORMS(p, posv)                         \
    CHOL_TEST_FORMS(p, potri)                        \
    CHOL_TEST_FORMS(p, logdet)                       \
    CHOL_TEST_COPIES(p, pack)                        \
    CHOL_TEST_COPIES(p, unpack)                      \
  };
CHOL_FOR_EACH_PRECISION(CHOL_TEST_API)
#undef CHOL_TEST_API
#undef CHOL_TEST_FORMS
#undef CHOL_TEST_COPIES

}  // namespace chol::test
