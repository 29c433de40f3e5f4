/* SPDX-License-Identifier: BSD-3-Clause */
/* What Allreduce, Reduce and Reduce_scatter have in common. Any thread. */
#ifndef MCA_COLL_OPTCAST_REDUCTIONS_H
#define MCA_COLL_OPTCAST_REDUCTIONS_H

#include "adapter/fallback.h"
#include "client/client.h"

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"

/*
 * Whether it may be offloaded: operation, type, and vector of call->elements elements. Fills in
 * what these are for the engine. A pure function of what MPI makes equal on all ranks.
 */
oc_fallback_t mca_coll_optcast_decide_reduction(const mca_coll_optcast_module_t *m,
                                                mca_coll_optcast_call_t *call);
/* Why mode auto leaves such a vector, before the ranks have met; NONE: it does not. */
oc_fallback_t mca_coll_optcast_decide_size(const mca_coll_optcast_module_t *m,
                                           const mca_coll_optcast_call_t *call);
/* What is the same in all of them, as arguments of oc_allreduce_start. */
oc_allreduce_args_t mca_coll_optcast_reduction_args(const mca_coll_optcast_call_t *call,
                                                    void (*finished)(void *, oc_status_t),
                                                    void *arg);

#endif
