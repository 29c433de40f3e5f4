/* SPDX-License-Identifier: BSD-3-Clause */
/* Who joins what others name joins nothing that belongs to the network itself, and takes no port of the system's. */
#include "multicast/flood/flood_place.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>

#define FIRST_ADDRESS 0xe0000100u /* behind 224.0.0.0/24, which is for protocols of the network */
#define LAST_ADDRESS  0xefffffffu
#define FIRST_PORT    1024u

static bool may_be_joined(struct in_addr address)
{
    uint32_t number = ntohl(address.s_addr);

    return number >= FIRST_ADDRESS && number <= LAST_ADDRESS;
}

oc_status_t oc_flood_place_find(const char *where, oc_flood_place_t *place, char *error,
                                size_t error_size)
{
    oc_status_t status;

    if (!may_be_joined(place->probes) || !may_be_joined(place->marks)
        || place->probes.s_addr == place->marks.s_addr || place->port < FIRST_PORT) {
        snprintf(error, error_size, "no test may use these addresses, or this port");
        return OC_ERR_INVALID;
    }
    status = oc_interface_find(where, place->probes, &place->interface, error, error_size);
    if (OC_OK == status && !oc_interface_floods(&place->interface)) {
        snprintf(error, error_size, "the network of %s delivers multicast to nobody who has not joined",
                 place->interface.name);
        return OC_ERR_INVALID;
    }
    return status;
}
