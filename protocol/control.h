/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the control connection (TCP), one per client process and server.
 *
 *   +-------------+---------+--------+-------------+-----------------+
 *   | magic "OCST"| version | type   | body length | body            |
 *   | 4 bytes     | 2       | 2      | 4           | length bytes    |
 *   +-------------+---------+--------+-------------+-----------------+
 *
 * Codec only: no I/O, no allocation, no state. doc/protocol.md has the conversation.
 */
#ifndef OC_PROTOCOL_CONTROL_H
#define OC_PROTOCOL_CONTROL_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/status.h"
#include "protocol/lost.h"

#define OC_FRAME_SIZE 12

typedef enum {
    OC_CONTROL_HELLO = 1,     /* client: first message: who it is and how to reach it */
    OC_CONTROL_WELCOME = 2,   /* server: aggregators of the job and how to reach them */
    OC_CONTROL_REFUSE = 3,    /* server: no, and why; closes */
    OC_CONTROL_JOIN = 4,      /* client: one rank of a group */
    OC_CONTROL_JOINED = 5,    /* server: the group's handle on this server */
    OC_CONTROL_LEAVE = 6,     /* client: done with the group */
    OC_CONTROL_PING = 7,      /* client: are you there, all of you? */
    OC_CONTROL_PONG = 8,      /* server: every aggregator has seen the ping */
    OC_CONTROL_GROUP_ERROR = 9, /* server: this group cannot go on, and why */
    OC_CONTROL_JOB_ERROR = 10,  /* server: nothing of this job can go on, and why */
    OC_CONTROL_DRAIN = 11,    /* server: it was told to stop; finish and go */
    OC_CONTROL_BYE = 12,      /* client: ends in order */
    OC_CONTROL_ROUTE = 13,    /* leaf: how one of its aggregators is reached */
    OC_CONTROL_RETIRE = 14,   /* server: nobody of the job has joined; join, or go */
    OC_CONTROL_QUERY = 15,    /* anybody, instead of HELLO: how is it? */
    OC_CONTROL_STATUS = 16,   /* server: so */
    OC_CONTROL_WATCH = 17,    /* client: look out for multicast that your host has not joined */
    OC_CONTROL_LOOK = 18,     /* client: all of it has been sent: what have you seen? */
    OC_CONTROL_SIGHT = 19,    /* server: this; or, before, whether it looks out */
    OC_CONTROL_LOST = 20,     /* both: servers that the job has lost, or that are back; the client closes */
} oc_control_type_t;

/* Bytes in somebody else's buffer. */
typedef struct {
    const uint8_t *data;
    uint32_t length;
} oc_bytes_t;

/* Addresses of the sender's host, from which it may connect; of IPv4 in their IPv6-mapped form. */
typedef struct {
    uint8_t count;
    struct in6_addr addresses[OC_MAX_ORIGINS];
} oc_origins_t;

typedef struct {
    uint16_t version_min, version_max;  /* what the client speaks */
    uint8_t job_id[OC_JOB_ID_SIZE];
    uint8_t job_key[OC_JOB_KEY_SIZE];
    uint32_t process;                   /* rank in the job, for messages to people; or
                                           OC_PROCESS_LEAF */
    oc_bytes_t address;                 /* UCX worker address of the client; of a leaf a text:
                                           where it listens */
    oc_origins_t origins;
} oc_hello_t;

typedef struct {
    uint16_t version;                   /* spoken from now on */
    uint16_t num_aggregators;           /* 1..OC_MAX_AGGREGATORS */
    uint64_t identity;                  /* of the server; 0: it can be no parent */
    uint64_t parent;                    /* identity of the server above it; 0: it has none */
    uint64_t incarnation;               /* of the process that serves the job; not 0 */
    oc_bytes_t address[OC_MAX_AGGREGATORS];
    oc_origins_t origins;
} oc_welcome_t;

