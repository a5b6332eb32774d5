// A module as Python and R open them: it calls LAPACK, and the object with which it is linked is
// loaded with it, invisible to dlsym(RTLD_NEXT).
#include <cstddef>

extern "C" {
void dpotrf_(const char*, const int*, double*, const int*, int*, size_t);

__attribute__((visibility("default"))) void module_potrf(const char* uplo, const int* n, double* A,
                                                         const int* lda, int* info, size_t length) {
  dpotrf_(uplo, n, A, lda, info, length);
}
}
