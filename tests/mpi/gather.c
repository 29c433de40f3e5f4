/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgathers, Allgathervs and Bcasts: every byte is checked on every rank, and what was offloaded
 * is counted.
 *
 * usage: gather [NAME=VALUE]... CASE...
 *   CASE is OPERATION:SIZE[:TIMES[:inplace]]: allgather, allgatherv or bcast, the bytes of a block
 *   (allgatherv: of the largest one), how often (1), and whether blocks are in their places; or
 *   "pause": all ranks wait until the file PAUSE/go.N is there, N being 1 for the first pause.
 *   Before, rank 0 makes PAUSE/pause.N.
 *
 *   pause=FOLDER  see there
 *   contents=N    other numbers, other contents of the blocks (0)
 *   seconds=S     the cases are repeated as long (rank 0 decides); 0: once, without asking
 *
 * Prints "rank R: begins", and at the end "rank R host H: N operations, O offloaded, S sent, R
 * received, L lost, C recovered, D duplicated, M messages, B shared, X foreign, Y forged", which
 * are fragments, control messages, bytes in shared memory, and what strangers have sent; or after
 * an error "rank R: error after N operations: TEXT".
 */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "pvars.h"

/* In front of what is received, behind it, and between its blocks: nobody may write there. */
#define GUARD  32
#define FILLER 0xee

/* Files in a pause, and ranks that tell of an error before the launcher ends the job. */
#define LOOK_MICROSECONDS 10000
#define FAREWELL_SECONDS  3

typedef struct {
    char operation[16];
    size_t size;
    int times;
    bool in_place;
} case_t;

static int rank, size, pauses;
static unsigned long operations, contents;
static const char *pause_folder = ".";

/* The words of a block: no two of a rank are alike, and those of others are other ones. */
static uint64_t word_of(uint64_t key, size_t index)
{
    return (key + index) * 0x9e3779b97f4a7c15u;
}

static uint64_t key_of(int owner)
{
    return mix64((uint64_t) contents << 56 | (uint64_t) operations << 20 | (uint64_t) owner);
}

static void fill(uint8_t *block, size_t length, int owner)
{
    uint64_t key = key_of(owner), word;

    for (size_t at = 0; at < length; at += sizeof(word)) {
        word = word_of(key, at / sizeof(word));
        memcpy(block + at, &word, length - at < sizeof(word) ? length - at : sizeof(word));
    }
}

static void check(const case_t *c, const uint8_t *block, size_t length, int owner)
{
    uint64_t key = key_of(owner), word;

    for (size_t at = 0; at < length; at += sizeof(word)) {
        word = word_of(key, at / sizeof(word));
        if (0 != memcmp(block + at, &word,
                        length - at < sizeof(word) ? length - at : sizeof(word))) {
            wrong("%s of %zu bytes, operation %lu: block %d is wrong in the 8 bytes from %zu of "
                  "%zu on", c->operation, c->size, operations, owner, at, length);
            return;
        }
    }
}

static void check_filler(const case_t *c, const uint8_t *from, const uint8_t *to)
{
    for (; from < to; from++) {
        if (FILLER != *from) {
            wrong("%s of %zu bytes, operation %lu: a byte was written that is none of a block's",
                  c->operation, c->size, operations);
            return;
        }
    }
}

/* Where blocks go, and how long they are. */
typedef struct {
    int *lengths, *places;
    size_t total;
    uint8_t *memory, *recv;    /* recv is at an odd address */
} layout_t;

static size_t length_of(const case_t *c, int owner)
{
    if (0 != strcmp("allgatherv", c->operation) || (int) (operations % (unsigned) size) == owner) {
        return c->size;
    }
    return c->size / 4 * (mix64(operations + (unsigned) owner) % 5); /* some are empty */
}

