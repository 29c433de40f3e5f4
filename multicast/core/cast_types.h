/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data model of the reliable broadcast protocol, on one page.
 *
 *   group --< operation            queued, active (at most one) or finished
 *               --< block          what one rank gives to all: fragments, bits, checksum
 *               --< chain          ranks that send one after the other
 *               --< request        fragments that this rank asked a peer for
 *               --< service        fragments that a peer asked this rank for
 *
 * Generations count a group's operations from 1 on, and are compared modulo 2^32.
 */
#ifndef OC_MULTICAST_CORE_CAST_TYPES_H
#define OC_MULTICAST_CORE_CAST_TYPES_H

#include "base/clock.h"
#include "multicast/core/cast_core.h"
#include "multicast/core/cast_seal.h"
#include "multicast/wire/cast_message.h"

#define OC_CAST_REASON_SIZE 256

/* Bytes behind the data of each block: its CRC32C. */
#define OC_CAST_TRAILER 4u

/* Ranks below one in the tree. */
#define OC_CAST_RADIX (OC_CAST_NEIGHBOURS - 1u)

/* Requests of one peer that are held; a rank never asks for more before it has answers. */
#define OC_CAST_MAX_SERVICES 16u

/* The time in which so many fragments should arrive, within these bounds. */
#define OC_CAST_MIN_REORDER       (OC_MILLISECOND / 4)
#define OC_CAST_MAX_REORDER       (4 * OC_MILLISECOND)
#define OC_CAST_REORDER_FRAGMENTS 64u

/* Who waits for an answer is told so often that it is being seen to. */
#define OC_CAST_ASSURANCE (50 * OC_MILLISECOND)

/* A chain that is silent for so long no longer keeps the others waiting. */
#define OC_CAST_STALL (20 * OC_MILLISECOND)

/* Time that passes while nobody calls progress is this rank's own: only so much of it counts. */
#define OC_CAST_MAX_STEP (100 * OC_MILLISECOND)

typedef struct oc_cast_service oc_cast_service_t;

typedef struct {
    size_t offset, length;     /* in recv; bytes */
    uint32_t fragments;        /* 0: the block is empty */
    uint32_t chain;
    uint32_t before;           /* the rank before in its chain whose block is not empty; itself: none */
    uint64_t first;            /* number of its first bit in the bitmaps */
    uint64_t start;            /* fragments of its chain that come before it */
    uint32_t received;         /* bits set */
    uint32_t high;             /* so many have been sent, as far as this rank knows */
    uint32_t mark;             /* high as it was at the look before */
    uint32_t came, marked;     /* by multicast, as first sent: until now, and when mark was high */
    uint32_t expected, counted; /* what should be here and what came, as the group's reception has it */
    bool told;                 /* mark was told since the last look */
    uint32_t tellings, came_when_told; /* that more was sent, while nothing came; and came, at the last one */
    bool silent;               /* more was sent, and nothing came … */
    uint64_t silent_since;     /* … since then, in the time of the group's reception */
    uint32_t clean;            /* what is missing below has been asked for */
    uint32_t summed;           /* so many are in crc */
    uint32_t crc;
    uint8_t trailer[OC_CAST_TRAILER];
    unsigned failures;         /* of its checksum */
    unsigned attempt;          /* which kind of source is asked next */
    uint32_t news;             /* received, as it was at the last look or repair */
    unsigned missed;           /* requests of which what was multicast again did not come */
    bool complete;             /* all there, and the checksum fits */
    uint32_t requests;         /* that are out for it */
    uint32_t held;             /* polls about it in polls, of the operation */
    oc_cast_service_t *services; /* of it */
    bool polled;               /* whether more was sent has not been answered yet */
    uint64_t heard;            /* time of the last news of it */
    uint64_t ended;            /* when it was known to have been sent to its end */
    uint64_t patience;         /* silence after which that is asked */
} oc_block_t;

typedef struct {
    uint32_t first_rank, end_rank;
    uint64_t fragments;        /* of all its blocks */
    uint64_t position;         /* of those, known to have been sent */
    uint64_t forgiven;         /* what is lost below was on its way when the window was made smaller last */
    uint32_t awaited;          /* its first rank whose block is not known to be sent; end_rank: none */
    uint64_t heard;            /* time when position grew last */
    uint64_t came;             /* by multicast, as first sent */
    uint64_t told;             /* what was last said to have passed this rank and all below */
    uint64_t credit, credited; /* what has passed all ranks, and when that was news */
} oc_chain_t;

