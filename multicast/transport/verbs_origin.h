/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a datagram came from, by what an RDMA device puts in front of it. Pure functions, any
 * thread.
 */
#ifndef OC_MULTICAST_TRANSPORT_VERBS_ORIGIN_H
#define OC_MULTICAST_TRANSPORT_VERBS_ORIGIN_H

#include <stddef.h>
#include <stdint.h>

#include "multicast/transport/transport.h"

/* Bytes in front of each received datagram. */
#define OC_VERBS_GRH 40

/*
 * The address: the queue pair is not in there. bytes: with those; length at least OC_VERBS_GRH. All
 * zero: it cannot be told.
 */
oc_origin_t oc_verbs_origin(const uint8_t *bytes, size_t length);

#endif
