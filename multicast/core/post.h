/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to ranks of the group, known or not. Part of the protocol: one thread at a time.
 */
#ifndef OC_MULTICAST_CORE_POST_H
#define OC_MULTICAST_CORE_POST_H

#include "multicast/core/cast_types.h"

/*
 * To a rank that is not known goes what is about an operation and no answer: it is held until the
 * rank is (route.h). All else for such a rank is dropped.
 */
void oc_cast_post(oc_cast_group_t *group, uint32_t rank, oc_cast_message_t *message);
/* One without a body, about the active operation, or about none. */
void oc_cast_post_plain(oc_cast_group_t *group, uint32_t rank, oc_cast_kind_t kind);

#endif
