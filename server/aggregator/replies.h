/* SPDX-License-Identifier: BSD-3-Clause */
/* What is sent to members. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_REPLIES_H
#define OC_SERVER_AGGREGATOR_REPLIES_H

#include "server/aggregator/aggregator_types.h"

/* Sends to a member; the transfer completes with an error when the member is gone. */
void oc_aggregator_send(oc_server_group_t *group, uint32_t rank, oc_transfer_t *transfer,
                        const void *data, size_t length, uint64_t tag);
/* To be filled and sent at once; NULL: out of memory, and the group has failed. */
oc_header_message_t *oc_header_message_new(oc_server_group_t *group);
/* Makes it and sends it to a member. */
void oc_aggregator_send_header(oc_server_group_t *group, uint32_t rank, const oc_header_t *header,
                               uint64_t slot);
/* A client that is gone is dealt with elsewhere; any other failure leaves a rank waiting. */
void oc_aggregator_check_sent(oc_server_group_t *group, const oc_transfer_t *transfer);

#endif
