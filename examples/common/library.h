/** chol's status as a failure of the example. */
#ifndef CHOL_EXAMPLES_LIBRARY_H
#define CHOL_EXAMPLES_LIBRARY_H

#include <chol.h>

#include "failure.h"

/**
 * True for success; else fills in chol's last error message.
 * @param handle the handle of the call, NULL for chol_create().
 */
bool library(chol_handle_t handle, chol_status_t status, failure_t* failure);

/** Makes a handle with that many threads, 0 for chol's own choice. */
bool library_open(int threads, chol_handle_t* handle, failure_t* failure);

#endif
