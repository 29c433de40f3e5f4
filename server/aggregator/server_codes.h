/* SPDX-License-Identifier: BSD-3-Clause */
/* Which messages are of this job. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_SERVER_CODES_H
#define OC_SERVER_AGGREGATOR_SERVER_CODES_H

#include "server/aggregator/aggregator_types.h"

/*
 * The job's key has come, and is wiped out of the command, which stays the caller's. Without
 * libcrypto the control side hears that the job cannot be served.
 */
void oc_server_codes_open(oc_aggregator_t *aggregator, oc_command_t *command);
void oc_server_codes_close(oc_aggregator_t *aggregator);
/* Writes the header, and the code of the message of which it is a part; to members, or above. */
void oc_server_seal_reply(const oc_server_group_t *group, const oc_header_t *header,
                          uint8_t *message, size_t length);
void oc_server_seal_above(const oc_server_group_t *group, const oc_header_t *header,
                          uint8_t *message, size_t length);
/* Whether a member of the group made it. */
bool oc_server_is_genuine(const oc_server_group_t *group, const oc_request_t *request);
/* Whether that was received, and sent by the server above; with its header. */
bool oc_server_is_from_above(const oc_server_group_t *group, const oc_transfer_t *transfer,
                             const uint8_t *message, oc_header_t *header);
/* One more message that nobody of the job made: the log has a warning for the first. */
void oc_server_count_forged(oc_aggregator_t *aggregator, size_t length);

#endif
