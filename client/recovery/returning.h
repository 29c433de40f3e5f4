/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers of the list that groups have lost, and that run again. The lowest rank of such a group looks for them now and then,
 * and says to all when one has welcomed it: that is a new epoch, in which the groups have it among their servers. Under the
 * lock of the client.
 */
#ifndef OC_CLIENT_RECOVERY_RETURNING_H
#define OC_CLIENT_RECOVERY_RETURNING_H

#include "client/state/types.h"

/* Looks, when it is time. Not called by UCX. */
void oc_returning_look(oc_client_t *client);

/* An epoch begins: account is kept of what came and went. */
void oc_returning_note(oc_client_t *client);

/* ns until it is time; UINT64_MAX: no group of this process lacks servers, or nothing may be done now. */
uint64_t oc_returning_due(const oc_client_t *client);

#endif
