#include "library.h"

bool library(chol_handle_t handle, chol_status_t status, failure_t* failure) {
  if (status == CHOL_STATUS_SUCCESS) return true;
  return fail(failure, kExitLibrary, "%s: %s", chol_status_string(status), chol_last_error(handle));
}

bool library_open(int threads, chol_handle_t* handle, failure_t* failure) {
  *handle = NULL;
  return library(NULL, chol_create(handle), failure) &&
         library(*handle, chol_set_num_threads(*handle, threads), failure);
}
