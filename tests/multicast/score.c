/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns reference results and buffers. */
#include "tests/multicast/score.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

/* Around each receive buffer; odd, so that nothing is aligned. */
#define GUARD 67

#define GUARD_BYTE   0xa5
#define MISSING_BYTE 0x5a    /* not received yet */
#define BACK_BYTE    0xee    /* in buffers that were given back */

static void *get_memory(size_t size)
{
    void *memory = calloc(1, size > 0 ? size : 1);

    if (NULL == memory) {
        abort();
    }
    return memory;
}

static void fill(uint8_t *at, size_t length, uint64_t key)
{
    oc_random_t random = {.state = key};

    while (length > 0) {
        uint64_t word = oc_random(&random);
        size_t piece = length < sizeof(word) ? length : sizeof(word);

        memcpy(at, &word, piece);
        at += piece;
        length -= piece;
    }
}

void score_init(score_t *score, unsigned num_ranks, size_t block, const size_t *lengths,
                size_t gap, uint64_t key)
{
    score->num_ranks = num_ranks;
    score->gap = gap;
    score->lengths = get_memory(num_ranks * sizeof(size_t));
    score->offsets = get_memory(num_ranks * sizeof(size_t));
    score->span = 0;
    for (unsigned i = 0; i < num_ranks; i++) {
        score->lengths[i] = NULL == lengths ? block : lengths[i];
        score->offsets[i] = score->span;
        score->span += score->lengths[i] + gap;
    }
    score->reference = get_memory(score->span);
    memset(score->reference, GUARD_BYTE, score->span);
    for (unsigned i = 0; i < num_ranks; i++) {
        fill(score->reference + score->offsets[i], score->lengths[i], key ^ i);
    }
}

void score_free(score_t *score)
{
    free(score->lengths);
    free(score->offsets);
    free(score->reference);
}

void buffers_init(buffers_t *buffers, const score_t *score, unsigned rank, bool in_place)
{
    const uint8_t *own = score->reference + score->offsets[rank];
    size_t length = score->lengths[rank];

    buffers->score = score;
    buffers->rank = rank;
    buffers->memory = get_memory(score->span + 2 * GUARD);
    buffers->recv = buffers->memory + GUARD;
    memset(buffers->memory, GUARD_BYTE, score->span + 2 * GUARD);
    for (unsigned i = 0; i < score->num_ranks; i++) {
        memset(buffers->recv + score->offsets[i], MISSING_BYTE, score->lengths[i]);
    }
    buffers->send = in_place ? NULL : get_memory(length);
    memcpy(in_place ? buffers->recv + score->offsets[rank] : buffers->send, own, length);
}

void buffers_free(buffers_t *buffers)
{
    free(buffers->memory);
    free(buffers->send);
}

static bool are_all(const uint8_t *at, size_t length, uint8_t value)
{
    for (size_t i = 0; i < length; i++) {
        if (at[i] != value) {
            return false;
        }
    }
    return true;
}

static bool guards_are_whole(const buffers_t *buffers)
{
    return are_all(buffers->memory, GUARD, GUARD_BYTE)
           && are_all(buffers->recv + buffers->score->span, GUARD, GUARD_BYTE);
}

static bool gaps_are_whole(const buffers_t *buffers)
{
    const score_t *score = buffers->score;

    for (unsigned i = 0; i < score->num_ranks; i++) {
        if (!are_all(buffers->recv + score->offsets[i] + score->lengths[i], score->gap,
                     GUARD_BYTE)) {
            return false;
        }
    }
    return true;
}

static bool check_block(const buffers_t *buffers, unsigned number, char *text, size_t size)
{
    const score_t *score = buffers->score;
    const uint8_t *is = buffers->recv + score->offsets[number];
    const uint8_t *should = score->reference + score->offsets[number];
    size_t at = 0;

    if (0 == memcmp(is, should, score->lengths[number])) {
        return true;
    }
    while (is[at] == should[at]) {
        at++;
    }
    snprintf(text, size, "byte %zu of block %u (%zu bytes) is %02x instead of %02x", at, number,
             score->lengths[number], is[at], should[at]);
    return false;
}

bool buffers_check(const buffers_t *buffers, bool results, char *text, size_t size)
{
    const score_t *score = buffers->score;

    if (!guards_are_whole(buffers)) {
        snprintf(text, size, "bytes around the blocks are overwritten");
        return false;
    }
    if (!gaps_are_whole(buffers)) {
        snprintf(text, size, "bytes between the blocks are overwritten");
        return false;
    }
    if (NULL != buffers->send
        && 0 != memcmp(buffers->send, score->reference + score->offsets[buffers->rank],
                       score->lengths[buffers->rank])) {
        snprintf(text, size, "the send buffer has changed");
        return false;
    }
    for (unsigned i = 0; results && i < score->num_ranks; i++) {
        if (!check_block(buffers, i, text, size)) {
            return false;
        }
    }
    return true;
}

void buffers_take_back(buffers_t *buffers)
{
    memset(buffers->recv, BACK_BYTE, buffers->score->span);
    if (NULL != buffers->send) {
        memset(buffers->send, BACK_BYTE, buffers->score->lengths[buffers->rank]);
    }
}

bool buffers_untouched(const buffers_t *buffers)
{
    return guards_are_whole(buffers)
           && are_all(buffers->recv, buffers->score->span, BACK_BYTE);
}
