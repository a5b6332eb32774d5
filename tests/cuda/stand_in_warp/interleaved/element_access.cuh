#pragma once

namespace chol::cuda {

template <class E>
E* walked(E* p) {
  return p;
}
template <class E>
void write_in_order(E* p, E x) {
  *p = x;
}

}  // namespace chol::cuda
