/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce, of small and large vectors. Under the lock of the client. */
#ifndef OC_CLIENT_COLLECTIVE_ALLREDUCE_H
#define OC_CLIENT_COLLECTIVE_ALLREDUCE_H

#include "client/state/types.h"

/* Of args, which are oc_allreduce_args_t; it has not begun. NULL: out of memory. */
oc_collective_t *oc_allreduce_new(oc_group_t *group, const void *args);

#endif
