/* SPDX-License-Identifier: BSD-3-Clause */
/* Processors for threads beside the ranks. */
#ifndef MCA_COLL_OPTCAST_PROCESSORS_H
#define MCA_COLL_OPTCAST_PROCESSORS_H

#include <sched.h>

/*
 * The processors of this host that the job may use, if they are known and more than so many ranks; else
 * NULL. They live as long as the process.
 */
const cpu_set_t *mca_coll_optcast_processors(int ranks);

#endif
