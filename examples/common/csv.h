/** Numeric columns of a comma separated file with a header line. */
#ifndef CHOL_EXAMPLES_CSV_H
#define CHOL_EXAMPLES_CSV_H

#include <stdint.h>

#include "failure.h"

/**
 * Reads the columns with these names, in whatever order the file has them.
 * @param path the file.
 * @param names, count the columns wanted.
 * @param[out] rows number of data rows.
 * @param[out] values rows * count numbers, row by row; to be freed by the caller.
 * @return false for a file that is missing, empty, cut short or malformed, or holds a value that is
 *         not a finite number; the message names the line.
 */
bool csv_read(const char* path, const char* const names[], int count, int64_t* rows,
              double** values, failure_t* failure);

#endif
