/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts, processes and threads in virtual time. A thread is a fiber: it runs until it waits, yields or meets a lock, and
 * the time that this takes is drawn. All is a function of the seed, so a schedule that fails is run again by its number.
 * There is one world in a process of the system; what the killed processes of it had is not given back.
 */
#ifndef OC_TESTS_SIMULATION_WORLD_H
#define OC_TESTS_SIMULATION_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/multicast/events.h"

#define WORLD_HOSTS 16

typedef struct process process_t;
typedef struct fiber fiber_t;

/*
 * Nothing arrives at or leaves a host that is unplugged; one without power has also lost its processes. Two may be apart from each
 * other only: bits of both.
 */
typedef struct {
    bool unplugged, dark;
    uint32_t apart;
} host_t;

struct process {
    unsigned host;
    char name[24];
    bool dead, stopped;
    fiber_t *fibers;
    process_t *next;
};

void world_begin(uint64_t seed);

/* ns */
uint64_t world_now(void);
/* The clock of a fiber goes on, though by little, each time it is looked at. */
uint64_t world_look(void);

/* From 0 to limit - 1; limit is not 0. */
uint64_t world_random(uint64_t limit);
bool world_chance(double probability);

host_t *world_host(unsigned number);

/* The kind's happen is called with owner in so many ns. */
void world_plan(uint64_t delay, const event_kind_t *kind, void *owner, void *thing);

/* Lets things happen until over says so; false: that time came first. */
bool world_run(bool (*over)(void *arg), void *arg, uint64_t until);

/* Says what went wrong and when, and ends the process of the system with a failure. */
void world_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Lines of what happens, if TRACE is in the environment. */
void world_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A number that differs if anything went otherwise. */
uint64_t world_digest(void);
void world_mix(uint64_t number);

/* ---- processes ---- */

process_t *process_new(unsigned host, const char *name);
process_t *process_first(void);

/* Of the fiber that runs; NULL: none does. */
process_t *process_self(void);

/* Its fibers do not run any more; the caller does the rest. */
void process_end(process_t *process);

/* As by SIGSTOP and SIGCONT. */
void process_stop(process_t *process);
void process_continue(process_t *process);

/* What its fibers wait for may have come. */
void process_look(process_t *process);

/* ---- fibers ---- */

fiber_t *fiber_start(process_t *process, void *(*run)(void *arg), void *arg);

/* Waits until it has ended, in a fiber. */
void *fiber_join(fiber_t *fiber);

/* The three wait for others; without a fiber they do nothing. */
void fiber_pause(uint64_t ns);

/* Until ready says so, or that time; what it says then. UINT64_MAX: for ever. */
bool fiber_wait(bool (*ready)(void *arg), void *arg, uint64_t until);

/* Now and then as if the processor had gone to another thread. */
void fiber_preempt(void);

#endif
