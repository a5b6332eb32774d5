/** Real symmetric matrices in Matrix Market files (Boisvert, Pozo, Remington 1996). */
#ifndef CHOL_EXAMPLES_MATRIX_MARKET_H
#define CHOL_EXAMPLES_MATRIX_MARKET_H

#include <stdint.h>

#include "failure.h"

/**
 * Reads a file into a dense column-major array that holds both triangles.
 * Coordinate and array format, real and integer entries; symmetric files may store either triangle,
 * general files are checked for symmetry (to 1e-12 of the larger of the two entries, as files hold
 * rounded decimals). Entries that occur several times are summed.
 * @param path the file.
 * @param[out] n order of the matrix.
 * @param[out] entries number of entries in the file.
 * @param[out] A n * n elements with leading dimension n; to be freed by the caller.
 * @return false with a message that names the line: a file that is missing, cut short or malformed,
 *         a matrix that is not square or not symmetric, an index out of range, a value that is not
 *         finite.
 */
bool matrix_market_read(const char* path, int64_t* n, int64_t* entries, double** A,
                        failure_t* failure);

#endif
