// Use from C++: the same header, std::complex for the complex types.
#include <chol.h>

#include <complex>
#include <iostream>

int main() {
  chol_handle_t handle;
  if (chol_create(&handle) != CHOL_STATUS_SUCCESS) return 1;
  std::complex<double> A[4] = {4., {0., 2.}, 0., 10.};
  int info = -1;
  const bool done = chol_zpotrf(handle, CHOL_LOWER, 2, A, 2, &info) == CHOL_STATUS_SUCCESS;
  chol_destroy(handle);
  const bool right =
      done && info == 0 && A[0] == 2. && A[1] == std::complex<double>(0, 1) && A[3] == 3.;
  std::cout << (right ? "C++ consumer: all right\n" : "FAILED: complex factor\n");
  return right ? 0 : 1;
}
