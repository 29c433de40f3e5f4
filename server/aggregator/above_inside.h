/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between a leaf's group and the server above: what the files above*.c share. Of the
 * aggregator, on its thread.
 */
#ifndef OC_SERVER_AGGREGATOR_ABOVE_INSIDE_H
#define OC_SERVER_AGGREGATOR_ABOVE_INSIDE_H

#include "server/aggregator/aggregator_types.h"

/* It was received and is not to be believed: it is counted, and to be waited for again. */
bool oc_above_is_forged(const oc_server_group_t *group, const oc_transfer_t *transfer,
                        const uint8_t *message, oc_header_t *header);

/* eager: without being announced. Without a parent the transfer fails. */
void oc_above_send(oc_server_group_t *group, oc_transfer_t *transfer, const void *data,
                   size_t length, uint64_t tag, bool eager);

/* Of this collective there. */
uint64_t oc_above_request_tag(const oc_reduction_t *reduction);
oc_header_t oc_above_header(const oc_reduction_t *reduction, uint8_t message);
void oc_above_send_header(oc_reduction_t *reduction, uint8_t message);

/* Its next message with header, one at a time. */
void oc_above_receive(oc_reduction_t *reduction, void *buffer, size_t length, uint64_t slot,
                      void (*done)(oc_transfer_t *transfer));

/* Whether that is this message; false: the group has failed. */
bool oc_above_has_answered(oc_reduction_t *reduction, const oc_transfer_t *transfer,
                           const void *bytes, uint8_t message);

#endif