/* The blocks of an Allgatherv lie in reverse order, with gaps. */
static layout_t make_layout(const case_t *c)
{
    layout_t layout = {.lengths = must(calloc((size_t) size, sizeof(int))),
                       .places = must(calloc((size_t) size, sizeof(int)))};
    bool unequal = 0 == strcmp("allgatherv", c->operation);

    for (int i = 0; i < size; i++) {
        int owner = unequal ? size - 1 - i : i;

        layout.lengths[owner] = (int) length_of(c, owner);
        layout.places[owner] = (int) layout.total;
        layout.total += (size_t) layout.lengths[owner] + (unequal ? 3 : 0);
    }
    layout.memory = must(malloc(layout.total + 2 * GUARD));
    layout.recv = layout.memory + GUARD - 1;
    memset(layout.memory, FILLER, layout.total + 2 * GUARD);
    return layout;
}

static void check_layout(const case_t *c, const layout_t *layout)
{
    bool unequal = 0 == strcmp("allgatherv", c->operation);
    const uint8_t *at = layout->recv;

    check_filler(c, layout->memory, layout->recv);
    for (int i = 0; i < size; i++) {
        int owner = unequal ? size - 1 - i : i;

        check(c, at, (size_t) layout->lengths[owner], owner);
        at += layout->lengths[owner];
        if (unequal) {
            check_filler(c, at, at + 3);
            at += 3;
        }
    }
    check_filler(c, at, layout->memory + layout->total + 2 * GUARD);
}

static void free_layout(layout_t *layout)
{
    free(layout->lengths);
    free(layout->places);
    free(layout->memory);
}

/* More than an int's worth of bytes in all: places are not used then. */
static int gather(const case_t *c)
{
    layout_t layout = make_layout(c);
    size_t own_length = (size_t) layout.lengths[rank];
    size_t own_place = 0 == strcmp("allgather", c->operation) ? (size_t) rank * own_length
                                                              : (size_t) layout.places[rank];
    uint8_t *own = c->in_place ? layout.recv + own_place : must(malloc(own_length + 1));
    const void *send = c->in_place ? MPI_IN_PLACE : own;
    int rc;

    fill(own, own_length, rank);
    if (0 == strcmp("allgather", c->operation)) {
        rc = MPI_Allgather(send, (int) own_length, MPI_BYTE, layout.recv, (int) own_length,
                           MPI_BYTE, MPI_COMM_WORLD);
    } else {
        rc = MPI_Allgatherv(send, (int) own_length, MPI_BYTE, layout.recv, layout.lengths,
                            layout.places, MPI_BYTE, MPI_COMM_WORLD);
    }
    if (MPI_SUCCESS == rc) {
        check_layout(c, &layout);
    }
    if (!c->in_place) {
        free(own);
    }
    free_layout(&layout);
    return rc;
}

static int broadcast(const case_t *c)
{
    uint8_t *memory = must(malloc(c->size + 2 * GUARD)), *block = memory + GUARD - 1;
    int root = (int) (operations % (unsigned) size), rc;

    memset(memory, FILLER, c->size + 2 * GUARD);
    if (root == rank) {
        fill(block, c->size, root);
    }
    rc = MPI_Bcast(block, (int) c->size, MPI_BYTE, root, MPI_COMM_WORLD);
    if (MPI_SUCCESS == rc) {
        check_filler(c, memory, block);
        check(c, block, c->size, root);
        check_filler(c, block + c->size, memory + c->size + 2 * GUARD);
    }
    free(memory);
    return rc;
}

static void touch(const char *name)
{
    int fd = open(name, O_CREAT | O_WRONLY, 0600);

    if (fd < 0) {
        wrong("cannot make %s", name);
    } else {
        close(fd);
    }
}

/* Nothing is sent meanwhile. */
static void make_pause(void)
{
    char name[4096];

    sync_all(MPI_COMM_WORLD);
    pauses++;
    if (0 == rank) {
        snprintf(name, sizeof(name), "%s/pause.%d", pause_folder, pauses);
        touch(name);
    }
    snprintf(name, sizeof(name), "%s/go.%d", pause_folder, pauses);
    while (0 != access(name, F_OK)) {
        usleep(LOOK_MICROSECONDS);
    }
    sync_all(MPI_COMM_WORLD);
}

