/**
 * @file chol.h
 * @brief chol: Cholesky factorization and related routines on the CPU and on CUDA devices.
 *
 * A = L L^H (CHOL_LOWER) or A = U^H U (CHOL_UPPER) for Hermitian positive definite A: one matrix, a
 * batch of equal sizes, a batch of different sizes, an interleaved batch. Names, argument order and
 * the meaning of info are LAPACK's; matrices are column-major except in interleaved batches.
 *
 * Rules that hold for every routine:
 *  - Element (i, j) of a matrix with leading dimension lda is at A[i + j * lda], lda >= max(1, n).
 *    Only the triangle that uplo names is read and written; the other triangle and the rows between
 *    n and lda are not changed. The imaginary part of a diagonal is taken as zero and set to zero.
 *  - Every function returns a ::chol_status_t. A wrong argument returns CHOL_STATUS_INVALID_VALUE
 *    without any change, and chol_last_error() names the argument, its value and the rule.
 *  - A matrix that is not positive definite is no error: info = k > 0 says that the leading minor of
 *    order k is not positive definite; columns 1 .. k-1 (rows, for CHOL_UPPER) hold the factor's and
 *    the rest of the named triangle is unspecified. A pivot that is NaN or infinite counts as not
 *    positive definite, so that with info = 0 the factor has no NaN or Inf.
 *  - n = 0, nrhs = 0 or batch = 0 return at once; arrays of no elements may be NULL.
 *  - Sizes, leading dimensions, strides and counts are int64_t and count elements, workspace is in
 *    bytes. Arrays of a batch must not overlap.
 *  - info is an int, which counts to 2^31 - 1: a larger order is refused as a wrong argument. No
 *    matrix of such an order would have a size of less than 2^63 bytes.
 *  - A handle is used by one thread at a time; any number of handles can be used concurrently.
 *  - A call on host arrays is synchronous. A call on device arrays is
 *    asynchronous on the handle's stream and never synchronizes the device.
 *  - The same input with the same handle settings on the same machine gives the same bits,
 *    independent of the number of threads, the position in the batch and its other matrices.
 */
#ifndef CHOL_H
#define CHOL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <complex>
/** Single precision complex: std::complex in C++, _Complex in C, the same bits. */
typedef std::complex<float> chol_complex_float;
/** Double precision complex: std::complex in C++, _Complex in C, the same bits. */
typedef std::complex<double> chol_complex_double;
#else
/* Not <complex.h>, which would define the macro I. */
/** Single precision complex: std::complex in C++, _Complex in C, the same bits. */
typedef float _Complex chol_complex_float;
/** Double precision complex: std::complex in C++, _Complex in C, the same bits. */
typedef double _Complex chol_complex_double;
#endif

#if defined(__GNUC__)
#define CHOL_EXPORT __attribute__((visibility("default"))) /**< Part of the ABI. */
#else
#define CHOL_EXPORT /**< Part of the ABI. */
#endif