typedef struct oc_cast_request {
    uint32_t number, source, block;
    bool wait;                 /* the source answers also with what it does not have yet */
    bool near;                 /* the source is on this host */
    unsigned attempt;          /* which kind of source it is */
    uint64_t asked, fed, deadline; /* fed: something has come of it, or it was asked */
    uint32_t fragments;
    uint32_t given, taken;     /* that were sent, once it is known (answered), and have come */
    bool answered;
    bool recast;               /* some come by multicast, and are not here yet */
    uint64_t heard;            /* datagrams that had come when it was sent */
    uint32_t num_ranges;
    oc_cast_range_t ranges[OC_CAST_MAX_RANGES];
    struct oc_cast_request *prev, *next;
} oc_cast_request_t;

/* Of the requests that are out. */
typedef struct {
    uint32_t requests;
    uint64_t fragments;
} oc_cast_budget_t;

struct oc_cast_service {
    uint32_t requester, number, block;
    uint32_t range, done;      /* where it goes on: a range, and fragments of it */
    uint32_t num_ranges;
    oc_cast_range_t ranges[OC_CAST_MAX_RANGES];
    bool wait;                 /* for what is not here yet: left */
    bool alone;                /* nothing of it is multicast again */
    bool answered;
    uint64_t told;             /* time of the last answer */
    uint32_t given;            /* fragments that were sent */
    uint32_t recast;           /* fragments that are not sent, because all get them again */
    uint64_t due;              /* it is not answered before, so that others may ask, too */
    bool parked;               /* all that was here was sent … */
    uint32_t seen;             /* … and this was the news of the block when it was looked for */
    uint32_t num_left;
    struct oc_cast_service *prev, *next;
    struct oc_cast_service *prev_of_block, *next_of_block;
    oc_cast_range_t left[];         /* OC_CAST_MAX_RANGES if it waits */
};

/* A peer that waits for an answer to its POLL. */
typedef struct oc_cast_poll {
    uint32_t rank, owner;
    uint32_t known;            /* fragments that it knows to have been sent */
    struct oc_cast_poll *prev, *next;
} oc_cast_poll_t;

typedef enum {
    OC_CAST_QUEUED,
    OC_CAST_ENTERING,          /* waits until all ranks have entered */
    OC_CAST_RUNNING,           /* blocks are under way */
    OC_CAST_LEAVING,           /* all ranks have everything; messages have to leave */
} oc_cast_state_t;

/* What the other one of two groups that alternate lets a group do; see alternate.c. */
typedef enum {
    OC_CAST_MAY_BEGIN,         /* whatever there is to do */
    OC_CAST_MAY_ENTER,         /* its operation is announced, and does not begin */
    OC_CAST_MAY_WAIT,          /* its operation stays in the queue */
} oc_cast_leave_t;

/* What is multicast again; see recast.c. Bitmaps of fragments. */
typedef struct {
    size_t words;              /* of each bitmap */
    uint16_t *given;           /* by fragment: to which other host this rank has given it, plus 1 */
    uint64_t *lately[2];       /* multicast again, in this epoch and in the last one */
    bool noted[2];             /* something was */
    uint64_t epoch_ends;
    uint8_t *payload;          /* of one fragment */
} oc_recast_t;

/* How fast a link is in an operation; see pace.c. */
typedef struct {
    uint64_t fragments, time;  /* so many came within that, in ns */
    uint64_t last;             /* when the last of them did */
} oc_pace_t;

