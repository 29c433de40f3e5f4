/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which multicast address a group has: one for each set of processes, so that no host gets what is
 * not for it. Pure functions, any thread.
 */
#ifndef OC_MULTICAST_SERVICE_CAST_SET_H
#define OC_MULTICAST_SERVICE_CAST_SET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "multicast/service/cast_record.h"
#include "multicast/transport/cast_address.h"

/*
 * By the records of all ranks, which were found to be good: groups of the same processes have the
 * same address, in whatever order these are, and those of other jobs other ones, but for chance.
 * false: no memory.
 */
bool oc_cast_set_address(const oc_multicast_range_t *range, const uint8_t job_id[OC_JOB_ID_SIZE],
                         oc_carrier_t carrier, const uint8_t *records, uint32_t num_ranks,
                         struct in_addr *address);

#endif
