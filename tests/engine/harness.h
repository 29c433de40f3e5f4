/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine without MPI: ranks are processes of this test, which agree over shared memory, and
 * servers are real ones. Everything that waits has a deadline.
 */
#ifndef OC_TESTS_ENGINE_HARNESS_H
#define OC_TESTS_ENGINE_HARNESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/client.h"
#include "reduction/reduction.h"
#include "tests/engine/process.h"

#define MAX_TEST_RANKS  8
#define MAX_TEST_LEAVES 3    /* of a tree of servers */
#define MAX_TEST_GROUPS 96
#define MAX_RECORD_SIZE 2048

/* ---- servers ---- */

typedef struct {
    pid_t pid;
    int output;               /* read end of its stdout and stderr */
    char address[64];         /* "127.0.0.1:PORT" */
    uint16_t port;
} test_server_t;

/* Starts optcast-server on a free port with more options (NULL at the end); exits on failure. */
void server_start(test_server_t *server, const char *const *options);

/* The same on this ADDR:PORT. */
void server_start_at(test_server_t *server, const char *listen, const char *const *options);

/* SIGTERM, or SIGKILL if that is not enough. Its wait status, or -1 if it had to be killed. */
int server_stop(test_server_t *server);

/* SIGKILL. Does nothing if there is none any more. */
void server_kill(test_server_t *server);

/* A port that nobody uses, and that nobody gets who does not name it; exits on failure. */
uint16_t free_port(void);

/* The process that serves the only job, or -1 when none comes within five seconds. */
pid_t server_data_process(const test_server_t *server);

/* The next line that it wrote; false when none comes within timeout_ms. */
bool server_line(test_server_t *server, char *line, size_t size, int timeout_ms);

/* Whether a line with this text was written, within timeout_ms. */
bool server_said(test_server_t *server, const char *text, int timeout_ms);

/* ---- ranks ---- */

/* Zeros, which this process and those that it forks share until they end; exits on failure. */
void *shared_memory(size_t size);

#define MAX_STEPS 32

/* Where the ranks of one group meet. */
typedef struct {
    atomic_int hold;          /* the exchange is not finished as long as this is set */
    atomic_uint given[MAX_STEPS][MAX_TEST_RANKS];
    uint8_t records[MAX_TEST_RANKS][MAX_RECORD_SIZE];
    uint8_t contacts[MAX_TEST_RANKS][OC_CONTACT_MAX];
    int64_t votes[MAX_STEPS][MAX_TEST_RANKS][OC_VOTE_WORDS];
} board_t;

/*
 * Puts there what the rank gives in that step of its exchange, in the order in which they are started: its record, or one
 * number for a vote.
 */
void board_give(board_t *board, uint32_t rank, int step, bool is_record, const oc_exchange_t *exchange);

/* What all have given, into the exchange. */
/* Those of the neighbours, who have given them with their records. */
void board_take_contacts(const board_t *board, const oc_exchange_t *exchange);
void board_take(const board_t *board, uint32_t num_ranks, int step, bool is_record, const oc_exchange_t *exchange);

typedef struct {
    atomic_uint arrived, generation;   /* barrier */
    atomic_uint operations;            /* for the parent: how far the ranks are */
    atomic_int signal;                 /* from the parent to the ranks */
    oc_job_t job;
    board_t boards[MAX_TEST_GROUPS];
} shared_t;

typedef struct {
    oc_exchange_t exchange;
    struct rank *rank;
    board_t *board;
    int step;
    bool is_record;
} meeting_t;

typedef struct rank {
    uint32_t rank, num_ranks;
    shared_t *shared;
    oc_job_settings_t settings;
    oc_job_t job;
    oc_counters_t counters;
    oc_client_t *client;
    const uint8_t *hosts;     /* of each rank, made up: its number from 1; NULL: memory is not
                                 shared */
    oc_service_t service;     /* of groups that are made from now on … */
    bool patient;             /* … and whether they are */
    const oc_rules_t *rules;  /* of those: what they offload; NULL: everything */
    uint64_t least, only;     /* nothing smaller; only so many bytes of OC_TYPE_UINT8 */
    uint32_t per_host;        /* ranks that count as being on one host, in groups that are made
                                 from now on; 0: all of them */
    oc_group_t *groups[MAX_TEST_GROUPS];
    meeting_t meetings[MAX_TEST_GROUPS];
} rank_t;

