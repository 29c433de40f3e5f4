/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduces compared bit by bit with a plain left fold in rank order.
 *
 * usage: allreduce_matrix pairs      lists what is to be offloaded: OP TYPE SIZE, one a line
 *        allreduce_matrix rest       does everything else with predefined operations and types
 *        allreduce_matrix FILE       does the cases of a file, one a line:
 *     RANKS OP TYPE COUNT apart|inplace BYTES|element b|nb|persistent SEED
 * RANKS is the size of the communicator (the other ranks do the same in another one). The buffers
 * begin BYTES bytes, or one element, after an aligned address; b is MPI_Allreduce, nb is
 * MPI_Iallreduce, and persistent is MPI_Allreduce_init, started twice. The case must be offloaded,
 * and nothing around the elements may change, nor between the parts of one.
 */
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "matrix_types.h"
#include "offered.h"
#include "persistent.h"
#include "pvars.h"

#define PAGE         4096
#define GUARD_BYTES  64
#define GUARD        0xa5
#define SEND_PADDING 0x3c
#define RECV_PADDING 0x5a

typedef enum { BLOCKING, NONBLOCKING, PERSISTENT } way_t;

typedef struct {
    int ranks, op, count;
    const type_t *type;
    bool in_place;
    way_t way;
    size_t offset;
    uint64_t seed;
    bool exact; /* results are small integers */
    bool offloaded;
    char line[160];
} case_t;

static char *element(const case_t *c, const void *buffer, int index)
{
    return (char *) buffer + (size_t) index * c->type->base->extent;
}

static size_t extent_of(const case_t *c)
{
    return (size_t) c->count * c->type->base->extent;
}

/* What a rank contributes: known to all. Leaves padding alone. */
static void make_input(const case_t *c, int rank, void *buffer)
{
    for (int i = 0; i < c->count; i++) {
        uint64_t bits = mix64(mix64(c->seed * 64 + (uint64_t) rank) + (uint64_t) i);

        make_element(c->type, c->op, bits, c->exact, element(c, buffer, i));
    }
}

static void *make_expected(const case_t *c)
{
    void *result = must(malloc(extent_of(c))), *next = must(malloc(extent_of(c)));

    make_input(c, 0, result);
    for (int rank = 1; rank < c->ranks; rank++) {
        make_input(c, rank, next);
        c->type->base->fold(result, next, (size_t) c->count, c->op);
    }
    free(next);
    return result;
}

/* The first bytes of an element, as a number. */
static unsigned long long bytes_of(const case_t *c, const void *at)
{
    unsigned long long number = 0;
    size_t extent = c->type->base->extent;

    memcpy(&number, at, extent < sizeof(number) ? extent : sizeof(number));
    return number;
}

static void check_result(const case_t *c, const void *result)
{
    void *expected = make_expected(c);

    for (int i = 0; i < c->count; i++) {
        const char *is = element(c, result, i), *should = element(c, expected, i);

        if (!same_element(c->type, c->op, is, should)) {
            wrong("case \"%s\": element %d is %#llx... instead of %#llx...", c->line, i,
                  bytes_of(c, is), bytes_of(c, should));
            break;
        }
        /* Open MPI itself may copy it from the send buffer */
        if (c->offloaded && !has_padding(c->type, RECV_PADDING, is)) {
            wrong("case \"%s\": bytes between the parts of element %d have changed", c->line, i);
            break;
        }
    }
    free(expected);
}

/* A buffer inside guards: memory is what to free, data is what to use. */
typedef struct {
    unsigned char *memory, *data;
    size_t before, bytes, after;
} guarded_t;