#define CHOL_VERSION_MAJOR 0 /**< Version of this header; chol_version() gives the library's. */
#define CHOL_VERSION_MINOR 1 /**< Incremented with additions to the API. */
#define CHOL_VERSION_PATCH 0 /**< Incremented with other changes. */

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup handle Handle, status and options
 * @{ */

/** Opaque: the backends, the options and the memory reused by calls. */
typedef struct chol_handle_s *chol_handle_t;

/** What a function returns. Values are never renumbered. */
typedef enum {
  CHOL_STATUS_SUCCESS = 0,        /**< Success; info tells about the matrices. */
  CHOL_STATUS_INVALID_VALUE = 1,  /**< An argument breaks a rule: see chol_last_error(). */
  CHOL_STATUS_INVALID_HANDLE = 2, /**< The handle is NULL or was destroyed. */
  CHOL_STATUS_ALLOC_FAILED = 3,   /**< Out of memory; nothing was computed. */
  CHOL_STATUS_NOT_SUPPORTED = 4,  /**< Not supported by this backend: see chol_last_error(). */
  CHOL_STATUS_NO_DEVICE = 5,      /**< The requested backend is not available. */
  CHOL_STATUS_DEVICE_ERROR = 6,   /**< The device or its driver failed: see chol_last_error(). */
  CHOL_STATUS_INTERNAL = 7,       /**< A defect in chol. */
  CHOL_STATUS_CANCELLED = 8,      /**< The caller's progress function cancelled the call. */
  CHOL_STATUS_CALLBACK_FAILED = 9 /**< The caller's function failed. */
} chol_status_t;

/** Which triangle of the matrix is stored and which factor is computed. */
typedef enum {
  CHOL_LOWER = 'L', /**< A = L L^H, L in the lower triangle. */
  CHOL_UPPER = 'U'  /**< A = U^H U, U in the upper triangle. */
} chol_uplo_t;

/** The processor that does the work. */
typedef enum {
  CHOL_BACKEND_HOST = 0, /**< The CPU cores. */
  CHOL_BACKEND_CUDA = 1  /**< CUDA devices. */
} chol_backend_t;

/** Required accuracy of the arithmetic. */
typedef enum {
  CHOL_MATH_IEEE = 0,  /**< Correctly rounded operations, the default. */
  CHOL_MATH_FAST = 1,  /**< Approximate square root and division, in interleaved batches only. */
  CHOL_MATH_TENSOR = 2 /**< potrf and posv of one large matrix in device memory or over several
                            devices: products on integer tensor cores where that is faster. */
} chol_math_mode_t;

/** Whether matrices in host memory are factored on a device. */
typedef enum {
  CHOL_OFFLOAD_NEVER = 0, /**< Never: on the host. The default. */
  CHOL_OFFLOAD_AUTO = 1,  /**< On a device where that is faster by the tuning store's rates. */
  CHOL_OFFLOAD_ALWAYS = 2 /**< On a device whenever it can. */
} chol_offload_t;

/**
 * Creates a handle over every available backend (or the one that the environment variable
 * CHOL_BACKEND, "host" or "cuda", names). Reads the environment, once per process. With an invalid
 * value of a variable this function and chol_create_on() fail with INVALID_VALUE and a message that
 * names the variable, its value and the rule; an empty variable counts as unset.
 * @param[out] handle the new handle, NULL on failure. Host pointer.
 * @return INVALID_VALUE, ALLOC_FAILED, NO_DEVICE; the message is in chol_last_error(NULL).
 */
CHOL_EXPORT chol_status_t chol_create(chol_handle_t *handle);

/**
 * Creates a handle for one backend. Named devices can work on one matrix together (group "cyclic");
 * every other routine runs on the device whose memory contains its arrays.
 * @param[out] handle the new handle, NULL on failure. Host pointer.
 * @param backend which.
 * @param device_count number of devices, 0 for the current one; must be 0 for the host.
 * @param devices device_count device numbers, or NULL when device_count = 0. A device may be named
 *        more than once and then has the parts of so many devices. Host pointer.
 * @return INVALID_VALUE, ALLOC_FAILED, NO_DEVICE; the message is in chol_last_error(NULL).
 */
CHOL_EXPORT chol_status_t chol_create_on(chol_handle_t *handle, chol_backend_t backend,
                                         int device_count, const int *devices);

/**
 * Frees the handle and everything that it owns. NULL does nothing.
 * @param handle the handle; must not be used afterwards.
 */
CHOL_EXPORT chol_status_t chol_destroy(chol_handle_t handle);

/** The name of a status, such as "CHOL_STATUS_SUCCESS"; never NULL. */
CHOL_EXPORT const char *chol_status_string(chol_status_t status);

/**
 * The message of the last failed call on this handle; "" if none failed.
 * @param handle the handle, or NULL for the last failed chol_create() or call with an invalid
 *        handle of this thread.
 * @return a string that is valid until the next call on the handle.
 */
CHOL_EXPORT const char *chol_last_error(chol_handle_t handle);

/** Version of the library; each pointer may be NULL. */
CHOL_EXPORT chol_status_t chol_version(int *major, int *minor, int *patch);

/**
 * Sets how many threads host work may use.
 * @param handle the handle.
 * @param threads 1 to 65536, or 0 for the default: CHOL_NUM_THREADS, else
 *   OMP_NUM_THREADS, else the cores that the process may use.
 * Results do not depend on it.
 */
CHOL_EXPORT chol_status_t chol_set_num_threads(chol_handle_t handle, int threads);

/** Returns the number set by chol_set_num_threads() (the default resolved). */
CHOL_EXPORT chol_status_t chol_get_num_threads(chol_handle_t handle, int *threads);

/**
 * Sets the stream for calls on device arrays.
 * @param handle a handle with a CUDA backend and not more than one device (NOT_SUPPORTED otherwise).
 * @param cuda_stream a cudaStream_t; NULL is the default stream.
 */
CHOL_EXPORT chol_status_t chol_set_stream(chol_handle_t handle, void *cuda_stream);

/**
 * Sets the stream of one of the handle's named devices: calls over several devices are ordered
 * after its work, and calls on arrays of that device are queued on it.
 * @param handle a handle with named devices (NOT_SUPPORTED otherwise).
 * @param which position of the device in the list given to chol_create_on().
 * @param cuda_stream a cudaStream_t of that device; NULL is its default stream.
 */
CHOL_EXPORT chol_status_t chol_set_device_stream(chol_handle_t handle, int which,
                                                 void *cuda_stream);

/**
 * Sets the arithmetic; routines without a faster variant use IEEE arithmetic. The default of a new
 * handle is that of the environment variable CHOL_MATH.
 * @param handle the handle.
 * @param mode of CHOL_MATH_TENSOR the results keep LAPACK's bounds and the element-wise bound
 *   |A - L L^H|_ij <= c u sqrt(a_ii a_jj) of docs/numerics.md, and info is exact. The call waits
 *   for the device, except during a capture; its workspace takes at least .9 times the bytes of the
 *   matrix (1.75 before compute capability 9.0). If it cannot be allocated, CHOL_MATH_IEEE is used.
 */
CHOL_EXPORT chol_status_t chol_set_math_mode(chol_handle_t handle, chol_math_mode_t mode);

/**
 * Sets whether potrf and posv of one matrix in host memory may be done on a CUDA device.
 * The device is shared by the process, opened by the first call that needs it and used by one call
 * at a time. Calls that would wait too long, calls in a child after fork and calls that fail there
 * (no device, no memory) run on the host with the same result to rounding. Signals of the calling
 * thread are blocked during offload.
 * @param handle a handle with a host backend (NOT_SUPPORTED otherwise).
 * @param offload when; chol_create() sets what the environment variable CHOL_OFFLOAD, "never",
 *        "auto" or "always", says.
 */
CHOL_EXPORT chol_status_t chol_set_offload(chol_handle_t handle, chol_offload_t offload);

/**
 * The backend that ran the last routine on this handle.
 * @param handle the handle.
 * @param[out] backend the backend; before the first routine the one for host arrays.
 */
CHOL_EXPORT chol_status_t chol_last_backend(chol_handle_t handle, chol_backend_t *backend);

/**
 * Sets the handle's workspace; calls that fit in it do not allocate memory.
 * @param handle the handle.
 * @param memory bytes of host memory (a host handle) or device memory (a CUDA handle), which stays
 *        the caller's and must outlive its use; NULL with bytes = 0 takes it back.
 * @param bytes its size.
 */
CHOL_EXPORT chol_status_t chol_set_workspace(chol_handle_t handle, void *memory, size_t bytes);

/**
 * Sets the workspace of one of the handle's named devices, as chol_set_workspace().
 * @param handle a handle with named devices (NOT_SUPPORTED otherwise).
 * @param which position of the device in the list given to chol_create_on().
 * @param memory bytes of that device's memory, which stays the caller's and must outlive its use;
 *        NULL with bytes = 0 takes it back.
 * @param bytes its size.
 */
CHOL_EXPORT chol_status_t chol_set_device_workspace(chol_handle_t handle, int which, void *memory,
                                                    size_t bytes);

/**
 * Queries the workspace that calls need, without executing them. Between this call and the next one
 * with bytes = NULL every routine of this handle checks its arguments as usual, increases *bytes to
 * the workspace that it would need from chol_set_workspace(), and returns without accessing a
 * matrix. The sizes of a variable batch are read if max_n says that they are unknown.
 * @param handle the handle.
 * @param[in,out] bytes receives the largest workspace, for calls over several devices that of one
 * device; set to 0 here. Host pointer that must remain valid during the query; NULL ends it.
 */
CHOL_EXPORT chol_status_t chol_query_workspace(chol_handle_t handle, size_t *bytes);

/**
 * The name of the processor that a backend of the handle uses.
 * @param handle the handle.
 * @param backend the backend to ask.
 * @param[out] name a string such as "host avx512"; valid as long as the handle.
 * @return NO_DEVICE when the handle does not have that backend.
 */
CHOL_EXPORT chol_status_t chol_backend_name(chol_handle_t handle, chol_backend_t backend,
                                            const char **name);

/** @} */

/** @defgroup one One matrix
 * @{ */

/**
 * Cholesky factorization of one matrix.
 * A = L L^H or A = U^H U, the factor written over the named triangle of A.
 * @param handle the handle.
 * @param uplo the triangle stored.
 * @param n order of A, >= 0.
 * @param[in,out] A lda * n elements.
 * @param lda >= max(1, n).
 * @param[out] info 0, or k > 0: the leading minor of order k is not positive definite. In the
 * memory of A. Threads: up to chol_set_num_threads(). Synchronizes: host arrays yes, device arrays
 * never. Method: fused left-looking panels in register tiles inside a right-looking tile algorithm
 * (Buttari et al. 2009; IA-Chol's fused tile operators).
 */
CHOL_EXPORT chol_status_t chol_spotrf(chol_handle_t handle, chol_uplo_t uplo, int64_t n, float *A,
                                      int64_t lda, int *info);
CHOL_EXPORT chol_status_t chol_dpotrf(chol_handle_t handle, chol_uplo_t uplo, int64_t n, double *A,
                                      int64_t lda, int *info);
CHOL_EXPORT chol_status_t chol_cpotrf(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      chol_complex_float *A, int64_t lda, int *info);
CHOL_EXPORT chol_status_t chol_zpotrf(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      chol_complex_double *A, int64_t lda, int *info);

/**
 * Solves A X = B with the factor of A computed by potrf.
 * @param handle the handle.
 * @param uplo the triangle that holds the factor.
 * @param n order of A, >= 0.
 * @param nrhs number of right-hand sides, >= 0.
 * @param[in] A the factor, lda * n elements.
 * @param lda >= max(1, n).
 * @param[in,out] B n by nrhs, ldb * nrhs elements; X on return.
 * @param ldb >= max(1, n).
 * Threads and synchronization: as potrf.
 */
CHOL_EXPORT chol_status_t chol_spotrs(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      int64_t nrhs, const float *A, int64_t lda, float *B,
                                      int64_t ldb);
CHOL_EXPORT chol_status_t chol_dpotrs(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      int64_t nrhs, const double *A, int64_t lda, double *B,
                                      int64_t ldb);
CHOL_EXPORT chol_status_t chol_cpotrs(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      int64_t nrhs, const chol_complex_float *A, int64_t lda,
                                      chol_complex_float *B, int64_t ldb);
CHOL_EXPORT chol_status_t chol_zpotrs(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      int64_t nrhs, const chol_complex_double *A, int64_t lda,
                                      chol_complex_double *B, int64_t ldb);

/**
 * Factors A and solves A X = B: potrf, then potrs unless info > 0; B is then unchanged.
 * @param handle the handle.
 * @param uplo the triangle stored.
 * @param n order of A, >= 0.
 * @param nrhs number of right-hand sides, >= 0.
 * @param[in,out] A lda * n elements; the factor on return.
 * @param lda >= max(1, n).
 * @param[in,out] B ldb * nrhs elements; X on return.
 * @param ldb >= max(1, n).
 * @param[out] info as for potrf.
 * Threads and synchronization: as potrf.
 */
CHOL_EXPORT chol_status_t chol_sposv(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                     int64_t nrhs, float *A, int64_t lda, float *B, int64_t ldb,
                                     int *info);
CHOL_EXPORT chol_status_t chol_dposv(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                     int64_t nrhs, double *A, int64_t lda, double *B, int64_t ldb,
                                     int *info);
CHOL_EXPORT chol_status_t chol_cposv(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                     int64_t nrhs, chol_complex_float *A, int64_t lda,
                                     chol_complex_float *B, int64_t ldb, int *info);
CHOL_EXPORT chol_status_t chol_zposv(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                     int64_t nrhs, chol_complex_double *A, int64_t lda,
                                     chol_complex_double *B, int64_t ldb, int *info);

/**
 * Solves A X = B with a factor of A in the lower precision and refinement to the accuracy of the
 * working one, as LAPACK's dsposv and zcposv do: conjugate gradients with that factor as the
 * preconditioner until |r| <= sqrt(n) |x| ||A||_inf eps for each column x, eps = 2^-53 (the largest
 * element of r and x). If that does not pay or fails, posv in the working precision is used.
 * @param handle the handle.
 * @param uplo the triangle stored.
 * @param n order of A, >= 0.
 * @param nrhs number of right-hand sides, >= 0.
 * @param[in,out] A lda * n elements; unchanged if *iter >= 0, the factor if *iter < 0.
 * @param lda >= max(1, n).
 * @param[in] B n by nrhs, ldb * nrhs elements.
 * @param ldb >= max(1, n).
 * @param[out] X n by nrhs, ldx * nrhs elements, not B; the solution when *info = 0.
 * @param ldx >= max(1, n).
 * @param[out] iter the number of refinements, or -1: n is too small for it to pay; -2: an element
 *        of A overflows the lower precision; -3: A is not positive definite there; -31: refinement
 *        did not converge. Host pointer.
 * @param[out] info 0, or k > 0: the leading minor of order k is not positive definite and X is B.
 *        Host pointer.
 * The call waits for the device. Same input, same bits. Source: Langou et al. 2006; Golub and Ye
 * 1999.
 */
CHOL_EXPORT chol_status_t chol_dsposv(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      int64_t nrhs, double *A, int64_t lda, const double *B,
                                      int64_t ldb, double *X, int64_t ldx, int *iter, int *info);
CHOL_EXPORT chol_status_t chol_zcposv(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      int64_t nrhs, chol_complex_double *A, int64_t lda,
                                      const chol_complex_double *B, int64_t ldb,
                                      chol_complex_double *X, int64_t ldx, int *iter, int *info);

/**
 * The inverse of A from its factor, written over the named triangle.
 * @param handle the handle.
 * @param uplo the triangle stored.
 * @param n order of A, >= 0.
 * @param[in,out] A lda * n elements; the factor, on return the inverse.
 * @param lda >= max(1, n).
 * @param[out] info 0, or k > 0: diagonal element k of the factor is zero and A is unchanged.
 * Threads and synchronization: as potrf.
 */
CHOL_EXPORT chol_status_t chol_spotri(chol_handle_t handle, chol_uplo_t uplo, int64_t n, float *A,
                                      int64_t lda, int *info);
CHOL_EXPORT chol_status_t chol_dpotri(chol_handle_t handle, chol_uplo_t uplo, int64_t n, double *A,
                                      int64_t lda, int *info);
CHOL_EXPORT chol_status_t chol_cpotri(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      chol_complex_float *A, int64_t lda, int *info);
CHOL_EXPORT chol_status_t chol_zpotri(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      chol_complex_double *A, int64_t lda, int *info);

/**
 * Estimates the reciprocal of the condition number of A in the 1-norm from its factor.
 * rcond = 1 / (norm1(A) * est(norm1(inverse(A)))), Higham's estimator (Higham 1988, algorithm 4.1).
 * @param handle the handle.
 * @param uplo the triangle that holds the factor.
 * @param n order of A, >= 0.
 * @param[in] A the factor, lda * n elements.
 * @param lda >= max(1, n).
 * @param anorm norm1 of the matrix before it was factored, finite and >= 0.
 * @param[out] rcond the estimate, 1 when n = 0, 0 when anorm = 0. In the memory of A. Threads and
 * synchronization: as potrf.
 */
CHOL_EXPORT chol_status_t chol_spocon(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      const float *A, int64_t lda, float anorm, float *rcond);
CHOL_EXPORT chol_status_t chol_dpocon(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      const double *A, int64_t lda, double anorm, double *rcond);
CHOL_EXPORT chol_status_t chol_cpocon(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      const chol_complex_float *A, int64_t lda, float anorm,
                                      float *rcond);
CHOL_EXPORT chol_status_t chol_zpocon(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                      const chol_complex_double *A, int64_t lda, double anorm,
                                      double *rcond);

/**
 * The logarithm of the determinant of A from its factor: 2 * sum of log(l_ii).
 * @param handle the handle.
 * @param uplo the triangle that holds the factor.
 * @param n order of A, >= 0.
 * @param[in] A the factor, lda * n elements.
 * @param lda >= max(1, n).
 * @param[out] logdet the sum, 0 when n = 0; NaN when a diagonal element is not positive. In the
 * memory of A. Threads and synchronization: as potrf.
 */
CHOL_EXPORT chol_status_t chol_slogdet(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                       const float *A, int64_t lda, float *logdet);
CHOL_EXPORT chol_status_t chol_dlogdet(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                       const double *A, int64_t lda, double *logdet);
CHOL_EXPORT chol_status_t chol_clogdet(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                       const chol_complex_float *A, int64_t lda, float *logdet);
CHOL_EXPORT chol_status_t chol_zlogdet(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                       const chol_complex_double *A, int64_t lda, double *logdet);

/** @} */

/** @defgroup cyclic One matrix over several devices
 * The matrix is distributed over the memory of the devices given to chol_create_on(), 1D
 * block-cyclic: block column [k nb, (k + 1) nb) with all n rows is on device k mod count, after the
 * earlier block columns of that device. Column j is column (j / nb / count) nb + j mod nb on device
 * (j / nb) mod count. The arrays of pointers and leading dimensions, info and log-determinants are
 * in host memory, and calls are synchronous. They are ordered after the work in the devices'
 * streams (chol_set_device_stream()) and cannot be captured. Handles without named devices return
 * NOT_SUPPORTED.
 * @{ */

/**
 * Cholesky factorization of one matrix over several devices.
 * A = L L^H or A = U^H U, the factor written over the named triangle of A.
 * @param handle a handle over named devices.
 * @param uplo the triangle stored.
 * @param n order of A, >= 0.
 * @param[in,out] A count pointers, each to lda[d] elements a column in the memory of device d; may be
 *        NULL where the device has no column.
 * @param lda count leading dimensions, >= max(1, n).
 * @param nb columns of a block, >= 1. Multiples of 64, 512 to 1024 for large n, run at full rate.
 * @param[out] info 0, or k > 0: the leading minor of order k is not positive definite.
 * Synchronizes: yes. Results depend on n, nb and the number of devices only.
 * Method: right-looking by block columns with look-ahead; panels are copied between devices during
 * the products with earlier ones.
 */
CHOL_EXPORT chol_status_t chol_spotrf_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             float *const A[], const int64_t lda[], int64_t nb,
                                             int *info);
