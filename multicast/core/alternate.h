/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two groups of the same ranks that alternate: nonblocking operations go to them in turn, so that one can be
 * announced while the one before runs, and begins to send when that has been sent, and not when all that was lost
 * has been repaired and all ranks have said so. Blocking ones go to the first group, alone. One thread at a time.
 */
#ifndef OC_MULTICAST_CORE_ALTERNATE_H
#define OC_MULTICAST_CORE_ALTERNATE_H

#include "multicast/core/cast_core.h"

typedef struct {
    oc_cast_group_t *groups[2]; /* not its own */
    unsigned last;             /* which of them was given an operation last */
    uint64_t started;          /* operations */
} oc_alternate_t;

/* Two that are new; of the second one config.second is set. Either may be freed before the other one. */
void oc_alternate_init(oc_alternate_t *alternate, oc_cast_group_t *first, oc_cast_group_t *second);

/*
 * As oc_cast_start, with the group whose turn it is, which is *which. All ranks start the same operations in the
 * same order. To be settled after it.
 */
oc_status_t oc_alternate_start(oc_alternate_t *alternate, const oc_cast_args_t *args, uint64_t now,
                               unsigned *which);

/*
 * To be called whenever something was done with a group, and before either is progressed. What has become of one of
 * them, a failure or the end of multicast, becomes of the other one as well. Returns a bitmap of the groups to be
 * progressed, since they may do more than before, or have news.
 */
unsigned oc_alternate_settle(oc_alternate_t *alternate);

/* Part of the protocol: the group's operation has got the first fragments of a rank, as first sent. */
void oc_alternate_heard(oc_cast_group_t *group, uint32_t rank, uint64_t now);

#endif