typedef struct {
    bool done;
    oc_status_t status;
} outcome_t;

typedef struct {
    uint32_t num_ranks;
    pid_t pids[MAX_TEST_RANKS];
    shared_t *shared;
} ranks_t;

/* In a rank: says where and ends the rank with a failure. */
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            rank_failed(rank, __FILE__, __LINE__, #condition); \
        } \
    } while (0)

void __attribute__((noreturn)) rank_failed(const rank_t *rank, const char *file, int line,
                                           const char *what);

/*
 * Forks the ranks: each gets a client with these settings, runs body, and afterwards meets the
 * others, closes its groups and the client. seconds: what a rank takes at most on a machine of which
 * it has all; it is ended after a multiple of that.
 */
void ranks_start(ranks_t *ranks, uint32_t num_ranks, const oc_job_settings_t *settings,
                 void (*body)(rank_t *rank), unsigned seconds);

/* Reaps them; how many ended otherwise than with 0. */
unsigned ranks_wait(ranks_t *ranks);

/* For the parent: until the ranks have done that many operations; false after ten seconds. */
bool ranks_reach(ranks_t *ranks, unsigned operations);

/* Both in one. */
unsigned ranks_run(uint32_t num_ranks, const oc_job_settings_t *settings,
                   void (*body)(rank_t *rank), unsigned seconds);

/* Both in one, with a server that is stopped afterwards. false: a rank or the server failed. */
bool ranks_succeed(test_server_t *server, uint32_t num_ranks, const oc_job_settings_t *settings,
                   void (*body)(rank_t *rank), unsigned seconds);

/* ---- in a rank ---- */

/* Group number index of all ranks, made at the first call. */
oc_group_t *rank_group(rank_t *rank, unsigned index);
oc_status_t rank_start(rank_t *rank, unsigned group, unsigned op, unsigned type, const void *send,
                       void *recv, size_t count, outcome_t *outcome);
/* For args of collectives whose arg is an outcome_t. */
void rank_on_finished(void *arg, oc_status_t status);
/* false when it takes longer than the given time. */
bool rank_wait(rank_t *rank, const outcome_t *outcomes, unsigned num, unsigned seconds);
/* Starts and waits; a hang ends the rank. */
oc_status_t rank_allreduce(rank_t *rank, unsigned group, unsigned op, unsigned type,
                           const void *send, void *recv, size_t count);
/* The group declines the rank's collective; where it tells why, the reason has this text. */
void rank_expect_declined(rank_t *rank, unsigned group, const char *reason);
void rank_barrier(rank_t *rank);
/* The same, but without a look at the client: as an application that computes meanwhile. */
void rank_compute(rank_t *rank);

/*
 * Groups 0 to groups - 1 are live, on all ranks. They are set up at the same time: none waits for
 * another. A hang ends the rank.
 */
void rank_set_up_groups(rank_t *rank, unsigned groups);
/* Moves things on for that long, whether anything happens or not. */
void rank_linger(rank_t *rank, unsigned ms);
/* Until its last messages have left, or who gets them is found to be gone; a hang ends the rank. */
void rank_settle(rank_t *rank);

/* Another group of this number: destroys the one that there is, on all ranks. */
void rank_renew_group(rank_t *rank, unsigned index);

/* What rank number of the group contributes, and what a loop in rank order makes of it. */
void fill_contribution(void *vector, unsigned type, size_t count, uint32_t number, unsigned seed);
void fill_expected(void *vector, unsigned op, unsigned type, size_t count, uint32_t num_ranks,
                   unsigned seed);

/* A job's identity, for example. */
void fill_random(void *bytes, size_t length);

/* Settings for tests: defaults with these servers, small chunks, quick timeouts, no thread for progress. */
oc_job_settings_t test_settings(const char *servers);

#endif
