/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns what is said where there is no libibverbs. */
#include "multicast/transport/verbs.h"

#include <stdio.h>

static const char reason[] = "built without libibverbs and librdmacm";

bool oc_verbs_available(const char *interface, size_t *datagram_size, char *text,
                        size_t text_size)
{
    (void) interface;
    (void) datagram_size;
    snprintf(text, text_size, "%s", reason);
    return false;
}

oc_status_t oc_verbs_source_open(const char *interface, oc_verbs_source_t **source, char *text,
                                 size_t text_size)
{
    (void) interface;
    (void) source;
    snprintf(text, text_size, "%s", reason);
    return OC_ERR_UNREACHABLE;
}

void oc_verbs_source_close(oc_verbs_source_t *source)
{
    (void) source;
}

size_t oc_verbs_source_datagram_size(const oc_verbs_source_t *source)
{
    (void) source;
    return 0;
}

oc_origin_t oc_verbs_source_origin(const oc_verbs_source_t *source)
{
    (void) source;
    return (oc_origin_t) {.port = 0};
}

uint32_t oc_verbs_staging(const oc_verbs_source_t *source, size_t bytes)
{
    (void) source;
    (void) bytes;
    return 0;
}

const char *oc_verbs_source_ethernet(const oc_verbs_source_t *source)
{
    (void) source;
    return NULL;
}

oc_status_t oc_verbs_open(const oc_verbs_config_t *config, oc_transport_t **transport, char *error,
                          size_t error_size)
{
    (void) config;
    (void) transport;
    snprintf(error, error_size, "%s", reason);
    return OC_ERR_SYSTEM;
}

bool oc_verbs_is_joined(const oc_transport_t *transport)
{
    (void) transport;
    return false;
}
