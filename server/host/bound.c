/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bound counts what is private and may be written, as RLIMIT_DATA does, and of shared memory
 * what is there. The limit of the system lies above the bound, so that there is memory left to say
 * why the job ends; UCX loses messages, or ends the process, when it gets none.
 */
#include "server/host/bound.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

#define KIB ((uint64_t) 1 << 10)
#define MIB ((uint64_t) 1 << 20)

/* For the process, and for each aggregator: pools of UCX, which grow in steps of up to 8 MiB. */
#define PROCESS_MARGIN    (64 * MIB)
#define AGGREGATOR_MARGIN (32 * MIB)

/* For each client, or member of a group, and aggregator. */
#define CLIENT_MARGIN (512 * KIB)
#define MEMBER_MARGIN (512 * KIB)

/*
 * What came unasked lies in buffers of UCX of a few sizes, which do not serve for each other: a
 * byte may take four.
 */
#define EAGER_FACTOR 4

/* Between the bound and the limit of the system. */
#define SLACK (64 * MIB)

/*
 * What a cgroup counts, and RLIMIT_DATA does not: kernel stacks, files that were read, and for each
 * client and aggregator the buffers of a TCP connection; page tables and the like grow with the
 * rest.
 */
#define KERNEL_MARGIN     (32 * MIB)
#define CONNECTION_MARGIN MIB
#define KERNEL_SHARE      64

/* Of a process that has just begun: UCX with all its devices. */
#define FIRST_OWN (256 * MIB)

/* What the kernel adds to the badness of a data process, of 1000. */
#define OOM_SCORE 500

/* Sanitizers have memory of their own, and keep what was freed. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

/* Of this process: data, and shared memory that is there; false: not known. */
static bool read_memory(uint64_t *data, uint64_t *shared)
{
    unsigned long long pages_shared, pages_data;
    uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "re");
    int found = 0;

    if (NULL != file) {
        found = fscanf(file, "%*u %*u %llu %*u %*u %llu", &pages_shared, &pages_data);
        fclose(file);
    }
    if (2 != found) {
        return false;
    }
    *data = pages_data * page;
    *shared = pages_shared * page;
    return true;
}

static void limit_system(uint64_t bytes)
{
    struct rlimit limit;

    if (IS_SANITIZED || 0 != getrlimit(RLIMIT_DATA, &limit)) {
        return;
    }
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    if (0 != setrlimit(RLIMIT_DATA, &limit)) {
        oc_debug("the limit of memory could not be set");
    }
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void take_most(oc_load_t *most, const oc_load_t *load)
{
    most->clients = load->clients > most->clients ? load->clients : most->clients;
    most->members = load->members > most->members ? load->members : most->members;
    most->eager_windows = load->eager_windows > most->eager_windows ? load->eager_windows
                                                                    : most->eager_windows;
}

static uint64_t bound_compute(const oc_bound_t *bound)
{
    const oc_load_t *most = &bound->most;
    uint64_t each = AGGREGATOR_MARGIN + CLIENT_MARGIN * most->clients
                    + EAGER_FACTOR * most->eager_windows;
    uint64_t members = MEMBER_MARGIN * most->members * bound->aggregators;

    /* a heap has holes */
    return bound->own + bound->memory_limit + bound->memory_limit / 4 + PROCESS_MARGIN
           + bound->aggregators * each + least(members, bound->memory_limit / 2);
}

void oc_bound_open(oc_bound_t *bound, uint64_t memory_limit, unsigned aggregators)
{
    *bound = (oc_bound_t) {.memory_limit = memory_limit, .aggregators = aggregators};
    if (!read_memory(&bound->own, &bound->own_shared)) {
        oc_warn("/proc/self/statm cannot be read: the memory of this process is not bounded");
    }
}

bool oc_bound_set(oc_bound_t *bound, const oc_load_t *load)
{
    uint64_t before = bound->bytes;

    take_most(&bound->most, load);
    if (0 != bound->own) {
        bound->bytes = bound_compute(bound);
    }
    if (before == bound->bytes) {
        return false;
    }
    limit_system(bound->bytes + SLACK);
    return true;
}

void oc_bound_sizes(const oc_bound_t *bound, oc_bound_sizes_t *sizes)
{
    uint64_t connections = bound->most.clients * (1ull + bound->aggregators);

    *sizes = (oc_bound_sizes_t) {.bytes = bound->bytes, .high = UINT64_MAX, .max = UINT64_MAX};
    if (!IS_SANITIZED && 0 != bound->bytes) {
        sizes->high = bound->bytes + bound->bytes / KERNEL_SHARE + KERNEL_MARGIN
                      + CONNECTION_MARGIN * connections;
        sizes->max = sizes->high + SLACK;
    }
}

static void sizes_without_clients(uint64_t memory_limit, unsigned aggregators, uint64_t own,
                                  oc_bound_sizes_t *sizes)
{
    oc_bound_t bound = {.memory_limit = memory_limit, .aggregators = aggregators, .own = own};

    bound.bytes = bound_compute(&bound);
    oc_bound_sizes(&bound, sizes);
}

void oc_bound_first(uint64_t memory_limit, unsigned aggregators, oc_bound_sizes_t *sizes)
{
    sizes_without_clients(memory_limit, aggregators, FIRST_OWN, sizes);
}

void oc_bound_least(uint64_t memory_limit, unsigned aggregators, oc_bound_sizes_t *sizes)
{
    sizes_without_clients(memory_limit, aggregators, 0, sizes);
}

uint64_t oc_bound_used(const oc_bound_t *bound)
{
    uint64_t data, shared;

    if (IS_SANITIZED || 0 == bound->own || !read_memory(&data, &shared)) {
        return 0;
    }
    return data + (shared > bound->own_shared ? shared - bound->own_shared : 0);
}

void oc_bound_offer_to_kernel(void)
{
    static const char path[] = "/proc/self/oom_score_adj";
    FILE *file = fopen(path, "r+e");
    int score;

    if (NULL == file) {
        return;
    }
    if (1 == fscanf(file, "%d", &score) && score < OOM_SCORE) {
        rewind(file);
        (void) fprintf(file, "%d", OOM_SCORE);
    }
    fclose(file);
}
