/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending this rank's own fragments. Part of the protocol: one thread at a time. */
#ifndef OC_MULTICAST_CORE_SEND_H
#define OC_MULTICAST_CORE_SEND_H

#include "multicast/core/cast_types.h"

bool oc_cast_send(oc_cast_group_t *group, uint64_t now);

#endif
