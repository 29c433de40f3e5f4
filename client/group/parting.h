/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a group whose caller has done with it. Where a group can go on after the loss of a server, a rank whose
 * collectives are over may still be needed by one that lacks a result: so its ranks leave it together, by a Barrier of the
 * engine's own, for which nobody waits. Callers hold the lock of the client.
 */
#ifndef OC_CLIENT_GROUP_PARTING_H
#define OC_CLIENT_GROUP_PARTING_H

#include "client/state/types.h"

/* Ends what its ranks have left, and what nobody can wait for any more. Groups may be gone then. */
void oc_parting_progress(oc_client_t *client);

#endif
