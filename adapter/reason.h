/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a group leaves an operation, as the counters of adapters have it. */
#ifndef OC_ADAPTER_REASON_H
#define OC_ADAPTER_REASON_H

#include "adapter/fallback.h"
#include "client/client.h"

/*
 * What the group says of a reduction of so many bytes of a type, or of what goes by multicast (bytes 0).
 * The same on all ranks, but some may know it earlier.
 */
oc_fallback_t oc_reason_of(const oc_group_t *group, oc_ruled_t ruled, unsigned type,
                             uint64_t bytes);

#endif
