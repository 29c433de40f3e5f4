/* SPDX-License-Identifier: BSD-3-Clause */
/* One operation by multicast on a simulated network: what it takes, and what crosses the links. */
#ifndef OC_BENCH_MULTICAST_TRIAL_H
#define OC_BENCH_MULTICAST_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/multicast/crew.h"

typedef struct {
    crew_config_t crew;          /* but for the hosts: those of ranks are beside each other */
    unsigned hosts, ranks_per_host;
    bool bcast;                  /* else an Allgather */
    size_t bytes;                /* of the whole vector */
    unsigned operations;         /* one after the other … */
    unsigned groups;             /* … or, unless 0, all started at once, of a communicator with so many groups */
    double loss;                 /* share of datagrams that each host's link loses on their way to it */
    double root_loss;            /* on the way from host 0 */
    uint64_t cut;                /* ns after which multicast... */
    unsigned cut_hosts;          /* ...does not reach so many hosts any more, the last ones; 0: it does */
    unsigned background;         /* TCP streams: from host i to host i + 1, and so on */
    unsigned pause_rank;         /* this one does not run... */
    uint64_t pause;              /* ...for so many ns, from a third of the ideal time on */
} trial_t;

typedef struct {
    double seconds;              /* of the operation that took the median time; if all are started at once,
                                    of all together, divided by their number */
    double slowest;              /* of the operation that took longest */
    double floor;                /* less is not possible: what a host's link has to carry */
    /* Of the operations, without the set-up: */
    unsigned long long crossings;          /* of links by packets */
    unsigned long long multicast_crossings; /* of those, by multicast packets */
    unsigned long long up_bytes;           /* that all hosts have sent */
    unsigned long long lost;               /* packets, on links and for want of room at switches */
    oc_cast_counters_t counters; /* of all ranks */
    unsigned long long lost_at_port, lost_at_node;
    unsigned peers;              /* most TCP connections of a rank */
    double background;           /* bytes a second of the slowest stream while the operations ran */
    unsigned long long events;
} result_t;

/* 10 Gbit/s Ethernet, one switch, one rank a host. */
void trial_defaults(trial_t *trial);

/* An Allgather's blocks. */
size_t trial_block(const trial_t *trial);

/*
 * NULL, or what went wrong, valid until the next call: an operation did not end, or a result is
 * better than the links allow, so that the simulation is wrong.
 */
const char *trial_run(const trial_t *trial, result_t *result);

#endif
