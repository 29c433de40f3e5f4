/* SPDX-License-Identifier: BSD-3-Clause */
/* What servers say about groups, by their control connections. Under the lock of the client. */
#ifndef OC_CLIENT_SERVERS_ANSWERS_H
#define OC_CLIENT_SERVERS_ANSWERS_H

#include "client/state/types.h"

/* A group is registered there. */
void oc_answers_joined(oc_connection_t *connection, const oc_joined_t *joined);
/* Whether some group has asked that server to join it, and has not left. */
bool oc_answers_awaited(const oc_connection_t *connection);
/* A group is refused, or ended: it gives up its set-up, or all service is given up. */
void oc_answers_refused(oc_connection_t *connection, const oc_notice_t *notice, const char *text);

#endif
