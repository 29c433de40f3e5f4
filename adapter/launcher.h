/* SPDX-License-Identifier: BSD-3-Clause */
/* What the launcher of MPI jobs gives to the processes of this host. */
#ifndef OC_ADAPTER_LAUNCHER_H
#define OC_ADAPTER_LAUNCHER_H

#include <sched.h>
#include <stdint.h>

/*
 * The processors of the job on this host, if they are more than one for each of its ranks here;
 * NULL: they are not, or nobody says. Static memory. Not for several threads at a time.
 */
const cpu_set_t *oc_launcher_processors(int ranks);

/*
 * How many of the ranks of MPI_COMM_WORLD are on this host, by what MPICH's mpiexec (Hydra) or Slurm's srun have put
 * into the environment of this one. 0: nobody says. Any thread, unless one changes the environment.
 */
int oc_launcher_local_ranks(uint32_t rank, uint32_t ranks);

#endif
