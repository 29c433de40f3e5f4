/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that are wrong: the counts of one rank do not match those of the others. They get what
 * Open MPI gives them, or an error; never bytes that nobody wanted to send.
 *
 * usage: mismatch short|long|small|large
 *   short  Allgathers, to which rank 1 sends less than its block has: the rest is what was there
 *   long   ... to which it sends more: what fits arrives, and rank 1 is told
 *   small  a Bcast for which rank 1 has too little room
 *   large  a Bcast for which rank 1 has more room than there is to receive
 */
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "persistent.h"
#include "pvars.h"

#define COUNT 50000
#define LESS  40001
#define MORE  50007
#define WRONG 1

enum { PLAIN, VECTOR, STRIDED, NUM_SHAPES };
enum { BLOCKING, NONBLOCKING, PERSISTENT, NUM_WAYS };

static int rank, size;
static MPI_Datatype strided; /* of each two ints the first */

/* Whoever reads or writes beyond the end ends the program. */
static int *guarded(size_t count)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE);
    size_t length = (count * sizeof(int) + page - 1) / page * page;
    char *memory = mmap(NULL, length + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);

    if (MAP_FAILED == memory || 0 != mprotect(memory + length, page, PROT_NONE)) {
        must(NULL);
    }
    return (int *) (memory + length) - count;
}

static void unguard(int *begin, size_t count)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE);
    size_t length = (count * sizeof(int) + page - 1) / page * page;

    munmap((char *) (begin + count) - length, length + page);
}

static int class_of(int rc)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(rc, &class);
    return class;
}

static int element(int block, int i)
{
    return block * 1000000 + i;
}

/* ---- Allgather and Allgatherv ---- */

typedef struct {
    int shape, way, send_count;
    int step, gap;              /* ints from one element to the next; between blocks */
    int *send, *recv, *counts, *displs;
    MPI_Datatype type;
} gather_t;

/* Whatever MPI_Wait or the call itself says first. */
static int finish(int rc, MPI_Request *request, bool persistent)
{
    if (MPI_SUCCESS == rc && persistent) {
        rc = MPI_Start(request);
    }
    if (MPI_SUCCESS == rc) {
        rc = MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    if (persistent) {
        MPI_Request_free(request);
    }
    return rc;
}

static int gather(const gather_t *g)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request request;
    int rc;

    if (BLOCKING == g->way) {
        return VECTOR == g->shape
                   ? MPI_Allgatherv(g->send, g->send_count, MPI_INT, g->recv, g->counts, g->displs,
                                    g->type, comm)
                   : MPI_Allgather(g->send, g->send_count, MPI_INT, g->recv, COUNT, g->type, comm);
    }
    if (NONBLOCKING == g->way) {
        rc = VECTOR == g->shape
                 ? MPI_Iallgatherv(g->send, g->send_count, MPI_INT, g->recv, g->counts, g->displs,
                                   g->type, comm, &request)
                 : MPI_Iallgather(g->send, g->send_count, MPI_INT, g->recv, COUNT, g->type, comm,
                                  &request);
    } else {
        rc = VECTOR == g->shape
                 ? MPI_Allgatherv_init(g->send, g->send_count, MPI_INT, g->recv, g->counts,
                                       g->displs, g->type, comm, MPI_INFO_NULL, &request)
                 : MPI_Allgather_init(g->send, g->send_count, MPI_INT, g->recv, COUNT, g->type,
                                      comm, MPI_INFO_NULL, &request);
    }
    return finish(rc, &request, PERSISTENT == g->way);
}

static size_t ints_of(const gather_t *g)
{
    return (size_t) size * (COUNT * (size_t) g->step + (size_t) g->gap);
}

static gather_t gather_make(int shape, int way, int wrong_count)
{
    gather_t g = {.shape = shape, .way = way, .send_count = WRONG == rank ? wrong_count : COUNT,
                  .step = STRIDED == shape ? 2 : 1, .gap = VECTOR == shape,
                  .type = STRIDED == shape ? strided : MPI_INT};

    g.send = guarded((size_t) g.send_count);
    g.recv = guarded(ints_of(&g));
    g.counts = must(malloc(2 * (size_t) size * sizeof(int)));
    g.displs = g.counts + size;
    for (int i = 0; i < g.send_count; i++) {
        g.send[i] = element(rank, i);
    }
    for (size_t i = 0; i < ints_of(&g); i++) {
        g.recv[i] = -1 - rank;
    }
    for (int i = 0; i < size; i++) {
        g.counts[i] = COUNT;
        g.displs[i] = i * (COUNT + g.gap);
    }
    return g;
}