CHOL_EXPORT chol_status_t chol_dpotrf_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             double *const A[], const int64_t lda[], int64_t nb,
                                             int *info);
CHOL_EXPORT chol_status_t chol_cpotrf_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             chol_complex_float *const A[], const int64_t lda[],
                                             int64_t nb, int *info);
CHOL_EXPORT chol_status_t chol_zpotrf_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             chol_complex_double *const A[], const int64_t lda[],
                                             int64_t nb, int *info);

/**
 * Solves A X = B with the factor of a matrix over several devices.
 * @param handle a handle over named devices.
 * @param uplo the triangle stored.
 * @param n order of A, >= 0.
 * @param nrhs columns of B, >= 0.
 * @param A the factor of chol_dpotrf_cyclic(), as there.
 * @param lda as there.
 * @param nb as there.
 * @param[in,out] B ldb * nrhs elements in host memory or that of any device; X on return.
 * @param ldb >= max(1, n).
 * Synchronizes: yes.
 */
CHOL_EXPORT chol_status_t chol_spotrs_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             int64_t nrhs, const float *const A[],
                                             const int64_t lda[], int64_t nb, float *B,
                                             int64_t ldb);
CHOL_EXPORT chol_status_t chol_dpotrs_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             int64_t nrhs, const double *const A[],
                                             const int64_t lda[], int64_t nb, double *B,
                                             int64_t ldb);
CHOL_EXPORT chol_status_t chol_cpotrs_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             int64_t nrhs, const chol_complex_float *const A[],
                                             const int64_t lda[], int64_t nb, chol_complex_float *B,
                                             int64_t ldb);
CHOL_EXPORT chol_status_t chol_zpotrs_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             int64_t nrhs, const chol_complex_double *const A[],
                                             const int64_t lda[], int64_t nb,
                                             chol_complex_double *B, int64_t ldb);

/**
 * Factors a matrix over several devices and solves A X = B.
 * @param handle a handle over named devices.
 * @param uplo the triangle stored.
 * @param n order of A, >= 0.
 * @param nrhs columns of B, >= 0.
 * @param[in,out] A as in chol_dpotrf_cyclic(); the factor on return.
 * @param lda as there.
 * @param nb as there.
 * @param[in,out] B ldb * nrhs elements in host memory or that of any device; X on return, as it was
 *        where info is not 0.
 * @param ldb >= max(1, n).
 * @param[out] info as there.
 * Synchronizes: yes.
 */
CHOL_EXPORT chol_status_t chol_sposv_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                            int64_t nrhs, float *const A[], const int64_t lda[],
                                            int64_t nb, float *B, int64_t ldb, int *info);
CHOL_EXPORT chol_status_t chol_dposv_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                            int64_t nrhs, double *const A[], const int64_t lda[],
                                            int64_t nb, double *B, int64_t ldb, int *info);
CHOL_EXPORT chol_status_t chol_cposv_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                            int64_t nrhs, chol_complex_float *const A[],
                                            const int64_t lda[], int64_t nb, chol_complex_float *B,
                                            int64_t ldb, int *info);
CHOL_EXPORT chol_status_t chol_zposv_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                            int64_t nrhs, chol_complex_double *const A[],
                                            const int64_t lda[], int64_t nb, chol_complex_double *B,
                                            int64_t ldb, int *info);

/**
 * Inverse of a matrix over several devices, from its factor: inv(A) over the named triangle.
 * @param handle a handle over named devices.
 * @param uplo the triangle stored.
 * @param n order of A, >= 0.
 * @param[in,out] A the factor of chol_dpotrf_cyclic(), as there; the inverse on return.
 * @param lda as there.
 * @param nb as there.
 * @param[out] info 0, or k > 0: the k-th diagonal element of the factor is zero, and A is
 * unchanged. Synchronizes: yes.
 */
CHOL_EXPORT chol_status_t chol_spotri_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             float *const A[], const int64_t lda[], int64_t nb,
                                             int *info);
CHOL_EXPORT chol_status_t chol_dpotri_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             double *const A[], const int64_t lda[], int64_t nb,
                                             int *info);
CHOL_EXPORT chol_status_t chol_cpotri_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             chol_complex_float *const A[], const int64_t lda[],
                                             int64_t nb, int *info);
CHOL_EXPORT chol_status_t chol_zpotri_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             chol_complex_double *const A[], const int64_t lda[],
                                             int64_t nb, int *info);

/**
 * Log-determinant of a factored matrix over several devices: 2 sum log l_ii.
 * @param handle a handle over named devices.
 * @param uplo the triangle stored.
 * @param n order of A, >= 0.
 * @param A the factor of chol_dpotrf_cyclic(), as there.
 * @param lda as there.
 * @param nb as there.
 * @param[out] logdet log det A.
 * Synchronizes: yes.
 */
CHOL_EXPORT chol_status_t chol_slogdet_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              const float *const A[], const int64_t lda[],
                                              int64_t nb, float *logdet);
CHOL_EXPORT chol_status_t chol_dlogdet_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              const double *const A[], const int64_t lda[],
                                              int64_t nb, double *logdet);
CHOL_EXPORT chol_status_t chol_clogdet_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              const chol_complex_float *const A[],
                                              const int64_t lda[], int64_t nb, float *logdet);
CHOL_EXPORT chol_status_t chol_zlogdet_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              const chol_complex_double *const A[],
                                              const int64_t lda[], int64_t nb, double *logdet);

/**
 * Copies the named triangle of a matrix to several devices. Elements outside the triangle are not
 * written.
 * @param handle a handle over named devices.
 * @param uplo the triangle.
 * @param n order of A, >= 0.
 * @param A lda * n elements in host memory or that of any device.
 * @param lda >= max(1, n).
 * @param[out] D count pointers, as A of chol_dpotrf_cyclic().
 * @param ldd count leading dimensions, >= max(1, n).
 * @param nb columns of a block, >= 1.
 * Synchronizes: yes.
 */
CHOL_EXPORT chol_status_t chol_sscatter_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                               const float *A, int64_t lda, float *const D[],
                                               const int64_t ldd[], int64_t nb);
CHOL_EXPORT chol_status_t chol_dscatter_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                               const double *A, int64_t lda, double *const D[],
                                               const int64_t ldd[], int64_t nb);
CHOL_EXPORT chol_status_t chol_cscatter_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                               const chol_complex_float *A, int64_t lda,
                                               chol_complex_float *const D[], const int64_t ldd[],
                                               int64_t nb);
CHOL_EXPORT chol_status_t chol_zscatter_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                               const chol_complex_double *A, int64_t lda,
                                               chol_complex_double *const D[], const int64_t ldd[],
                                               int64_t nb);

/**
 * Copies the named triangle of a matrix over several devices to one array.
 * @param handle a handle over named devices.
 * @param uplo the triangle.
 * @param n order of A, >= 0.
 * @param D count pointers, as A of chol_dpotrf_cyclic().
 * @param ldd count leading dimensions, >= max(1, n).
 * @param nb columns of a block, >= 1.
 * @param[out] A lda * n elements in host memory or that of any device.
 * @param lda >= max(1, n).
 * Synchronizes: yes.
 */
CHOL_EXPORT chol_status_t chol_sgather_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              const float *const D[], const int64_t ldd[],
                                              int64_t nb, float *A, int64_t lda);
CHOL_EXPORT chol_status_t chol_dgather_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              const double *const D[], const int64_t ldd[],
                                              int64_t nb, double *A, int64_t lda);
CHOL_EXPORT chol_status_t chol_cgather_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              const chol_complex_float *const D[],
                                              const int64_t ldd[], int64_t nb,
                                              chol_complex_float *A, int64_t lda);
CHOL_EXPORT chol_status_t chol_zgather_cyclic(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              const chol_complex_double *const D[],
                                              const int64_t ldd[], int64_t nb,
                                              chol_complex_double *A, int64_t lda);

/** @} */

/** @defgroup batched Batches of one size, array of pointers
 * @{ */

/**
 * Cholesky factorization of every matrix of a batch.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param[in,out] A batch pointers to matrices of lda * n elements.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param[out] info batch results, each as for potrf; a bad matrix does not affect the others.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never. Method: Haidar, Dong, Luszczek, Tomov, Dongarra 2015 (batched one-sided
 * factorizations); lanes across matrices for small n.
 */
CHOL_EXPORT chol_status_t chol_spotrf_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              float *const A[], int64_t lda, int info[],
                                              int64_t batch);
CHOL_EXPORT chol_status_t chol_dpotrf_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              double *const A[], int64_t lda, int info[],
                                              int64_t batch);
CHOL_EXPORT chol_status_t chol_cpotrf_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              chol_complex_float *const A[], int64_t lda,
                                              int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zpotrf_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              chol_complex_double *const A[], int64_t lda,
                                              int info[], int64_t batch);

