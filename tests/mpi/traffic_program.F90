! The traffic of traffic_program.c in Fortran. BINDING: 0 for mpif.h, 1 for "use mpi", 2 for "use mpi_f08".
#if BINDING == 2
#define HANDLE(kind) type(kind)
#else
#define HANDLE(kind) integer
#endif

module traffic
#if BINDING == 2
  use mpi_f08
#elif BINDING == 1
  use mpi
#endif
  implicit none
#if BINDING == 0
  include 'mpif.h'
#endif
  integer :: rank, ranks, error

contains

  subroutine talk()
    integer :: there(16), back(16), next, last, k
    HANDLE(MPI_Request) :: requests(2)
    next = mod(rank + 1, ranks)
    last = mod(rank + ranks - 1, ranks)
    there = 0
    do k = 1, 10
      call MPI_Sendrecv(there, 16, MPI_INTEGER, next, 0, back, 16, MPI_INTEGER, last, 0, MPI_COMM_WORLD, &
                        MPI_STATUS_IGNORE, error)
    end do
    do k = 1, 5
      call MPI_Irecv(back, 4, MPI_INTEGER, last, 1, MPI_COMM_WORLD, requests(1), error)
      call MPI_Isend(there, 4, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2), error)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    end do
    call MPI_Send(there, 16, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, error)
  end subroutine talk

  subroutine gather_all(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    integer :: n, me, k
    double precision :: mine(8), sums(8)
    double precision, allocatable :: all(:), other(:)
    integer, allocatable :: counts(:), places(:)
    call MPI_Comm_size(comm, n, error)
    call MPI_Comm_rank(comm, me, error)
    allocate (all(8 * n), other(8 * n), counts(n), places(n))
    all = 1
    mine = 1
    counts = 2
    places = [(2 * k, k=0, n - 1)]
    do k = 1, 3
      call MPI_Bcast(mine, 8, MPI_DOUBLE_PRECISION, n - 1, comm, error)
    end do
    do k = 1, 7
      call MPI_Allreduce(mine, sums, 8, MPI_DOUBLE_PRECISION, MPI_SUM, comm, error)
    end do
    if (any(abs(sums - n) > 0)) error stop 'wrong sum'
    call MPI_Allreduce(MPI_IN_PLACE, sums, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, error)
    if (abs(sums(1) - n * n) > 0) error stop 'wrong sum in place'
    call MPI_Reduce(mine, sums, 8, MPI_DOUBLE_PRECISION, MPI_SUM, 0, comm, error)
    call MPI_Gather(mine, 8, MPI_DOUBLE_PRECISION, all, 8, MPI_DOUBLE_PRECISION, 0, comm, error)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 8, MPI_DOUBLE_PRECISION, comm, error)
    if (me == 0) then
      call MPI_Scatter(all, 8, MPI_DOUBLE_PRECISION, MPI_IN_PLACE, 8, MPI_DOUBLE_PRECISION, 0, comm, error)
    else
      call MPI_Scatter(all, 8, MPI_DOUBLE_PRECISION, mine, 8, MPI_DOUBLE_PRECISION, 0, comm, error)
    end if
    call MPI_Alltoall(all, 1, MPI_DOUBLE_PRECISION, other, 1, MPI_DOUBLE_PRECISION, comm, error)
    call MPI_Alltoallv(all, counts, places, MPI_DOUBLE_PRECISION, other, counts, places, MPI_DOUBLE_PRECISION, comm, &
                       error)
    call MPI_Barrier(comm, error)
  end subroutine gather_all

end module traffic

program main
  use traffic
  implicit none
  HANDLE(MPI_Comm) :: half, copy
  integer :: level
  character(len=16) :: word
  call get_command_argument(1, word)
  if (word == 'threads') then
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, error)
  else
    call MPI_Init(error)
  end if
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call talk()
  call gather_all(MPI_COMM_WORLD)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, half, error)
  call MPI_Comm_dup(half, copy, error)
  call gather_all(half)
  call MPI_Barrier(copy, error)
  call MPI_Comm_free(copy, error)
  call MPI_Comm_free(half, error)
  call MPI_Finalize(error)
end program main
