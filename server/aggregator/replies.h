/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends messages to members. On the thread of the aggregator. */
#ifndef OC_SERVER_AGGREGATOR_REPLIES_H
#define OC_SERVER_AGGREGATOR_REPLIES_H

#include "server/aggregator/aggregator_types.h"

/* Sends to a member; the transfer completes with an error when the member is gone. */
void oc_aggregator_send(oc_server_group_t *group, uint32_t rank, oc_transfer_t *transfer,
                        const void *data, size_t length, uint64_t tag);
/*
 * Returns a message, to be filled in and sent at once. NULL: memory has run out, and the group has
 * failed.
 */
oc_header_message_t *oc_header_message_new(oc_server_group_t *group);
/* Makes such a message, and sends it to a member. */
void oc_aggregator_send_header(oc_server_group_t *group, uint32_t rank, const oc_header_t *header,
                               uint64_t slot);
/*
 * Fails the group if a transfer to a member has failed, since a rank would wait for ever. A client
 * that is gone is handled elsewhere.
 */
void oc_aggregator_check_sent(oc_server_group_t *group, const oc_transfer_t *transfer);

#endif
