/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgathers, Allgathervs and Bcasts compared byte by byte with where their elements belong: every
 * pair of the properties below occurs. Whatever lies between and around the elements must not
 * change, and every operation must be offloaded.
 *
 * usage: allgather SEED [CASES]: no more than so many, without a promise about pairs then
 */
#include <string.h>

#include "counters.h"
#include "layouts.h"
#include "offered.h"
#include "persistent.h"

#define GUARD_BYTES 64
#define FILL        0x5a
#define MAX_RANKS   64

/* The properties of a case: the number of values of each. */
enum { OP, WAY, PLACE, KIND, OTHER_KIND, DIFFER, SIZE, LENGTHS, ORDER, ROOT, SHIFT, NUM_FACTORS };
#ifdef MPICH_VERSION /* 4.0 frees the types of persistent ones too often */
#    define NUM_WAYS 2
#else
#    define NUM_WAYS 3
#endif
static const unsigned char num_values[NUM_FACTORS] = {
    [OP] = 3, [WAY] = NUM_WAYS, [PLACE] = 2, [KIND] = 24, [OTHER_KIND] = 6, [DIFFER] = 2, [SIZE] = 7,
    [LENGTHS] = 4, [ORDER] = 4, [ROOT] = 3, [SHIFT] = 2};
#define MAX_VALUES 24

enum { ALLGATHER, ALLGATHERV, BCAST };
enum { BLOCKING, NONBLOCKING, PERSISTENT };
enum { APART, IN_PLACE };
enum { LENGTHS_EQUAL, LENGTHS_DIFFERENT, LENGTHS_ONE, LENGTHS_MOST };
enum { ORDER_DENSE, ORDER_REVERSED, ORDER_GAPS, ORDER_NEGATIVE };

static const int sizes[] = {1, 2, 3, 13, 1000, 5459, 30011}; /* of blocks, in bytes or units */

typedef struct {
    unsigned char value[NUM_FACTORS];
    family_t family;
    unsigned kind;
    uint64_t seed;
    int lengths[MAX_RANKS];  /* primitives of each block */
    int counts[MAX_RANKS];   /* elements, of the receive type of this rank */
    int displs[MAX_RANKS];
    int root;
    layout_t send_layout, recv_layout;
    MPI_Request request;
    char text[128];
} case_t;

static int rank, size;

/* A buffer inside guards, and what is to be in it at last. */
typedef struct {
    char *memory, *expected, *data; /* data: the address that MPI gets */
    size_t bytes;                   /* of memory and expected */
} buffer_t;

/* first, end: what MPI may touch, in bytes from the address that it gets. */
static buffer_t buffer_make(MPI_Aint first, MPI_Aint end, unsigned shift)
{
    buffer_t b = {.bytes = (size_t) (end - first) + 2 * GUARD_BYTES + shift};

    b.memory = must(malloc(b.bytes));
    b.expected = must(malloc(b.bytes));
    b.data = b.memory + GUARD_BYTES + shift - first;
    return b;
}

static void buffer_fill(const buffer_t *b)
{
    memset(b->memory, FILL, b->bytes);
    memset(b->expected, FILL, b->bytes);
}

static char *expected_at(const buffer_t *b, MPI_Aint at)
{
    return b->expected + (b->data - b->memory) + at;
}

static void buffer_check(const case_t *c, const buffer_t *b, const char *name)
{
    size_t i = 0;

    if (0 == memcmp(b->memory, b->expected, b->bytes)) {
        return;
    }
    while (b->memory[i] == b->expected[i]) {
        i++;
    }
    wrong("%s: byte %td of the %s buffer is %#x instead of %#x", c->text,
          b->memory + i - b->data, name, (unsigned char) b->memory[i],
          (unsigned char) b->expected[i]);
}

static void buffer_free(buffer_t *b)
{
    free(b->memory);
    free(b->expected);
}

static uint64_t block_seed(const case_t *c, int block)
{
    return mix64(c->seed * 1000 + (uint64_t) block);
}

static MPI_Aint place_of(const case_t *c, int block)
{
    return c->displs[block] * c->recv_layout.extent;
}

