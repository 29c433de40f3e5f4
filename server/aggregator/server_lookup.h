/* SPDX-License-Identifier: BSD-3-Clause */
/* Which group a message belongs to. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_SERVER_LOOKUP_H
#define OC_SERVER_AGGREGATOR_SERVER_LOOKUP_H

#include "server/aggregator/aggregator_types.h"

/*
 * The group with that handle and that member, or NULL. Carries out commands if any is missing:
 * groups and peers may be gone afterwards.
 */
oc_server_group_t *oc_server_group_find(oc_aggregator_t *aggregator, uint32_t handle,
                                        uint32_t rank);

#endif
