/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles what servers say about groups on their control connections. Callers hold the lock of the
 * client.
 */
#ifndef OC_CLIENT_SERVERS_ANSWERS_H
#define OC_CLIENT_SERVERS_ANSWERS_H

#include "client/state/types.h"

/* The server has registered a group (JOINED). */
void oc_answers_joined(oc_connection_t *connection, const oc_joined_t *joined);
/* Whether some group has sent a JOIN to this server, and no LEAVE. */
bool oc_answers_awaited(const oc_connection_t *connection);
/*
 * The server refuses or ends a group: a group in its set-up gives up; otherwise the client
 * gives up all service.
 */
void oc_answers_refused(oc_connection_t *connection, const oc_notice_t *notice, const char *text);

#endif
