/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of small collectives that are over here, and may not be on another rank: if their server is lost, this rank has
 * them for the others. A result of a later collective shows that all ranks have begun that, so that all blocking ones
 * before have ended everywhere, and all that may not run beside it: in groups that keep results, what is further away than
 * two limits: a span, and bytes on which the ranks agree when the group is set up (client/state/promise.h). So these bound
 * also what is kept. Under the lock of the client.
 */
#ifndef OC_CLIENT_COLLECTIVE_KEPT_H
#define OC_CLIENT_COLLECTIVE_KEPT_H

#include "client/collective/allreduce.h"

/*
 * From the oldest collective that runs to one that begins: their numbers, so that those that ranks settle after a loss are
 * no more than OC_SETTLING_MAX.
 */
#define OC_KEPT_SPAN  512u
struct oc_kept {
    uint64_t number;           /* of the collective in its group … */
    uint64_t before;           /* … and its small_before */
    size_t bytes;
    oc_kept_t *prev, *next;
    uint8_t result[];          /* as it travels */
};

/* One that has its result is about to end: drops what is needed no more, and keeps this. false: out of memory. */
bool oc_kept_add(const oc_allreduce_t *allreduce, const void *result);
void oc_kept_drop(const oc_allreduce_t *allreduce);
/* All ranks have ended those before this number. */
void oc_kept_drop_before(oc_group_t *group, uint64_t number);
const oc_kept_t *oc_kept_find(const oc_group_t *group, uint64_t number);
void oc_kept_free(oc_group_t *group);

#endif