/**
 * Solves A X = B with the factor of every matrix of a batch.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param nrhs right-hand sides of every matrix, >= 0.
 * @param[in] A the factors; batch pointers to matrices of lda * n elements.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param[in,out] B batch pointers to n by nrhs matrices of ldb * nrhs elements.
 * @param ldb leading dimension of every B, >= max(1, n).
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_spotrs_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              int64_t nrhs, const float *const A[], int64_t lda,
                                              float *const B[], int64_t ldb, int64_t batch);
CHOL_EXPORT chol_status_t chol_dpotrs_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              int64_t nrhs, const double *const A[], int64_t lda,
                                              double *const B[], int64_t ldb, int64_t batch);
CHOL_EXPORT chol_status_t chol_cpotrs_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              int64_t nrhs, const chol_complex_float *const A[],
                                              int64_t lda, chol_complex_float *const B[],
                                              int64_t ldb, int64_t batch);
CHOL_EXPORT chol_status_t chol_zpotrs_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              int64_t nrhs, const chol_complex_double *const A[],
                                              int64_t lda, chol_complex_double *const B[],
                                              int64_t ldb, int64_t batch);

/**
 * Factors and solves every system of a batch; where info[b] > 0, B of that matrix is unchanged.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param nrhs right-hand sides of every matrix, >= 0.
 * @param[in,out] A batch pointers to matrices of lda * n elements.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param[in,out] B batch pointers to n by nrhs matrices of ldb * nrhs elements.
 * @param ldb leading dimension of every B, >= max(1, n).
 * @param[out] info batch results, each as for potrf.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_sposv_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             int64_t nrhs, float *const A[], int64_t lda,
                                             float *const B[], int64_t ldb, int info[],
                                             int64_t batch);
CHOL_EXPORT chol_status_t chol_dposv_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             int64_t nrhs, double *const A[], int64_t lda,
                                             double *const B[], int64_t ldb, int info[],
                                             int64_t batch);
CHOL_EXPORT chol_status_t chol_cposv_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             int64_t nrhs, chol_complex_float *const A[],
                                             int64_t lda, chol_complex_float *const B[],
                                             int64_t ldb, int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zposv_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                             int64_t nrhs, chol_complex_double *const A[],
                                             int64_t lda, chol_complex_double *const B[],
                                             int64_t ldb, int info[], int64_t batch);

/**
 * Inverse of every matrix of a batch from its factor.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param[in,out] A the factors, on return the inverses; batch pointers to matrices of lda * n elements.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param[out] info batch results, each as for potri.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_spotri_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              float *const A[], int64_t lda, int info[],
                                              int64_t batch);
CHOL_EXPORT chol_status_t chol_dpotri_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              double *const A[], int64_t lda, int info[],
                                              int64_t batch);
CHOL_EXPORT chol_status_t chol_cpotri_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              chol_complex_float *const A[], int64_t lda,
                                              int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zpotri_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                              chol_complex_double *const A[], int64_t lda,
                                              int info[], int64_t batch);

/**
 * Logarithm of the determinant of every matrix of a batch from its factor.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param[in] A the factors; batch pointers to matrices of lda * n elements.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param[out] logdet batch results, each as for logdet.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_slogdet_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                               const float *const A[], int64_t lda, float logdet[],
                                               int64_t batch);
CHOL_EXPORT chol_status_t chol_dlogdet_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                               const double *const A[], int64_t lda,
                                               double logdet[], int64_t batch);
CHOL_EXPORT chol_status_t chol_clogdet_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                               const chol_complex_float *const A[], int64_t lda,
                                               float logdet[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zlogdet_batched(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                               const chol_complex_double *const A[], int64_t lda,
                                               double logdet[], int64_t batch);

/**
 * The number of results of a batch that are not 0, and the position of the first one. Runs on the
 * backend of info's memory, in stream order.
 * @param handle the handle.
 * @param[in] info batch results of a routine on a batch.
 * @param batch >= 0.
 * @param[out] failed the number of results that are not 0.
 * @param[out] first the position of the first of them, or -1.
 * With info in device memory each result is in device memory or in pinned host memory, and
 * available in stream order. Synchronizes: never.
 */
CHOL_EXPORT chol_status_t chol_info_summary(chol_handle_t handle, const int info[], int64_t batch,
                                            int64_t *failed, int64_t *first);

/** @} */

/** @defgroup strided Batches of one size, constant stride
 * @{ */

/**
 * Cholesky factorization of every matrix of a batch.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param[in,out] A matrix b starts at A + b * strideA.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param strideA distance of two matrices, >= lda * n when batch > 1.
 * @param[out] info batch results, each as for potrf; a bad matrix does not affect the others.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never. Method: as the pointer array form.
 */
CHOL_EXPORT chol_status_t chol_spotrf_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                      int64_t n, float *A, int64_t lda,
                                                      int64_t strideA, int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_dpotrf_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                      int64_t n, double *A, int64_t lda,
                                                      int64_t strideA, int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_cpotrf_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                      int64_t n, chol_complex_float *A, int64_t lda,
                                                      int64_t strideA, int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zpotrf_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                      int64_t n, chol_complex_double *A,
                                                      int64_t lda, int64_t strideA, int info[],
                                                      int64_t batch);

/**
 * Solves A X = B with the factor of every matrix of a batch.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param nrhs right-hand sides of every matrix, >= 0.
 * @param[in] A the factors; matrix b starts at A + b * strideA.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param strideA distance of two matrices, >= lda * n when batch > 1.
 * @param[in,out] B right-hand sides of matrix b start at B + b * strideB.
 * @param ldb leading dimension of every B, >= max(1, n).
 * @param strideB distance of two B, >= ldb * nrhs when batch > 1.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_spotrs_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                      int64_t n, int64_t nrhs, const float *A,
                                                      int64_t lda, int64_t strideA, float *B,
                                                      int64_t ldb, int64_t strideB, int64_t batch);
CHOL_EXPORT chol_status_t chol_dpotrs_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                      int64_t n, int64_t nrhs, const double *A,
                                                      int64_t lda, int64_t strideA, double *B,
                                                      int64_t ldb, int64_t strideB, int64_t batch);
CHOL_EXPORT chol_status_t chol_cpotrs_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                      int64_t n, int64_t nrhs,
                                                      const chol_complex_float *A, int64_t lda,
                                                      int64_t strideA, chol_complex_float *B,
                                                      int64_t ldb, int64_t strideB, int64_t batch);
CHOL_EXPORT chol_status_t chol_zpotrs_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                      int64_t n, int64_t nrhs,
                                                      const chol_complex_double *A, int64_t lda,
                                                      int64_t strideA, chol_complex_double *B,
                                                      int64_t ldb, int64_t strideB, int64_t batch);

/**
 * Factors and solves every system of a batch; where info[b] > 0, B of that matrix is unchanged.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param nrhs right-hand sides of every matrix, >= 0.
 * @param[in,out] A matrix b starts at A + b * strideA.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param strideA distance of two matrices, >= lda * n when batch > 1.
 * @param[in,out] B right-hand sides of matrix b start at B + b * strideB.
 * @param ldb leading dimension of every B, >= max(1, n).
 * @param strideB distance of two B, >= ldb * nrhs when batch > 1.
 * @param[out] info batch results, each as for potrf.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_sposv_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                     int64_t n, int64_t nrhs, float *A, int64_t lda,
                                                     int64_t strideA, float *B, int64_t ldb,
                                                     int64_t strideB, int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_dposv_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                     int64_t n, int64_t nrhs, double *A,
                                                     int64_t lda, int64_t strideA, double *B,
                                                     int64_t ldb, int64_t strideB, int info[],
                                                     int64_t batch);
CHOL_EXPORT chol_status_t chol_cposv_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                     int64_t n, int64_t nrhs, chol_complex_float *A,
                                                     int64_t lda, int64_t strideA,
                                                     chol_complex_float *B, int64_t ldb,
                                                     int64_t strideB, int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zposv_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                     int64_t n, int64_t nrhs,
                                                     chol_complex_double *A, int64_t lda,
                                                     int64_t strideA, chol_complex_double *B,
                                                     int64_t ldb, int64_t strideB, int info[],
                                                     int64_t batch);

/**
 * Inverse of every matrix of a batch from its factor.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param[in,out] A the factors, on return the inverses; matrix b starts at A + b * strideA.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param strideA distance of two matrices, >= lda * n when batch > 1.
 * @param[out] info batch results, each as for potri.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_spotri_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                      int64_t n, float *A, int64_t lda,
                                                      int64_t strideA, int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_dpotri_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                      int64_t n, double *A, int64_t lda,
                                                      int64_t strideA, int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_cpotri_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                      int64_t n, chol_complex_float *A, int64_t lda,
                                                      int64_t strideA, int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zpotri_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                      int64_t n, chol_complex_double *A,
                                                      int64_t lda, int64_t strideA, int info[],
                                                      int64_t batch);

/**
 * Logarithm of the determinant of every matrix of a batch from its factor.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param[in] A the factors; matrix b starts at A + b * strideA.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param strideA distance of two matrices, >= lda * n when batch > 1.
 * @param[out] logdet batch results, each as for logdet.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_slogdet_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                       int64_t n, const float *A, int64_t lda,
                                                       int64_t strideA, float logdet[],
                                                       int64_t batch);
CHOL_EXPORT chol_status_t chol_dlogdet_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                       int64_t n, const double *A, int64_t lda,
                                                       int64_t strideA, double logdet[],
                                                       int64_t batch);
CHOL_EXPORT chol_status_t chol_clogdet_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                       int64_t n, const chol_complex_float *A,
                                                       int64_t lda, int64_t strideA, float logdet[],
                                                       int64_t batch);
CHOL_EXPORT chol_status_t chol_zlogdet_strided_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                       int64_t n, const chol_complex_double *A,
                                                       int64_t lda, int64_t strideA,
                                                       double logdet[], int64_t batch);

/** @} */

/** @defgroup vbatched Batches of different sizes
 * @{ */

/**
 * Cholesky factorization of every matrix of a batch.
 * On host arrays every n[b], lda[b] and A[b] is checked before any change. On device arrays an
 * invalid one sets info[b] = -(position of that argument) and skips that matrix.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param max_n a bound of n[], or 0 when unknown (device arrays are then read first, the only case
 * that synchronizes with the stream).
 * @param[in] n batch orders, 0 <= n[b].
 * @param[in,out] A batch pointers; matrix b has lda[b] * n[b] elements.
 * @param[in] lda batch leading dimensions, lda[b] >= max(1, n[b]).
 * @param[out] info batch results, each as for potrf; a bad matrix does not affect the others.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never unless a bound is 0. Method: Abdelfattah, Haidar, Tomov, Dongarra 2016
 * (variable-size batched Cholesky).
 */
CHOL_EXPORT chol_status_t chol_spotrf_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                               int64_t max_n, const int64_t n[], float *const A[],
                                               const int64_t lda[], int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_dpotrf_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                               int64_t max_n, const int64_t n[], double *const A[],
                                               const int64_t lda[], int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_cpotrf_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                               int64_t max_n, const int64_t n[],
                                               chol_complex_float *const A[], const int64_t lda[],
                                               int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zpotrf_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                               int64_t max_n, const int64_t n[],
                                               chol_complex_double *const A[], const int64_t lda[],
                                               int info[], int64_t batch);