typedef struct oc_cast_operation {
    oc_cast_args_t args;
    size_t *lengths, *offsets; /* copies, or NULL */
    oc_cast_state_t state;
    uint32_t generation;
    bool reported;             /* ENTER was sent, or GO by the root */
    bool let_go;               /* GO was passed on: all have entered */
    bool done_reported;        /* the same for DONE and LEAVE */
    oc_block_t *blocks;        /* from ENTERING on, as all below */
    uint32_t incomplete;       /* blocks */
    bool expects_all;          /* multicast is over: all may be asked for */
    uint64_t *open;            /* bitmap of blocks, see open_blocks.h */
    uint64_t received;         /* fragments of all blocks */
    uint64_t heard;            /* datagrams of others' blocks that have come by multicast */
    uint64_t *present;         /* bitmaps: fragment is here, … */
    uint64_t *asked;           /* … was asked for and may still come, … */
    uint64_t *lost;            /* … was ever asked for, or came because others did */
    oc_chain_t *chains;
    uint32_t num_chains, senders; /* senders: chains that are not empty */
    uint64_t coming;           /* fragments of all chains that are not known to be sent */
    uint64_t fragments;        /* of all chains */
    bool together;             /* all ranks send at once */
    bool holds_back;           /* a chain has more to send than it may be ahead, so that windows matter */
    uint32_t ahead;            /* fragments that a chain may be ahead of the others, with the whole window … */
    double most;               /* … and that are under way to a rank then */
    uint32_t part;             /* of the window that all ranks have room for, as a CREDIT says it */
    uint32_t part_told;        /* what was last said of this rank and all below */
    const uint8_t *source;     /* own block */
    uint8_t *batch;            /* own fragments that are being sent; NULL: they are sent from source */
    uint8_t *tail;             /* end of own block, with the trailer: where it is not contiguous */
    uint32_t sent;             /* own fragments */
    uint32_t sealed;           /* own fragments that have a code: of the last of them it is kept */
    uint8_t codes[OC_MAX_BATCH][OC_MAC_SIZE];
    bool turn;                 /* this rank may send … */
    bool turn_passed;          /* … and so may the next one of its chain */
    bool blocked;              /* the network had no room */
    uint32_t grace;            /* own fragments that may be sent while all others are stalled … */
    uint64_t grace_until;      /* … until then */
    uint64_t begun, look_at;
    uint64_t cast;             /* fragments that came by multicast or were sent … */
    uint64_t cast_at;          /* … and when the last of those that came did */
    uint64_t early;            /* of cast, those that came before this rank began */
    oc_pace_t pace;
    uint64_t looked;           /* fragments that had come or were sent at the last look */
    uint64_t moved, moved_at;  /* fragments that have passed this rank and all below, and when the last did */
    bool look_again;           /* before that time */
    bool look_news;            /* something has come or was told since the last look, or … */
    uint32_t quiet;            /* … looks since it did */
    uint64_t poll_at;          /* when blocks of which nothing comes are polled again, before that time */
    oc_cast_request_t *requests;
    uint32_t next_request;
    oc_cast_budget_t asked_of[2]; /* of requests to other hosts, and to this one */
    uint8_t *unanswered;       /* by rank: requests that it has not answered to the end */
    uint8_t *overdue;          /* by rank: those of them that are past their deadline */
    oc_cast_service_t *services;
    uint8_t *served;           /* by rank: services for it */
    oc_recast_t recast;
    bool in_vain;              /* what was multicast again did not come, nor anything since it was asked for */
    oc_cast_poll_t *polls;     /* of peers that wait for an answer, … */
    uint32_t num_polls;        /* … at most as many as ranks (poll.h) */
    bool poll_news;            /* more was sent of a block that one is about */
    struct oc_cast_operation *prev, *next;
} oc_cast_operation_t;

/* A rank above or below in the tree. */
typedef struct {
    uint32_t rank;
    uint32_t entered, done;    /* the last generation of which it said so; of children */
    uint32_t passing;          /* the generation that passed is of */
    /* by chain: fragments that have passed it and all below; of children */
    uint64_t passed[OC_CAST_MAX_CHAINS];
    uint32_t part;             /* of the window that it and all below have room for */
    uint64_t credited;         /* serial number of the last CREDIT */
    uint64_t patience;         /* ns of silence before a PING */
    uint64_t ping_at;          /* when that will be */
} oc_neighbour_t;

typedef struct {
    uint8_t *padding;          /* what a probe carries */
    bool *heard;               /* by rank: a datagram of it has come */
    uint8_t *answers;          /* by rank: probes sent on request that did not */
    uint32_t missing;          /* ranks that were not heard */
    unsigned sent;
    bool over;                 /* all ranks have heard all: only who asks gets one */
    uint8_t *asks;             /* by rank: it asks for a probe */
    uint32_t askers;           /* how many do */
    uint64_t next, interval;   /* of unsolicited probes */
    uint64_t ask_at, pause;    /* pause: between asking */
    bool ask_soon;             /* there was news */
    uint32_t stranger;         /* where the search for one to be asked goes on */
    uint64_t silence;          /* ns without any news while some are missing */
} oc_probe_t;

/* A message for a rank that is not known yet. */
typedef struct oc_cast_held oc_cast_held_t;

/* Ranks that are no neighbours. */
typedef struct {
    oc_cast_held_t *held;      /* in order */
    uint64_t next, pause;      /* when their ranks are looked for again; next 0: a pause from now on */
    bool starved;              /* there was no memory to hold one */
} oc_cast_route_t;

