/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the addresses of a server to a TCP connection: one is tried after the other. Its owner looks
 * whenever it likes, or when the socket becomes writable. Nothing blocks; of one thread, or under
 * the owner's lock. Times are those of oc_clock_ns.
 */
#ifndef OC_NET_DIAL_H
#define OC_NET_DIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "net/address.h"

typedef struct {
    oc_sockaddr_t *candidates;
    unsigned num_candidates;
    unsigned next;              /* the one to be tried next */
    int fd;                     /* of the present attempt; -1: there is none */
    uint64_t started;           /* when the present attempt was */
    int error;                  /* why the last attempt failed: an errno */
} oc_dial_t;

/* Takes the candidates (malloc'ed) over. */
void oc_dial_init(oc_dial_t *dial, oc_sockaddr_t *candidates, unsigned num_candidates);

/*
 * Leaves the present attempt, if there is one, and begins that at the next address that can be
 * tried. OC_IN_PROGRESS; or OC_ERR_UNREACHABLE: there is none left, and error says what was wrong
 * with the last one.
 */
oc_status_t oc_dial_next(oc_dial_t *dial, uint64_t now);

/*
 * Of the present attempt: OC_OK, it is connected; OC_IN_PROGRESS; OC_ERR_UNREACHABLE, it failed;
 * OC_ERR_TIMEOUT, it has not answered for a second. After the last two oc_dial_next goes on; after
 * a timeout at the last address with the first one. wanted: somebody waits for the connection;
 * if not, an attempt may take any time.
 */
oc_status_t oc_dial_look(oc_dial_t *dial, uint64_t now, bool wanted);

/* Of an attempt that is connected: the socket, which is the caller's from then on. */
int oc_dial_take(oc_dial_t *dial);

/* The address that was tried last is the next one again. */
void oc_dial_again(oc_dial_t *dial);

/* Leaves the present attempt. The addresses stay; again without harm. */
void oc_dial_stop(oc_dial_t *dial);

/* Frees all; again without harm. */
void oc_dial_close(oc_dial_t *dial);

#endif
