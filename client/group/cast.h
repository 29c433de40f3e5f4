/* SPDX-License-Identifier: BSD-3-Clause */
/* Allgather and Bcast in groups that multicast serves. Callers hold the lock of the client. */
#ifndef OC_CLIENT_GROUP_CAST_H
#define OC_CLIENT_GROUP_CAST_H

#include "client/state/types.h"

/* Of args, which are oc_allgather_args_t; it has not begun. NULL: out of memory. */
oc_collective_t *oc_allgather_new(oc_group_t *group, const void *args);
/* … oc_bcast_args_t */
oc_collective_t *oc_bcast_new(oc_group_t *group, const void *args);

#endif
