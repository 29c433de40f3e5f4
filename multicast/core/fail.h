/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fails a group on all of its ranks. oc_cast_group_fail, which users of a group may call, too, is
 * declared in cast_core.h. Part of the protocol: one thread at a time.
 */
#ifndef OC_MULTICAST_CORE_FAIL_H
#define OC_MULTICAST_CORE_FAIL_H

#include "multicast/core/cast_types.h"

/* A rank says that the group has failed: it fails here, and this rank's neighbours are told. */
void oc_cast_aborted(oc_cast_group_t *group, const oc_cast_message_t *message);

/* Another group of these ranks has failed, and all of them know, or learn it there: nobody is told. */
void oc_cast_group_follow(oc_cast_group_t *group, const oc_cast_group_t *failed);

#endif
