/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codes of data messages: proves and checks that a message is of this job. Callers hold the lock
 * of the client.
 */
#ifndef OC_CLIENT_STATE_CODES_H
#define OC_CLIENT_STATE_CODES_H

#include "client/state/types.h"

/*
 * Whether the transfer has received a message that this aggregator of the group has sent; sets its
 * header.
 */
bool oc_reply_is_genuine(const oc_group_t *group, const oc_connection_t *connection, uint32_t index,
                         const oc_transfer_t *transfer, const uint8_t *message,
                         oc_header_t *header);
void oc_count_forged_reply(oc_client_t *client);
/* Writes the header, and the code of the whole message, into the message. */
void oc_request_seal(const oc_group_t *group, const oc_lane_t *lane, const oc_header_t *header,
                     uint8_t *message, size_t length);
/*
 * Whether the transfer has received a message that this lane's aggregator has not sent. It is
 * counted then; the receive has to be posted again for the genuine reply.
 */
bool oc_reply_is_forged(const oc_collective_t *collective, const oc_lane_t *lane,
                        const oc_transfer_t *transfer, const uint8_t *message);

#endif
