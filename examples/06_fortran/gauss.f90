! Residuals of a fit: a Gaussian peak on a linear background.
function residuals(candidate, result) bind(C) result(code)
  use culmen_evaluator
  implicit none
  type(culmen_candidate), intent(in) :: candidate
  type(culmen_result), intent(in) :: result
  integer(c_int) :: code
  real(c_double), pointer :: p(:)
  real(c_double) :: t(21), counts(21), model(21)
  integer :: i
  p => culmen_values(candidate) ! height, centre, width, offset, slope
  if (p(3) <= 0) then
    code = culmen_set_error(result, 'the width is not positive') + 1
    return
  end if
  t = [(0.5_c_double*i, i=0, 20)]
  counts = 80*exp(-0.5_c_double*((t - 4.2_c_double)/0.9_c_double)**2) + 12 + 1.5_c_double*t
  model = p(1)*exp(-0.5_c_double*((t - p(2))/p(3))**2) + p(4) + p(5)*t
  code = culmen_set_extra(result, 'area', p(1)*p(3)*sqrt(8*atan(1.0_c_double)))
  code = culmen_set_residuals(result, (counts - model)/sqrt(counts))
end function
