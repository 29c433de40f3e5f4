/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between a group on a leaf and the parent server, for the files above*.c. On the thread
 * of the aggregator.
 */
#ifndef OC_SERVER_AGGREGATOR_ABOVE_INSIDE_H
#define OC_SERVER_AGGREGATOR_ABOVE_INSIDE_H

#include "server/aggregator/aggregator_types.h"

/*
 * Whether the transfer has received a message with a wrong code. It is counted then; the receive
 * has to be posted again. Otherwise sets the header.
 */
bool oc_above_is_forged(const oc_server_group_t *group, const oc_transfer_t *transfer,
                        const uint8_t *message, oc_header_t *header);

/*
 * Sends a message to the parent. eager: without announcing it. Without a parent the transfer
 * fails.
 */
void oc_above_send(oc_server_group_t *group, oc_transfer_t *transfer, const void *data,
                   size_t length, uint64_t tag, bool eager);

/* Returns the tag of REQUESTs for this collective on the parent. */
uint64_t oc_above_request_tag(const oc_reduction_t *reduction);
oc_header_t oc_above_header(const oc_reduction_t *reduction, uint8_t message);
void oc_above_send_header(oc_reduction_t *reduction, uint8_t message);

/*
 * Posts the receive of the parent's next message with a header for this collective, one at a time.
 */
void oc_above_receive(oc_reduction_t *reduction, void *buffer, size_t length, uint64_t slot,
                      void (*done)(oc_transfer_t *transfer));

/* Whether the parent's answer is this kind of message; false: the group has failed. */
bool oc_above_has_answered(oc_reduction_t *reduction, const oc_transfer_t *transfer,
                           const void *bytes, uint8_t message);

#endif
