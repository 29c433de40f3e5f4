/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithms of Open MPI would do what is not offloaded. */
#ifndef MCA_COLL_OPTCAST_OPPONENT_H
#define MCA_COLL_OPTCAST_OPPONENT_H

#include <stdint.h>

/*
 * One of client/plan/previous.h, by the components that are open and by what users have
 * set for them. While components are opened.
 */
uint64_t mca_coll_optcast_opponent(void);

#endif
