/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out which algorithms of Open MPI would run without the offload. */
#ifndef MCA_COLL_OPTCAST_OPPONENT_H
#define MCA_COLL_OPTCAST_OPPONENT_H

#include <stdint.h>

/*
 * Returns a number of client/plan/previous.h. It depends on the components that are open and on
 * their settings. To be called while components are opened.
 */
uint64_t mca_coll_optcast_opponent(void);

#endif
