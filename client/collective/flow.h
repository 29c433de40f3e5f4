/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks under way. Under the lock of the client. */
#ifndef OC_CLIENT_COLLECTIVE_FLOW_H
#define OC_CLIENT_COLLECTIVE_FLOW_H

#include "client/state/types.h"

void oc_flow_prepare(oc_collective_t *collective);
/* In the flat shape: begins, and goes on by itself. */
void oc_flow_open(oc_collective_t *collective);
void oc_flow_end(oc_collective_t *collective);
/* In the node shape: whether the part's next chunk may go, and sends it. */
bool oc_flow_has_slot(const oc_part_t *part);
void oc_flow_send(oc_part_t *part, const void *contribution, void *result);

#endif
