/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * That a server is lost, or one is back, and the job goes on with others (recovery/recovery.h). Callers hold the lock of the client;
 * callbacks of UCX may call this, too.
 */
#ifndef OC_CLIENT_STATE_LOSS_H
#define OC_CLIENT_STATE_LOSS_H

#include "client/state/types.h"

/*
 * This process has lost the server of a connection: carried out at the end of progress. false: nobody can go on without
 * it, and it is for the caller to give up all service.
 */
bool oc_loss_notice(oc_connection_t *connection, oc_status_t status, const char *reason);

/* The same of a server that was to be joined, by its incarnation. */
void oc_loss_of(oc_client_t *client, uint64_t incarnation, const char *reason);

/* The server of a connection runs again: groups that have lost it use it from the next epoch on. */
void oc_loss_return(oc_connection_t *connection);

/* What a process says last on a connection to a server: all that it knows to be lost, and the last reason. */
oc_control_t oc_loss_words(const oc_client_t *client);

/* The job has lost these, or they are back, says a server; if that is news, it is carried out at the end of progress. */
void oc_loss_hear(oc_client_t *client, const oc_loss_t *loss);

/*
 * Whether collectives of a group can go on after the loss of one of its servers. Then account is kept of what is done of
 * them. The same on all ranks.
 */
bool oc_group_is_renewable(const oc_group_t *group);

#endif