static guarded_t guarded_make(const case_t *c, unsigned char padding)
{
    guarded_t g = {.before = GUARD_BYTES + c->offset, .after = GUARD_BYTES,
                   .bytes = extent_of(c)};
    size_t all = (g.before + g.bytes + g.after + PAGE - 1) / PAGE * PAGE;

    g.after = all - g.before - g.bytes;
    g.memory = must(aligned_alloc(PAGE, all));
    g.data = g.memory + g.before;
    memset(g.memory, GUARD, all);
    for (int i = 0; i < c->count; i++) {
        fill_padding(c->type, padding, element(c, g.data, i));
    }
    return g;
}

/* Whole pages are its own. */
static void guarded_protect(const guarded_t *g, int protection)
{
    if (0 != mprotect(g->memory, g->before + g->bytes + g->after, protection)) {
        wrong("the send buffer cannot be protected");
    }
}

static void check_guards(const case_t *c, const guarded_t *g, const char *name)
{
    bool touched = false;

    for (size_t i = 0; i < g->before; i++) {
        touched = touched || GUARD != g->memory[i];
    }
    for (size_t i = 0; i < g->after; i++) {
        touched = touched || GUARD != g->data[g->bytes + i];
    }
    if (touched) {
        wrong("case \"%s\": memory around the %s buffer has changed", c->line, name);
    }
}

/* Begins the operation; the second time a persistent one is only started. */
static void begin(const case_t *c, MPI_Comm comm, const void *send, void *recv, bool again,
                  MPI_Request *request)
{
    MPI_Op op = op_handle(c->op);

    if (BLOCKING == c->way) {
        MPI_Allreduce(send, recv, c->count, c->type->handle, op, comm);
    } else if (NONBLOCKING == c->way) {
        MPI_Iallreduce(send, recv, c->count, c->type->handle, op, comm, request);
    } else {
        if (!again) {
            MPI_Allreduce_init(send, recv, c->count, c->type->handle, op, comm, MPI_INFO_NULL,
                               request);
        }
        MPI_Start(request);
    }
}

typedef struct {
    unsigned long long offloaded, fallbacks, order, op, type, sent, received, failures;
} counters_t;

static counters_t read_counters(void)
{
    return (counters_t) {
        .offloaded = pvar_read("allreduce_offloaded"), .fallbacks = pvar_read("fallbacks"),
        .order = pvar_read("fallbacks_order"), .op = pvar_read("fallbacks_op"),
        .type = pvar_read("fallbacks_type"), .sent = pvar_read("bytes_sent"),
        .received = pvar_read("bytes_received"), .failures = pvar_read("failures")};
}

static bool out_of_order(const case_t *c)
{
    const base_t *base = c->type->base;

    return has_own_order && NONBLOCKING == c->way && c->count <= 2 && (MIN == c->op || MAX == c->op)
           && !base->parts[0].floating;
}

static void expect_counters(const case_t *c, const counters_t *before, const counters_t *change)
{
    counters_t now = read_counters();

#define CHECK(name)                                                                           \
    if (now.name - before->name != change->name) {                                            \
        wrong("case \"%s\": counter " #name " has grown by %llu instead of %llu", c->line,    \
              now.name - before->name, change->name);                                         \
    }
    CHECK(offloaded)
    CHECK(fallbacks)
    CHECK(order)
    CHECK(op)
    CHECK(type)
    CHECK(sent)
    CHECK(received)
    CHECK(failures)
#undef CHECK
}

static void check_counters(const case_t *c, const counters_t *before)
{
    unsigned long long bytes = (unsigned long long) c->count * c->type->base->size;
    counters_t change = {.fallbacks = 0};

    if (c->offloaded) {
        change = (counters_t) {.offloaded = 1, .sent = bytes, .received = bytes};
    } else if (out_of_order(c)) {
        change = (counters_t) {.fallbacks = 1, .order = 1};
    }
    expect_counters(c, before, &change);
}

/* As it was before, padding included. */
static void check_send(const case_t *c, int rank, const guarded_t *send)
{
    guarded_t again = guarded_make(c, SEND_PADDING);

    make_input(c, rank, again.data);
    if (0 != memcmp(again.data, send->data, send->bytes)) {
        wrong("case \"%s\": the send buffer has changed", c->line);
    }
    free(again.memory);
    check_guards(c, send, "send");
}

