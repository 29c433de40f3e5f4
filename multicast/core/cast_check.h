/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a group of the protocol is in order, as base/check.h says. */
#ifndef OC_MULTICAST_CORE_CAST_CHECK_H
#define OC_MULTICAST_CORE_CAST_CHECK_H

#include "multicast/core/cast_core.h"

/*
 * Walks the lists, bitmaps and counts of a group: what is wrong with them, or NULL. It changes and
 * frees nothing, does not block, and takes time in proportion to the fragments of the running
 * operation. Call it by the thread that calls the group, between two calls of it.
 */
const char *oc_cast_group_check(const oc_cast_group_t *group);

#endif
