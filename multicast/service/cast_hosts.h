/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks of a group are on which host, by their records. Pure functions, any thread. */
#ifndef OC_MULTICAST_SERVICE_CAST_HOSTS_H
#define OC_MULTICAST_SERVICE_CAST_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Gives each rank the number of its host: from 0, in the order of the hosts' lowest ranks. The
 * records were found to be good. false: no memory.
 */
bool oc_hosts_number(const uint8_t *records, uint32_t num_ranks, uint32_t *numbers,
                     uint32_t *num_hosts);

#endif
