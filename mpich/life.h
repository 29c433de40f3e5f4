/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library begins with the first collective, since MPI_Init is not always called by a name that can be
 * taken, and ends with the process: MPI_Finalize is only when it tells what it has done.
 */
#ifndef OC_MPICH_LIFE_H
#define OC_MPICH_LIFE_H

#include <stdbool.h>

/*
 * Whether MPI has been initialized and this process can offload. The first call begins. It stays so in
 * MPI_Finalize, in which programs may still have collectives. Any thread.
 */
bool oc_mpich_life_is_on(void);

#endif
