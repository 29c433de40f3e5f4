/* SPDX-License-Identifier: BSD-3-Clause */
/* How groups get servers back. Under the lock of the client. */
#ifndef OC_CLIENT_RECOVERY_RELINK_H
#define OC_CLIENT_RECOVERY_RELINK_H

#include "client/state/types.h"

/* Whether a group has a server of the list, by its number. */
bool oc_relink_has(const oc_group_t *group, unsigned number);

/*
 * In a new epoch: links to servers that have come back, and which the group lacks, in the order of the list. The same on all
 * ranks. OC_IN_PROGRESS: names are being resolved. Another error: reason says why it cannot have the server *lost.
 */
oc_status_t oc_relink(oc_group_t *group, uint64_t *lost, char *reason, size_t size);

#endif