typedef struct {
    uint64_t group;            /* unique in the job */
    uint32_t num_ranks, rank;
    uint32_t reply_handle;     /* tag field of everything sent to this rank */
    uint32_t first_aggregator; /* index in the group of this server's first aggregator */
    uint32_t chunk_bytes;      /* largest chunk */
    uint32_t window;           /* chunks in flight per rank and aggregator */
    uint32_t small_bytes;      /* largest vector that goes in one message; 0: none does */
    uint8_t reserves;          /* 1: contributions may wait for results of other chunks; or 0 */
    uint64_t epoch;            /* of lost.h; if it is not 0, READY comes when all ranks have joined */
    uint32_t leaves;           /* of the tree that the group goes through; 0: it is no tree … */
    uint32_t leaf;             /* … and which of them this server is */
} oc_join_t;

typedef struct {
    uint64_t group;
    uint32_t handle;           /* tag field of everything sent to this server */
    uint64_t eager_window;     /* bytes that this process may send each aggregator unannounced */
} oc_joined_t;

typedef struct {
    uint64_t group;
    uint32_t rank;             /* the one that joined through this connection */
    bool unsettled;            /* it did not find out what became of collectives: nor can the others, without it */
} oc_leave_t;

typedef struct {
    uint32_t aggregator;       /* of the leaf, and of the server above that it works with */
    oc_bytes_t address;        /* UCX worker address */
} oc_leaf_route_t;

typedef struct {
    uint16_t version_min, version_max;  /* what the server speaks */
    uint16_t aggregators;               /* of each job */
    uint32_t jobs, max_jobs;            /* that it has, and may have */
    uint64_t memory_limit;              /* bytes for vectors in flight, of each job */
    oc_bytes_t release;                 /* of the program, a text */
} oc_server_status_t;

/* A flood test, for which the client sends. */
typedef struct {
    uint64_t token;            /* of the test: random */
    uint8_t key[OC_JOB_KEY_SIZE];       /* of the codes of its datagrams: for it alone */
    struct in_addr probes, marks;       /* where they go */
    uint16_t port;
} oc_lookout_t;

typedef enum {
    OC_VIEW_NONE,              /* the server does not look, or cannot tell: the text says why */
    OC_VIEW_OPEN,              /* it looks, until it is asked */
    OC_VIEW_BLIND,             /* nothing there would show a flood */
    OC_VIEW_GUARDED,           /* something would, and does not */
    OC_VIEW_FLOODED,
    OC_VIEWS
} oc_view_t;

typedef struct {
    uint64_t token;            /* of the test */
    uint8_t view;              /* oc_view_t */
    oc_bytes_t text;           /* the interface, or why */
} oc_sight_t;

/* REFUSE, GROUP_ERROR, JOB_ERROR, DRAIN, RETIRE; group is 0 where there is none. */
typedef struct {
    uint64_t group;
    int32_t status;            /* oc_status_t */
    oc_bytes_t text;           /* not zero-terminated, printable after oc_control_text */
} oc_notice_t;

/* Those that are lost, and that have returned, and the reason of the last change. */
typedef struct {
    oc_lost_t servers;
    oc_bytes_t text;
} oc_loss_t;

typedef struct {
    uint16_t type;             /* oc_control_type_t */
    union {
        oc_hello_t hello;
        oc_welcome_t welcome;
        oc_join_t join;
        oc_joined_t joined;
        oc_notice_t notice;
        oc_leave_t leave;
        oc_leaf_route_t route;
        oc_server_status_t status;
        oc_lookout_t lookout;
        oc_sight_t sight;
        oc_loss_t loss;
        uint64_t look;         /* LOOK: the token of the test */
        uint32_t ping;         /* PING, PONG: a number that comes back */
    };
} oc_control_t;

/* Bytes used in buffer, or 0 when capacity is too small or a limit is passed. */
size_t oc_control_encode(const oc_control_t *message, uint8_t *buffer, size_t capacity);

/*
 * > 0: bytes used; pointers in *message lead into buffer.  0: more bytes are needed.
 * < 0: an oc_status_t: OC_ERR_VERSION when the frame is of another protocol version,
 * OC_ERR_LIMIT when the body would be longer than max_body, OC_ERR_INVALID otherwise.
 */
long oc_control_decode(const uint8_t *buffer, size_t length, size_t max_body,
                       oc_control_t *message);

/* Copies a text from the wire with a final zero; what is not printable becomes '?'. */
void oc_control_text(const oc_bytes_t *text, char *buffer, size_t size);

#endif
