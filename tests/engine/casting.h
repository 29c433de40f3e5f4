/* SPDX-License-Identifier: BSD-3-Clause */
/* Allgathers and Bcasts of ranks of the harness, whose results are compared with what each rank should have sent. */
#ifndef OC_TESTS_ENGINE_CASTING_H
#define OC_TESTS_ENGINE_CASTING_H

#include "tests/engine/harness.h"

/* One Allgather under way: blocks of lengths with gaps of 3 bytes, or side by side. */
typedef struct {
    outcome_t outcome;
    size_t lengths[MAX_TEST_RANKS], offsets[MAX_TEST_RANKS], size;
    uint8_t *send, *recv;
    unsigned seed;
    bool nonblocking;
    oc_device_t *device; /* that is said to have what is sent; NULL: host memory */
} allgather_t;

/* UDP multicast on the loopback. */
oc_job_settings_t cast_settings(void);

void casting_fill(uint8_t *to, size_t length, uint32_t rank, unsigned seed);
bool casting_fits(const uint8_t *at, size_t length, uint32_t rank, unsigned seed);

void casting_lay_out(const rank_t *rank, allgather_t *a, const size_t *lengths, size_t gap,
                     unsigned seed);
void casting_start(rank_t *rank, unsigned group, allgather_t *a, bool in_place, bool equal);
void casting_release(allgather_t *a);
/* It has ended well; releases it. */
void casting_check(const rank_t *rank, allgather_t *a, size_t gap);

/* From the beginning to the end, with blocks of the same size. */
void casting_allgather(rank_t *rank, unsigned group, size_t block, bool in_place, unsigned seed);
/* Of a rank that has found another one dead, which all others that live do as well before it returns. */
void casting_outlive(rank_t *rank);
void casting_bcast(rank_t *rank, unsigned group, size_t length, uint32_t root);
/* Begins one, which is finished when outcome says so; buffer has the root's bytes then. */
oc_status_t casting_start_bcast(rank_t *rank, unsigned group, uint8_t *buffer, size_t length,
                                uint32_t root, bool blocking, outcome_t *outcome);
bool casting_has_bcast(const uint8_t *buffer, size_t length, uint32_t root);

#endif
