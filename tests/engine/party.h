/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a group agree by, for groups of any processes of a test: a board in shared
 * memory. An exchange with a process that is gone fails, as it does with MPI.
 */
#ifndef OC_TESTS_ENGINE_PARTY_H
#define OC_TESTS_ENGINE_PARTY_H

#include "tests/engine/harness.h"

typedef struct {
    board_t *board;            /* of this group alone, all zeros before */
    const oc_job_t *job;
    uint32_t num_ranks, rank;
    oc_service_t service;
    const uint32_t *members;   /* process of each rank; NULL: the same number */
    const atomic_int *gone;    /* for each process, not 0 when it was killed; NULL: none ever is */
    int broken_start;          /* 1 + the step whose start is to fail; 0: none */
    int broken_test;           /* the same of its test */
    unsigned begun, ended;     /* calls */
    oc_exchange_t exchange;    /* private from here on */
    int step;
    bool is_record;
} party_t;

extern const oc_bootstrap_t party_bootstrap;

/* A group of these; the party must stay. NULL when there can be none. */
oc_group_t *party_group(party_t *party, oc_client_t *client, const char *name);

#endif