static void run_once(const case_t *c, MPI_Comm comm, const guarded_t *send, const guarded_t *recv,
                     bool again, MPI_Request *request)
{
    counters_t before = read_counters();
    int rank;

    MPI_Comm_rank(comm, &rank);
    make_input(c, rank, c->in_place ? recv->data : send->data);
    guarded_protect(send, PROT_READ); /* a constant of the program may be sent, too */
    begin(c, comm, c->in_place ? MPI_IN_PLACE : send->data, recv->data, again, request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    guarded_protect(send, PROT_READ | PROT_WRITE);
    check_result(c, recv->data);
    check_guards(c, recv, "receive");
    if (!c->in_place) {
        check_send(c, rank, send);
    }
    check_counters(c, &before);
}

static void run_case(case_t *c, MPI_Comm comm)
{
    guarded_t send = guarded_make(c, SEND_PADDING), recv = guarded_make(c, RECV_PADDING);
    MPI_Request request = MPI_REQUEST_NULL;

    run_once(c, comm, &send, &recv, false, &request);
    if (PERSISTENT == c->way) {
        c->seed++;
        run_once(c, comm, &send, &recv, true, &request);
        MPI_Request_free(&request);
    }
    free(send.memory);
    free(recv.memory);
}

static bool parse_way(const char *name, way_t *way)
{
    static const char *const names[] = {"b", "nb", "persistent"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (0 == strcmp(name, names[i])) {
            *way = (way_t) i;
            return true;
        }
    }
    return false;
}

static bool parse_case(const char *line, case_t *c)
{
    char op[16], type[32], place[16], offset[16], way[16];
    unsigned long long seed;

    memset(c, 0, sizeof(*c));
    snprintf(c->line, sizeof(c->line), "%.*s", (int) strcspn(line, "\n"), line);
    if (8 != sscanf(line, "%d %15s %31s %d %15s %15s %15s %llu", &c->ranks, op, type, &c->count,
                    place, offset, way, &seed)
        || !op_find(op, &c->op) || !parse_way(way, &c->way) || c->ranks < 2 || c->count < 1) {
        return false;
    }
    c->type = type_find(type);
    if (NULL == c->type || !c->type->offered || !type_allows(c->type, c->op)) {
        return false;
    }
    c->in_place = 0 == strcmp(place, "inplace");
    c->offset = 0 == strcmp(offset, "element") ? c->type->base->extent : strtoul(offset, NULL, 10);
    c->seed = seed;
    c->offloaded = !out_of_order(c) && (PERSISTENT != c->way || offers_persistent);
    c->exact = !c->offloaded; /* overflows are Open MPI's own affair, which saturates some */
    return true;
}

#define MAX_RANKS 64

/* One communicator for each number of ranks, of the first so many; another for the rest. */
static MPI_Comm comm_of(int ranks)
{
    static MPI_Comm comms[MAX_RANKS + 1];
    static bool made[MAX_RANKS + 1];
    int rank, size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (ranks == size) {
        return MPI_COMM_WORLD;
    }
    if (!made[ranks]) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks, rank, &comms[ranks]);
        made[ranks] = true;
        meet_first(comms[ranks]);
    }
    return comms[ranks];
}