/* Which family and kind a number from 0 on is; numbers beyond the last begin anew. */
static void choose_kind(case_t *c, unsigned number)
{
    unsigned all = 0;

    for (int f = 0; f < NUM_FAMILIES; f++) {
        all += layout_kinds((family_t) f);
    }
    number %= all;
    c->family = FAMILY_BYTES;
    while (number >= layout_kinds(c->family)) {
        number -= layout_kinds(c->family);
        c->family++;
    }
    c->kind = number;
}

/* A kind of the case's family; with blocks of different lengths none that is a whole block. */
static unsigned kind_near(const case_t *c, unsigned number)
{
    number %= layout_kinds(c->family);
    while (ALLGATHERV == c->value[OP] && layout_is_whole(c->family, number)) {
        number = (number + 1) % layout_kinds(c->family);
    }
    return number;
}

static int length_of(const case_t *c, int block)
{
    int length = sizes[c->value[SIZE]] * layout_unit(c->family);

    if (ALLGATHERV != c->value[OP]) {
        return length;
    }
    switch (c->value[LENGTHS]) {
    case LENGTHS_DIFFERENT:
        return block % 3 * length;
    case LENGTHS_ONE:
        return block == c->root ? length : 0;
    case LENGTHS_MOST:
        return block == c->root ? 0 : length + block * layout_unit(c->family);
    default:
        return length;
    }
}

/* Blocks in some order, with or without gaps between them: in elements. */
static void choose_displs(case_t *c)
{
    int next = ORDER_NEGATIVE == c->value[ORDER] ? -size * c->counts[0] / 2 - 1 : 0;

    for (int i = 0; i < size; i++) {
        int block = ORDER_REVERSED == c->value[ORDER] ? size - 1 - i : i;

        c->displs[block] = next;
        next += c->counts[block] + (ORDER_GAPS == c->value[ORDER] ? 1 + i % 2 : 0);
    }
}

static void complete_case(case_t *c)
{
    unsigned turn = c->value[DIFFER] ? (unsigned) rank : 0;
    int roots[] = {0, size - 1, size / 2};
    bool vector = ALLGATHERV == c->value[OP];

    choose_kind(c, c->value[KIND]);
    c->root = roots[c->value[ROOT]];
    for (int i = 0; i < size; i++) {
        c->lengths[i] = length_of(c, i);
    }
    c->recv_layout = layout_make(c->family, kind_near(c, c->kind + turn), c->lengths[0]);
    c->send_layout = layout_make(c->family, kind_near(c, c->kind + c->value[OTHER_KIND] + 3 * turn),
                                 c->lengths[0]);
    for (int i = 0; i < size; i++) {
        c->counts[i] = c->lengths[i] / c->recv_layout.parts;
        c->displs[i] = BCAST == c->value[OP] ? 0 : i * c->counts[0];
    }
    if (vector) {
        choose_displs(c);
    }
    c->request = MPI_REQUEST_NULL;
    snprintf(c->text, sizeof(c->text), "case %d %d %d %d %d %d %d %d %d %d %d", c->value[0],
             c->value[1], c->value[2], c->value[3], c->value[4], c->value[5], c->value[6],
             c->value[7], c->value[8], c->value[9], c->value[10]);
}

static buffer_t recv_buffer(const case_t *c)
{
    MPI_Aint first = 0, end = 0;

    for (int i = 0; i < size; i++) {
        MPI_Aint block_first, block_end;

        if (0 == c->lengths[i]) {
            continue;
        }
        layout_bounds(&c->recv_layout, c->lengths[i], &block_first, &block_end);
        block_first += place_of(c, i);
        block_end += place_of(c, i);
        first = block_first < first ? block_first : first;
        end = block_end > end ? block_end : end;
    }
    return buffer_make(first, end, c->value[SHIFT]);
}

static buffer_t send_buffer(const case_t *c)
{
    MPI_Aint first = 0, end = 0;

    if (0 != c->lengths[rank]) {
        layout_bounds(&c->send_layout, c->lengths[rank], &first, &end);
    }
    return buffer_make(first, end, c->value[SHIFT]);
}

