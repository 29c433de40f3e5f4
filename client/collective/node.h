/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in the node shape, step by step. Under the lock of the client. */
#ifndef OC_CLIENT_COLLECTIVE_NODE_H
#define OC_CLIENT_COLLECTIVE_NODE_H

#include "client/state/types.h"

/* Whether anything was done. */
bool oc_client_nodes_progress(oc_client_t *client);
/* Asks all nodes to ring. */
void oc_client_nodes_arm(oc_client_t *client);
/*
 * After the loss of a server: nothing of the group is under way, and its collectives are suspended. The host goes into
 * the new epoch together.
 */
void oc_node_stop(oc_group_t *group);
/* Whether all ranks of the host are there; once, then steps can be done again. Also without a node. */
bool oc_node_restart(oc_group_t *group);
/* The group has failed: tells the host, and lets go of its collectives. */
void oc_node_fail(oc_group_t *group, const char *reason);

#endif
