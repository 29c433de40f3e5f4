/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A member writes its own segment only, but for the flag of a failure: all numbers are counts or a
 * step's number plus one, so that zeros mean nothing has happened.
 */
#include "node/ring.h"

#include <assert.h>
#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64
#define PAGE 4096u

typedef struct {
    _Alignas(LINE) atomic_ullong published; /* 1 + the step, by the owner */
    _Alignas(LINE) atomic_ullong what;      /* of the step that was given, written before */
} place_t;

typedef struct {
    _Alignas(LINE) atomic_ullong given;
    _Alignas(LINE) atomic_ullong taken;
    _Alignas(LINE) atomic_ullong committed;
    _Alignas(LINE) atomic_ullong stopped;   /* the epoch for which it has … */
    atomic_ullong left;                     /* … and for which it has left what was before, … */
    atomic_ullong reached;                  /* … when it had given so many steps */
    _Alignas(LINE) atomic_uint armed;
    _Alignas(LINE) atomic_uint failed;      /* 1 + a member that did, itself or another one */
    char text[OC_RING_TEXT_SIZE];           /* why it did, itself */
    place_t places[];
} head_t;

struct oc_ring {
    oc_ring_shape_t shape;
    unsigned places;
    uint32_t num_members, self;
    oc_ring_member_t *members;
    const oc_doorbell_t *bell;
    uint64_t given, taken;
    bool *owned;               /* for each place: this member published its last step */
};

static size_t head_size(const oc_ring_shape_t *shape)
{
    return (sizeof(head_t) + shape->capacity * sizeof(place_t) + PAGE - 1) / PAGE * PAGE;
}

size_t oc_ring_segment_size(const oc_ring_shape_t *shape)
{
    if (shape->capacity > UINT32_MAX / sizeof(place_t)
        || shape->place_size > (size_t) INT64_MAX / 2 / shape->capacity) {
        return 0;
    }
    return head_size(shape) + shape->capacity * shape->place_size;
}

static head_t *head_of(const oc_ring_t *ring, uint32_t member)
{
    return oc_segment_memory(ring->members[member].segment);
}

static bool allocate(oc_ring_t *ring, const oc_ring_member_t *members)
{
    ring->owned = calloc(ring->shape.capacity, sizeof(*ring->owned));
    ring->members = calloc(ring->num_members, sizeof(*ring->members));
    if (NULL == ring->owned || NULL == ring->members) {
        return false;
    }
    memcpy(ring->members, members, ring->num_members * sizeof(*members));
    return true;
}

oc_status_t oc_ring_open(const oc_ring_shape_t *shape, const oc_ring_member_t *members,
                         uint32_t num_members, uint32_t self, const oc_doorbell_t *bell,
                         oc_ring_t **result)
{
    oc_ring_t *ring = calloc(1, sizeof(*ring));
    oc_status_t status = OC_OK;

    assert(shape->capacity > 0 && self < num_members);
    if (NULL != ring) {
        *ring = (oc_ring_t) {.shape = *shape, .places = shape->capacity,
                             .num_members = num_members, .self = self, .bell = bell};
    }
    if (NULL == ring || !allocate(ring, members)) {
        for (uint32_t i = 0; i < num_members; i++) {
            oc_segment_close(members[i].segment);
        }
        if (NULL != ring) {
            ring->num_members = 0;
        }
        oc_ring_close(ring);
        return OC_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < num_members; i++) {
        if (oc_segment_size(members[i].segment) != oc_ring_segment_size(shape)) {
            status = OC_ERR_INVALID;
        }
    }
    if (OC_OK != status) {
        oc_ring_close(ring);
        return status;
    }
    *result = ring;
    return OC_OK;
}

void oc_ring_close(oc_ring_t *ring)
{
    if (NULL == ring) {
        return;
    }
    for (uint32_t i = 0; i < ring->num_members; i++) {
        oc_segment_close(ring->members[i].segment);
    }
    free(ring->members);
    free(ring->owned);
    free(ring);
}

void oc_ring_hide(oc_ring_t *ring)
{
    oc_segment_hide(ring->members[ring->self].segment);
}

void oc_ring_limit(oc_ring_t *ring, unsigned places)
{
    assert(0 == ring->given);
    if (places > 0 && places < ring->shape.capacity) {
        ring->places = places;
    }
}

uint64_t oc_ring_given(const oc_ring_t *ring)
{
    return ring->given;
}

uint64_t oc_ring_taken(const oc_ring_t *ring)
{
    return ring->taken;
}

static place_t *ring_place_of(const oc_ring_t *ring, uint32_t member, uint64_t step)
{
    assert(member < ring->num_members && ring->places <= ring->shape.capacity);
    return &head_of(ring, member)->places[step % ring->places];
}

