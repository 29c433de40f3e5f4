/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a collective into its group. Takes the lock of the client. */
#ifndef OC_CLIENT_SUBMIT_H
#define OC_CLIENT_SUBMIT_H

#include "client/types.h"

/* Makes a collective of args; NULL: out of memory. Under the lock. */
typedef oc_collective_t *oc_collective_make_fn_t(oc_group_t *group, const void *args);

/*
 * Starts what make makes of args, or queues it: the rest of every oc_…_start. type, bytes: of an
 * Allreduce.
 */
oc_status_t oc_collective_submit(oc_group_t *group, oc_collective_make_fn_t *make,
                                 const void *args, unsigned type, uint64_t bytes);

#endif
