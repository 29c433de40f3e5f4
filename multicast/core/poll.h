/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether more of a block was sent than has come here, when nothing comes any more. Part
 * of the protocol: one thread at a time.
 *
 * The question goes the way of requests (source.h): to the fetcher of the host, which asks the
 * partner above it, up to the owner. Who knows no more than the one that asks answers when it does,
 * or when it has been told itself that there is no more.
 *
 * So a rank gets POLLs of the ranks of its host, about the blocks of which it is the fetcher, and
 * of the fetchers of the hosts below it: about as many as there are ranks at most, as half of all
 * blocks come to a host from the one before, a quarter from the second one before, and so on. It
 * may be more than twice as many if hosts have very different numbers of ranks. As many as there
 * are ranks are held; who asks beyond that is told at once what is known here, and asks again
 * later.
 */
#ifndef OC_MULTICAST_CORE_POLL_H
#define OC_MULTICAST_CORE_POLL_H

#include "multicast/core/cast_types.h"

/* Of a new group. */
void oc_poll_begin(oc_cast_group_t *group);
/* Asks if an incomplete block has been silent for too long. */
void oc_poll_look(oc_cast_group_t *group, uint32_t owner, uint64_t now);
/* Answers those for whom there is news. */
void oc_poll_progress(oc_cast_group_t *group);
/* POLL */
void oc_poll_message(oc_cast_group_t *group, const oc_cast_message_t *message);
/* SENT */
void oc_poll_answered(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now);

#endif
