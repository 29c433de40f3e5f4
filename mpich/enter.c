/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of a library that is on. */
#include "mpich/enter.h"

#include "mpich/life.h"

oc_mpich_comm_t *oc_mpich_enter(MPI_Comm comm)
{
    return oc_mpich_life_is_on() ? oc_mpich_comm_of(comm) : NULL;
}
