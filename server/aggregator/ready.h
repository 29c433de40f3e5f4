/* SPDX-License-Identifier: BSD-3-Clause */
/* When the members of a group may begin: if nothing lacks, they are told READY. */
#ifndef OC_SERVER_AGGREGATOR_READY_H
#define OC_SERVER_AGGREGATOR_READY_H

#include "server/aggregator/aggregator_types.h"

/* A member has joined. */
void oc_ready_tell(oc_server_group_t *group, uint32_t rank);
/* Something that lacked is there: READY goes to all that have joined and were not told. */
void oc_ready_tell_all(oc_server_group_t *group);

#endif
