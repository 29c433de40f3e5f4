/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The addresses of one name, looked up in a thread beside a loop. Belongs to the loop's thread, and
 * never blocks it.
 */
#ifndef OC_NET_LOOKUP_H
#define OC_NET_LOOKUP_H

#include <stdbool.h>

#include "net/address.h"
#include "net/loop.h"
#include "net/resolver.h"

typedef struct {
    oc_watch_t watch;           /* of the resolver */
    oc_loop_t *loop;
    oc_resolver_t *resolver;    /* NULL: it is over */
    oc_sockaddr_t *addresses;   /* NULL: there are none … */
    unsigned count;
    char unknown[OC_HOST_SIZE + 128]; /* … and why */
    void (*done)(void *arg);
    void *arg;
} oc_lookup_t;

/*
 * Begins to look up HOST[:PORT]. The loop calls done when that is over; done may close the lookup.
 * On failure a sentence in error, and it has to be closed, too.
 */
oc_status_t oc_lookup_open(oc_lookup_t *lookup, oc_loop_t *loop, const char *text,
                           void (*done)(void *arg), void *arg, char *error, size_t error_size);

bool oc_lookup_is_over(const oc_lookup_t *lookup);

/*
 * Once it is over: a malloc'ed array for the caller, once; or NULL, and *reason says why until the
 * lookup is closed.
 */
oc_sockaddr_t *oc_lookup_take(oc_lookup_t *lookup, unsigned *count, const char **reason);

/*
 * At once, and again without harm: nothing is done any more. A thread that still looks the name up
 * is left behind, so this is nothing for code that is going to be unloaded.
 */
void oc_lookup_close(oc_lookup_t *lookup);

#endif