/**
 * Solves A X = B with the factor of every matrix of a batch.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param max_n a bound of n[], or 0 when unknown (device arrays are then read first, the only case
 * that synchronizes with the stream).
 * @param max_nrhs a bound of nrhs[], or 0 when unknown.
 * @param[in] n batch orders, 0 <= n[b].
 * @param[in] nrhs batch numbers of right-hand sides, 0 <= nrhs[b].
 * @param[in] A the factors; batch pointers; matrix b has lda[b] * n[b] elements.
 * @param[in] lda batch leading dimensions, lda[b] >= max(1, n[b]).
 * @param[in,out] B batch pointers; matrix b has ldb[b] * nrhs[b] elements.
 * @param[in] ldb batch leading dimensions, ldb[b] >= max(1, n[b]).
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never unless a bound is 0.
 */
CHOL_EXPORT chol_status_t chol_spotrs_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                               int64_t max_n, int64_t max_nrhs, const int64_t n[],
                                               const int64_t nrhs[], const float *const A[],
                                               const int64_t lda[], float *const B[],
                                               const int64_t ldb[], int64_t batch);
CHOL_EXPORT chol_status_t chol_dpotrs_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                               int64_t max_n, int64_t max_nrhs, const int64_t n[],
                                               const int64_t nrhs[], const double *const A[],
                                               const int64_t lda[], double *const B[],
                                               const int64_t ldb[], int64_t batch);
CHOL_EXPORT chol_status_t chol_cpotrs_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                               int64_t max_n, int64_t max_nrhs, const int64_t n[],
                                               const int64_t nrhs[],
                                               const chol_complex_float *const A[],
                                               const int64_t lda[], chol_complex_float *const B[],
                                               const int64_t ldb[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zpotrs_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                               int64_t max_n, int64_t max_nrhs, const int64_t n[],
                                               const int64_t nrhs[],
                                               const chol_complex_double *const A[],
                                               const int64_t lda[], chol_complex_double *const B[],
                                               const int64_t ldb[], int64_t batch);

/**
 * Factors and solves every system of a batch; where info[b] > 0, B of that matrix is unchanged.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param max_n a bound of n[], or 0 when unknown (device arrays are then read first, the only case
 * that synchronizes with the stream).
 * @param max_nrhs a bound of nrhs[], or 0 when unknown.
 * @param[in] n batch orders, 0 <= n[b].
 * @param[in] nrhs batch numbers of right-hand sides, 0 <= nrhs[b].
 * @param[in,out] A batch pointers; matrix b has lda[b] * n[b] elements.
 * @param[in] lda batch leading dimensions, lda[b] >= max(1, n[b]).
 * @param[in,out] B batch pointers; matrix b has ldb[b] * nrhs[b] elements.
 * @param[in] ldb batch leading dimensions, ldb[b] >= max(1, n[b]).
 * @param[out] info batch results, each as for potrf.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never unless a bound is 0.
 */
CHOL_EXPORT chol_status_t chol_sposv_vbatched(chol_handle_t handle, chol_uplo_t uplo, int64_t max_n,
                                              int64_t max_nrhs, const int64_t n[],
                                              const int64_t nrhs[], float *const A[],
                                              const int64_t lda[], float *const B[],
                                              const int64_t ldb[], int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_dposv_vbatched(chol_handle_t handle, chol_uplo_t uplo, int64_t max_n,
                                              int64_t max_nrhs, const int64_t n[],
                                              const int64_t nrhs[], double *const A[],
                                              const int64_t lda[], double *const B[],
                                              const int64_t ldb[], int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_cposv_vbatched(chol_handle_t handle, chol_uplo_t uplo, int64_t max_n,
                                              int64_t max_nrhs, const int64_t n[],
                                              const int64_t nrhs[], chol_complex_float *const A[],
                                              const int64_t lda[], chol_complex_float *const B[],
                                              const int64_t ldb[], int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zposv_vbatched(chol_handle_t handle, chol_uplo_t uplo, int64_t max_n,
                                              int64_t max_nrhs, const int64_t n[],
                                              const int64_t nrhs[], chol_complex_double *const A[],
                                              const int64_t lda[], chol_complex_double *const B[],
                                              const int64_t ldb[], int info[], int64_t batch);

/**
 * Inverse of every matrix of a batch from its factor.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param max_n a bound of n[], or 0 when unknown (device arrays are then read first, the only case
 * that synchronizes with the stream).
 * @param[in] n batch orders, 0 <= n[b].
 * @param[in,out] A the factors, on return the inverses; batch pointers; matrix b has lda[b] * n[b] elements.
 * @param[in] lda batch leading dimensions, lda[b] >= max(1, n[b]).
 * @param[out] info batch results, each as for potri.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never unless a bound is 0.
 */
CHOL_EXPORT chol_status_t chol_spotri_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                               int64_t max_n, const int64_t n[], float *const A[],
                                               const int64_t lda[], int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_dpotri_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                               int64_t max_n, const int64_t n[], double *const A[],
                                               const int64_t lda[], int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_cpotri_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                               int64_t max_n, const int64_t n[],
                                               chol_complex_float *const A[], const int64_t lda[],
                                               int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zpotri_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                               int64_t max_n, const int64_t n[],
                                               chol_complex_double *const A[], const int64_t lda[],
                                               int info[], int64_t batch);

/**
 * Logarithm of the determinant of every matrix of a batch from its factor.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param max_n a bound of n[], or 0 when unknown (device arrays are then read first, the only case
 * that synchronizes with the stream).
 * @param[in] n batch orders, 0 <= n[b].
 * @param[in] A the factors; batch pointers; matrix b has lda[b] * n[b] elements.
 * @param[in] lda batch leading dimensions, lda[b] >= max(1, n[b]).
 * @param[out] logdet batch results, each as for logdet.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never unless a bound is 0.
 */
CHOL_EXPORT chol_status_t chol_slogdet_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                                int64_t max_n, const int64_t n[],
                                                const float *const A[], const int64_t lda[],
                                                float logdet[], int64_t batch);
CHOL_EXPORT chol_status_t chol_dlogdet_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                                int64_t max_n, const int64_t n[],
                                                const double *const A[], const int64_t lda[],
                                                double logdet[], int64_t batch);
CHOL_EXPORT chol_status_t chol_clogdet_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                                int64_t max_n, const int64_t n[],
                                                const chol_complex_float *const A[],
                                                const int64_t lda[], float logdet[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zlogdet_vbatched(chol_handle_t handle, chol_uplo_t uplo,
                                                int64_t max_n, const int64_t n[],
                                                const chol_complex_double *const A[],
                                                const int64_t lda[], double logdet[],
                                                int64_t batch);

/** @} */

/** @defgroup interleaved Batches of one size, interleaved
 *
 * For very small matrices the batch index runs fastest: in chunks of `chunk` matrices, element
 * (i, j) of matrix b of an array with so many columns (n for A, nrhs for B) and leading dimension ld
 * is at
 *
 *     array[(((b / chunk) * columns + j) * ld + i) * chunk + b % chunk]
 *
 * An array has ld * columns * chunk * ceil(batch / chunk) elements: the last chunk is allocated in
 * full. Its elements outside the batch may have any value, including NaN; they are not changed and
 * cost no time. chunk >= batch is the plain interleaved layout of all matrices with distance chunk;
 * chunk = 1 is a strided batch; chunk = the SIMD width is the compact layout of Intel MKL (format
 * SSE: 16 bytes, AVX: 32, AVX512: 64). On a CPU a multiple of 64 bytes is best, on a GPU a multiple
 * of 32 matrices.
 *
 * On host arrays a factor has the same bits as that of potrf on the same matrix. In
 * CHOL_MATH_FAST the square root and division of a pivot are approximate; LAPACK's ratio
 * norm1(A - L L^H) / (n norm1(A) eps) stays below 300.
 * @{ */

/**
 * Cholesky factorization of every matrix of an interleaved batch.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param[in,out] A the matrices, interleaved; lda * n * chunk elements a chunk.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param chunk matrices of a chunk, >= 1.
 * @param[out] info batch results, each as for potrf; a bad matrix does not affect the others.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never. Method: register tiles across matrices, left-looking (Gates, Kurzak,
 * Luszczek, Pei, Dongarra 2017, autotuning batch Cholesky factorization in CUDA with interleaved
 * layout of matrices).
 */
CHOL_EXPORT chol_status_t chol_spotrf_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                  float *A, int64_t lda, int64_t chunk, int info[],
                                                  int64_t batch);
CHOL_EXPORT chol_status_t chol_dpotrf_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                  double *A, int64_t lda, int64_t chunk, int info[],
                                                  int64_t batch);
CHOL_EXPORT chol_status_t chol_cpotrf_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                  chol_complex_float *A, int64_t lda, int64_t chunk,
                                                  int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zpotrf_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                  chol_complex_double *A, int64_t lda,
                                                  int64_t chunk, int info[], int64_t batch);