/* Where rank 1 sent nothing, what was in its own place. */
static void gather_check(const gather_t *g, int wrong_count)
{
    for (int block = 0; block < size; block++) {
        const int *at = g->recv + block * (COUNT * g->step + g->gap);

        for (int i = 0; i < COUNT; i++) {
            int should = WRONG != block || i < wrong_count ? element(block, i) : -1 - WRONG;

            if (at[i * g->step] != should) {
                wrong("shape %d, way %d: element %d of block %d is %d instead of %d", g->shape,
                      g->way, i, block, at[i * g->step], should);
                return;
            }
        }
    }
}

static void gather_all(int wrong_count)
{
    for (int shape = 0; shape < NUM_SHAPES; shape++) {
        for (int way = 0; way < NUM_WAYS; way++) {
            gather_t g = gather_make(shape, way, wrong_count);
            unsigned long long before = pvar_read("allgather_offloaded");
            int rc = gather(&g);
            int should = WRONG == rank && wrong_count > COUNT ? MPI_ERR_TRUNCATE : MPI_SUCCESS;

            if (class_of(rc) != should) {
                wrong("shape %d, way %d: class %d instead of %d", shape, way, class_of(rc), should);
            }
            if (pvar_read("allgather_offloaded") != before + 1) {
                wrong("shape %d, way %d: not offloaded", shape, way);
            }
            gather_check(&g, wrong_count);
            unguard(g.send, (size_t) g.send_count);
            unguard(g.recv, ints_of(&g));
            free(g.counts);
        }
    }
}

/* ---- Bcast ---- */

/* Rank 1 has an error; who has got everything may not have waited for it. Returns what MPI did. */
static int bcast(MPI_Comm comm, int wrong_count)
{
    size_t count = WRONG == rank ? (size_t) wrong_count : COUNT;
    int *buffer = guarded(count);
    int rc, class;

    for (size_t i = 0; i < count; i++) {
        buffer[i] = 0 == rank ? element(0, (int) i) : -1;
    }
    rc = MPI_Bcast(buffer, (int) count, MPI_INT, 0, comm);
    class = class_of(rc);
    if (MPI_SUCCESS == rc && WRONG == rank) {
        wrong("a Bcast of %d elements into %zu succeeds", COUNT, count);
    }
    if (wrong_count < COUNT && WRONG == rank && MPI_ERR_TRUNCATE != class) {
        wrong("class %d instead of MPI_ERR_TRUNCATE", class);
    }
    unguard(buffer, count);
    return rc;
}

/* However many communicators fail, there is one more code, and MPI knows it. */
static void one_code(void)
{
    int first, *last, found, rc;
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    first = bcast(MPI_COMM_WORLD, MORE);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &found);
    if (!found || (MPI_SUCCESS != first && (first <= MPI_ERR_LASTCODE || first > *last))) {
        wrong("the error code %d is none", first);
    }
    rc = bcast(comm, MORE);
    if (WRONG == rank && rc != first) {
        wrong("error codes %d and %d", first, rc);
    }
    if (WRONG == rank && MPI_ERR_OTHER != class_of(rc)) {
        wrong("class %d instead of MPI_ERR_OTHER", class_of(rc));
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    const char *variant = argc > 1 ? argv[1] : "";
    int rc;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &strided);
    MPI_Type_commit(&strided);
    if (0 == strcmp(variant, "short")) {
        gather_all(LESS);
    } else if (0 == strcmp(variant, "long")) {
        gather_all(MORE);
    } else if (0 == strcmp(variant, "small")) {
        (void) bcast(MPI_COMM_WORLD, LESS);
    } else if (0 == strcmp(variant, "large")) {
        one_code();
    } else {
        wrong("usage: mismatch short|long|small|large");
    }
    MPI_Type_free(&strided);
    rc = conclude("mismatch");
    MPI_Finalize();
    return rc;
}
