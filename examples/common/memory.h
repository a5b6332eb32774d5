/** Large arrays. */
#ifndef CHOL_EXAMPLES_MEMORY_H
#define CHOL_EXAMPLES_MEMORY_H

#include <stddef.h>

#include "failure.h"

/**
 * Zeroed memory for `count` doubles, to be freed by free().
 * @param what its name in the message if the allocation fails. More than the machine's memory is
 *        refused at once: the system would hand it out and end the program when it is used.
 */
double* allocate_doubles(size_t count, const char* what, failure_t* failure);

#endif
