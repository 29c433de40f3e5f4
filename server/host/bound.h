/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bound of a data process: what it may have of memory, whatever its clients send. It follows
 * from the memory limit, what is known not to be counted there, and who is connected.
 */
#ifndef OC_SERVER_HOST_BOUND_H
#define OC_SERVER_HOST_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What may be promised to the clients of a job. */
typedef struct {
    unsigned clients;
    uint64_t members;         /* of all groups */
    uint64_t eager_windows;   /* of all clients, in bytes, for each aggregator */
} oc_load_t;

/* In bytes; UINT64_MAX: none. */
typedef struct {
    uint64_t bytes;           /* the bound, as the process counts it */
    uint64_t high, max;       /* of its cgroup, which counts what the kernel has for it, too */
} oc_bound_sizes_t;

typedef struct {
    uint64_t memory_limit;
    unsigned aggregators;
    oc_load_t most;           /* there ever was: UCX gives nothing back */
    uint64_t own;             /* what the process had before its first client */
    uint64_t own_shared;
    uint64_t bytes;           /* the bound */
} oc_bound_t;

/* Once the aggregators are there. */
void oc_bound_open(oc_bound_t *bound, uint64_t memory_limit, unsigned aggregators);

/*
 * Sets the bound by the most there ever was, and a little above it the limit of the system for
 * this process, where an allocation fails. Whether the bound has changed.
 */
bool oc_bound_set(oc_bound_t *bound, const oc_load_t *load);

/* As it was set last. */
void oc_bound_sizes(const oc_bound_t *bound, oc_bound_sizes_t *sizes);

/* Of a process that is not there yet: until it has said its own. */
void oc_bound_first(uint64_t memory_limit, unsigned aggregators, oc_bound_sizes_t *sizes);

/* No process can have said less. */
void oc_bound_least(uint64_t memory_limit, unsigned aggregators, oc_bound_sizes_t *sizes);

/* What the process holds, in bytes, as the bound counts it; 0: not known. */
uint64_t oc_bound_used(const oc_bound_t *bound);

/* Lets the kernel end this process before its parent when memory is short. */
void oc_bound_offer_to_kernel(void);

#endif