static unsigned run_file(FILE *file)
{
    char line[160];
    unsigned count = 0;
    int world, size;
    case_t c;

    meet_first(MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    while (NULL != fgets(line, sizeof(line), file)) {
        MPI_Comm comm;

        if (!parse_case(line, &c) || c.ranks > world || c.ranks > MAX_RANKS) {
            wrong("this is no case for %d ranks: %s", world, line);
            continue;
        }
        comm = comm_of(c.ranks);
        MPI_Comm_size(comm, &size);
        c.ranks = size;
        if (size > 1) {
            run_case(&c, comm);
        }
        count++;
    }
    return count;
}

static void list_pairs(void)
{
    unsigned count;
    const type_t *types = types_all(&count);

    for (unsigned i = 0; i < count; i++) {
        for (int op = 0; op < NUM_OPS && types[i].offered; op++) {
            if (type_allows(&types[i], op)) {
                printf("%s %s %zu\n", op_name(op), types[i].name, types[i].base->size);
            }
        }
    }
}

#define REST_COUNT 5
#define REST_BYTES 1024 /* enough for so many of any type */

/*
 * What Open MPI lets through must have fallen back for the right reason; it refuses the rest.
 * Operations that the standard allows give the right result.
 */
static void run_rest(const type_t *type, int op)
{
    case_t c = {.op = op, .count = REST_COUNT, .type = type, .seed = 1, .exact = true};
    char send[REST_BYTES] = "", recv[REST_BYTES] = "";
    counters_t before = read_counters(), change = {.fallbacks = 0};
    bool offered_op = op < REPLACE, allowed = type_allows(type, op);
    int rank, rc;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c.ranks);
    snprintf(c.line, sizeof(c.line), "%s %s", op_name(op), type->name);
    if (allowed) {
        make_input(&c, rank, send);
    }
    rc = MPI_Allreduce(send, recv, c.count, type->handle, op_handle(op), MPI_COMM_WORLD);
    if (MPI_SUCCESS == rc) {
        change.fallbacks = 1;
        change.type = offered_op && !type->offered;
        change.op = !change.type;
    }
    expect_counters(&c, &before, &change);
    if (allowed && MPI_SUCCESS != rc) {
        wrong("case \"%s\" is an error", c.line);
    } else if (allowed) {
        check_result(&c, recv);
    }
}

/* Each operation with each type that is not offloaded, and with one that is not predefined. */
static unsigned run_all_rest(void)
{
    unsigned count, done = 0;
    const type_t *types = types_all(&count);
    type_t derived = {.name = "derived"};

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_INT, &derived.handle);
    MPI_Type_commit(&derived.handle);
    for (int op = 0; op < NUM_OPS; op++) {
        for (unsigned i = 0; i < count; i++) {
            bool allowed = type_allows(&types[i], op);

            /* MPICH 4.0 does not refuse, but fails an assertion */
            if (allowed ? !types[i].offered : has_own_order) {
                run_rest(&types[i], op);
                done++;
            }
        }
        if (has_own_order) {
            run_rest(&derived, op);
            done++;
        }
    }
    MPI_Type_free(&derived.handle);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return done;
}

/* The types are as large as this test takes them to be. */
static void check_sizes(void)
{
    unsigned count;
    const type_t *types = types_all(&count);

    for (unsigned i = 0; i < count; i++) {
        MPI_Aint lower, extent;
        int size;

        MPI_Type_size(types[i].handle, &size);
        MPI_Type_get_extent(types[i].handle, &lower, &extent);
        if (NULL != types[i].base
            && ((size_t) size != types[i].base->size
                || (size_t) extent != types[i].base->extent)) {
            wrong("%s has size %d and extent %ld", types[i].name, size, (long) extent);
        }
    }
}

static unsigned run_cases(const char *name)
{
    FILE *file = fopen(name, "r");
    unsigned count;

    if (NULL == file) {
        printf("not ok: allreduce_matrix cannot open %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 0;
    }
    count = run_file(file);
    fclose(file);
    return count;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    char summary[64];
    int status;

    MPI_Init(&argc, &argv);
    if (0 == strcmp(what, "pairs")) {
        list_pairs();
        MPI_Finalize();
        return EXIT_SUCCESS;
    }
    check_sizes();
    snprintf(summary, sizeof(summary), "allreduce_matrix: %u cases",
             0 == strcmp(what, "rest") ? run_all_rest() : run_cases(what));
    pvars_end();
    status = conclude(summary);
    MPI_Finalize();
    return status;
}