/* What has become of fragments that a rank, or any, has multicast. */
typedef struct {
    uint32_t arrived, expected; /* in this epoch */
    uint32_t dry;              /* expected in the epochs before in which next to nothing came */
    uint32_t since;            /* the generation in which the first of those ended */
    uint32_t dead;             /* expected in the epochs before in which nothing came */
} oc_heard_t;

/* Operations in which this rank was away, since anything of anybody has come. */
typedef struct {
    uint32_t operations, generation; /* how many, and the last of them */
    uint32_t expected;         /* fragments */
} oc_away_t;

typedef struct {
    oc_heard_t *of;            /* by rank, and behind the last one of all together */
    uint32_t lost;             /* the first of them that is; UINT32_MAX: none */
    uint32_t excused;          /* the generation of which nothing counts … */
    oc_away_t away;            /* … unless there are too many of them */
    bool absent;               /* nothing counts now */
    uint64_t watched;          /* ns in which operations ran and this rank looked */
} oc_reception_t;

/* Hosts in the order of their numbers, and their ranks in rising order. */
typedef struct {
    uint32_t count;
    uint32_t *of;              /* by rank: its host */
    uint32_t *ranks;           /* those of the first host, then those of the second, ... */
    uint32_t *at;              /* by rank: where it is among those */
    uint32_t *first;           /* by host, and behind the last one: where its ranks begin */
} oc_cast_hosts_t;

struct oc_cast_group {
    oc_cast_config_t config;
    uint32_t *hosts;
    oc_cast_hosts_t places;
    uint32_t payload;          /* bytes of a fragment */
    oc_status_t status;        /* OC_OK, or why it has failed */
    char reason[OC_CAST_REASON_SIZE];
    oc_probe_t probe;
    oc_cast_route_t route;
    oc_neighbour_t neighbours[OC_CAST_NEIGHBOURS]; /* children, then the parent */
    uint32_t num_children, num_neighbours;
    uint32_t go, leave, turn;  /* the last generation of which this rank was told */
    uint32_t generation;       /* of the last operation that became active … */
    uint64_t operations;       /* … which is the lower half of how many did */
    oc_cast_seal_t *seal;
    uint64_t serial;           /* of the last message that was posted */
    uint64_t *serials;         /* by rank: the highest that came */
    uint32_t rotation;         /* of sources */
    oc_reception_t reception;
    double backoff;            /* the part of the window that this rank has room for; see backoff.c */
    double rate;               /* fragments a ns that came by multicast in the best operation; 0: not known */
    bool unicast;              /* multicast does not work, because rank unreached does not hear … */
    uint32_t unheard, unreached; /* … rank unheard; num_ranks: anybody */
    bool closed;               /* all ranks know since the same operation that multicast is over */
    uint64_t reorder;          /* ns in which OC_CAST_REORDER_FRAGMENTS come */
    uint64_t stalling;         /* as reorder, but with the time for which nothing came */
    uint64_t patience;         /* ns in which what is multicast again should be here */
    uint32_t silent;           /* fragments in whose time an owner has to be heard, see poll.c */
    uint64_t round_trip;       /* smoothed, of requests; doubled by those that take too long */
    uint64_t stepped;          /* time of the last progress */
    oc_cast_operation_t *active, *queue;
    unsigned pending;          /* operations of both */
    oc_cast_leave_t may;       /* those that have not begun */
    bool ended;                /* one has, well, and the other group has not been told */
    oc_cast_group_t *other;    /* that it alternates with; NULL: none */
    bool has_news;             /* from there, to be looked at */
    uint8_t *scratch;          /* OC_CAST_MESSAGE_MAX bytes */
};

/* How many operations there were with that of a generation, which is one of the last or next. */
static inline uint64_t oc_cast_operations(const oc_cast_group_t *group, uint32_t generation)
{
    return group->operations + (uint64_t) (int64_t) (int32_t) (generation - group->generation);
}

/* Whether generation a is b or a later one. */
static inline bool oc_cast_reached(uint32_t a, uint32_t b)
{
    return (int32_t) (a - b) >= 0;
}

static inline bool oc_bit(const uint64_t *bits, uint64_t number)
{
    return bits[number / 64] >> (number % 64) & 1;
}

static inline void oc_bit_set(uint64_t *bits, uint64_t number)
{
    bits[number / 64] |= 1ull << (number % 64);
}

static inline void oc_bit_clear(uint64_t *bits, uint64_t number)
{
    bits[number / 64] &= ~(1ull << (number % 64));
}

#endif
