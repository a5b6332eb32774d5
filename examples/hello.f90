! The smallest program: factor a 3 x 3 matrix, solve one system.
program hello
  use chol
  implicit none
  type(c_ptr) :: handle
  real(c_double) :: A(3, 3), b(3)
  integer(c_int) :: info

  ! Only the lower triangle is read; elements above the diagonal are not changed.
  A = reshape([real(c_double) :: 4, 2, 2,  0, 5, 3,  0, 0, 6], [3, 3])
  b = [14, 21, 26] ! A times (1, 2, 3)
  if (chol_create(handle) /= CHOL_STATUS_SUCCESS) error stop "chol_create failed"
  if (chol_posv(handle, CHOL_LOWER, A, b, info) /= CHOL_STATUS_SUCCESS) then
    print "(a)", chol_last_error(handle)
  else if (info > 0) then
    print "(a, i0, a)", "the leading minor of order ", info, " is not positive definite"
  else
    print "(a, 3f8.4)", "x =", b
  end if
  if (chol_destroy(handle) /= CHOL_STATUS_SUCCESS) error stop "chol_destroy failed"
end program hello
