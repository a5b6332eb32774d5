// A module as Python and R open them: it calls LAPACK, and the object that it was linked with comes
// into the process with it, out of sight of dlsym(RTLD_NEXT).
#include <cstddef>

extern "C" {
void dpotrf_(const char*, const int*, double*, const int*, int*, size_t);

__attribute__((visibility("default"))) void module_potrf(const char* uplo, const int* n, double* A,
                                                         const int* lda, int* info, size_t length) {
  dpotrf_(uplo, n, A, lda, info, length);
}
}
