/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lanes of a group: one for each aggregator, with its share of vectors. Callers hold the lock
 * of the client.
 */
#ifndef OC_CLIENT_SERVERS_LANES_H
#define OC_CLIENT_SERVERS_LANES_H

#include "client/state/types.h"

oc_status_t oc_lanes_make(oc_group_t *group);
void oc_lanes_free(oc_group_t *group);
void oc_lanes_describe(const oc_group_t *group, char *buffer, size_t size);

#endif