/* What this rank gives, and what all are to have. */
static void fill(const case_t *c, const buffer_t *send, const buffer_t *recv)
{
    bool bcast = BCAST == c->value[OP];

    buffer_fill(send);
    buffer_fill(recv);
    if (bcast) {
        layout_write(&c->recv_layout, c->lengths[0], block_seed(c, c->root), expected_at(recv, 0));
    }
    for (int i = 0; i < size && !bcast; i++) {
        layout_write(&c->recv_layout, c->lengths[i], block_seed(c, i),
                     expected_at(recv, place_of(c, i)));
    }
    if (bcast && rank == c->root) {
        memcpy(recv->memory, recv->expected, recv->bytes);
    } else if (!bcast && IN_PLACE == c->value[PLACE]) {
        layout_write(&c->recv_layout, c->lengths[rank], block_seed(c, rank),
                     recv->data + place_of(c, rank));
    } else if (!bcast) {
        layout_write(&c->send_layout, c->lengths[rank], block_seed(c, rank), send->data);
        memcpy(send->expected, send->memory, send->bytes);
    }
}

static void begin_allgather(case_t *c, const void *send, int count, void *recv, MPI_Comm comm)
{
    MPI_Datatype type = c->send_layout.type, recv_type = c->recv_layout.type;

    if (BLOCKING == c->value[WAY]) {
        MPI_Allgather(send, count, type, recv, c->counts[0], recv_type, comm);
    } else if (NONBLOCKING == c->value[WAY]) {
        MPI_Iallgather(send, count, type, recv, c->counts[0], recv_type, comm, &c->request);
    } else if (MPI_REQUEST_NULL == c->request) {
        MPI_Allgather_init(send, count, type, recv, c->counts[0], recv_type, comm, MPI_INFO_NULL,
                           &c->request);
    }
}

static void begin_allgatherv(case_t *c, const void *send, int count, void *recv, MPI_Comm comm)
{
    MPI_Datatype type = c->send_layout.type, recv_type = c->recv_layout.type;

    if (BLOCKING == c->value[WAY]) {
        MPI_Allgatherv(send, count, type, recv, c->counts, c->displs, recv_type, comm);
    } else if (NONBLOCKING == c->value[WAY]) {
        MPI_Iallgatherv(send, count, type, recv, c->counts, c->displs, recv_type, comm,
                        &c->request);
    } else if (MPI_REQUEST_NULL == c->request) {
        MPI_Allgatherv_init(send, count, type, recv, c->counts, c->displs, recv_type, comm,
                            MPI_INFO_NULL, &c->request);
    }
}

static void begin_bcast(case_t *c, void *buffer, MPI_Comm comm)
{
    MPI_Datatype type = c->recv_layout.type;

    if (BLOCKING == c->value[WAY]) {
        MPI_Bcast(buffer, c->counts[0], type, c->root, comm);
    } else if (NONBLOCKING == c->value[WAY]) {
        MPI_Ibcast(buffer, c->counts[0], type, c->root, comm, &c->request);
    } else if (MPI_REQUEST_NULL == c->request) {
        MPI_Bcast_init(buffer, c->counts[0], type, c->root, comm, MPI_INFO_NULL, &c->request);
    }
}

static void begin(case_t *c, MPI_Comm comm, const buffer_t *send, const buffer_t *recv)
{
    const void *from = IN_PLACE == c->value[PLACE] ? MPI_IN_PLACE : send->data;
    int count = c->lengths[rank] / c->send_layout.parts;

    if (ALLGATHER == c->value[OP]) {
        begin_allgather(c, from, count, recv->data, comm);
    } else if (ALLGATHERV == c->value[OP]) {
        begin_allgatherv(c, from, count, recv->data, comm);
    } else {
        begin_bcast(c, recv->data, comm);
    }
    if (PERSISTENT == c->value[WAY]) {
        MPI_Start(&c->request);
    }
}

