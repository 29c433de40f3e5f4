/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks give to each other, and the look at what they got. */
#include "tests/engine/casting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

oc_job_settings_t cast_settings(void)
{
    oc_job_settings_t settings = test_settings("embedded");

    settings.multicast = OC_MULTICAST_UDP;
    settings.multicast_interface = "lo";
    return settings;
}

static uint8_t value_of(uint32_t rank, size_t i, unsigned seed)
{
    return (uint8_t) (i * 31 + (i >> 8) * 7 + rank * 101 + seed * 13 + 1);
}

void casting_fill(uint8_t *to, size_t length, uint32_t rank, unsigned seed)
{
    for (size_t i = 0; i < length; i++) {
        to[i] = value_of(rank, i, seed);
    }
}

bool casting_fits(const uint8_t *at, size_t length, uint32_t rank, unsigned seed)
{
    for (size_t i = 0; i < length; i++) {
        if (at[i] != value_of(rank, i, seed)) {
            fprintf(stderr, "byte %zu of %zu of rank %u is %u, not %u\n", i, length, rank, at[i],
                    value_of(rank, i, seed));
            return false;
        }
    }
    return true;
}

void casting_lay_out(const rank_t *rank, allgather_t *a, const size_t *lengths, size_t gap,
                    unsigned seed)
{
    *a = (allgather_t) {.seed = seed};
    for (uint32_t i = 0; i < rank->num_ranks; i++) {
        a->offsets[i] = a->size;
        a->lengths[i] = lengths[i];
        a->size += lengths[i] + gap;
    }
    a->send = malloc(lengths[rank->rank] + 1);
    a->recv = malloc(a->size + 1);
    memset(a->recv, 0xee, a->size + 1);
    casting_fill(a->send, lengths[rank->rank], rank->rank, seed);
}

void casting_start(rank_t *rank, unsigned group, allgather_t *a, bool in_place, bool equal)
{
    oc_allgather_args_t args = {
        .send = a->send, .recv = a->recv, .lengths = a->lengths, .offsets = a->offsets,
        .send_device = a->device, .finished = rank_on_finished, .arg = &a->outcome,
        .blocking = !a->nonblocking};
    oc_status_t status;

    if (in_place) {
        args.send = NULL;
        memcpy(a->recv + a->offsets[rank->rank], a->send, a->lengths[rank->rank]);
    }
    if (equal) {
        args.lengths = args.offsets = NULL;
        args.block = a->lengths[0];
    }
    status = oc_allgather_start(rank_group(rank, group), &args);
    if (OC_OK != status) {
        a->outcome = (outcome_t) {.done = true, .status = status};
    }
}

void casting_release(allgather_t *a)
{
    free(a->send);
    free(a->recv);
}

void casting_check(const rank_t *rank, allgather_t *a, size_t gap)
{
    CHECK(OC_OK == a->outcome.status);
    for (uint32_t i = 0; i < rank->num_ranks; i++) {
        const uint8_t *end = a->recv + a->offsets[i] + a->lengths[i];

        CHECK(casting_fits(a->recv + a->offsets[i], a->lengths[i], i, a->seed));
        for (size_t k = 0; k < gap; k++) {
            CHECK(0xee == end[k]);
        }
    }
    casting_release(a);
}

void casting_allgather(rank_t *rank, unsigned group, size_t block, bool in_place, unsigned seed)
{
    size_t lengths[MAX_TEST_RANKS];
    allgather_t a;

    for (uint32_t i = 0; i < rank->num_ranks; i++) {
        lengths[i] = block;
    }
    casting_lay_out(rank, &a, lengths, 0, seed);
    casting_start(rank, group, &a, in_place, true);
    CHECK(rank_wait(rank, &a.outcome, 1, 20));
    casting_check(rank, &a, 0);
}

/* What a root sends. */
#define BCAST_SEED 77

oc_status_t casting_start_bcast(rank_t *rank, unsigned group, uint8_t *buffer, size_t length,
                                uint32_t root, bool blocking, outcome_t *outcome)
{
    oc_bcast_args_t args = {.buffer = buffer, .length = length, .root = root,
                            .blocking = blocking, .finished = rank_on_finished, .arg = outcome};

    if (rank->rank == root) {
        casting_fill(buffer, length, root, BCAST_SEED);
    }
    return oc_bcast_start(rank_group(rank, group), &args);
}

bool casting_has_bcast(const uint8_t *buffer, size_t length, uint32_t root)
{
    return casting_fits(buffer, length, root, BCAST_SEED);
}

void casting_bcast(rank_t *rank, unsigned group, size_t length, uint32_t root)
{
    uint8_t *buffer = calloc(1, length);
    outcome_t outcome = {0};

    CHECK(OC_OK == casting_start_bcast(rank, group, buffer, length, root, true, &outcome));
    CHECK(rank_wait(rank, &outcome, 1, 20));
    CHECK(OC_OK == outcome.status && casting_has_bcast(buffer, length, root));
    free(buffer);
}

void casting_outlive(rank_t *rank)
{
    uint64_t begun = oc_clock_ns();

    /* whoever noticed first does not go before the other has heard it; one does not come */
    atomic_fetch_add(&rank->shared->operations, 1);
    while (atomic_load(&rank->shared->operations) < rank->num_ranks - 1) {
        CHECK(oc_clock_ns() < begun + 20 * OC_SECOND);
        (void) oc_client_progress(rank->client);
        usleep(1000);
    }
}
