! What a Fortran user does: one system, a batch, and a refused call. Stops with 1 when one is wrong.
program consumer
  use chol
  implicit none
  type(c_ptr) :: handle
  real(c_double) :: A(3, 3), b(3)
  complex(c_float) :: batch(2, 2, 2)
  integer(c_int) :: info, infos(2)
  logical :: failed = .false.

  call check("create", chol_create(handle) == CHOL_STATUS_SUCCESS)
  A = reshape([4, 2, 2, 0, 5, 3, 0, 0, 6], [3, 3])
  b = [14, 21, 26]
  call check("posv", chol_posv(handle, CHOL_LOWER, A, b, info) == CHOL_STATUS_SUCCESS)
  call check("solution", info == 0 .and. all(abs(b - [1, 2, 3]) < 1e-14_c_double))
  batch = 0
  batch(:, :, 1) = reshape([(4, 0), (0, 2), (0, 0), (10, 0)], [2, 2])
  batch(:, :, 2) = reshape([(1, 0), (0, 2), (0, 0), (1, 0)], [2, 2])
  call check("batch", chol_potrf_strided_batched(handle, CHOL_LOWER, batch, infos) == 0)
  call check("batch info", all(infos == [0, 2]))
  call check("batch factor", batch(1, 1, 1) == 2 .and. batch(2, 1, 1) == (0, 1) &
             .and. batch(2, 2, 1) == 3)
  call check("refused", chol_potrf(handle, CHOL_LOWER, 5, A, 3, info) == CHOL_STATUS_INVALID_VALUE)
  call check("message", &
             chol_last_error(handle) == "chol_dpotrf: lda = 3, must be at least max(1, n) = 5")
  call check("destroy", chol_destroy(handle) == CHOL_STATUS_SUCCESS)
  if (failed) stop 1
  print '(a)', "Fortran consumer: all right"

contains

  subroutine check(what, passed)
    character(*), intent(in) :: what
    logical, intent(in) :: passed
    if (passed) return
    failed = .true.
    print '(2a)', "FAILED: ", what
  end subroutine check
end program consumer
