/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state changes of a group: live, declined, failed, freed. Callers hold the lock of the
 * client.
 */
#ifndef OC_CLIENT_GROUP_GROUP_H
#define OC_CLIENT_GROUP_GROUP_H

#include "client/state/types.h"

void oc_group_decline(oc_group_t *group, const char *reason);
void oc_group_go_live(oc_group_t *group);
/* The service was lost; a group that is being set up goes on to its vote. */
void oc_group_fail(oc_group_t *group, oc_status_t status, const char *reason);
/* For this rank alone, and at once: the ranks have no means to agree about anything else. */
void oc_group_break(oc_group_t *group, oc_status_t status, const char *reason);
/* Its collectives end with the worker. */
void oc_group_abandon(oc_group_t *group);
/* Frees it; nothing of it runs. */
void oc_group_end(oc_group_t *group);

#endif
