/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way from a name to a TCP connection, beside a loop: the name is looked up in a thread, and
 * its addresses are tried one after the other. Belongs to the loop's thread, and never blocks it.
 */
#ifndef OC_NET_DIAL_H
#define OC_NET_DIAL_H

#include <stdbool.h>

#include "net/address.h"
#include "net/loop.h"
#include "net/resolver.h"

typedef struct {
    oc_watch_t watch;           /* of the resolver, then of the socket; fd -1: waits for nothing */
    oc_loop_t *loop;
    oc_resolver_t *resolver;    /* NULL: the addresses are known, or it has none */
    oc_sockaddr_t *candidates;
    unsigned num_candidates, candidate;
    uint64_t attempt_deadline;  /* of the present one */
    void (*done)(void *arg, int fd, const char *reason);
    void *arg;
    char unknown[OC_HOST_SIZE + 128]; /* why it has no addresses */
} oc_dial_t;

/* Begins to look up HOST[:PORT]. On failure a sentence in error, and it has to be closed, too. */
oc_status_t oc_dial_open(oc_dial_t *dial, oc_loop_t *loop, const char *text, char *error,
                         size_t error_size);

/*
 * Once: connects as soon as it can. Then done gets the socket, which is its own from then on and in
 * no loop; or -1 and why there is no connection. That may happen before this returns, and done may
 * close the dial.
 */
void oc_dial_connect(oc_dial_t *dial, void (*done)(void *arg, int fd, const char *reason),
                     void *arg);

/* It does not know the name's addresses yet. */
bool oc_dial_is_resolving(const oc_dial_t *dial);

/* About once a second: an address that does not answer is left for the next one. */
void oc_dial_tick(oc_dial_t *dial);

/*
 * At once, and again without harm: nothing is done any more. A thread that still looks the name up
 * is left behind, so this is nothing for code that is going to be unloaded.
 */
void oc_dial_close(oc_dial_t *dial);

#endif
