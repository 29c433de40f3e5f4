/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the protocol need of the group itself. Part of the protocol: one thread at a
 * time.
 */
#ifndef OC_MULTICAST_CORE_GROUP_INSIDE_H
#define OC_MULTICAST_CORE_GROUP_INSIDE_H

#include "multicast/core/cast_types.h"

/* A rank says that the group has failed. */
void oc_group_aborted(oc_cast_group_t *group, const oc_cast_message_t *message);

#endif
