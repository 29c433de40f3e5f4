/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages that ranks of a multicast group post to each other, reliably but in no order.
 * Pure functions, any thread. doc/multicast.md has the layout.
 */
#ifndef OC_MULTICAST_WIRE_CAST_MESSAGE_H
#define OC_MULTICAST_WIRE_CAST_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OC_CAST_VERSION     5
#define OC_CAST_HEAD_MAX    4096u  /* bytes of a message without repaired data */
#define OC_CAST_MAX_RANGES  256u   /* of a REQUEST or a REPAIR */
#define OC_CAST_MAX_CHAINS  64u    /* of a CREDIT */
#define OC_CAST_WHOLE       65536u /* of the window: the most that a CREDIT says */
#define OC_CAST_MAX_TEXT    256u   /* bytes of a reason */

typedef enum {
    OC_CAST_PROBE_REQUEST = 1, /* none of your probes has arrived */
    OC_CAST_PROBE_SENT,        /* I have sent another one */
    OC_CAST_ENTER,             /* up the tree: I and all below me are in the operation */
    OC_CAST_GO,                /* down: all ranks are */
    OC_CAST_TURN,              /* along a chain: you may send */
    OC_CAST_DONE,              /* up: I and all below me have all blocks */
    OC_CAST_LEAVE,             /* down: all ranks have */
    OC_CAST_POLL,              /* how much of a block has been sent? */
    OC_CAST_SENT,              /* so many fragments */
    OC_CAST_REQUEST,           /* please give me these fragments of a block */
    OC_CAST_REPAIR,            /* here are some */
    OC_CAST_PING,              /* are you there? */
    OC_CAST_PONG,
    OC_CAST_ABORT,             /* the group has failed */
    OC_CAST_CREDIT,            /* up: so much has passed all below, and they have such a window; down: all ranks */
    OC_CAST_FIND,              /* along the tree: how is target reached? This is how origin is */
    OC_CAST_FOUND,             /* back: this is how */
    OC_CAST_WITHDRAW,          /* do not answer this request: somebody else is asked */
    OC_CAST_UNICAST,           /* along the tree: multicast does not work; ask for everything */
    OC_CAST_KINDS
} oc_cast_kind_t;

typedef struct {
    uint32_t first, count;     /* fragments of a block */
} oc_cast_range_t;

/* One message of any kind; which fields count depends on it. */
typedef struct {
    oc_cast_kind_t kind;
    uint32_t rank;             /* of the sender */
    uint64_t token;            /* of the group */
    uint32_t generation;       /* number of the operation */
    uint64_t serial;           /* another one for each message that the sender posts to the group */
    uint32_t block;            /* POLL, SENT, REQUEST, REPAIR, WITHDRAW: whose block;
                                  UNICAST: who is not heard, or how many ranks there are: nobody is */
    uint32_t number;           /* REQUEST, REPAIR, WITHDRAW: of the request; SENT: how many fragments were sent;
                                  POLL: as far as is known; UNICAST: the rank that does not hear */
    bool last;                 /* REPAIR: no more is sent for this request */
    uint32_t given;            /* REPAIR: fragments sent for it so far, these included */
    uint32_t recast;           /* REPAIR: others for which all get a multicast, now or just before */
    bool wait;                 /* REQUEST: also for those that you do not have yet */
    bool alone;                /* REQUEST: by message, as multicast does not help */
    uint32_t num_ranges;       /* REQUEST, REPAIR */
    oc_cast_range_t ranges[OC_CAST_MAX_RANGES];
    bool closes;               /* LEAVE: the group does without multicast from now on */
    uint32_t part;             /* CREDIT: of the window that may be used, in 1 / OC_CAST_WHOLE */
    uint32_t num_chains;       /* CREDIT; 0: nothing but the part */
    uint64_t positions[OC_CAST_MAX_CHAINS]; /* CREDIT: fragments of each chain's blocks, in rank order */
    int32_t status;            /* ABORT: oc_status_t */
    uint32_t origin, target;   /* FIND, FOUND: ranks: whose contact it is, and whom it is for */
    const uint8_t *data;       /* REPAIR: the fragments of the ranges; ABORT: a text;
                                  FIND, FOUND: a contact. Not owned */
    size_t data_length;
} oc_cast_message_t;

/*
 * Encodes all but data into at most OC_CAST_HEAD_MAX bytes, with a code of zeros
 * (multicast/core/cast_seal.h); returns how many.
 */
size_t oc_cast_encode(const oc_cast_message_t *message, uint8_t head[OC_CAST_HEAD_MAX]);

/*
 * data points into bytes. false: it makes no sense, or is of another protocol or version. Whether
 * its code fits is not known here.
 */
bool oc_cast_decode(const uint8_t *bytes, size_t length, oc_cast_message_t *message);

/* The token alone, of bytes that oc_cast_decode may refuse. false: they are no such message. */
bool oc_cast_decode_token(const uint8_t *bytes, size_t length, uint64_t *token);

#endif
