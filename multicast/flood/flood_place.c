/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who joins what others name joins nothing but what sites have for themselves (RFC 2365), and takes
 * no port of the system's.
 */
#include "multicast/flood/flood_place.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/log.h"

#define SCOPE      239u
#define FIRST_PORT 1024u

/* A frame has these bits only: with less it would have an address of 224.0.0.0/24, too. */
#define FRAME_BITS  0x7fffffu
#define FIRST_FRAME 0x100u

uint16_t oc_flood_burst_port(const oc_flood_place_t *place)
{
    return UINT16_MAX == place->port ? UINT16_MAX - 1 : place->port + 1;
}

static bool may_be_joined(struct in_addr address)
{
    uint32_t number = ntohl(address.s_addr);

    return SCOPE == number >> 24 && (number & FRAME_BITS) >= FIRST_FRAME;
}

oc_status_t oc_flood_place_find(const char *where, oc_flood_place_t *place, char *error,
                                size_t error_size)
{
    char reason[512];
    oc_status_t status;

    if (!may_be_joined(place->probes) || !may_be_joined(place->marks)
        || place->probes.s_addr == place->marks.s_addr || place->port < FIRST_PORT) {
        snprintf(error, error_size, "no test may use these addresses, or this port");
        return OC_ERR_INVALID;
    }
    status = oc_interface_find(where, place->probes, &place->interface, reason, sizeof(reason));
    if (OC_OK != status) {
        /* it names all interfaces of this host */
        oc_info("whether multicast floods %s cannot be watched: %s", where, reason);
        snprintf(error, error_size, "multicast cannot be watched on this interface");
    } else if (!oc_interface_floods(&place->interface)) {
        snprintf(error, error_size,
                 "the network of %s delivers multicast to nobody who has not joined",
                 place->interface.name);
        status = OC_ERR_INVALID;
    }
    return status;
}
