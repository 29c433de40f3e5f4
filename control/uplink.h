/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client's end of a control connection to a server: of a process that is one of its clients, or
 * of a leaf, which is a client of the server above it. From addresses to TCP, HELLO and WELCOME,
 * then heartbeats and messages, to the end in order or otherwise.
 *
 * Nothing blocks, and there is no thread. An owner that polls calls oc_uplink_look as often as it
 * likes; one with an event loop attaches the socket to it, and looks when it is ready and about once
 * a second. Of one thread, or under the owner's lock. Times are those of oc_clock_ns.
 */
#ifndef OC_CONTROL_UPLINK_H
#define OC_CONTROL_UPLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "control/pulse.h"
#include "control/stream.h"
#include "net/address.h"
#include "net/dial.h"
#include "protocol/control.h"

#define OC_UPLINK_REASON_SIZE 512

typedef enum {
    OC_UPLINK_CLOSED,          /* not opened yet, or closed by its owner */
    OC_UPLINK_CONNECTING,      /* TCP connect under way */
    OC_UPLINK_GREETING,        /* HELLO sent */
    OC_UPLINK_READY,           /* WELCOME came, and the owner has accepted it */
    OC_UPLINK_DEAD,            /* it failed: reason says why */
} oc_uplink_state_t;

typedef struct oc_uplink oc_uplink_t;

/*
 * What an owner does; the first two may be NULL, and so may waits. attach and detach come from inside
 * of all functions that open, close or look, also of oc_uplink_close and oc_uplink_free, and call
 * none of them. The others come from inside of oc_uplink_open, oc_uplink_reopen, oc_uplink_look,
 * oc_uplink_lost and oc_uplink_fail. They may send; ended may also close, and hello, welcome and
 * message (which returns true then) may fail and close; none opens or frees. Pointers are good during
 * the call.
 */
typedef struct {
    /* It has a socket: oc_uplink_fd. false: the owner cannot watch it, for want of memory. */
    bool (*attach)(oc_uplink_t *uplink);
    /* The socket is about to be closed. */
    void (*detach)(oc_uplink_t *uplink);
    /* TCP is connected: fills in who says HELLO, all but the versions. */
    void (*hello)(oc_uplink_t *uplink, oc_hello_t *hello);
    /* The server speaks a version that this end does: calls oc_uplink_accept, or _fail. */
    void (*welcome)(oc_uplink_t *uplink, const oc_welcome_t *welcome);
    /* Any message that is not a matter of the connection itself. false: no server sends such. */
    bool (*message)(oc_uplink_t *uplink, const oc_control_t *message);
    /* The server has not answered a PING for too long. Whether it is waited for nevertheless. */
    bool (*waits)(oc_uplink_t *uplink);
    /* It has failed, in that state: reason says why. The socket is closed. */
    void (*ended)(oc_uplink_t *uplink, oc_status_t status, oc_uplink_state_t state);
    const char *title;         /* what the server is, before its name */
} oc_uplink_owner_t;

struct oc_uplink {
    const oc_uplink_owner_t *owner;
    void *arg;                 /* for the owner */
    const char *name;          /* of the server; the owner's, as long as this lives */
    oc_uplink_state_t state;
    oc_dial_t dial;
    oc_stream_t stream;
    oc_pulse_t pulse;
    uint64_t now;              /* time of the last look */
    uint64_t since;            /* when it came into its state */
    oc_status_t unsent;        /* not OK: a message could not be sent, for that reason */
    /* Why it failed last, a sentence that begins with the title; empty again when it is READY. */
    char reason[OC_UPLINK_REASON_SIZE];
};

void oc_uplink_init(oc_uplink_t *uplink, const oc_uplink_owner_t *owner, void *arg,
                    const char *name, const oc_rhythm_t *rhythm);

/* Of a new one: begins to connect. Takes the candidates (malloc'ed) over. */
void oc_uplink_open(oc_uplink_t *uplink, oc_sockaddr_t *candidates, unsigned num_candidates,
                    uint64_t now);

/* Of one that was closed after it had been open: connects anew, to the address it had. */
void oc_uplink_reopen(oc_uplink_t *uplink, uint64_t now);

/*
 * All that is due: connecting, reading, writing, silence. wanted: somebody waits for the connection;
 * if not, an address that does not answer is not left for the next one.
 */
void oc_uplink_look(oc_uplink_t *uplink, uint64_t now, bool wanted);

/* Its owner takes the WELCOME: it is READY. */
void oc_uplink_accept(oc_uplink_t *uplink);

/* Sends a PING if it is READY, one is due, and none is open. */
void oc_uplink_ping(oc_uplink_t *uplink, uint64_t now);

/*
 * Does nothing unless HELLO was sent. What cannot be sent breaks the connection, and the next look
 * finds that: before, it reads what the server may have said about it.
 */
void oc_uplink_send(oc_uplink_t *uplink, const oc_control_t *message);

/*
 * It is DEAD, with a sentence that goes on after the server's name. In order, if HELLO was sent and
 * WELCOME is missing: without BYE the process would count as dead, and all of its job would end.
 * Of one that is DEAD nothing happens.
 */
void oc_uplink_fail(oc_uplink_t *uplink, oc_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The data connection to the server broke: it is DEAD, with what it has said about that, if anything. */
void oc_uplink_lost(oc_uplink_t *uplink, uint64_t now);

/*
 * Closes it without a word to its owner but detach; again without harm. last_words, which may be
 * NULL, are only said where somebody would understand them: before WELCOME that is BYE alone.
 */
void oc_uplink_close(oc_uplink_t *uplink, const oc_control_t *last_words);

/* Closes it, and frees all that it has. */
void oc_uplink_free(oc_uplink_t *uplink, const oc_control_t *last_words);

/* Of loops: -1 if there is no socket, and POLLIN and POLLOUT (in epoll the same bits). */
int oc_uplink_fd(const oc_uplink_t *uplink);
uint32_t oc_uplink_events(const oc_uplink_t *uplink);

#endif
