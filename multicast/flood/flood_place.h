/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a flood test takes place. Any thread; waits for nobody but the kernel. */
#ifndef OC_MULTICAST_FLOOD_FLOOD_PLACE_H
#define OC_MULTICAST_FLOOD_FLOOD_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "multicast/transport/interface.h"

typedef struct {
    oc_interface_t interface;
    struct in_addr probes;     /* address that some hosts join … */
    struct in_addr marks;      /* … and one that those join that watch */
    uint16_t port;             /* of marks */
    uint64_t token;            /* of the group, or of the test alone */
} oc_flood_place_t;

/* That of bursts. Nobody has a socket there, also of those that have joined the address for the sake of data. */
uint16_t oc_flood_burst_port(const oc_flood_place_t *place);

/*
 * For a test that somebody else has chosen, who has set all of place but the interface. where: its
 * name, or an address of it. An error: it is not there, its network does not flood, or the addresses
 * or the port are none that may be used by the word of others: those are 239.0.0.0/8 without what
 * shares frames with 224.0.0.0/24, and ports from 1024 on. error says which, and may be told to them.
 */
oc_status_t oc_flood_place_find(const char *where, oc_flood_place_t *place, char *error,
                                size_t error_size);

#endif
