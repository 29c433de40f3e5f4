/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups and their members. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_SERVER_GROUPS_H
#define OC_SERVER_AGGREGATOR_SERVER_GROUPS_H

#include "server/aggregator/aggregator_types.h"

/* A rank joins; with the first one, the group begins. */
void oc_server_group_join(oc_aggregator_t *aggregator, const oc_command_t *command);
/*
 * Begins no new collectives; frees the group when the last transfer that points to it has
 * completed.
 */
void oc_server_group_drop(oc_aggregator_t *aggregator, uint32_t handle);
/* On a leaf: sets the handle that the group has on the parent. */
void oc_server_group_above(oc_aggregator_t *aggregator, const oc_command_t *command);

#endif
