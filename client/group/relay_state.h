/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is under way in a group whose leaders multicast for their hosts, and its end. Callers hold
 * the lock of the client.
 */
#ifndef OC_CLIENT_GROUP_RELAY_STATE_H
#define OC_CLIENT_GROUP_RELAY_STATE_H

#include "client/group/relay_map.h"

/* Of the ring, and of the node's ranks. */
#define OC_RELAY_LEADER 0u

/* Where those stand in a stream that give blocks, and those who take them. */
typedef struct {
    uint32_t member;           /* whose block; none is left if there is no such member */
    size_t at;                 /* bytes of it that are over */
} oc_relay_cursor_t;

struct oc_relay {
    oc_group_t *group;
    oc_collective_t *collective;
    const oc_cast_args_t *args;
    oc_relay_t *behind;        /* begun after it; NULL: none, or this is the second one itself */
    uint64_t number;           /* among the operations of the group, from 1 on */
    oc_relay_map_t map;
    uint64_t what;             /* has to be the same for all ranks of the host */
    bool open;                 /* its blocks may come … */
    uint64_t first;            /* … from this step on, which is its own, if it has any before the end of the one before */
    oc_relay_cursor_t give, take;
    oc_status_t status;        /* not OC_OK: the group has failed */
    bool over;                 /* nothing more is to be done */
    uint64_t looked;           /* when something moved last, or it was looked whether others live */
    bool closed;               /* as in the last piece */
    /* of a leader: */
    oc_cast_group_t *cast;     /* that has the operation */
    uint8_t *vector;           /* packed: the caller's buffer, or … */
    bool own_vector;           /* … its own, whose parts are copied */
    size_t ready;              /* bytes of its host's block that are in the vector */
    bool cast_over;            /* multicast is done with the vector */
    size_t *handed;            /* bytes of each host's block; of its own, of its own rank's */
    size_t left;               /* bytes that are still to be handed on */
    uint32_t next_host;        /* whose are handed on next */
    unsigned long long news;   /* fragments that had arrived when there was too little to hand on */
    unsigned long long corrupted; /* blocks, when it began */
};

/* Whether this rank is the leader of its host. */
bool oc_relay_leads(const oc_relay_t *relay);
/* Of a member of the ring: its rank, and the bytes of its block. */
uint32_t oc_relay_rank_of(const oc_relay_t *relay, uint32_t member);
size_t oc_relay_member_length(const oc_relay_t *relay, uint32_t member);

/* All blocks are over for the cursor. */
bool oc_relay_is_at_end(const oc_relay_t *relay, const oc_relay_cursor_t *cursor);
/* Of a group's first operation: the one whose blocks come now, which is it or the one behind it. */
oc_relay_t *oc_relay_giver(oc_relay_t *relay);
/* Whether this rank has taken all blocks, and those of the operation behind it, if that has begun its steps. */
bool oc_relay_has_taken_blocks(const oc_relay_t *relay);

/* The next step of the ring is its first one, or the first after those of the one before. */
void oc_relay_open(oc_relay_t *relay);

/*
 * The group has failed with this status: its operations end as soon as nothing refers to their
 * memory.
 */
void oc_relay_fail(oc_group_t *group, oc_status_t status);

/* Frees the first one without calling back, once multicast has let go of it; the one behind it is the first one then. */
void oc_relay_drop(oc_group_t *group);

/* One that belongs to no group. */
void oc_relay_free(oc_relay_t *relay);

#endif
