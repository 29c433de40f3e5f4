/* SPDX-License-Identifier: BSD-3-Clause */
/* What all collectives have in common. Under the lock of the client. */
#ifndef OC_CLIENT_COLLECTIVE_H
#define OC_CLIENT_COLLECTIVE_H

#include "client/types.h"

/* All zeros but for its group; NULL: out of memory. */
oc_collective_t *oc_collective_new(oc_group_t *group);
/* NULL: out of memory. */
typedef oc_collective_t *oc_collective_make_fn_t(oc_group_t *group, const void *args);
/*
 * Starts what make makes of args, or queues it: the rest of every oc_…_start. type, bytes: of an
 * Allreduce.
 */
oc_status_t oc_collective_submit(oc_group_t *group, oc_collective_make_fn_t *make,
                                 const void *args, unsigned type, uint64_t bytes);
/* Its group may be gone. */
void oc_collective_free(oc_client_t *client, oc_collective_t *collective);
void oc_collective_start(oc_collective_t *collective);
void oc_collective_finish(oc_collective_t *collective, oc_status_t status);

#endif
