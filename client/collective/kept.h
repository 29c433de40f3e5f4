/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of small collectives that are over here, and may not be on another rank: if their server is lost, this rank has
 * them for the others. A result of a later collective shows that all ranks have begun that, so that all blocking ones
 * before have ended everywhere, and all that may not run beside it: in groups that keep results, what is further away than
 * two limits: a span, and bytes on which the ranks agree when the group is set up. So these bound also what is kept. Under
 * the lock of the client.
 */
#ifndef OC_CLIENT_COLLECTIVE_KEPT_H
#define OC_CLIENT_COLLECTIVE_KEPT_H

#include "client/collective/allreduce.h"

/*
 * From the oldest collective that runs to one that begins: their numbers, so that those that ranks settle after a loss are
 * no more than OC_SETTLING_MAX.
 */
#define OC_KEPT_SPAN  512u
/*
 * Between them, bytes of small results that are not blocking: at most so many of a group, and of all groups of a process
 * together. A group for which less is left gets an eighth of it, so there is always something. 0 would be right, too: then
 * one that begins waits until those before have ended.
 */
#define OC_KEPT_BYTES (256u << 10)
#define OC_KEPT_TOTAL (16u << 20)

struct oc_kept {
    uint64_t number;           /* of the collective in its group … */
    uint64_t before;           /* … and its small_before */
    size_t bytes;
    oc_kept_t *prev, *next;
    uint8_t result[];          /* as it travels */
};

/* What this rank could keep for the group, which it promises; in the vote. */
uint64_t oc_kept_offer(oc_group_t *group);
/* All ranks have promised at least so many bytes. */
void oc_kept_agree(oc_group_t *group, uint64_t bytes);

/* One that has its result is about to end: drops what is needed no more, and keeps this. false: out of memory. */
bool oc_kept_add(const oc_allreduce_t *allreduce, const void *result);
void oc_kept_drop(const oc_allreduce_t *allreduce);
/* All ranks have ended those before this number. */
void oc_kept_drop_before(oc_group_t *group, uint64_t number);
const oc_kept_t *oc_kept_find(const oc_group_t *group, uint64_t number);
/* Also gives back what was promised. */
void oc_kept_free(oc_group_t *group);

#endif
