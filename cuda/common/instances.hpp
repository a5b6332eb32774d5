// Lists of kernel instances from the lines of a family's instances.def. A line names a precision,
// then what the macros at the head of that file say.
#pragma once

#include <type_traits>

#include "common/shape_list.hpp"

namespace chol::cuda {

template <class T>
inline constexpr char kLetter = sizeof(T) == 4          ? 's'
                                : sizeof(T) == 16       ? 'z'
                                : Traits<T>::is_complex ? 'c'
                                                        : 'd';
/// Whether a line of that precision is for T.
template <class T>
constexpr bool is_of(const char* precision) {
  return precision[0] == kLetter<T>;
}

/// The triangles that a line is for.
enum class Triangle { lower, upper, both };
constexpr bool is_of(Triangle triangle, bool upper) {
  return triangle == Triangle::both || (triangle == Triangle::upper) == upper;
}

/// The lines of a file, each as a list_if, add up to the list of those whose condition holds. Types
/// only: nothing of it is called.
template <class... A, class... B>
ShapeList<A..., B...> operator+(ShapeList<A...>, ShapeList<B...>);
template <bool kCondition, class Shape>
std::conditional_t<kCondition, ShapeList<Shape>, ShapeList<>> list_if();
/// That of a list of one.
template <class Shape>
Shape only(ShapeList<Shape>);

}  // namespace chol::cuda
