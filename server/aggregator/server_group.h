/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group of an aggregator, for all that serve it: what points to it, its failure, the names of its
 * members. server_groups.h has its life. On the thread of the aggregator, as all of this folder.
 */
#ifndef OC_SERVER_AGGREGATOR_SERVER_GROUP_H
#define OC_SERVER_AGGREGATOR_SERVER_GROUP_H

#include "server/aggregator/aggregator_types.h"

/* A transfer points to it, or does no longer; without any, a group that was dropped is freed. */
void oc_server_group_hold(oc_server_group_t *group);
void oc_server_group_release(oc_server_group_t *group);
/* The control side hears of it; nothing new is begun. Only the first call counts. */
void oc_server_group_failed(oc_server_group_t *group, oc_status_t status, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));
/* Who it is, for messages: in a tree, members have other numbers than the ranks of MPI. */
#define OC_MEMBER_NAME_SIZE 40
const char *oc_server_group_member_name(const oc_server_group_t *group, uint32_t rank,
                                        char name[OC_MEMBER_NAME_SIZE]);

#endif