/* Open MPI spreads communicator ids by such Bcasts, in an order that differs between ranks. */
static bool is_out_of_order(const case_t *c)
{
    size_t bytes = 0;

    for (int i = 0; i < c->lengths[0] && bytes <= 8; i++) {
        bytes += layout_size(c->family, i);
    }
    return has_own_order && BCAST == c->value[OP] && NONBLOCKING == c->value[WAY] && bytes <= 8;
}

static bool has_data(const case_t *c)
{
    int all = 0;

    for (int i = 0; i < size; i++) {
        all += c->lengths[i];
    }
    return all > 0;
}

static void check_counters(const case_t *c, const counters_t *before)
{
    counters_t expected = {.groups = ANY};

    if (is_out_of_order(c)) {
        expected.fallbacks_order = 1;
    } else if (!has_data(c)) {
        expected.fallbacks_size = ANY; /* Open MPI may see that nothing is to be done */
    } else if (BCAST == c->value[OP]) {
        expected.bcast_offloaded = 1;
    } else {
        expected.allgather_offloaded = 1;
    }
    counters_moved(c->text, before, expected);
}

static void run_once(case_t *c, MPI_Comm comm, const buffer_t *send, const buffer_t *recv)
{
    counters_t before = counters_read();

    fill(c, send, recv);
    begin(c, comm, send, recv);
    if (MPI_REQUEST_NULL != c->request) {
        MPI_Wait(&c->request, MPI_STATUS_IGNORE);
    }
    buffer_check(c, send, "send");
    buffer_check(c, recv, "receive");
    check_counters(c, &before);
}

static void run_case(case_t *c, MPI_Comm comm)
{
    buffer_t send, recv;

    complete_case(c);
    send = send_buffer(c);
    recv = recv_buffer(c);
    run_once(c, comm, &send, &recv);
    if (PERSISTENT == c->value[WAY]) {
        c->seed++;
        run_once(c, comm, &send, &recv);
        MPI_Request_free(&c->request);
    }
    buffer_free(&send);
    buffer_free(&recv);
    layout_free(&c->send_layout);
    layout_free(&c->recv_layout);
}

/* Pairs of values that have occurred. */
static bool covered[NUM_FACTORS][NUM_FACTORS][MAX_VALUES][MAX_VALUES];

static unsigned new_pairs(const case_t *c, bool cover)
{
    unsigned count = 0;

    for (int i = 0; i < NUM_FACTORS; i++) {
        for (int k = 0; k < i; k++) {
            bool *pair = &covered[i][k][c->value[i]][c->value[k]];

            count += !*pair;
            *pair = *pair || cover;
        }
    }
    return count;
}

/* Of some random cases the one with the most new pairs; false: no new pairs were found. */
static bool next_case(case_t *best, uint64_t *random)
{
    unsigned most = 0;

    for (int tries = 0; tries < 1000 && (0 == most || tries < 50); tries++) {
        case_t c = {.seed = mix64(*random)};

        for (int i = 0; i < NUM_FACTORS; i++) {
            c.value[i] = (unsigned char) next_random(random, num_values[i]);
        }
        if (new_pairs(&c, false) > most) {
            most = new_pairs(&c, false);
            *best = c;
        }
    }
    return 0 != most && 0 != new_pairs(best, true);
}

int main(int argc, char **argv)
{
    uint64_t random = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int limit = argc > 2 ? atoi(argv[2]) : 10000, count = 0, status;
    MPI_Comm comm;
    char summary[64];
    case_t c;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    meet_first(comm);
    while (count < limit && next_case(&c, &random)) {
        run_case(&c, comm);
        count++;
    }
    MPI_Comm_free(&comm);
    if (0 != pvar_read("blocks_corrupted") || 0 == pvar_read("fragments_sent")) {
        wrong("%llu blocks were corrupted, %llu fragments sent", pvar_read("blocks_corrupted"),
              pvar_read("fragments_sent"));
    }
    snprintf(summary, sizeof(summary), "allgather: %d cases on %d ranks", count, size);
    pvars_end();
    status = conclude(summary);
    MPI_Finalize();
    return status;
}
