/* SPDX-License-Identifier: BSD-3-Clause */
/* What a descriptor is, for the files that are behind sockets.h. */
#ifndef OC_TESTS_SIMULATION_SOCKETS_TYPES_H
#define OC_TESTS_SIMULATION_SOCKETS_TYPES_H

#include <sys/un.h>

#include "tests/multicast/fifo.h"
#include "tests/simulation/sockets.h"
#include "tests/simulation/wire.h"

typedef enum {
    DESCRIPTOR_EVENT,
    DESCRIPTOR_TIMER,
    DESCRIPTOR_EPOLL,
    DESCRIPTOR_STREAM,
    DESCRIPTOR_LISTENER,
    DESCRIPTOR_BELL,
    DESCRIPTOR_OTHER,
} descriptor_kind_t;

typedef struct descriptor descriptor_t;

typedef struct {
    descriptor_t *target;
    struct epoll_event event;
} interest_t;

struct descriptor {
    descriptor_kind_t kind;
    int number;                           /* the first one, of as many as … */
    unsigned numbers;                     /* … it has that are not closed */
    process_t *process;
    bool closed;

    uint64_t count;                       /* of an event or a timer */
    uint64_t timer;                       /* settings of it so far */
    bool (*is_readable)(void *thing);
    void *thing;
    uint8_t bell[sizeof(struct sockaddr_un)]; /* the address of a local socket … */
    socklen_t bell_length;                /* … and how long it is; 0: it has none */

    interest_t *interests;                /* of epoll */
    unsigned num_interests;

    int family;                           /* of a socket from here on */
    uint16_t port, other_port;
    unsigned other_host;
    fifo_t backlog;
    bool is_datagram, connecting, connected, ended;
    bool shut, deaf;                      /* nothing is sent, or heard, any more */
    int error;
    wire_t *out;
    descriptor_t *other;                  /* the other end, once there is one */
    uint8_t *bytes;                       /* that have come */
    size_t used, room;
};

/* Fails the schedule if it is not one of the running process's. */
descriptor_t *descriptor_find(int fd);
descriptor_t *descriptor_new(descriptor_kind_t kind);

/* Every number, from 0 on; NULL behind the last one. */
descriptor_t *descriptor_number(unsigned index);

/* EPOLLIN and others that hold now. */
uint32_t descriptor_state(const descriptor_t *descriptor);

/* What a stream's end means for the other end. */
void stream_close(descriptor_t *stream);

#endif
