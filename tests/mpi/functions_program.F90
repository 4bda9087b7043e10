! Calls from Fortran with requests, windows and files. BINDING: 0 for mpif.h, 1 for "use mpi", 2 for "use mpi_f08".
#if BINDING == 2
#define HANDLE(kind) type(kind)
#else
#define HANDLE(kind) integer
#endif

module functions
#if BINDING == 2
  use mpi_f08
#elif BINDING == 1
  use mpi
#endif
  implicit none
#if BINDING == 0
  include 'mpif.h'
#endif
  integer, parameter :: n = 4
  integer :: rank, ranks, error, next, last
  double precision :: there(n) = 1, back(n) = 0
  double precision, asynchronous :: memory(n) = 2

contains

  subroutine start_and_wait()
    HANDLE(MPI_Request) :: requests(2), request
    integer :: k, indx, done, indices(2)
    logical :: flag
    call MPI_Send_init(there, n, MPI_DOUBLE_PRECISION, next, 0, MPI_COMM_WORLD, requests(1), error)
    call MPI_Recv_init(back, n, MPI_DOUBLE_PRECISION, last, 0, MPI_COMM_WORLD, requests(2), error)
    do k = 1, 3
      call MPI_Startall(2, requests, error)
      call MPI_Waitany(2, requests, indx, MPI_STATUS_IGNORE, error)
      call MPI_Waitsome(2, requests, done, indices, MPI_STATUSES_IGNORE, error)
    end do
    call MPI_Request_free(requests(1), error)
    call MPI_Request_free(requests(2), error)
    call MPI_Ibcast(there, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, request, error)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(request, flag, MPI_STATUS_IGNORE, error)
    end do
    call MPI_Iallreduce(MPI_IN_PLACE, back, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  end subroutine start_and_wait

  subroutine send_from_the_bottom()
    integer(MPI_ADDRESS_KIND) :: place(1)
    integer :: lengths(1)
    HANDLE(MPI_Datatype) :: kinds(1), absolute
    kinds(1) = MPI_DOUBLE_PRECISION
    lengths(1) = n
    call MPI_Get_address(memory, place(1), error)
    call MPI_Type_create_struct(1, lengths, place, kinds, absolute, error)
    call MPI_Type_commit(absolute, error)
    call MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD, error)
    call MPI_Type_free(absolute, error)
  end subroutine send_from_the_bottom

  subroutine ask_neighbours()
    HANDLE(MPI_Comm) :: line
    integer :: dims(1)
    double precision :: all(2 * n), other(2 * n)
    all = 1
    dims(1) = ranks
    call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, [.false.], .false., line, error)
    call MPI_Neighbor_alltoall(all, n, MPI_DOUBLE_PRECISION, other, n, MPI_DOUBLE_PRECISION, line, error)
    call MPI_Comm_free(line, error)
  end subroutine ask_neighbours

  subroutine use_a_window()
    HANDLE(MPI_Win) :: win
    integer(MPI_ADDRESS_KIND) :: room, place
    room = 8 * n
    place = 0
    call MPI_Win_create(memory, room, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
    call MPI_Win_fence(0, win, error)
    call MPI_Put(there, n, MPI_DOUBLE_PRECISION, next, place, n, MPI_DOUBLE_PRECISION, win, error)
    call MPI_Win_fence(0, win, error)
    call MPI_Win_free(win, error)
  end subroutine use_a_window

  subroutine use_a_file()
    HANDLE(MPI_File) :: file
    integer(MPI_OFFSET_KIND) :: place
    place = rank * 8 * n
    call MPI_File_open(MPI_COMM_WORLD, 'data.bin', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, error)
    call MPI_File_write_at(file, place, there, n, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
    call MPI_File_read_at_all(file, place, back, n, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
    call MPI_File_close(file, error)
  end subroutine use_a_file

end module functions

program main
  use functions
  implicit none
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  last = mod(rank + ranks - 1, ranks)
  call start_and_wait()
  call send_from_the_bottom()
  call ask_neighbours()
  call use_a_window()
  call use_a_file()
  call MPI_Finalize(error)
end program main
