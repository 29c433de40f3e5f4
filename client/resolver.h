/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up all servers of a list in a thread of its own: name servers may take seconds. But for
 * that thread, all is for one thread at a time.
 */
#ifndef OC_CLIENT_RESOLVER_H
#define OC_CLIENT_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>

#include "net/address.h"

typedef struct oc_resolver oc_resolver_t;

/* The list must outlive it. NULL when there can be no thread. */
oc_resolver_t *oc_resolver_begin(const oc_server_list_t *servers);

bool oc_resolver_done(const oc_resolver_t *resolver);

/* Of a resolver that is done: a malloc'ed array for the caller, or NULL and why. */
oc_sockaddr_t *oc_resolver_addresses(const oc_resolver_t *resolver, unsigned server,
                                     unsigned *count, char *error, size_t error_size);

/* Waits for the thread. NULL is allowed. */
void oc_resolver_end(oc_resolver_t *resolver);

#endif
