// Replacement of the standard headers that the kernels' headers include, for NVRTC, which has no
// standard library.
#ifndef CHOL_STD_FOR_DEVICE
#define CHOL_STD_FOR_DEVICE

using int64_t = long;
using uint64_t = unsigned long;
using uintptr_t = unsigned long;
static_assert(sizeof(int64_t) == 8);

#define INT64_MAX 9223372036854775807
#define FLT_MAX 3.402823466e+38f
#define DBL_MAX 1.7976931348623157e+308

namespace std {

template <bool kFirst, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool kFirst, class A, class B>
using conditional_t = typename conditional<kFirst, A, B>::type;

}  // namespace std

#endif
