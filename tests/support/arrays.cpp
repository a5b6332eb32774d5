#include "support/arrays.hpp"

namespace chol::test {

#define CHOL_INSTANTIATE_ARRAYS(p, T, R) \
  template class Field<T>;               \
  template class Arrays<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE_ARRAYS)
#undef CHOL_INSTANTIATE_ARRAYS

}  // namespace chol::test
