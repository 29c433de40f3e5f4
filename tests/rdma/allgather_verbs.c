/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgathers and Bcasts on the first 2, 3, … ranks, compared element by element with what they
 * should bring: every one has to be offloaded, in fragments of the datagrams that verbs have, and
 * each rank sends its block once.
 *
 * usage: allgather_verbs clean|lossy|shaken FRAGMENT INTERFACE; the rank's number from 1 on is
 * appended to the interface's name. shaken: Allgathers go on, while somebody else takes links down
 * and up again, until memberships have been renewed; "shake" on the output says that it may begin
 */
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "counters.h"

/* Bytes of a block's checksum, which travels behind it. */
#define CHECKSUM 4

/* Elements of each block. */
static const int sizes[] = {1, 16384, 75002, 524288};

#define NUM_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static int world_rank;

typedef struct {
    MPI_Comm comm;
    int rank, ranks;
    int elements;
    unsigned long long fragment; /* bytes of a block in one datagram */
    char text[64];
} case_t;

static int32_t element(const case_t *c, int block, int index)
{
    return (int32_t) mix64((uint64_t) c->elements << 40 | (uint64_t) block << 32 | (uint32_t) index);
}

static void fill(const case_t *c, int block, int32_t *elements)
{
    for (int i = 0; i < c->elements; i++) {
        elements[i] = element(c, block, i);
    }
}

static void compare(const case_t *c, int block, const int32_t *elements)
{
    for (int i = 0; i < c->elements; i++) {
        if (elements[i] != element(c, block, i)) {
            wrong("%s: element %d of block %d is %#x instead of %#x", c->text, i, block,
                  (unsigned) elements[i], (unsigned) element(c, block, i));
            return;
        }
    }
}

/* This rank sent its block once, whatever had to be repaired; nothing if it has none. */
static void check_sent(const case_t *c, unsigned long long before, bool has_block)
{
    unsigned long long sent = pvar_read("fragments_sent") - before;
    unsigned long long bytes = (unsigned long long) c->elements * sizeof(int32_t) + CHECKSUM;
    unsigned long long expected = has_block ? (bytes + c->fragment - 1) / c->fragment : 0;

    if (sent != expected) {
        wrong("%s: sent %llu fragments instead of %llu", c->text, sent, expected);
    }
}

static void allgather(case_t *c)
{
    size_t bytes = (size_t) c->elements * sizeof(int32_t);
    int32_t *mine = must(malloc(bytes)), *all = must(calloc((size_t) c->ranks, bytes));
    unsigned long long fragments = pvar_read("fragments_sent");
    counters_t before = counters_read(), expected = {.allgather_offloaded = 1, .groups = ANY};

    snprintf(c->text, sizeof(c->text), "Allgather of %zu bytes on %d ranks", bytes, c->ranks);
    fill(c, c->rank, mine);
    MPI_Allgather(mine, c->elements, MPI_INT32_T, all, c->elements, MPI_INT32_T, c->comm);
    for (int block = 0; block < c->ranks; block++) {
        compare(c, block, all + (size_t) block * (size_t) c->elements);
    }
    counters_moved(c->text, &before, expected);
    check_sent(c, fragments, true);
    free(mine);
    free(all);
}

static void bcast(case_t *c)
{
    size_t bytes = (size_t) c->elements * sizeof(int32_t);
    int root = c->ranks - 1;
    int32_t *buffer = must(calloc(1, bytes));
    unsigned long long fragments = pvar_read("fragments_sent");
    counters_t before = counters_read(), expected = {.bcast_offloaded = 1, .groups = ANY};

    snprintf(c->text, sizeof(c->text), "Bcast of %zu bytes on %d ranks", bytes, c->ranks);
    if (root == c->rank) {
        fill(c, root, buffer);
    }
    MPI_Bcast(buffer, c->elements, MPI_INT32_T, root, c->comm);
    compare(c, root, buffer);
    counters_moved(c->text, &before, expected);
    check_sent(c, fragments, root == c->rank);
    free(buffer);
}

/* What has left by this rank's interface. */
static unsigned long long link_bytes(const char *interface)
{
    unsigned long long bytes = 0;
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "/sys/class/net/%s%d/statistics/tx_bytes", interface,
             world_rank + 1);
    file = fopen(path, "re");
    if (NULL == file || 1 != fscanf(file, "%llu", &bytes)) {
        wrong("%s cannot be read", path);
    }
    if (NULL != file) {
        fclose(file);
    }
    return bytes;
}

/*
 * With all headers and messages a rank sends little more than its block. Where an emulated CPU is so
 * slow that datagrams on their way look lost, it sends some of them again.
 */