/**
 * Solves A X = B with the factor of every matrix of an interleaved batch.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param nrhs right-hand sides of every matrix, >= 0.
 * @param[in] A the factors, interleaved; lda * n * chunk elements a chunk.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param[in,out] B the right-hand sides, interleaved in the same chunk; ldb * nrhs * chunk elements a
 * chunk. X on return.
 * @param ldb leading dimension of every B, >= max(1, n).
 * @param chunk matrices of a chunk, >= 1.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_spotrs_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                  int64_t nrhs, const float *A, int64_t lda,
                                                  float *B, int64_t ldb, int64_t chunk,
                                                  int64_t batch);
CHOL_EXPORT chol_status_t chol_dpotrs_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                  int64_t nrhs, const double *A, int64_t lda,
                                                  double *B, int64_t ldb, int64_t chunk,
                                                  int64_t batch);
CHOL_EXPORT chol_status_t chol_cpotrs_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                  int64_t nrhs, const chol_complex_float *A,
                                                  int64_t lda, chol_complex_float *B, int64_t ldb,
                                                  int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_zpotrs_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                  int64_t nrhs, const chol_complex_double *A,
                                                  int64_t lda, chol_complex_double *B, int64_t ldb,
                                                  int64_t chunk, int64_t batch);

/**
 * Factors and solves every system of an interleaved batch; where info[b] > 0, B of that matrix is
 * unchanged.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param nrhs right-hand sides of every matrix, >= 0.
 * @param[in,out] A the matrices, interleaved; lda * n * chunk elements a chunk.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param[in,out] B the right-hand sides, interleaved in the same chunk; ldb * nrhs * chunk elements a
 * chunk. X on return.
 * @param ldb leading dimension of every B, >= max(1, n).
 * @param chunk matrices of a chunk, >= 1.
 * @param[out] info batch results, each as for potrf.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_sposv_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                 int64_t nrhs, float *A, int64_t lda, float *B,
                                                 int64_t ldb, int64_t chunk, int info[],
                                                 int64_t batch);
CHOL_EXPORT chol_status_t chol_dposv_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                 int64_t nrhs, double *A, int64_t lda, double *B,
                                                 int64_t ldb, int64_t chunk, int info[],
                                                 int64_t batch);
CHOL_EXPORT chol_status_t chol_cposv_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                 int64_t nrhs, chol_complex_float *A, int64_t lda,
                                                 chol_complex_float *B, int64_t ldb, int64_t chunk,
                                                 int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zposv_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                 int64_t nrhs, chol_complex_double *A, int64_t lda,
                                                 chol_complex_double *B, int64_t ldb, int64_t chunk,
                                                 int info[], int64_t batch);

/**
 * The inverse of every matrix of an interleaved batch from its factor.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param[in,out] A the factors, on return the inverses, interleaved; lda * n * chunk elements a chunk.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param chunk matrices of a chunk, >= 1.
 * @param[out] info batch results, each as for potri.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_spotri_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                  float *A, int64_t lda, int64_t chunk, int info[],
                                                  int64_t batch);
CHOL_EXPORT chol_status_t chol_dpotri_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                  double *A, int64_t lda, int64_t chunk, int info[],
                                                  int64_t batch);
CHOL_EXPORT chol_status_t chol_cpotri_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                  chol_complex_float *A, int64_t lda, int64_t chunk,
                                                  int info[], int64_t batch);
CHOL_EXPORT chol_status_t chol_zpotri_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                  chol_complex_double *A, int64_t lda,
                                                  int64_t chunk, int info[], int64_t batch);

/**
 * The logarithm of the determinant of every matrix of an interleaved batch from its factor.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param[in] A the factors, interleaved; lda * n * chunk elements a chunk.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param chunk matrices of a chunk, >= 1.
 * @param[out] logdet batch results, each as for logdet.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_slogdet_interleaved(chol_handle_t handle, chol_uplo_t uplo,
                                                   int64_t n, const float *A, int64_t lda,
                                                   int64_t chunk, float logdet[], int64_t batch);
CHOL_EXPORT chol_status_t chol_dlogdet_interleaved(chol_handle_t handle, chol_uplo_t uplo,
                                                   int64_t n, const double *A, int64_t lda,
                                                   int64_t chunk, double logdet[], int64_t batch);
CHOL_EXPORT chol_status_t chol_clogdet_interleaved(chol_handle_t handle, chol_uplo_t uplo,
                                                   int64_t n, const chol_complex_float *A,
                                                   int64_t lda, int64_t chunk, float logdet[],
                                                   int64_t batch);
CHOL_EXPORT chol_status_t chol_zlogdet_interleaved(chol_handle_t handle, chol_uplo_t uplo,
                                                   int64_t n, const chol_complex_double *A,
                                                   int64_t lda, int64_t chunk, double logdet[],
                                                   int64_t batch);

/**
 * Copies the named triangles of a strided batch into an interleaved array.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param[in] A matrix b starts at A + b * strideA.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param strideA distance of two matrices, >= lda * n when batch > 1.
 * @param[out] P the interleaved array, ldp * n * chunk elements a chunk; only the named triangles are
 * written. Must not overlap A.
 * @param ldp leading dimension of every matrix in P, >= max(1, n).
 * @param chunk matrices of a chunk, >= 1.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_spack_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                 const float *A, int64_t lda, int64_t strideA,
                                                 float *P, int64_t ldp, int64_t chunk,
                                                 int64_t batch);
CHOL_EXPORT chol_status_t chol_dpack_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                 const double *A, int64_t lda, int64_t strideA,
                                                 double *P, int64_t ldp, int64_t chunk,
                                                 int64_t batch);
CHOL_EXPORT chol_status_t chol_cpack_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                 const chol_complex_float *A, int64_t lda,
                                                 int64_t strideA, chol_complex_float *P,
                                                 int64_t ldp, int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_zpack_interleaved(chol_handle_t handle, chol_uplo_t uplo, int64_t n,
                                                 const chol_complex_double *A, int64_t lda,
                                                 int64_t strideA, chol_complex_double *P,
                                                 int64_t ldp, int64_t chunk, int64_t batch);

/**
 * Copies the named triangles of an interleaved array into a strided batch.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param[in] P the interleaved array, ldp * n * chunk elements a chunk.
 * @param ldp leading dimension of every matrix in P, >= max(1, n).
 * @param[in,out] A matrix b starts at A + b * strideA; only the named triangles are written.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param strideA distance of two matrices, >= lda * n when batch > 1.
 * @param chunk matrices of a chunk, >= 1.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_sunpack_interleaved(chol_handle_t handle, chol_uplo_t uplo,
                                                   int64_t n, const float *P, int64_t ldp, float *A,
                                                   int64_t lda, int64_t strideA, int64_t chunk,
                                                   int64_t batch);
CHOL_EXPORT chol_status_t chol_dunpack_interleaved(chol_handle_t handle, chol_uplo_t uplo,
                                                   int64_t n, const double *P, int64_t ldp,
                                                   double *A, int64_t lda, int64_t strideA,
                                                   int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_cunpack_interleaved(chol_handle_t handle, chol_uplo_t uplo,
                                                   int64_t n, const chol_complex_float *P,
                                                   int64_t ldp, chol_complex_float *A, int64_t lda,
                                                   int64_t strideA, int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_zunpack_interleaved(chol_handle_t handle, chol_uplo_t uplo,
                                                   int64_t n, const chol_complex_double *P,
                                                   int64_t ldp, chol_complex_double *A, int64_t lda,
                                                   int64_t strideA, int64_t chunk, int64_t batch);

/**
 * Copies the named triangles of matrices of an array of pointers into an interleaved array.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param[in] A batch pointers to matrices of lda * n elements.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param[out] P the interleaved array, ldp * n * chunk elements a chunk; only the named triangles are
 * written. Must not overlap A.
 * @param ldp leading dimension of every matrix in P, >= max(1, n).
 * @param chunk matrices of a chunk, >= 1.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_spack_interleaved_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                         int64_t n, const float *const A[],
                                                         int64_t lda, float *P, int64_t ldp,
                                                         int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_dpack_interleaved_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                         int64_t n, const double *const A[],
                                                         int64_t lda, double *P, int64_t ldp,
                                                         int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_cpack_interleaved_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                         int64_t n,
                                                         const chol_complex_float *const A[],
                                                         int64_t lda, chol_complex_float *P,
                                                         int64_t ldp, int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_zpack_interleaved_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                         int64_t n,
                                                         const chol_complex_double *const A[],
                                                         int64_t lda, chol_complex_double *P,
                                                         int64_t ldp, int64_t chunk, int64_t batch);

/**
 * Copies the named triangles of an interleaved array into matrices of an array of pointers.
 * @param handle the handle.
 * @param uplo the triangle stored in every matrix.
 * @param n order of every matrix, >= 0.
 * @param[in] P the interleaved array, ldp * n * chunk elements a chunk.
 * @param ldp leading dimension of every matrix in P, >= max(1, n).
 * @param[in,out] A batch pointers to matrices of lda * n elements; only the named triangles are written.
 * @param lda leading dimension of every A, >= max(1, n).
 * @param chunk matrices of a chunk, >= 1.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_sunpack_interleaved_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                           int64_t n, const float *P, int64_t ldp,
                                                           float *const A[], int64_t lda,
                                                           int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_dunpack_interleaved_batched(chol_handle_t handle, chol_uplo_t uplo,
                                                           int64_t n, const double *P, int64_t ldp,
                                                           double *const A[], int64_t lda,
                                                           int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_cunpack_interleaved_batched(
    chol_handle_t handle, chol_uplo_t uplo, int64_t n, const chol_complex_float *P, int64_t ldp,
    chol_complex_float *const A[], int64_t lda, int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_zunpack_interleaved_batched(
    chol_handle_t handle, chol_uplo_t uplo, int64_t n, const chol_complex_double *P, int64_t ldp,
    chol_complex_double *const A[], int64_t lda, int64_t chunk, int64_t batch);

/**
 * Copies full n by nrhs matrices, such as right-hand sides, of a strided batch into an interleaved
 * array.
 * @param handle the handle.
 * @param n rows of every matrix, >= 0.
 * @param nrhs columns of every matrix, >= 0.
 * @param[in] B matrix b starts at B + b * strideB.
 * @param ldb leading dimension of every B, >= max(1, n).
 * @param strideB distance of two matrices, >= ldb * nrhs when batch > 1.
 * @param[out] P the interleaved array, ldp * nrhs * chunk elements a chunk. Must not
 * overlap B.
 * @param ldp leading dimension of every matrix in P, >= max(1, n).
 * @param chunk matrices of a chunk, >= 1.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_spack_interleaved_rhs(chol_handle_t handle, int64_t n, int64_t nrhs,
                                                     const float *B, int64_t ldb, int64_t strideB,
                                                     float *P, int64_t ldp, int64_t chunk,
                                                     int64_t batch);
CHOL_EXPORT chol_status_t chol_dpack_interleaved_rhs(chol_handle_t handle, int64_t n, int64_t nrhs,
                                                     const double *B, int64_t ldb, int64_t strideB,
                                                     double *P, int64_t ldp, int64_t chunk,
                                                     int64_t batch);
CHOL_EXPORT chol_status_t chol_cpack_interleaved_rhs(chol_handle_t handle, int64_t n, int64_t nrhs,
                                                     const chol_complex_float *B, int64_t ldb,
                                                     int64_t strideB, chol_complex_float *P,
                                                     int64_t ldp, int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_zpack_interleaved_rhs(chol_handle_t handle, int64_t n, int64_t nrhs,
                                                     const chol_complex_double *B, int64_t ldb,
                                                     int64_t strideB, chol_complex_double *P,
                                                     int64_t ldp, int64_t chunk, int64_t batch);

/**
 * Copies full n by nrhs matrices of an interleaved array into a strided batch.
 * @param handle the handle.
 * @param n rows of every matrix, >= 0.
 * @param nrhs columns of every matrix, >= 0.
 * @param[in] P the interleaved array, ldp * nrhs * chunk elements a chunk.
 * @param ldp leading dimension of every matrix in P, >= max(1, n).
 * @param[out] B matrix b starts at B + b * strideB.
 * @param ldb leading dimension of every B, >= max(1, n).
 * @param strideB distance of two matrices, >= ldb * nrhs when batch > 1.
 * @param chunk matrices of a chunk, >= 1.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_sunpack_interleaved_rhs(chol_handle_t handle, int64_t n,
                                                       int64_t nrhs, const float *P, int64_t ldp,
                                                       float *B, int64_t ldb, int64_t strideB,
                                                       int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_dunpack_interleaved_rhs(chol_handle_t handle, int64_t n,
                                                       int64_t nrhs, const double *P, int64_t ldp,
                                                       double *B, int64_t ldb, int64_t strideB,
                                                       int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_cunpack_interleaved_rhs(chol_handle_t handle, int64_t n,
                                                       int64_t nrhs, const chol_complex_float *P,
                                                       int64_t ldp, chol_complex_float *B,
                                                       int64_t ldb, int64_t strideB, int64_t chunk,
                                                       int64_t batch);
CHOL_EXPORT chol_status_t chol_zunpack_interleaved_rhs(chol_handle_t handle, int64_t n,
                                                       int64_t nrhs, const chol_complex_double *P,
                                                       int64_t ldp, chol_complex_double *B,
                                                       int64_t ldb, int64_t strideB, int64_t chunk,
                                                       int64_t batch);

/**
 * Copies full n by nrhs matrices of an array of pointers into an interleaved array.
 * @param handle the handle.
 * @param n rows of every matrix, >= 0.
 * @param nrhs columns of every matrix, >= 0.
 * @param[in] B batch pointers to matrices of ldb * nrhs elements.
 * @param ldb leading dimension of every B, >= max(1, n).
 * @param[out] P the interleaved array, ldp * nrhs * chunk elements a chunk. Must not
 * overlap B.
 * @param ldp leading dimension of every matrix in P, >= max(1, n).
 * @param chunk matrices of a chunk, >= 1.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_spack_interleaved_rhs_batched(chol_handle_t handle, int64_t n,
                                                             int64_t nrhs, const float *const B[],
                                                             int64_t ldb, float *P, int64_t ldp,
                                                             int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_dpack_interleaved_rhs_batched(chol_handle_t handle, int64_t n,
                                                             int64_t nrhs, const double *const B[],
                                                             int64_t ldb, double *P, int64_t ldp,
                                                             int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_cpack_interleaved_rhs_batched(
    chol_handle_t handle, int64_t n, int64_t nrhs, const chol_complex_float *const B[], int64_t ldb,
    chol_complex_float *P, int64_t ldp, int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_zpack_interleaved_rhs_batched(
    chol_handle_t handle, int64_t n, int64_t nrhs, const chol_complex_double *const B[],
    int64_t ldb, chol_complex_double *P, int64_t ldp, int64_t chunk, int64_t batch);

/**
 * Copies full n by nrhs matrices of an interleaved array into matrices of an array of pointers.
 * @param handle the handle.
 * @param n rows of every matrix, >= 0.
 * @param nrhs columns of every matrix, >= 0.
 * @param[in] P the interleaved array, ldp * nrhs * chunk elements a chunk.
 * @param ldp leading dimension of every matrix in P, >= max(1, n).
 * @param[out] B batch pointers to matrices of ldb * nrhs elements.
 * @param ldb leading dimension of every B, >= max(1, n).
 * @param chunk matrices of a chunk, >= 1.
 * @param batch number of matrices, >= 0.
 * Threads: matrices are distributed over chol_set_num_threads(). Synchronizes: host arrays yes,
 * device arrays never.
 */
