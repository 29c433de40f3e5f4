/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns what is said where there is no libibverbs. */
#include "multicast/verbs.h"

#include <stdio.h>

static const char reason[] = "built without libibverbs and librdmacm";

bool oc_verbs_available(const char *interface, size_t *datagram_size, oc_origin_t *origin,
                        char *text, size_t text_size)
{
    (void) interface;
    (void) datagram_size;
    (void) origin;
    snprintf(text, text_size, "%s", reason);
    return false;
}

oc_status_t oc_verbs_open(const oc_verbs_config_t *config, oc_transport_t **transport, char *error,
                          size_t error_size)
{
    (void) config;
    (void) transport;
    snprintf(error, error_size, "%s", reason);
    return OC_ERR_SYSTEM;
}
