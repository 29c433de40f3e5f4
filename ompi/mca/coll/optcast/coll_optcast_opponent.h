/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out which algorithms of Open MPI would run without the offload. */
#ifndef MCA_COLL_OPTCAST_OPPONENT_H
#define MCA_COLL_OPTCAST_OPPONENT_H

#include <stdint.h>

#include "base/rules.h"

/*
 * Sets a number of client/plan/previous.h for each kind of reduction. It depends on the components
 * that are open and on their settings. To be called while components are opened.
 */
void mca_coll_optcast_opponent(uint64_t previous[OC_NUM_RULED]);

#endif