CHOL_EXPORT chol_status_t chol_sunpack_interleaved_rhs_batched(chol_handle_t handle, int64_t n,
                                                               int64_t nrhs, const float *P,
                                                               int64_t ldp, float *const B[],
                                                               int64_t ldb, int64_t chunk,
                                                               int64_t batch);
CHOL_EXPORT chol_status_t chol_dunpack_interleaved_rhs_batched(chol_handle_t handle, int64_t n,
                                                               int64_t nrhs, const double *P,
                                                               int64_t ldp, double *const B[],
                                                               int64_t ldb, int64_t chunk,
                                                               int64_t batch);
CHOL_EXPORT chol_status_t chol_cunpack_interleaved_rhs_batched(
    chol_handle_t handle, int64_t n, int64_t nrhs, const chol_complex_float *P, int64_t ldp,
    chol_complex_float *const B[], int64_t ldb, int64_t chunk, int64_t batch);
CHOL_EXPORT chol_status_t chol_zunpack_interleaved_rhs_batched(
    chol_handle_t handle, int64_t n, int64_t nrhs, const chol_complex_double *P, int64_t ldp,
    chol_complex_double *const B[], int64_t ldb, int64_t chunk, int64_t batch);

/** @} */

/** @defgroup tlr Tile low rank matrices
 * Hermitian matrices whose off-diagonal blocks are of low rank, such as covariances of points in
 * space, integral operators and Schur complements. The matrix is divided into tiles; diagonal tiles
 * are dense, a tile below the diagonal is U V^H of the rank that eps requires (dense above half the
 * order of a tile). A factor, P^T L L^H P or P^T L D L^H P, has the same form and overwrites the
 * matrix.
 *
 * Rules of this family:
 *  - The object has the type of the elements; arrays of elements are void pointers.
 *  - A matrix belongs to the handle that created it, is used with that one only (INVALID_VALUE
 *    otherwise) and must be destroyed before it. It is stored on the device of the handle if it has
 *    one, else on the host. Arrays of elements are on the host or, for a handle with a device, on
 *    either.
 *  - Indices count from 0. Points, ranks, permutations, info and scalars are on the host.
 *  - Calls are synchronous. They allocate their memory; chol_set_workspace() does not apply.
 *  - Callbacks come from threads of the library and may not use the handle. A matrix whose assembly
 *    or factorization failed can only be destroyed or assembled anew.
 *  - The same input, options and seed give the same bits, for any number of threads.
 * @{ */

/** Opaque: a matrix, or its factor, in tiles. */
typedef struct chol_tlr_s *chol_tlr_t;

/** Type of the elements of a matrix. */
typedef enum {
  CHOL_TYPE_S = 's', /**< float */
  CHOL_TYPE_D = 'd', /**< double */
  CHOL_TYPE_C = 'c', /**< ::chol_complex_float */
  CHOL_TYPE_Z = 'z'  /**< ::chol_complex_double */
} chol_type_t;

/** Covariance functions of the scaled distance r. */
typedef enum {
  CHOL_KERNEL_EXPONENTIAL = 0,         /**< exp(-r) */
  CHOL_KERNEL_SQUARED_EXPONENTIAL = 1, /**< exp(-r * r / 2) */
  CHOL_KERNEL_MATERN = 2 /**< 2^(1 - nu) / Gamma(nu) x^nu K_nu(x), x = sqrt(2 nu) r; 1 at r = 0 */
} chol_kernel_kind_t;

/**
 * A covariance function: variance times the function of r = ||(x_i - x_j) / length||_2, plus the
 * nugget where i = j. Read during a call only.
 */
typedef struct {
  size_t size;             /**< sizeof(chol_kernel_t), set by the caller */
  chol_kernel_kind_t kind; /**< the function of r */
  double variance;         /**< > 0 */
  double nugget;           /**< added to the diagonal, >= 0 */
  double nu;               /**< > 0; of Matern only: 1/2, 3/2 and 5/2 are fastest */
  const double *length;    /**< lengths of the coordinates, > 0 */
  int lengths;             /**< how many: 1 for all coordinates, or dim */
} chol_kernel_t;

/** Options of assembly and factorization; chol_tlr_options_init() sets the defaults. */
typedef struct {
  size_t size;            /**< sizeof(chol_tlr_options_t), set by chol_tlr_options_init() */
  double eps;             /**< absolute threshold of the error, 1e-6 */
  int each_tile;          /**< 0: of the whole matrix in the 2-norm; 1: of each tile */
  int ldl;                /**< 1: L D L^H, for indefinite matrices */
  int pivot;              /**< of tiles, 1 by Frobenius norm, 2 by 2-norm */
  int compensate;         /**< 1: diagonal tiles that eps makes indefinite are shifted (default) */
  int modify_diagonal;    /**< 1: a diagonal tile that stays indefinite is modified */
  double shift;           /**< added to the diagonal by the factorization, 0 */
  int sample_columns;     /**< columns of one step of sampling; 0: automatic */
  uint64_t seed;          /**< of the random samples */
  size_t workspace_bytes; /**< most to use in addition to the matrix, at least one tile per thread;
                               0: chosen */
  int (*progress)(void *context, const char *phase, double done); /**< non-zero cancels; or NULL */
  void *progress_context;                                         /**< passed to progress */
} chol_tlr_options_t;

/** Statistics of a matrix. */
typedef struct {
  size_t size;         /**< sizeof(chol_tlr_stats_t), set by the caller */
  chol_type_t type;    /**< of the elements */
  int factored;        /**< 1: it is a factor */
  int ldl;             /**< 1: L D L^H */
  int64_t n;           /**< order */
  int64_t tile;        /**< order of a tile */
  int64_t tiles;       /**< tiles in a row */
  size_t bytes;        /**< of all tiles */
  size_t dense_bytes;  /**< of the diagonal tiles and the dense ones below */
  int64_t max_rank;    /**< of the tiles below the diagonal that are not dense */
  double mean_rank;    /**< of the tiles below the diagonal, dense ones with full rank */
  double flops;        /**< floating point operations of the assembly or factorization */
  int64_t dense_tiles; /**< below the diagonal */
  double eps;          /**< of the options with which it was created */
  double shift;        /**< of the options: what the factorization added to the diagonal */
  int64_t compensated; /**< diagonal tiles shifted by compensation */
  int64_t modified;    /**< diagonal tiles modified; the bound of the error does not count them */
  size_t
      inverse_bytes; /**< of inverses that a factor keeps for solves, not in bytes: of its diagonal
                             tiles or their blocks and, after the first solve on a device with many
                             right-hand sides, of larger diagonal blocks */
  int64_t projected_tiles; /**< low rank tiles that projection on a basis compressed; the other
                                ones were compressed from samples of both sides; 0 of a matrix that
                                was loaded from a file */
} chol_tlr_stats_t;

/**
 * Fills block (i, j) = A(row + i, column + j) for i < rows, j < columns; row >= column.
 * @return 0, or anything else for failure: the call ends with CALLBACK_FAILED.
 */
typedef int (*chol_tlr_block_t)(void *context, int64_t row, int64_t column, int64_t rows,
                                int64_t columns, void *block, int64_t ldb);

/**
 * Sets the default options.
 * @param[out] options the options.
 */
CHOL_EXPORT chol_status_t chol_tlr_options_init(chol_tlr_options_t *options);

/**
 * An order of points with compact tiles: recursive bisection at the median of the longest side of
 * the bounding box, until a part is a tile. All parts except the last have `tile` points.
 * @param dim coordinates of a point, >= 1.
 * @param n number of points, >= 0.
 * @param[in] points coordinate d of point i at points[d + i * ldp], finite. Host pointer.
 * @param ldp >= dim.
 * @param tile points of a part, >= 1.
 * @param[out] permutation which point comes i-th, n elements. Host pointer.
 */
CHOL_EXPORT chol_status_t chol_tlr_order_points(int dim, int64_t n, const double *points,
                                                int64_t ldp, int64_t tile, int64_t *permutation);

/**
 * Creates a matrix without elements.
 * @param handle the handle.
 * @param type of the elements.
 * @param n order, 0 <= n < 2^31.
 * @param tile order of a tile, >= 1, or 0: chosen by n.
 * @param[out] A the matrix, NULL on failure.
 */
CHOL_EXPORT chol_status_t chol_tlr_create(chol_handle_t handle, chol_type_t type, int64_t n,
                                          int64_t tile, chol_tlr_t *A);

/** Frees a matrix; NULL does nothing. */
CHOL_EXPORT chol_status_t chol_tlr_destroy(chol_tlr_t A);

