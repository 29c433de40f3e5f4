/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in the node shape, step by step. Under the lock of the client. */
#ifndef OC_CLIENT_NODE_H
#define OC_CLIENT_NODE_H

#include "client/types.h"

/* Its steps are the next ones; they start what is to be sent. */
void oc_node_join(oc_collective_t *collective, uint32_t steps);
/* Which team, and which rank of the host, a step belongs to. */
uint32_t oc_node_team(const oc_collective_t *collective, uint32_t step);
/* Whether it goes from and into the caller's memory. */
bool oc_node_is_direct(const oc_collective_t *collective);
/* What the owner of a step sends, where its result goes, and that it is there. */
const void *oc_node_contribution(const oc_collective_t *collective, uint32_t step);
void *oc_node_result(const oc_collective_t *collective, uint32_t step);
void oc_node_publish(oc_collective_t *collective, uint32_t step);
/* All its parts have their COMMITs, or it has no parts: it tells the host. */
void oc_node_commit(oc_collective_t *collective);
/* Whether anything was done. */
bool oc_client_nodes_progress(oc_client_t *client);
/* Asks all nodes to ring. */
void oc_client_nodes_arm(oc_client_t *client);
/* The group has failed: tells the host, and lets go of its collectives. */
void oc_node_fail(oc_group_t *group, const char *reason);

#endif
