/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPv4 multicast addresses of a job: a few that it has to itself in a block of many, and one of
 * the others for each set of processes that multicast together. Any thread.
 */
#ifndef OC_MULTICAST_TRANSPORT_CAST_ADDRESS_H
#define OC_MULTICAST_TRANSPORT_CAST_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Addresses beside those of communicators, to try things with. */
#define OC_MULTICAST_SPARES 2u

/* In host byte order. */
typedef struct {
    uint32_t block, size;      /* first address of the block, and how many it has */
    uint32_t own, num_own;     /* the same of the job's, in the block; at least one */
} oc_multicast_range_t;

/*
 * The addresses of a job, of which a process uses at most count, at least 1. text: as set by the
 * user. "ADDR/BITS" is a block for many jobs, in which the job's place is made from its identity
 * (OC_JOB_ID_SIZE bytes); if text is empty or NULL, it is 239.192.0.0/14, which is for use inside
 * an organization. "ADDR": the block are the count addresses from that one on, and all are the
 * job's. OC_ERR_INVALID: error names text and what is wrong with it.
 */
oc_status_t oc_multicast_range(const char *text, const uint8_t *job_id, unsigned count,
                               oc_multicast_range_t *range, char *error, size_t error_size);

/* That of all processes of the job which have no other one. */
struct in_addr oc_multicast_common(const oc_multicast_range_t *range);

/*
 * That of a set of processes; hash stands for the set. local: they are on one host, and what they
 * send does not leave it: so the few addresses of the job do, the same ones on all hosts.
 */
struct in_addr oc_multicast_of_set(const oc_multicast_range_t *range, uint64_t hash, bool local);

/* One of the spare ones: they are behind the job's or, if there are not so many, before them. */
struct in_addr oc_multicast_spare(const oc_multicast_range_t *range, unsigned number);

/*
 * Where a test with this random token sends what nobody else is to get: another address than that of any other test,
 * as far as the block has room, since switches go on delivering to a host for a while that has left. Without
 * a block, spare 0.
 */
struct in_addr oc_multicast_trial(const oc_multicast_range_t *range, uint64_t token);

/*
 * Whether the block lies in 239.0.0.0/8, for use inside a site: routers at its border do not pass
 * these addresses.
 */
bool oc_multicast_is_scoped(const oc_multicast_range_t *range);

#endif
