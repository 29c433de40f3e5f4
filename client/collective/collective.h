/* SPDX-License-Identifier: BSD-3-Clause */
/* What all collectives have in common. Under the lock of the client. */
#ifndef OC_CLIENT_COLLECTIVE_COLLECTIVE_H
#define OC_CLIENT_COLLECTIVE_COLLECTIVE_H

#include "client/state/types.h"

/* An object of ops->size bytes, all zeros but for its group and ops; NULL: out of memory. */
oc_collective_t *oc_collective_new(oc_group_t *group, const oc_collective_ops_t *ops);
/* Its group may be gone. It is in no list any more. */
void oc_collective_free(oc_client_t *client, oc_collective_t *collective);
/* What has its status goes to its caller with the next progress. It is in no list any more. */
void oc_collective_hand_out(oc_client_t *client, oc_collective_t *collective);
/*
 * One of the engine's own begins, before another one that runs, or as the last one: NULL. It counts in pending, as others
 * may wait for it, and a thread moves it on if the application does not.
 */
void oc_collective_start_inner(oc_collective_t *collective, oc_collective_t *before);
/* Is ended before its time, and freed. */
void oc_collective_drop_inner(oc_collective_t *collective);
/* A running one is over: progress hands it out to its caller. Starts others that waited for it. */
void oc_collective_finish(oc_collective_t *collective, oc_status_t status);
/* Those of a live group's queue that may begin now. */
void oc_group_start_queued(oc_group_t *group);

#endif
