/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides whether a call is offloaded. The functions depend only on what is equal on all ranks,
 * except mca_coll_optcast_left.
 */
#ifndef MCA_COLL_OPTCAST_DECIDE_H
#define MCA_COLL_OPTCAST_DECIDE_H

#include "adapter/fallback.h"
#include "client/client.h"

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"

/* Sets the sizes of the smallest reductions of the module that may ever be offloaded. */
void mca_coll_optcast_decide_module(mca_coll_optcast_module_t *m);
/*
 * Why the group is known to leave such a call to the previous module; NONE: it does not, or this
 * rank does not know it yet, and finds out when it gives the call to the engine.
 */
oc_fallback_t mca_coll_optcast_left(const oc_group_t *group, const mca_coll_optcast_call_t *call);
/* Decides about an Allgather or Bcast. total: bytes of all ranks together; least: the threshold. */
oc_fallback_t mca_coll_optcast_decide_cast(const mca_coll_optcast_module_t *m, uint64_t least,
                                           size_t total);
/* Sets the thresholds of the module for Allgather and Bcast. */
void mca_coll_optcast_decide_casts(mca_coll_optcast_module_t *m);

#endif