static void check_link(case_t *c, const char *interface)
{
    unsigned long long sent, repaired, block;

    c->elements = sizes[NUM_SIZES - 1];
    block = (unsigned long long) c->elements * sizeof(int32_t);
    sync_all(c->comm);
    repaired = pvar_read("repair_bytes");
    sent = link_bytes(interface);
    allgather(c);
    repaired = pvar_read("repair_bytes") - repaired;
    sent = link_bytes(interface) - sent;
    printf("rank %d of %d: the link carried %llu bytes for a block of %llu, %llu were repaired\n",
           c->rank, c->ranks, sent, block, repaired);
    fflush(stdout);
    if (sent < block || (double) sent > 1.06 * (double) (block + repaired)) {
        wrong("%s: the link carried %llu bytes, %llu were repaired", c->text, sent, repaired);
    }
}

/* Until all are here, without keeping others from computing. */
static void wait_for_all(void)
{
    const struct timespec nap = {.tv_nsec = 20000000};
    MPI_Request request;
    int done = 0;

    begin_sync(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done) {
        nanosleep(&nap, NULL);
    }
}

static void run(int ranks, unsigned long long fragment, const char *interface)
{
    case_t c = {.ranks = ranks, .fragment = fragment};

    MPI_Comm_split(MPI_COMM_WORLD, world_rank < ranks ? 0 : MPI_UNDEFINED, 0, &c.comm);
    if (MPI_COMM_NULL != c.comm) {
        MPI_Comm_rank(c.comm, &c.rank);
        for (size_t i = 0; i < NUM_SIZES; i++) {
            c.elements = sizes[i];
            allgather(&c);
            bcast(&c);
        }
        if (NULL != interface) {
            check_link(&c, interface);
        }
        MPI_Comm_free(&c.comm);
    }
    wait_for_all();
}

/*
 * How often links have to be down, and how many Allgathers may pass until then. Many fragments that
 * are lost in a row end multicast: so few are sent while a link is down.
 */
#define SHAKES     3
#define MAX_ROUNDS 600
#define ROUND_NS   100000000

static unsigned long long most_renewed(void)
{
    unsigned long long mine = pvar_read("memberships_renewed"), most;

    MPI_Allreduce(&mine, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* Every result is as it has to be, also of operations in which a rank is cut off for a while. */
static void run_shaken(int ranks, unsigned long long fragment)
{
    case_t c = {.comm = MPI_COMM_WORLD, .rank = world_rank, .ranks = ranks, .fragment = fragment,
                .elements = sizes[2]};
    const struct timespec pause = {.tv_nsec = ROUND_NS};
    unsigned rounds = 0;

    allgather(&c);
    c.elements = sizes[0];
    if (0 == world_rank) {
        printf("shake\n");
        fflush(stdout);
    }
    while (most_renewed() < SHAKES && rounds < MAX_ROUNDS) {
        allgather(&c);
        bcast(&c);
        nanosleep(&pause, NULL);
        rounds++;
    }
    if (most_renewed() < SHAKES) {
        wrong("memberships were renewed %llu times in %u rounds", most_renewed(), rounds);
    }
    c.elements = sizes[2];
    allgather(&c);
    if (0 == world_rank) {
        printf("still\n");
        fflush(stdout);
    }
}

/* All that was lost somewhere, and what came instead. */
static void check_losses(bool lossy)
{
    unsigned long long mine[] = {pvar_read("fragments_lost"), pvar_read("fragments_recovered")};
    unsigned long long all[2] = {0};
    int size;

    if (0 != pvar_read("blocks_corrupted")) {
        wrong("%llu blocks were corrupted", pvar_read("blocks_corrupted"));
    }
    /* the last rank has the sum of all; this is never offloaded */
    MPI_Scan(mine, all, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size - 1 != world_rank) {
        return;
    }
    printf("fragments lost: %llu, recovered: %llu\n", all[0], all[1]);
    fflush(stdout);
    if (lossy && (0 == all[0] || 0 == all[1])) {
        wrong("nothing was lost or recovered");
    }
}

int main(int argc, char **argv)
{
    bool lossy = argc > 1 && 0 == strcmp(argv[1], "lossy");
    bool shaken = argc > 1 && 0 == strcmp(argv[1], "shaken");
    unsigned long long fragment = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    int ranks, status;

    if (argc != 4 || 0 == fragment) {
        fprintf(stderr, "usage: allgather_verbs clean|lossy|shaken FRAGMENT INTERFACE\n");
        return EXIT_FAILURE;
    }
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int n = 2; n <= ranks && !shaken; n++) {
        run(n, fragment, lossy ? NULL : argv[3]);
    }
    if (shaken) {
        run_shaken(ranks, fragment);
    }
    check_losses(lossy || shaken);
    pvars_end();
    status = conclude("allgather_verbs");
    MPI_Finalize();
    return status;
}
