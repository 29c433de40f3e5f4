/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of servers and their addresses. */
#include "net/resolver.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sentence with a host's name in it. */
#define ERROR_SIZE (OC_HOST_SIZE + 128)

typedef struct {
    oc_sockaddr_t addresses[OC_MAX_CANDIDATES];
    unsigned count;
    char error[ERROR_SIZE];
} resolved_t;

struct oc_resolver {
    const oc_server_list_t *servers;
    pthread_t thread;
    atomic_bool done;          /* from then on nothing changes */
    resolved_t results[];      /* one for each server */
};

static void *resolve_all(void *arg)
{
    oc_resolver_t *resolver = arg;

    for (unsigned i = 0; i < resolver->servers->count; i++) {
        resolved_t *result = &resolver->results[i];

        if (OC_OK != oc_resolve_all(&resolver->servers->servers[i].name, result->addresses,
                                    OC_MAX_CANDIDATES, &result->count, result->error,
                                    sizeof(result->error))) {
            result->count = 0;
        }
    }
    atomic_store(&resolver->done, true);
    return NULL;
}

/* A guest in somebody's process: signals are for the others. */
static int start_thread(oc_resolver_t *resolver)
{
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&resolver->thread, NULL, resolve_all, resolver);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

oc_resolver_t *oc_resolver_begin(const oc_server_list_t *servers)
{
    oc_resolver_t *resolver =
        calloc(1, sizeof(*resolver) + servers->count * sizeof(resolver->results[0]));

    if (NULL == resolver) {
        return NULL;
    }
    resolver->servers = servers;
    if (0 != start_thread(resolver)) {
        free(resolver);
        return NULL;
    }
    return resolver;
}

bool oc_resolver_done(const oc_resolver_t *resolver)
{
    return atomic_load(&resolver->done);
}

oc_sockaddr_t *oc_resolver_addresses(const oc_resolver_t *resolver, unsigned server,
                                     unsigned *count, char *error, size_t error_size)
{
    const resolved_t *result = &resolver->results[server];
    oc_sockaddr_t *copy = NULL;

    if (0 == result->count) {
        snprintf(error, error_size, "%s", result->error);
        return NULL;
    }
    copy = malloc(sizeof(result->addresses));
    if (NULL == copy) {
        snprintf(error, error_size, "out of memory");
        return NULL;
    }
    memcpy(copy, result->addresses, sizeof(result->addresses));
    *count = result->count;
    return copy;
}

void oc_resolver_end(oc_resolver_t *resolver)
{
    if (NULL != resolver) {
        pthread_join(resolver->thread, NULL);
        free(resolver);
    }
}
