/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups and their members. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_GROUPS_H
#define OC_SERVER_AGGREGATOR_GROUPS_H

#include "server/aggregator/aggregator_types.h"

/* The group with that handle and that member, or NULL. Carries out commands if any is missing. */
oc_server_group_t *oc_aggregator_group(oc_aggregator_t *aggregator, uint32_t handle,
                                       uint32_t rank);
/* A rank joins; with the first one, the group begins. */
void oc_aggregator_group_join(oc_aggregator_t *aggregator, const oc_command_t *command);
/* Nothing new is begun; it is freed when the last transfer that points to it has ended. */
void oc_aggregator_group_drop(oc_aggregator_t *aggregator, uint32_t handle);
/* On a leaf: the group has that handle on the server above. */
void oc_aggregator_group_above(oc_aggregator_t *aggregator, const oc_command_t *command);
/* The control side hears of it; nothing new is begun. Only the first call counts. */
void oc_aggregator_group_failed(oc_server_group_t *group, oc_status_t status, const char *format,
                                ...) __attribute__((format(printf, 3, 4)));
/* Its members may begin, if nothing lacks: READY goes to all that have joined. */
void oc_aggregator_group_ready(oc_server_group_t *group);
/* Who it is, for messages: in a tree, members have other numbers than the ranks of MPI. */
#define OC_MEMBER_NAME_SIZE 40
const char *oc_group_member_name(const oc_server_group_t *group, uint32_t rank,
                                 char name[OC_MEMBER_NAME_SIZE]);
/* A transfer points to it, or does no longer. */
void oc_group_hold(oc_server_group_t *group);
void oc_group_release(oc_server_group_t *group);

#endif