void *oc_ring_place(const oc_ring_t *ring, uint32_t member, uint64_t step)
{
    assert(member < ring->num_members);
    return (char *) head_of(ring, member) + head_size(&ring->shape)
           + step % ring->places * ring->shape.place_size;
}

size_t oc_ring_place_size(const oc_ring_t *ring)
{
    return ring->shape.place_size;
}

/*
 * Both this and oc_ring_arm exchange the flag after what they did before and before what they do
 * next: whoever comes second sees what the first did, so either the sleeper sees the change or
 * we its flag.
 */
static void wake(const oc_ring_t *ring, uint32_t member)
{
    atomic_uint *armed = &head_of(ring, member)->armed;

    if (member != ring->self && 0 != atomic_exchange_explicit(armed, 0, memory_order_acq_rel)
        && OC_IN_PROGRESS == oc_doorbell_ring(ring->bell, ring->members[member].bell)) {
        /* the next change tries again */
        (void) atomic_exchange_explicit(armed, 1, memory_order_acq_rel);
    }
}

static void wake_all(const oc_ring_t *ring)
{
    for (uint32_t i = 0; i < ring->num_members; i++) {
        wake(ring, i);
    }
}

/* The place was used places steps ago: is everybody done with that? */
bool oc_ring_has_room(const oc_ring_t *ring)
{
    uint64_t before = ring->given - ring->places;

    if (ring->given < ring->places) {
        return true;
    }
    if (ring->taken <= before) {
        return false;
    }
    for (uint32_t i = 0; ring->owned[before % ring->places] && i < ring->num_members; i++) {
        if (i != ring->self
            && atomic_load_explicit(&head_of(ring, i)->taken, memory_order_acquire) <= before) {
            return false;
        }
    }
    return true;
}

void oc_ring_give(oc_ring_t *ring, uint64_t what, uint32_t owner)
{
    assert(owner < ring->num_members && ring->given - ring->taken < ring->places);
    /* who sees this sees that the step before it in this place was taken */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&ring_place_of(ring, ring->self, ring->given)->what, what,
                          memory_order_relaxed);
    ring->owned[ring->given % ring->places] = owner == ring->self;
    ring->given++;
    atomic_store_explicit(&head_of(ring, ring->self)->given, ring->given, memory_order_release);
    wake(ring, owner);
}

static uint64_t ring_what_of(const oc_ring_t *ring, uint32_t member, uint64_t step)
{
    return atomic_load_explicit(&ring_place_of(ring, member, step)->what, memory_order_relaxed);
}

/*
 * A member begins another step in the same place when it has given all in between and taken this one, and, if that is
 * its own, when all have.
 */
static bool may_be_reused(const oc_ring_t *ring, uint32_t member, uint64_t step)
{
    const head_t *head = head_of(ring, member);

    if (ring->taken <= step && oc_ring_is_published(ring, member, step)) {
        return false;
    }
    return atomic_load_explicit(&head->given, memory_order_relaxed) >= step + ring->places
           && atomic_load_explicit(&head->taken, memory_order_relaxed) > step;
}

oc_status_t oc_ring_matches(const oc_ring_t *ring, uint32_t member, uint64_t step, uint64_t what)
{
    const atomic_ullong *given = &head_of(ring, member)->given;
    uint64_t theirs;

    if (atomic_load_explicit(given, memory_order_acquire) <= step) {
        return OC_IN_PROGRESS;
    }
    theirs = ring_what_of(ring, member, step);
    atomic_thread_fence(memory_order_acquire);
    return what == theirs || may_be_reused(ring, member, step) ? OC_OK : OC_ERR_MISMATCH;
}

oc_status_t oc_ring_has_gathered(const oc_ring_t *ring, uint64_t step, uint32_t *member)
{
    uint64_t what;

    assert(step < ring->given);
    what = ring_what_of(ring, ring->self, step);
    for (uint32_t i = 0; i < ring->num_members; i++) {
        if (i == ring->self) {
            continue;
        }
        if (atomic_load_explicit(&head_of(ring, i)->given, memory_order_acquire) <= step) {
            return OC_IN_PROGRESS;
        }
        if (what != ring_what_of(ring, i, step)) {
            *member = i;
            return OC_ERR_MISMATCH;
        }
    }
    return OC_OK;
}

void oc_ring_publish(oc_ring_t *ring, uint64_t step)
{
    atomic_store_explicit(&ring_place_of(ring, ring->self, step)->published, step + 1,
                          memory_order_release);
    wake_all(ring);
}

bool oc_ring_is_published(const oc_ring_t *ring, uint32_t owner, uint64_t step)
{
    return step + 1 == atomic_load_explicit(&ring_place_of(ring, owner, step)->published,
                                            memory_order_acquire);
}