static int run_case(const char *text)
{
    case_t c = {.times = 1};
    char in_place[8] = "";
    double begin = MPI_Wtime();
    int rc = MPI_SUCCESS;

    if (0 == strcmp("pause", text)) {
        make_pause();
        return MPI_SUCCESS;
    }
    if (sscanf(text, "%15[a-z]:%zu:%d:%7s", c.operation, &c.size, &c.times, in_place) < 2) {
        wrong("\"%s\" is no case", text);
        return MPI_SUCCESS;
    }
    c.in_place = 0 == strcmp("inplace", in_place);
    for (int i = 0; i < c.times && MPI_SUCCESS == rc; i++) {
        rc = 0 == strcmp("bcast", c.operation) ? broadcast(&c) : gather(&c);
        operations += MPI_SUCCESS == rc;
    }
    if (0 == rank && MPI_SUCCESS == rc) {
        printf("%s took %.3f s\n", text, MPI_Wtime() - begin);
        fflush(stdout);
    }
    return rc;
}

static void tell_error(int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    MPI_Error_string(rc, text, &length);
    printf("rank %d: error after %lu operations: %s\n", rank, operations, text);
    fflush(stdout);
    sleep(FAREWELL_SECONDS);
}

static void tell_counters(void)
{
    char host[64] = "";

    gethostname(host, sizeof(host) - 1);
    printf("rank %d host %s: %lu operations, %llu offloaded, %llu sent, %llu received, %llu lost, "
           "%llu recovered, %llu duplicated, %llu messages, %llu shared, %llu foreign, "
           "%llu forged\n", rank, host, operations,
           pvar_read("allgather_offloaded") + pvar_read("bcast_offloaded"),
           pvar_read("fragments_sent"), pvar_read("fragments_received"),
           pvar_read("fragments_lost"), pvar_read("fragments_recovered"),
           pvar_read("fragments_duplicated"), pvar_read("control_messages"),
           pvar_read("bytes_shared"), pvar_read("datagrams_foreign"),
           pvar_read("datagrams_forged") + pvar_read("messages_forged"));
    fflush(stdout);
}

/* Told by messages: a collective might be offloaded. */
static bool goes_on(double end)
{
    int more = MPI_Wtime() < end;

    for (int other = 1; 0 == rank && other < size; other++) {
        MPI_Send(&more, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    }
    if (0 != rank) {
        MPI_Recv(&more, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return more;
}

static int run_all(int count, char **words, double seconds)
{
    double end = MPI_Wtime() + seconds;
    int rc = MPI_SUCCESS;

    do {
        for (int i = 0; i < count && MPI_SUCCESS == rc; i++) {
            rc = NULL == strchr(words[i], '=') ? run_case(words[i]) : MPI_SUCCESS;
        }
    } while (MPI_SUCCESS == rc && seconds > 0 && goes_on(end));
    return rc;
}

int main(int argc, char **argv)
{
    double seconds = 0;
    int rc, status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 1; i < argc; i++) {
        if (0 == strncmp("seconds=", argv[i], 8)) {
            seconds = atof(argv[i] + 8);
        } else if (0 == strncmp("pause=", argv[i], 6)) {
            pause_folder = argv[i] + 6;
        } else if (0 == strncmp("contents=", argv[i], 9)) {
            contents = strtoul(argv[i] + 9, NULL, 10);
        }
    }
    printf("rank %d: begins\n", rank);
    fflush(stdout);
    rc = run_all(argc - 1, argv + 1, seconds);
    if (MPI_SUCCESS != rc) {
        tell_error(rc);
        return EXIT_FAILURE;
    }
    tell_counters();
    pvars_end();
    failures += 0 == operations;
    status = conclude("gather");
    MPI_Finalize();
    return status;
}
