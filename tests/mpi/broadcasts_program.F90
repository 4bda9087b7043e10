! 50 broadcasts of 400 bytes, with the binding that the compiler's words choose.
program broadcasts
#if defined(WITH_F08)
  use mpi_f08
#elif !defined(WITH_MPIF)
  use mpi
#endif
  implicit none
#if defined(WITH_MPIF)
  include 'mpif.h'
#endif
  integer :: numbers(100), error, k
  call MPI_Init(error)
  do k = 1, 50
    call MPI_Bcast(numbers, 100, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  end do
  call MPI_Finalize(error)
end program
