/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transport that makes the one below it worse: it loses, doubles, reorders and delays datagrams.
 * For tests; what it does follows from its seed, the clock it is given, and what arrives.
 */
#ifndef OC_MULTICAST_TRANSPORT_SHIM_H
#define OC_MULTICAST_TRANSPORT_SHIM_H

#include "base/status.h"
#include "multicast/transport/transport.h"

/* Shares are from 0 to 1. All zero: nothing happens. */
typedef struct {
    double drop;        /* share of the arriving datagrams that is lost, on each receiver others */
    double drop_sent;   /* share of the sent ones that reaches nobody */
    double duplicate;   /* share that arrives twice */
    double reorder;     /* share that some of the next datagrams overtake */
    double delay;       /* share that arrives late, by up to delay_ms */
    unsigned burst;     /* so many are lost in a row; 0 is 1. The shares stay what they are */
    unsigned delay_ms;  /* 0 is OC_FAULTS_DELAY_MS */
    uint64_t seed;
} oc_faults_t;

#define OC_FAULTS_DELAY_MS     10u
#define OC_FAULTS_MAX_DELAY_MS 3600000u
#define OC_FAULTS_MAX_BURST    1000000u

/* Most datagrams that overtake one that is reordered. */
#define OC_SHIM_OVERTAKERS 8

/* What a shim holds back at most: what comes then passes at once. */
#define OC_SHIM_MAX_HELD  1024u
#define OC_SHIM_MAX_BYTES (8u << 20)

/* Nanoseconds of a monotonic clock. */
typedef uint64_t oc_shim_clock_t(void *arg);

/*
 * Reads "drop=0.01,burst=100,seed=7": the names are those of oc_faults_t, each is optional, and of
 * equal ones the last counts. Empty: no faults. On OC_ERR_INVALID error names what is wrong.
 */
oc_status_t oc_faults_parse(const char *text, oc_faults_t *faults, char *error,
                            size_t error_size);

/* Whether the network gets worse at all. */
bool oc_faults_any(const oc_faults_t *faults);

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
