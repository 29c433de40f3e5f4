/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often a rank's vectors are registered with its RDMA device: this program stands in for
 * ibv_reg_mr, and looks at what goes to the real one.
 *
 * A vector is registered as a whole when it is used first, and never again as long as it is there.
 * Memory that was given back and is there again, at the same address, is registered anew, and the
 * results are those of the new memory. Where registering it fails, a vector goes in pieces, and a
 * shorter one still as a whole (the argument "refused").
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "pvars.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define COUNT   (512 * 1024)
#define BYTES   (COUNT * sizeof(int))
#define AGAIN   12
#define FRESH   3
#define REFUSED 3

/* Of memory that overlaps what is looked at. */
static struct {
    const char *begin, *end;
    unsigned calls;
    size_t bytes;
} seen[2];

/* What of it is as long as this fails, as if the limit for locked memory were reached. */
static size_t refuse_from = SIZE_MAX;
static unsigned refused;

/* false: it fails. */
static bool look(const void *address, size_t length)
{
    for (int i = 0; i < 2; i++) {
        if ((const char *) address < seen[i].end
            && (const char *) address + length > seen[i].begin) {
            if (length >= refuse_from) {
                refused++;
                errno = ENOMEM;
                return false;
            }
            seen[i].calls++;
            seen[i].bytes += length;
        }
    }
    return true;
}

typedef struct ibv_mr *reg_fn_t(struct ibv_pd *pd, void *address, size_t length, int access);
typedef struct ibv_mr *reg_iova2_fn_t(struct ibv_pd *pd, void *address, size_t length,
                                      uint64_t iova, unsigned access);

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
    if (!look(address, length)) {
        return NULL;
    }
    return ((reg_fn_t *) dlsym(RTLD_NEXT, "ibv_reg_mr"))(pd, address, length, access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova,
                                unsigned access)
{
    if (!look(address, length)) {
        return NULL;
    }
    return ((reg_iova2_fn_t *) dlsym(RTLD_NEXT, "ibv_reg_mr_iova2"))(pd, address, length, iova,
                                                                     access);
}

static void look_at(const int *send, const int *recv, int count)
{
    memset(seen, 0, sizeof(seen));
    seen[0].begin = (const char *) send;
    seen[0].end = (const char *) (send + count);
    seen[1].begin = (const char *) recv;
    seen[1].end = (const char *) (recv + count);
}

static int value_of(int rank, int seed, int i)
{
    return (rank + 1) * (seed * 7919 + i % 100003);
}

/* in place, if there is only one */
static void reduce_some(const char *what, int *send, int *recv, int count, int seed)
{
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < count; i++) {
        send[i] = value_of(rank, seed, i);
    }
    MPI_Allreduce(send == recv ? MPI_IN_PLACE : send, recv, count, MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        int expected = 0;

        for (int r = 0; r < size; r++) {
            expected += value_of(r, seed, i);
        }
        if (recv[i] != expected) {
            wrong("%s: element %d is %d instead of %d", what, i, recv[i], expected);
            return;
        }
    }
}

static void reduce(const char *what, int *send, int *recv, int seed)
{
    reduce_some(what, send, recv, COUNT, seed);
}

/* calls: of each vector; bytes of all calls together, with what UCX adds for alignment. */
static void expect_some(const char *what, unsigned calls, size_t bytes)
{
    for (int i = 0; i < 2; i++) {
        if (seen[i].calls != calls || seen[i].bytes > calls * (bytes + 4096)) {
            wrong("%s: %u registrations of %zu bytes of the %s vector, not %u of %zu", what,
                  seen[i].calls, seen[i].bytes, 0 == i ? "first" : "second", calls, bytes);
        }
    }
}

static void expect(const char *what, unsigned calls)
{
    expect_some(what, calls, BYTES);
}

static void test_reuse(void)
{
    /* a part of an array, which begins anywhere */
    int *memory[] = {must(malloc(BYTES + sizeof(int))), must(malloc(BYTES + sizeof(int)))};
    int *send = memory[0] + 1, *recv = memory[1] + 1;

    look_at(send, recv, COUNT);
    reduce("first use", send, recv, 1);
    expect("first use", 1);
    look_at(send, recv, COUNT);
    for (int i = 0; i < AGAIN; i++) {
        reduce("used again", send, recv, 2 + i);
    }
    reduce("in place", recv, recv, 20);
    expect("used again", 0);
    free(memory[0]);
    free(memory[1]);
}

static int *map(void *address)
{
    int *memory = mmap(address, BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | (NULL != address ? MAP_FIXED_NOREPLACE : 0),
                       -1, 0);

    return must(MAP_FAILED == (void *) memory ? NULL : memory);
}

/* Of pages that are gone, an adapter would go on reading and writing the old ones. */
static void test_fresh_memory(void)
{
    int *send = map(NULL), *recv = map(NULL);

    for (int i = 0; i < FRESH; i++) {
        look_at(send, recv, COUNT);
        reduce("new memory", send, recv, 30 + i);
        expect("new memory", 1);
        munmap(send, BYTES);
        munmap(recv, BYTES);
        send = map(send);
        recv = map(recv);
    }
    /* the same, without a word to the system that could be heard under its name */
    for (int i = 0; i < FRESH; i++) {
        int *heap = must(malloc(BYTES));

        reduce("from the heap", heap, recv, 40 + i);
        free(heap);
    }
    munmap(send, BYTES);
    munmap(recv, BYTES);
}

/* In pages of their own: pieces of them are not put together, and none is as long as the whole. */
static void test_refused(void)
{
    int *send = map(NULL), *recv = map(NULL), *half_send = map(NULL), *half_recv = map(NULL);

    refuse_from = BYTES;
    look_at(send, recv, COUNT);
    for (int i = 0; i < REFUSED; i++) {
        reduce("refused", send, recv, 50 + i);
    }
    for (int i = 0; i < 2; i++) {
        if (seen[i].calls < 2 || seen[i].bytes < BYTES) {
            wrong("refused: %u registrations of %zu bytes of the %s vector, which goes in pieces",
                  seen[i].calls, seen[i].bytes, 0 == i ? "first" : "second");
        }
    }
    look_at(half_send, half_recv, COUNT / 2);
    reduce_some("shorter", half_send, half_recv, COUNT / 2, 60);
    expect_some("shorter", 1, BYTES / 2);
    /* one try: UCX itself may make two calls of it, and only complain about the second */
    if (0 == refused || refused > 2) {
        wrong("%u registrations were refused, not 1 or 2, for %d operations", refused, REFUSED);
    }
    munmap(send, BYTES);
    munmap(recv, BYTES);
    munmap(half_send, BYTES);
    munmap(half_recv, BYTES);
}

int main(int argc, char **argv)
{
    unsigned long long operations;

    MPI_Init(&argc, &argv);
    if (argc > 1 && 0 == strcmp(argv[1], "refused")) {
        operations = REFUSED + 1;
        test_refused();
    } else {
        operations = 1 + AGAIN + 1 + 2 * FRESH;
        test_reuse();
        test_fresh_memory();
    }
    if (operations != pvar_read("allreduce_offloaded")) {
        wrong("%llu operations were offloaded, not %llu", pvar_read("allreduce_offloaded"),
              operations);
    }
    operations = pvar_read("bytes_copied");
    if (0 != operations) {
        wrong("%llu bytes were copied", operations);
    }
    argc = conclude("registrations");
    MPI_Finalize();
    return argc;
}
