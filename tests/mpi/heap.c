/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small Allreduces take no memory from the heap: the calls are counted that come from the component,
 * which is adapter, engine and embedded aggregator. UCX and Open MPI may do what they like.
 */
/* Test: default 120 -- 3 embedded + 3 embedded reproducible=shape */
#define _GNU_SOURCE
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <mpi.h>

#include "check.h"
#include "pvars.h"

#define COUNT      16
#define OPERATIONS 1000
#define WINDOWS    10
#define IN_FLIGHT  8

/* ---- calls of the heap ---- */

static uintptr_t first, last;   /* addresses of the component */
static atomic_uint calls;
static atomic_bool counting;

/* Heartbeats are no business of operations: the control thread allocates for each. */
static bool is_data_thread(void)
{
    char name[16] = "";

    (void) prctl(PR_GET_NAME, name);
    return 0 != strcmp(name, "optcast-control");
}

static void count(const void *caller)
{
    if (atomic_load(&counting) && (uintptr_t) caller >= first && (uintptr_t) caller < last
        && is_data_thread()) {
        atomic_fetch_add(&calls, 1);
    }
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

/* In the place of libc's, for all libraries. */
void *malloc(size_t size)
{
    count(__builtin_return_address(0));
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count(__builtin_return_address(0));
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
    count(__builtin_return_address(0));
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count(__builtin_return_address(0));
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    count(__builtin_return_address(0));
    *memory = __libc_memalign(alignment, size);
    return NULL == *memory ? 12 : 0;
}

void free(void *memory)
{
    if (NULL != memory) {
        count(__builtin_return_address(0));
    }
    __libc_free(memory);
}

static int find_component(struct dl_phdr_info *object, size_t size, void *arg)
{
    (void) size;
    (void) arg;
    if (NULL == strstr(object->dlpi_name, "mca_coll_optcast")) {
        return 0;
    }
    first = UINTPTR_MAX;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        uintptr_t from = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        uintptr_t to = from + object->dlpi_phdr[i].p_memsz;

        if (PT_LOAD == object->dlpi_phdr[i].p_type) {
            first = from < first ? from : first;
            last = to > last ? to : last;
        }
    }
    return 1;
}

/* ---- operations ---- */

static int rank, ranks;

static void verify(const int *sums)
{
    for (int i = 0; i < COUNT; i++) {
        if (ranks * (ranks - 1) / 2 + ranks * i != sums[i]) {
            wrong("element %d is %d", i, sums[i]);
        }
    }
}

static void operate(bool nonblocking, int number)
{
    int mine[COUNT], sums[IN_FLIGHT][COUNT];
    MPI_Request requests[IN_FLIGHT];

    for (int i = 0; i < COUNT; i++) {
        mine[i] = rank + i;
    }
    for (int done = 0; done < number; done += nonblocking ? IN_FLIGHT : 1) {
        if (!nonblocking) {
            MPI_Allreduce(mine, sums[0], COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            verify(sums[0]);
            continue;
        }
        for (int i = 0; i < IN_FLIGHT; i++) {
            MPI_Iallreduce(mine, sums[i], COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(IN_FLIGHT, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < IN_FLIGHT; i++) {
            verify(sums[i]);
        }
    }
}

/*
 * Ranks are not in step, and how far they are apart decides how much is needed at a time: the most
 * may not have been seen while they warmed up. Then a later window has no call any more.
 */
static void expect_calls_to_end(bool nonblocking)
{
    unsigned own, all = 1;

    operate(nonblocking, OPERATIONS / 10);
    for (int window = 0; window < WINDOWS && 0 != all; window++) {
        atomic_store(&calls, 0);
        atomic_store(&counting, true);
        operate(nonblocking, OPERATIONS);
        atomic_store(&counting, false);
        own = atomic_load(&calls);
        MPI_Allreduce(&own, &all, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
        if (0 == rank) {
            printf("%s: %u calls of the heap in %d operations\n",
                   nonblocking ? "Iallreduce" : "Allreduce", all, OPERATIONS);
        }
        if (all >= OPERATIONS / 4) {
            break;
        }
    }
    if (0 != all) {
        wrong("%u calls of the heap do not end", all);
    }
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (0 == dl_iterate_phdr(find_component, NULL)) {
        wrong("the component is not loaded");
    }
    /* the set-up does allocate, or nothing is counted at all */
    atomic_store(&counting, true);
    operate(false, 1);
    atomic_store(&counting, false);
    if (0 == atomic_load(&calls)) {
        wrong("the set-up made no call of the heap");
    }
    expect_calls_to_end(false);
    expect_calls_to_end(true);
    if (pvar_read("allreduce_offloaded") < 2 * OPERATIONS || 0 != pvar_read("fallbacks")) {
        wrong("not all was offloaded");
    }
    status = conclude("heap: small Allreduces take no memory from it");
    pvars_end();
    MPI_Finalize();
    return status;
}
