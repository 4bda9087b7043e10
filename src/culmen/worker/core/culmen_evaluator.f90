! The C ABI of <culmen/evaluator.h> for Fortran 2008: compile this file with your own. A cost function is
!
!   function cost(candidate, result) bind(C) result(code)
!     use culmen_evaluator
!     type(culmen_candidate), intent(in) :: candidate
!     type(culmen_result), intent(in) :: result
!     integer(c_int) :: code
!     real(c_double), pointer :: x(:)
!     x => culmen_values(candidate)
!     code = culmen_set_value(result, sum(x**2))
!   end function
!
! and stands in the study file as "lib.so:cost". What its code and the figures mean, and from where it is called, is
! said in <culmen/evaluator.h>.
module culmen_evaluator
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int32_t), parameter :: culmen_evaluator_abi = 2_c_int32_t

  type, bind(C) :: culmen_candidate
    integer(c_int32_t) :: abi
    integer(c_int32_t) :: attempt    ! 0 for the first try
    integer(c_int64_t) :: evaluation ! number of the evaluation in the study
    integer(c_size_t) :: size        ! number of parameters
    type(c_ptr) :: x                 ! see culmen_values
    type(c_ptr) :: names             ! see culmen_name
    integer(c_int) :: communicator   ! with --team-size: communicator of the team
    integer(c_int) :: team_size      ! number of ranks in the team; 0 without --team-size: there is no communicator
  end type

  type, bind(C) :: culmen_result
    integer(c_int32_t) :: abi
    type(c_ptr) :: self
    type(c_funptr) :: set_value, set_residuals, set_extra, set_error
  end type

  abstract interface
    function culmen_value_setter(self, value) bind(C) result(code)
      import :: c_ptr, c_double, c_int
      type(c_ptr), value :: self
      real(c_double), value :: value
      integer(c_int) :: code
    end function
    function culmen_residuals_setter(self, residuals, n) bind(C) result(code)
      import :: c_ptr, c_double, c_int, c_size_t
      type(c_ptr), value :: self
      real(c_double), intent(in) :: residuals(*)
      integer(c_size_t), value :: n
      integer(c_int) :: code
    end function
    function culmen_extra_setter(self, name, value) bind(C) result(code)
      import :: c_ptr, c_double, c_int, c_char
      type(c_ptr), value :: self
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
      integer(c_int) :: code
    end function
    function culmen_error_setter(self, text) bind(C) result(code)
      import :: c_ptr, c_int, c_char
      type(c_ptr), value :: self
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int) :: code
    end function
  end interface

contains

  !> The parameters' values, in the order of the study's space and in their own units; valid during the call.
  function culmen_values(candidate) result(x)
    type(culmen_candidate), intent(in) :: candidate
    real(c_double), pointer :: x(:)
    call c_f_pointer(candidate%x, x, [candidate%size])
  end function

  !> The name of parameter i = 1, 2, …
  function culmen_name(candidate, i) result(name)
    type(culmen_candidate), intent(in) :: candidate
    integer, intent(in) :: i
    character(:), allocatable :: name
    type(c_ptr), pointer :: names(:)
    character(kind=c_char), pointer :: letters(:)
    integer :: n
    interface
      pure function strlen(text) bind(C) result(n)
        import :: c_ptr, c_size_t
        type(c_ptr), value, intent(in) :: text
        integer(c_size_t) :: n
      end function
    end interface
    call c_f_pointer(candidate%names, names, [candidate%size])
    call c_f_pointer(names(i), letters, [strlen(names(i))])
    allocate (character(size(letters)) :: name)
    do n = 1, size(letters)
      name(n:n) = letters(n)
    end do
  end function

  function culmen_set_value(result, value) result(code)
    type(culmen_result), intent(in) :: result
    real(c_double), intent(in) :: value
    integer(c_int) :: code
    procedure(culmen_value_setter), pointer :: set
    call c_f_procpointer(result%set_value, set)
    code = set(result%self, value)
  end function

  !> The residuals are copied.
  function culmen_set_residuals(result, residuals) result(code)
    type(culmen_result), intent(in) :: result
    real(c_double), intent(in) :: residuals(:)
    integer(c_int) :: code
    procedure(culmen_residuals_setter), pointer :: set
    call c_f_procpointer(result%set_residuals, set)
    code = set(result%self, residuals, size(residuals, kind=c_size_t))
  end function

  !> A further figure of that name.
  function culmen_set_extra(result, name, value) result(code)
    type(culmen_result), intent(in) :: result
    character(*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer(c_int) :: code
    procedure(culmen_extra_setter), pointer :: set
    call c_f_procpointer(result%set_extra, set)
    code = set(result%self, trim(name)//c_null_char, value)
  end function

  !> Why the evaluation failed; the cost function then returns something else than 0.
  function culmen_set_error(result, text) result(code)
    type(culmen_result), intent(in) :: result
    character(*), intent(in) :: text
    integer(c_int) :: code
    procedure(culmen_error_setter), pointer :: set
    call c_f_procpointer(result%set_error, set)
    code = set(result%self, trim(text)//c_null_char)
  end function

end module
