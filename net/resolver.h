/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up names in a thread of its own, which has all signals blocked: name servers may take
 * seconds, and whoever asks has other work. Of one thread, beside that.
 */
#ifndef OC_NET_RESOLVER_H
#define OC_NET_RESOLVER_H

#include <stdbool.h>

#include "net/address.h"

/* Addresses of a name that are kept. */
#define OC_MAX_CANDIDATES 8

typedef struct oc_resolver oc_resolver_t;

/* All servers of a list, which is copied. NULL when the system lacks what it needs. */
oc_resolver_t *oc_resolver_begin(const oc_server_list_t *servers);

bool oc_resolver_done(const oc_resolver_t *resolver);

/* Readable from then on; of the resolver. */
int oc_resolver_event_fd(const oc_resolver_t *resolver);

/* Of a resolver that is done: a malloc'ed array for the caller, or NULL and why. */
oc_sockaddr_t *oc_resolver_addresses(const oc_resolver_t *resolver, unsigned server,
                                     unsigned *count, char *error, size_t error_size);

/* Waits for the thread, so that its code may be unloaded. NULL is allowed. */
void oc_resolver_end(oc_resolver_t *resolver);

/* Waits for nobody: the thread goes on until its name server gives up, and frees the rest. */
void oc_resolver_abandon(oc_resolver_t *resolver);

#endif
