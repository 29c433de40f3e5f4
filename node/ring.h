/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream of steps that the processes of one host, the members, do together in shared memory. In
 * each step all members give something, one of them, the owner, makes one thing of all that, and
 * all take it. Each member has a ring of places in a segment of its own, a place for a step; steps
 * that are no further apart than there are places go on at the same time.
 *
 *   each member:    has_room, fills its place, gives
 *   the owner:      has_gathered, reads all places, fills its own, publishes
 *   each member:    is_published, reads the owner's place, takes
 *
 * All members give and take in the order of the steps; owners publish in any order. A member's
 * place is free again when it has taken the result itself and, where it was the owner, when all
 * have. Whoever waits for the lowest step that is not over everywhere waits for nothing
 * else, so the stream never stands still by itself.
 *
 * Nothing here waits. What is in the segments of others is not trusted: it can be wrong, but it
 * leads nowhere.
 *
 * Threads: one at a time for each member.
 */
#ifndef OC_NODE_RING_H
#define OC_NODE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "node/doorbell.h"
#include "node/segment.h"

#define OC_RING_TEXT_SIZE 512

typedef struct oc_ring oc_ring_t;

typedef struct {
    unsigned capacity;         /* places in each segment, >= 1 */
    size_t place_size;         /* bytes */
} oc_ring_shape_t;

typedef struct {
    oc_segment_t *segment;
    uint8_t bell[OC_DOORBELL_NAME_SIZE];
} oc_ring_member_t;

/* Of the segment that each member makes; 0: more than there can be. */
size_t oc_ring_segment_size(const oc_ring_shape_t *shape);

/*
 * Copies members and takes their segments over, also on an error, which is OC_ERR_INVALID when a
 * segment has another size. bell is this member's own and stays the caller's.
 */
oc_status_t oc_ring_open(const oc_ring_shape_t *shape, const oc_ring_member_t *members,
                         uint32_t num_members, uint32_t self, const oc_doorbell_t *bell,
                         oc_ring_t **ring);

/* NULL is allowed. */
void oc_ring_close(oc_ring_t *ring);

/* Before the first step, by all members alike: fewer places than there are. */
void oc_ring_limit(oc_ring_t *ring, unsigned places);

/* All members have opened their rings: this one's segment is nobody else's affair. */
void oc_ring_hide(oc_ring_t *ring);

/* Steps that this member has given, and those whose result it has taken. */
uint64_t oc_ring_given(const oc_ring_t *ring);
uint64_t oc_ring_taken(const oc_ring_t *ring);

/* Whether this member's place for the next step that it gives is free. */
bool oc_ring_has_room(const oc_ring_t *ring);

/* The next step is in this member's place. what has to be the same for all members. */
void oc_ring_give(oc_ring_t *ring, uint64_t what, uint32_t owner);

/*
 * For the owner, who has given the step: OC_OK when all others have; OC_ERR_MISMATCH and which
 * member it is when one does something else.
 */
oc_status_t oc_ring_has_gathered(const oc_ring_t *ring, uint64_t step, uint32_t *member);

/*
 * Whether a member has given a step as the same thing: OC_IN_PROGRESS, it has not given it; OC_ERR_MISMATCH, it is
 * something else there. OC_OK also if it has gone so far past it that nobody knows any more.
 */
oc_status_t oc_ring_matches(const oc_ring_t *ring, uint32_t member, uint64_t step, uint64_t what);

void *oc_ring_place(const oc_ring_t *ring, uint32_t member, uint64_t step);
size_t oc_ring_place_size(const oc_ring_t *ring);

/* For the owner: the result is in its place. */
void oc_ring_publish(oc_ring_t *ring, uint64_t step);

bool oc_ring_is_published(const oc_ring_t *ring, uint32_t owner, uint64_t step);

/* This member has read the result of the next step that it takes. */
void oc_ring_take(oc_ring_t *ring, uint32_t owner);

/*
 * Beside the steps each member tells how many things it has committed, whatever they are: a count
 * that only grows. And what all members, this one included, have at least.
 */
void oc_ring_commit(oc_ring_t *ring, uint64_t count);
/* The same, for the one member that may wait for it: others are not woken. */
void oc_ring_commit_to(oc_ring_t *ring, uint64_t count, uint32_t member);
uint64_t oc_ring_committed(const oc_ring_t *ring);

/*
 * The stream can begin anew for all members, at a step that none of them has given: in an epoch, a number that is not 0
 * and of which no other is told meanwhile.
 *
 *   each member:    stops: gives, publishes and takes nothing any more
 *                   have_stopped: reads what others have published, from their places, in any order
 *                   leaves all that behind
 *                   restarts: true when all members have left
 */
void oc_ring_stop(oc_ring_t *ring, uint64_t epoch);
bool oc_ring_have_stopped(const oc_ring_t *ring, uint64_t epoch);
void oc_ring_leave(oc_ring_t *ring, uint64_t epoch);
/* The next step that is given is oc_ring_given; what was committed counts from 0 again. */
bool oc_ring_restart(oc_ring_t *ring, uint64_t epoch);

/* Whether a member's process has not ended, as far as that can be known; a system call. */
bool oc_ring_member_lives(const oc_ring_t *ring, uint32_t member);

/* Tells all others that nothing will come any more, and why. The first words count. */
void oc_ring_fail(oc_ring_t *ring, const char *text);

/* Whether another member has failed, with its words; what cannot be printed is '?'. */
bool oc_ring_has_failed(const oc_ring_t *ring, uint32_t *member, char text[OC_RING_TEXT_SIZE]);

/*
 * Asks for one ring of the own bell when another member does something that this one may wait for.
 * What was done before is not rung for: look for it after this and before sleeping.
 */
void oc_ring_arm(oc_ring_t *ring);

/* Takes that back: this member does not sleep. A ring may be under way. */
void oc_ring_disarm(oc_ring_t *ring);

#endif
