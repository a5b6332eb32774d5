/** The systems on a CUDA device, where this program was built with one in view. */
#ifndef CHOL_EXAMPLES_DEVICE_H
#define CHOL_EXAMPLES_DEVICE_H

#include "systems.h"

/** Whether the handle has a CUDA device and this program can put arrays there; what it is. */
bool device_available(chol_handle_t handle, const char** name);

/**
 * Copies the systems to the device, solves them there by the same call as on the host, and copies
 * the solutions back: the memory of the arrays selects the backend.
 * @param[out] seconds of the call, without the copies.
 */
bool device_solve(chol_handle_t handle, systems_t* systems, double* seconds, failure_t* failure);

#endif
