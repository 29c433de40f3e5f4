/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transport that makes the one below it worse: it loses, doubles, reorders and delays datagrams.
 * What it does follows from its seed, the clock it is given, and what arrives.
 */
#ifndef OC_TESTS_FAULTS_SHIM_H
#define OC_TESTS_FAULTS_SHIM_H

#include "multicast/transport/transport.h"
#include "tests/faults/cast_faults.h"

/* Most datagrams that overtake one that is reordered. */
#define OC_SHIM_OVERTAKERS 8

/* What a shim holds back at most: what comes then passes at once. */
#define OC_SHIM_MAX_HELD  1024u
#define OC_SHIM_MAX_BYTES (8u << 20)

/* Nanoseconds of a monotonic clock. */
typedef uint64_t oc_shim_clock_t(void *arg);

/*
 * Owns inner from now on, unless it returns NULL: no memory. salt makes the shims of a group, which
 * have the same seed, independent of each other.
 */
oc_transport_t *oc_shim_new(oc_transport_t *inner, const oc_faults_t *faults, uint64_t salt,
                            oc_shim_clock_t *now, void *arg);

/*
 * When a datagram that is held back is due, UINT64_MAX if none is. It comes out of the first
 * receive after that; nothing but arm wakes anybody for it.
 */
uint64_t oc_shim_due(const oc_transport_t *shim);

#endif
