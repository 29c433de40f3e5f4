/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes groups of the engine for communicators. */
#ifndef MCA_COLL_OPTCAST_GROUP_H
#define MCA_COLL_OPTCAST_GROUP_H

#include "client/client.h"

#include "coll_optcast_bootstrap.h"
#include "coll_optcast_call.h"

/*
 * Makes a group for the bootstrap's service. only: the call that a persistent operation will make,
 * whose group is patient; NULL: the group is for all calls. Returns NULL if memory has run out.
 */
oc_group_t *mca_coll_optcast_group_new(mca_coll_optcast_bootstrap_t *bootstrap,
                                       const mca_coll_optcast_call_t *only);

#endif
