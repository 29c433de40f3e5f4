/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a group for all of its ranks. oc_cast_group_fail, which is called in the middle of
 * other things, is in group.h: users of a group end it, too. Part of the protocol: one thread at a
 * time.
 */
#ifndef OC_MULTICAST_CORE_FAIL_H
#define OC_MULTICAST_CORE_FAIL_H

#include "multicast/core/cast_types.h"

/* A rank says that the group has failed: it fails here, and this rank's neighbours are told. */
void oc_cast_aborted(oc_cast_group_t *group, const oc_cast_message_t *message);

#endif
