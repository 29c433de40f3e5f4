/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv4 multicast addresses of a job: a range, one address for each slot. Any thread. */
#ifndef OC_MULTICAST_TRANSPORT_CAST_ADDRESS_H
#define OC_MULTICAST_TRANSPORT_CAST_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * The first of count addresses. text: as set by the user; if it is empty or NULL they are made
 * from the job's identity (OC_JOB_ID_SIZE bytes) in 239.192.0.0/14, which is for use inside an
 * organization, and so are the spare ones. OC_ERR_INVALID: error names text and what is wrong with
 * it.
 */
oc_status_t oc_multicast_range(const char *text, const uint8_t *job_id, unsigned count,
                               struct in_addr *first, char *error, size_t error_size);

/* The address of a slot, less than the count of the range. */
struct in_addr oc_multicast_slot(struct in_addr first, unsigned slot);

/* Addresses beside a range, to try things with. */
#define OC_MULTICAST_SPARES 2u

/* One of them: they are behind the range or, if there are not so many, before it. */
struct in_addr oc_multicast_spare(struct in_addr first, unsigned count, unsigned number);

/*
 * Whether the range lies in 239.0.0.0/8, for use inside a site: routers at its border do not pass
 * these addresses.
 */
bool oc_multicast_is_scoped(struct in_addr first, unsigned count);

#endif
