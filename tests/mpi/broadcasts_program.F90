! 50 broadcasts of 400 bytes.
program broadcasts
  use mpi
  integer :: numbers(100), error, k
  call MPI_Init(error)
  do k = 1, 50
    call MPI_Bcast(numbers, 100, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  end do
  call MPI_Finalize(error)
end program
