/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Not one address for each set of hosts, which would do for switches: what comes to an address is
 * copied to all sockets of a host that have joined it, also to those of ranks that have no part in
 * it.
 */
#include "multicast/service/cast_set.h"

#include <stdlib.h>

#include "base/text.h"

static int compare_processes(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *) left, b = *(const uint32_t *) right;

    return (a > b) - (a < b);
}

/* Returns whether all ranks are on one host. */
static bool read_processes(const uint8_t *records, uint32_t num_ranks, uint32_t *processes)
{
    oc_cast_record_t first, record;
    bool same = true;

    (void) oc_cast_record_decode(records, &first);
    for (uint32_t rank = 0; rank < num_ranks; rank++) {
        (void) oc_cast_record_decode(records + (size_t) rank * OC_MULTICAST_RECORD_SIZE, &record);
        processes[rank] = record.process;
        same = same && record.host == first.host;
    }
    return same;
}

bool oc_cast_set_address(const oc_multicast_range_t *range, const uint8_t job_id[OC_JOB_ID_SIZE],
                         oc_carrier_t carrier, const uint8_t *records, uint32_t num_ranks,
                         struct in_addr *address)
{
    uint32_t *processes = calloc(num_ranks, sizeof(*processes));
    uint64_t hash = oc_hash(OC_HASH_START, job_id, OC_JOB_ID_SIZE);
    bool one_host;

    if (NULL == processes) {
        return false;
    }
    one_host = read_processes(records, num_ranks, processes);
    qsort(processes, num_ranks, sizeof(*processes), compare_processes);
    hash = oc_hash(hash, processes, num_ranks * sizeof(*processes));
    free(processes);
    /* with verbs what ranks of one host say to each other leaves it */
    *address = oc_multicast_of_set(range, hash, one_host && OC_CARRIER_UDP == carrier);
    return true;
}
