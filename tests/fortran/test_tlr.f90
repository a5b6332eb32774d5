! Tile low rank matrices in Fortran: a covariance of points is factored, solved, described, saved and
! loaded.
program test_tlr
  use chol
  implicit none
  integer, parameter :: n = 150
  type(c_ptr) :: handle, A, original, loaded
  type(chol_kernel_t) :: kernel
  type(chol_tlr_options_t) :: options
  type(chol_tlr_stats_t) :: stats
  real(c_double), target :: length(1) = [0.3_c_double]
  real(c_double) :: points(2, n), sorted(2, n), x(n, 2), b(n, 2), norm2, logdet, logdet2
  integer(c_int64_t) :: order(n), ranks(5, 5)
  integer(c_int) :: info, sign, iterations(2)
  integer :: i

  points(1, :) = [(mod(i * 0.618034_c_double, 1.0_c_double), i = 1, n)]
  points(2, :) = [(mod(i * 0.754878_c_double, 1.0_c_double), i = 1, n)]
  call check(chol_create_on(handle, CHOL_BACKEND_HOST, 0), "create_on")
  call check(chol_tlr_order_points(2, int(n, c_int64_t), points, 2_c_int64_t, 32_c_int64_t, &
    order), "order_points")
  sorted = points(:, order + 1)
  kernel%size = c_sizeof(kernel)
  kernel%nugget = 0.1_c_double
  kernel%length = c_loc(length)
  call check(chol_tlr_options_init(options), "options_init")
  options%eps = 1e-8_c_double
  call check(chol_tlr_create(handle, CHOL_TYPE_D, int(n, c_int64_t), 32_c_int64_t, A), "create")
  call check(chol_tlr_from_kernel(handle, A, kernel, 2, sorted, 2_c_int64_t, options), &
    "from_kernel")
  call check(chol_tlr_copy(handle, A, original), "copy")
  call check(chol_tlr_factor(handle, A, options, info), "factor")
  if (info /= 0) error stop "info"
  call check(chol_tlr_error_kernel(handle, A, kernel, 2, sorted, 2_c_int64_t, 20, norm2), &
    "error_kernel")
  if (.not. norm2 <= options%eps) error stop "error_kernel: too large"
  call check(chol_tlr_error(handle, A, original, 20, norm2), "error")
  if (.not. norm2 <= options%eps) error stop "error: too large"
  x = 1
  call check(chol_tlr_multiply(handle, original, 2_c_int64_t, x, int(n, c_int64_t), b, &
    int(n, c_int64_t)), "multiply")
  call check(chol_tlr_solve(handle, A, 2_c_int64_t, b, int(n, c_int64_t)), "solve")
  if (.not. maxval(abs(b - x)) < 1e-5_c_double) error stop "solve: wrong"
  call check(chol_tlr_multiply(handle, original, 2_c_int64_t, x, int(n, c_int64_t), b, &
    int(n, c_int64_t)), "multiply")
  call check(chol_tlr_pcg(handle, original, A, 2_c_int64_t, b, int(n, c_int64_t), x, &
    int(n, c_int64_t), 1e-10_c_double, 20, iterations), "pcg")
  if (any(iterations < 0)) error stop "pcg: no convergence"
  call check(chol_tlr_logdet(handle, A, logdet, sign), "logdet")
  if (sign /= 1) error stop "sign"
  stats%size = c_sizeof(stats)
  call check(chol_tlr_stats(A, stats), "stats")
  if (stats%n /= n .or. stats%tiles /= 5 .or. stats%factored /= 1) error stop "stats: wrong"
  ranks = 0
  call check(chol_tlr_ranks(A, ranks), "ranks")
  if (ranks(1, 1) /= -1 .or. ranks(2, 1) < 1) error stop "ranks: wrong"
  call check(chol_tlr_save(A, "fortran_tlr.bin" // c_null_char), "save")
  call check(chol_tlr_load(handle, "fortran_tlr.bin" // c_null_char, loaded), "load")
  call check(chol_tlr_logdet(handle, loaded, logdet2), "logdet")
  if (logdet2 /= logdet) error stop "load: another matrix"
  call check(chol_tlr_destroy(loaded), "destroy")
  call check(chol_tlr_destroy(original), "destroy")
  call check(chol_tlr_destroy(A), "destroy")
  call check(chol_destroy(handle), "destroy")

contains

  subroutine check(status, what)
    integer(c_int), intent(in) :: status
    character(*), intent(in) :: what
    if (status == CHOL_STATUS_SUCCESS) return
    print "(4a)", what, ": ", chol_status_string(status), chol_last_error(handle)
    error stop 1
  end subroutine check
end program test_tlr
