/* SPDX-License-Identifier: BSD-3-Clause */
/* Works with HAN, where it is the previous module of a communicator. */
#ifndef MCA_COLL_OPTCAST_HAN_H
#define MCA_COLL_OPTCAST_HAN_H

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"
#include "coll_optcast_state.h"

/* Finds out whether HAN is among the previous modules, after these have changed. */
void mca_coll_optcast_han_find(mca_coll_optcast_module_t *m);
/* As mca_coll_optcast_previous, for a module with HAN below it. */
int mca_coll_optcast_han_call(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call);
/* Whether this thread is in such a call now. */
bool mca_coll_optcast_han_is_mine(void);

/* Whether it is HAN that calls a blocking collective now. */
static inline bool mca_coll_optcast_han_is_calling(void)
{
    return 0 != atomic_load_explicit(&mca_coll_optcast_state.han_calls, memory_order_relaxed)
           && mca_coll_optcast_han_is_mine();
}

#endif