void oc_ring_take(oc_ring_t *ring, uint32_t owner)
{
    assert(owner < ring->num_members && ring->taken < ring->given);
    ring->taken++;
    atomic_store_explicit(&head_of(ring, ring->self)->taken, ring->taken, memory_order_release);
    wake(ring, owner);
}

static void set_committed(const oc_ring_t *ring, uint64_t count)
{
    atomic_store_explicit(&head_of(ring, ring->self)->committed, count, memory_order_release);
}

void oc_ring_commit(oc_ring_t *ring, uint64_t count)
{
    set_committed(ring, count);
    wake_all(ring);
}

void oc_ring_commit_to(oc_ring_t *ring, uint64_t count, uint32_t member)
{
    set_committed(ring, count);
    wake(ring, member);
}

uint64_t oc_ring_committed(const oc_ring_t *ring)
{
    uint64_t least = UINT64_MAX, count;

    for (uint32_t i = 0; i < ring->num_members; i++) {
        count = atomic_load_explicit(&head_of(ring, i)->committed, memory_order_acquire);
        least = count < least ? count : least;
    }
    return least;
}

void oc_ring_stop(oc_ring_t *ring, uint64_t epoch)
{
    atomic_store_explicit(&head_of(ring, ring->self)->stopped, epoch, memory_order_release);
    wake_all(ring);
}

bool oc_ring_have_stopped(const oc_ring_t *ring, uint64_t epoch)
{
    for (uint32_t i = 0; i < ring->num_members; i++) {
        if (epoch != atomic_load_explicit(&head_of(ring, i)->stopped, memory_order_acquire)) {
            return false;
        }
    }
    return true;
}

void oc_ring_leave(oc_ring_t *ring, uint64_t epoch)
{
    head_t *own = head_of(ring, ring->self);

    atomic_store_explicit(&own->committed, 0, memory_order_relaxed);
    atomic_store_explicit(&own->reached, ring->given, memory_order_relaxed);
    atomic_store_explicit(&own->left, epoch, memory_order_release);
    wake_all(ring);
}

bool oc_ring_restart(oc_ring_t *ring, uint64_t epoch)
{
    head_t *own = head_of(ring, ring->self);
    uint64_t start = 0, reached;

    for (uint32_t i = 0; i < ring->num_members; i++) {
        if (epoch != atomic_load_explicit(&head_of(ring, i)->left, memory_order_acquire)) {
            return false;
        }
        reached = atomic_load_explicit(&head_of(ring, i)->reached, memory_order_relaxed);
        start = reached > start ? reached : start;
    }
    ring->given = ring->taken = start;
    atomic_store_explicit(&own->taken, start, memory_order_release);
    atomic_store_explicit(&own->given, start, memory_order_release);
    return true;
}

bool oc_ring_member_lives(const oc_ring_t *ring, uint32_t member)
{
    return oc_segment_maker_lives(ring->members[member].segment);
}

void oc_ring_fail(oc_ring_t *ring, const char *text)
{
    head_t *own = head_of(ring, ring->self);
    unsigned mark = ring->self + 1, nobody;

    if ('\0' == own->text[0]) {
        snprintf(own->text, sizeof(own->text), "%s", text);
    }
    for (uint32_t i = 0; i < ring->num_members; i++) {
        nobody = 0;
        if (i != ring->self) {
            (void) atomic_compare_exchange_strong_explicit(&head_of(ring, i)->failed, &nobody,
                                                           mark, memory_order_release,
                                                           memory_order_relaxed);
        }
    }
    wake_all(ring);
}

bool oc_ring_has_failed(const oc_ring_t *ring, uint32_t *member, char text[OC_RING_TEXT_SIZE])
{
    unsigned mark = atomic_load_explicit(&head_of(ring, ring->self)->failed,
                                         memory_order_acquire);
    const char *said;

    if (0 == mark) {
        return false;
    }
    *member = (mark - 1) % ring->num_members;
    said = head_of(ring, *member)->text;
    for (int i = 0; i < OC_RING_TEXT_SIZE; i++) {
        text[i] = said[i];
        if ('\0' == text[i]) {
            break;
        }
        text[i] = isprint((unsigned char) text[i]) ? text[i] : '?';
    }
    text[OC_RING_TEXT_SIZE - 1] = '\0';
    return true;
}

void oc_ring_arm(oc_ring_t *ring)
{
    (void) atomic_exchange_explicit(&head_of(ring, ring->self)->armed, 1, memory_order_acq_rel);
}

void oc_ring_disarm(oc_ring_t *ring)
{
    (void) atomic_exchange_explicit(&head_of(ring, ring->self)->armed, 0, memory_order_acq_rel);
}