/**
 * Copies a matrix or a factor.
 * @param handle the handle of A.
 * @param A the matrix.
 * @param[out] copy a new matrix, NULL on failure.
 */
CHOL_EXPORT chol_status_t chol_tlr_copy(chol_handle_t handle, chol_tlr_t A, chol_tlr_t *copy);

/**
 * Assembles the covariance of points, tile by tile.
 * @param handle the handle of A.
 * @param A the matrix of order n; its content is replaced.
 * @param[in] kernel the covariance function.
 * @param dim coordinates of a point, >= 1.
 * @param[in] points coordinate d of point i at points[d + i * ldp], n points in the order of the
 *        matrix; see chol_tlr_order_points().
 * @param ldp >= dim.
 * @param[in] options NULL for the defaults. Tiles are compressed to a quarter of eps, so that a
 *        factor with the same eps is within eps of the exact matrix. An eps below
 *        n * u * max(1, sqrt(tiles) / 8) * max |a_ii|, u the unit roundoff, is INVALID_VALUE.
 * @return CANCELLED as well.
 */
CHOL_EXPORT chol_status_t chol_tlr_from_kernel(chol_handle_t handle, chol_tlr_t A,
                                               const chol_kernel_t *kernel, int dim,
                                               const double *points, int64_t ldp,
                                               const chol_tlr_options_t *options);

/**
 * Assembles a matrix whose blocks the caller computes.
 * @param handle the handle of A.
 * @param A the matrix; its content is replaced.
 * @param fill called from several threads at once, for tiles on and below the diagonal; of those on
 *        the diagonal the lower triangle is read.
 * @param context passed to fill.
 * @param[in] options as for chol_tlr_from_kernel().
 * @return CALLBACK_FAILED, CANCELLED as well.
 */
CHOL_EXPORT chol_status_t chol_tlr_from_blocks(chol_handle_t handle, chol_tlr_t A,
                                               chol_tlr_block_t fill, void *context,
                                               const chol_tlr_options_t *options);

/**
 * Assembles from a dense matrix.
 * @param handle the handle of A.
 * @param A the matrix of order n; its content is replaced.
 * @param uplo the triangle of `dense` that is read.
 * @param[in] dense lda * n elements. Host memory.
 * @param lda >= n.
 * @param[in] options as for chol_tlr_from_kernel().
 * @return CANCELLED as well.
 */
CHOL_EXPORT chol_status_t chol_tlr_from_dense(chol_handle_t handle, chol_tlr_t A, chol_uplo_t uplo,
                                              const void *dense, int64_t lda,
                                              const chol_tlr_options_t *options);

/**
 * Cholesky factorization A + shift I = L L^H, L written over A: ||A - L L^H||_2 <= eps for the exact
 * matrix A that was assembled with the same eps. With compensate, a diagonal tile that eps leaves
 * indefinite is shifted by a part of eps, and counted. With pivot, P A P^T = L L^H. With ldl, L D L^H
 * of P A P^T, rook pivoting in diagonal tiles, D diagonal of 1 and -1 in L's scale; no compensation.
 * @param handle the handle of A.
 * @param A the matrix; the factor on return.
 * @param[in] options NULL for the defaults.
 * @param[out] info 0, or k > 0, and A is empty: the leading minor of order k of P A P^T is not
 *        positive definite; with ldl, pivot k is zero or not finite.
 * @return CANCELLED as well.
 * Method: left-looking by block columns; tiles compressed once, from random samples (Boukaram,
 * Zampini, Turkiyyah, Keyes 2021, with samples fixed for the whole matrix).
 */
CHOL_EXPORT chol_status_t chol_tlr_factor(chol_handle_t handle, chol_tlr_t A,
                                          const chol_tlr_options_t *options, int *info);

/**
 * Solves A X = B with a factor.
 * @param handle the handle of A.
 * @param A the factor.
 * @param nrhs number of right-hand sides, >= 0.
 * @param[in,out] B ldb * nrhs elements; X on return. Host memory.
 * @param ldb >= n.
 */
CHOL_EXPORT chol_status_t chol_tlr_solve(chol_handle_t handle, chol_tlr_t A, int64_t nrhs, void *B,
                                         int64_t ldb);

/**
 * Solves P^T L X = B, or L^H P X = B. NOT_SUPPORTED for a factor L D L^H, as multiply_half.
 * @param handle the handle of A.
 * @param A the factor.
 * @param adjoint not 0: L^H.
 * @param nrhs number of right-hand sides, >= 0.
 * @param[in,out] B ldb * nrhs elements; X on return. Host memory.
 * @param ldb >= n.
 */
CHOL_EXPORT chol_status_t chol_tlr_solve_half(chol_handle_t handle, chol_tlr_t A, int adjoint,
                                              int64_t nrhs, void *B, int64_t ldb);

/**
 * Y = A X; of a factor Y = P^T L L^H P X, or P^T L D L^H P X.
 * @param handle the handle of A.
 * @param A the matrix or factor.
 * @param nrhs columns of X and Y, >= 0.
 * @param[in] X ldx * nrhs elements. Host memory.
 * @param ldx >= n.
 * @param[out] Y ldy * nrhs elements; must not overlap X. Host memory.
 * @param ldy >= n.
 */
CHOL_EXPORT chol_status_t chol_tlr_multiply(chol_handle_t handle, chol_tlr_t A, int64_t nrhs,
                                            const void *X, int64_t ldx, void *Y, int64_t ldy);

/**
 * Y = P^T L X, samples of a Gaussian process for standard normal X, or Y = L^H P X.
 * @param handle the handle of A.
 * @param A the factor.
 * @param adjoint not 0: L^H.
 * @param nrhs columns of X and Y, >= 0.
 * @param[in] X ldx * nrhs elements. Host memory.
 * @param ldx >= n.
 * @param[out] Y ldy * nrhs elements; must not overlap X. Host memory.
 * @param ldy >= n.
 */
CHOL_EXPORT chol_status_t chol_tlr_multiply_half(chol_handle_t handle, chol_tlr_t A, int adjoint,
                                                 int64_t nrhs, const void *X, int64_t ldx, void *Y,
                                                 int64_t ldy);

/**
 * log |det A| of a factor.
 * @param handle the handle of A.
 * @param A the factor.
 * @param[out] logdet log of the absolute value.
 * @param[out] sign of the determinant; may be NULL.
 */
CHOL_EXPORT chol_status_t chol_tlr_logdet(chol_handle_t handle, chol_tlr_t A, double *logdet,
                                          int *sign);

/**
 * ||original - factor||_2 by power iteration: a close lower bound.
 * @param handle the handle of both.
 * @param factor a factor, taken as L L^H, or a matrix.
 * @param original a matrix or factor of the same type and order.
 * @param iterations steps, >= 1; twelve give about ten percent accuracy.
 * @param[out] norm2 the norm.
 */
CHOL_EXPORT chol_status_t chol_tlr_error(chol_handle_t handle, chol_tlr_t factor,
                                         chol_tlr_t original, int iterations, double *norm2);

/**
 * The same against the exact covariance of points, without a matrix of it; n^2 evaluations a step.
 * @param handle the handle of the factor.
 * @param factor a factor, taken as L L^H, or a matrix.
 * @param[in] kernel the covariance function.
 * @param dim coordinates of a point, >= 1.
 * @param[in] points as for chol_tlr_from_kernel().
 * @param ldp >= dim.
 * @param iterations steps, >= 1.
 * @param[out] norm2 the norm.
 */
CHOL_EXPORT chol_status_t chol_tlr_error_kernel(chol_handle_t handle, chol_tlr_t factor,
                                                const chol_kernel_t *kernel, int dim,
                                                const double *points, int64_t ldp, int iterations,
                                                double *norm2);

/**
 * Solves A X = B by conjugate gradients with a factor as the preconditioner, each column
 * separately.
 * @param handle the handle of both.
 * @param original the matrix A.
 * @param factor a factor of the same type and order.
 * @param nrhs number of right-hand sides, >= 0.
 * @param[in] B ldb * nrhs elements. Host memory.
 * @param ldb >= n.
 * @param[out] X ldx * nrhs elements; must not overlap B. Host memory.
 * @param ldx >= n.
 * @param tolerance a column has converged when ||b - A x||_2 <= tolerance * ||b||_2 by recurrence;
 *        >= 0.
 * @param most most iterations, >= 0.
 * @param[out] iterations of each column; -most where it did not converge. nrhs elements.
 * @param[out] residuals norm of the residual relative to b's, of column c after i iterations at
 *        residuals[i + c * (most + 1)], 0 after the last iteration; or NULL.
 */
CHOL_EXPORT chol_status_t chol_tlr_pcg(chol_handle_t handle, chol_tlr_t original, chol_tlr_t factor,
                                       int64_t nrhs, const void *B, int64_t ldb, void *X,
                                       int64_t ldx, double tolerance, int most, int *iterations,
                                       double *residuals);

/**
 * Statistics of a matrix.
 * @param A the matrix.
 * @param[in,out] stats its size is set by the caller.
 */
CHOL_EXPORT chol_status_t chol_tlr_stats(chol_tlr_t A, chol_tlr_stats_t *stats);

/**
 * Ranks of the tiles.
 * @param A the matrix or factor.
 * @param[out] ranks tiles * tiles elements, column-major; written below the diagonal, -1 on it. Dense
 *        tiles have full rank.
 */
CHOL_EXPORT chol_status_t chol_tlr_ranks(chol_tlr_t A, int64_t *ranks);

/**
 * P of a factor that is pivoted or L D L^H; the identity otherwise.
 * @param A the factor.
 * @param[out] permutation which row of the matrix comes i-th in L, n elements.
 */
CHOL_EXPORT chol_status_t chol_tlr_permutation(chol_tlr_t A, int64_t *permutation);

/**
 * A tile as a dense matrix. Tiles above the diagonal are the adjoints of those below for a matrix,
 * and zero for a factor.
 * @param A the matrix or factor.
 * @param i row of the tile, 0 <= i < tiles.
 * @param j column of the tile, 0 <= j < tiles.
 * @param[out] block ldb times the columns of the tile. Host memory.
 * @param ldb >= rows of the tile.
 */
CHOL_EXPORT chol_status_t chol_tlr_get_tile(chol_tlr_t A, int64_t i, int64_t j, void *block,
                                            int64_t ldb);

/**
 * Writes a matrix or factor to a file with a version and a checksum; bytes in the order of this
 * machine.
 * @param A the matrix or factor.
 * @param path the file, replaced if it exists.
 */
CHOL_EXPORT chol_status_t chol_tlr_save(chol_tlr_t A, const char *path);

/**
 * Reads a file written by chol_tlr_save(). INVALID_VALUE for a file of another version, or a
 * damaged or truncated one.
 * @param handle the handle.
 * @param path the file.
 * @param[out] A a new matrix, NULL on failure.
 */
CHOL_EXPORT chol_status_t chol_tlr_load(chol_handle_t handle, const char *path, chol_tlr_t *A);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* CHOL_H */
