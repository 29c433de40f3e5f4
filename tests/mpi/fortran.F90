! SPDX-License-Identifier: BSD-3-Clause
!
! Collectives of a Fortran program, blocking and not, in place and not. Compiled with -DBY_MPIF_H, -DBY_MPI or
! -DBY_MPI_F08, for the three ways in which Fortran knows MPI.
program collectives
#if defined(BY_MPIF_H)
    implicit none
    include 'mpif.h'
#elif defined(BY_MPI)
    use mpi
    implicit none
#else
    use mpi_f08
    implicit none
#endif
    integer, parameter :: length = 5000, rounds = 5
    integer :: ierr, rank, ranks, round, mistakes, all_mistakes

    mistakes = 0
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    do round = 1, rounds
        call sum_up(round)
        call sum_in_place(round)
        call gather(round)
        call broadcast(round)
        call scatter(round)
        call overlap(round)
    end do
    ! not offloaded, by any of the two
    call MPI_Scan(mistakes, all_mistakes, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == ranks - 1 .and. all_mistakes == 0) print '(a)', 'ok fortran'
    call MPI_Finalize(ierr)

contains

    subroutine complain(what, i)
        character(len=*), intent(in) :: what
        integer, intent(in) :: i

        if (mistakes == 0) print '(a, i0, 3a, i0)', 'not ok: rank ', rank, ': ', what, ': wrong element ', i
        mistakes = mistakes + 1
    end subroutine

    ! What element i of all ranks comes to.
    real(8) function total(i, round)
        integer, intent(in) :: i, round

        total = real(ranks, 8) * (i + round) + real(ranks, 8) * (ranks - 1) / 2
    end function

    subroutine sum_up(round)
        integer, intent(in) :: round
        real(8) :: given(length), got(length)
        integer :: i

        given = [(real(i + round + rank, 8), i = 1, length)]
        call MPI_Allreduce(given, got, length, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
        do i = 1, length
            if (got(i) /= total(i, round)) call complain('Allreduce', i)
        end do
    end subroutine

    subroutine sum_in_place(round)
        integer, intent(in) :: round
        real(8) :: vector(length)
        integer :: i

        vector = [(real(i + round + rank, 8), i = 1, length)]
        call MPI_Allreduce(MPI_IN_PLACE, vector, length, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
        do i = 1, length
            if (vector(i) /= total(i, round)) call complain('Allreduce in place', i)
        end do
    end subroutine

    subroutine gather(round)
        integer, intent(in) :: round
        integer :: given(length), i
        integer, allocatable :: got(:)

        allocate(got(length * ranks))
        given = [(rank * length + i + round, i = 1, length)]
        call MPI_Allgather(given, length, MPI_INTEGER, got, length, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        do i = 1, length * ranks
            if (got(i) /= i + round) call complain('Allgather', i)
        end do
    end subroutine

    subroutine broadcast(round)
        integer, intent(in) :: round
        integer :: vector(length), root, i

        root = mod(round, ranks)
        vector = -1
        if (rank == root) vector = [(i * round, i = 1, length)]
        call MPI_Bcast(vector, length, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
        do i = 1, length
            if (vector(i) /= i * round) call complain('Bcast', i)
        end do
    end subroutine

    subroutine scatter(round)
        integer, intent(in) :: round
        real(8), allocatable :: given(:)
        real(8) :: got(length)
        integer :: i

        allocate(given(length * ranks))
        given = [(real(i + round + rank, 8), i = 1, length * ranks)]
        call MPI_Reduce_scatter_block(given, got, length, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
        do i = 1, length
            if (got(i) /= total(rank * length + i, round)) call complain('Reduce_scatter_block', i)
        end do
    end subroutine

    ! Two at once, which the ranks have finished when both requests are.
    subroutine overlap(round)
        integer, intent(in) :: round
        real(8), asynchronous :: given(length), got(length)
        integer, asynchronous :: vector(length)
        integer :: i
#if defined(BY_MPI_F08)
        type(MPI_Request) :: requests(2)
#else
        integer :: requests(2)
#endif

        given = [(real(i + round + rank, 8), i = 1, length)]
        vector = -1
        if (rank == 0) vector = [(i + round, i = 1, length)]
        call MPI_Iallreduce(given, got, length, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, requests(1), ierr)
        call MPI_Ibcast(vector, length, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(2), ierr)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
        do i = 1, length
            if (got(i) /= total(i, round)) call complain('Iallreduce', i)
            if (vector(i) /= i + round) call complain('Ibcast', i)
        end do
    end subroutine
end program
