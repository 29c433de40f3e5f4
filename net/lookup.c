/* SPDX-License-Identifier: BSD-3-Clause */
/* One name, its resolver and the loop. */
#include "net/lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

static void stop(oc_lookup_t *lookup)
{
    if (NULL != lookup->resolver) {
        oc_loop_remove(lookup->loop, &lookup->watch);
        oc_resolver_abandon(lookup->resolver);
        lookup->resolver = NULL;
    }
}

static void lookup_on_resolved(oc_watch_t *watch, uint32_t events)
{
    oc_lookup_t *lookup = (oc_lookup_t *) watch;

    (void) events;
    if (oc_resolver_done(lookup->resolver)) {
        lookup->addresses = oc_resolver_addresses(lookup->resolver, 0, &lookup->count,
                                                  lookup->unknown, sizeof(lookup->unknown));
        stop(lookup);
        lookup->done(lookup->arg);
    }
}

oc_status_t oc_lookup_open(oc_lookup_t *lookup, oc_loop_t *loop, const char *text,
                           void (*done)(void *arg), void *arg, char *error, size_t error_size)
{
    oc_server_t server = {.weight = OC_WEIGHT_ONE};
    oc_server_list_t list = {.servers = &server, .count = 1};
    oc_status_t status;

    *lookup = (oc_lookup_t) {.loop = loop, .done = done, .arg = arg};
    status = oc_host_port_parse(text, &server.name, error, error_size);
    if (OC_OK != status) {
        return status;
    }
    lookup->resolver = oc_resolver_begin(&list);
    if (NULL == lookup->resolver) {
        snprintf(error, error_size, "no thread can be started to look up \"%s\"", text);
        return OC_ERR_SYSTEM;
    }
    lookup->watch = (oc_watch_t) {.fd = oc_resolver_event_fd(lookup->resolver),
                                  .ready = lookup_on_resolved};
    status = oc_loop_add(loop, &lookup->watch, EPOLLIN);
    if (OC_OK != status) {
        snprintf(error, error_size, "out of memory");
    }
    return status;
}

bool oc_lookup_is_over(const oc_lookup_t *lookup)
{
    return NULL == lookup->resolver;
}

oc_sockaddr_t *oc_lookup_take(oc_lookup_t *lookup, unsigned *count, const char **reason)
{
    oc_sockaddr_t *addresses = lookup->addresses;

    *count = lookup->count;
    *reason = lookup->unknown;
    lookup->addresses = NULL;
    lookup->count = 0;
    return addresses;
}

void oc_lookup_close(oc_lookup_t *lookup)
{
    stop(lookup);
    free(lookup->addresses);
    lookup->addresses = NULL;
    lookup->count = 0;
}
