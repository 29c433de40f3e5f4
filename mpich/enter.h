/* SPDX-License-Identifier: BSD-3-Clause */
/* The door of collectives. */
#ifndef OC_MPICH_ENTER_H
#define OC_MPICH_ENTER_H

#include "mpich/comm.h"

/* What the library knows of the communicator; NULL: nothing is offloaded there. Communicates nothing. */
oc_mpich_comm_t *oc_mpich_enter(MPI_Comm comm);

#endif
