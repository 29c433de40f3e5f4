/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of servers and their addresses. */
#include "net/resolver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/descriptors.h"
#include "base/threads.h"

/* A sentence with a host's name in it. */
#define ERROR_SIZE (OC_HOST_SIZE + 128)

typedef struct {
    oc_host_port_t name;
    oc_sockaddr_t addresses[OC_MAX_CANDIDATES];
    unsigned count;
    char error[ERROR_SIZE];
} resolved_t;

struct oc_resolver {
    pthread_t thread;
    atomic_uint users;         /* the thread, and who began it: the last one frees it */
    atomic_bool done;          /* from then on nothing changes */
    int event_fd;
    unsigned count;
    resolved_t results[];      /* one for each server */
};

static void resolver_release(oc_resolver_t *resolver)
{
    if (1 == atomic_fetch_sub(&resolver->users, 1)) {
        oc_fd_close(resolver->event_fd);
        free(resolver);
    }
}

static void *resolve_all(void *arg)
{
    oc_resolver_t *resolver = arg;

    for (unsigned i = 0; i < resolver->count; i++) {
        resolved_t *result = &resolver->results[i];

        if (OC_OK != oc_resolve_all(&result->name, result->addresses, OC_MAX_CANDIDATES,
                                    &result->count, result->error, sizeof(result->error))) {
            result->count = 0;
        }
    }
    atomic_store(&resolver->done, true);
    (void) eventfd_write(resolver->event_fd, 1);
    resolver_release(resolver);
    return NULL;
}

oc_resolver_t *oc_resolver_begin(const oc_server_list_t *servers)
{
    oc_resolver_t *resolver =
        calloc(1, sizeof(*resolver) + servers->count * sizeof(resolver->results[0]));

    if (NULL == resolver) {
        return NULL;
    }
    resolver->count = servers->count;
    for (unsigned i = 0; i < servers->count; i++) {
        resolver->results[i].name = servers->servers[i].name;
    }
    atomic_init(&resolver->users, 2);
    resolver->event_fd = oc_fd_make(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (resolver->event_fd >= 0
        && OC_OK == oc_thread_start(&resolver->thread, "optcast-names", resolve_all, resolver)) {
        return resolver;
    }
    if (resolver->event_fd >= 0) {
        oc_fd_close(resolver->event_fd);
    }
    free(resolver);
    return NULL;
}

bool oc_resolver_done(const oc_resolver_t *resolver)
{
    return atomic_load(&resolver->done);
}

int oc_resolver_event_fd(const oc_resolver_t *resolver)
{
    return resolver->event_fd;
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
        resolver_release(resolver);
    }
}

void oc_resolver_abandon(oc_resolver_t *resolver)
{
    pthread_detach(resolver->thread);
    resolver_release(resolver);
}
