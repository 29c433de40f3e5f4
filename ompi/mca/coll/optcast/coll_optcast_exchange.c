/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges among the ranks of a communicator, by messages of our own: an Allgather of records by
 * Bruck's algorithm, the minimum of the votes of all ranks, and contacts between neighbours, in
 * one round.
 *
 * The first two take ceil(log2 n) rounds of one message to one rank and one from another. In the
 * round of distance d = 1, 2, 4, … a rank sends what it has to the rank d below and gets from the
 * rank d above what that one has: afterwards it knows of the 2·d ranks from itself upwards, modulo
 * n. The last round brings only the records that are still missing; the minimum may well count a
 * rank twice.
 *
 * Messages are moved on from progress, never from inside the engine: functions of the PML may call
 * progress themselves, which must find the client's lock free. Only one thread at a time moves them
 * on, and what progress leads to meanwhile leaves them alone.
 *
 * One tag does for all exchanges of a set-up. They follow each other in the same order on all
 * ranks, and in each of them a rank sends at most one message to any other, because no two
 * distances are equal modulo n, and no two neighbours. So the messages of one rank to another are
 * sent, and received, in the order of the exchanges, and MPI's messages do not overtake each other.
 */
#include "coll_optcast_exchange.h"

#include "ompi/mca/pml/pml.h"

#include "coll_optcast_state.h"

/*
 * Held by whoever began it and by the list, until no request refers to the buffers any more: a PML
 * may write into them although the exchange has failed.
 */
struct mca_coll_optcast_exchange {
    opal_list_item_t super;
    atomic_int holders;
    atomic_int status;          /* oc_status_t, for the one who began it */
    ompi_communicator_t *comm;  /* retained while the list holds this */
    int tag;
    int distance;               /* of the round under way; 0: none yet */
    size_t size;                /* bytes of a record or contact; 0: a vote */
    uint8_t *records;           /* the own one first, then that of the rank above, and so on; … */
    uint32_t neighbours[OC_CAST_NEIGHBOURS]; /* … or those of the neighbours */
    unsigned num_neighbours;    /* 0: of all ranks */
    int64_t least[OC_VOTE_WORDS], other[OC_VOTE_WORDS];
    ompi_request_t *receives[OC_CAST_NEIGHBOURS], *sends[OC_CAST_NEIGHBOURS];
};
OBJ_CLASS_DECLARATION(mca_coll_optcast_exchange_t);

static void exchange_construct(mca_coll_optcast_exchange_t *x)
{
    memset((char *) x + sizeof(x->super), 0, sizeof(*x) - sizeof(x->super));
}

static void exchange_destruct(mca_coll_optcast_exchange_t *x)
{
    free(x->records);
}

OBJ_CLASS_INSTANCE(mca_coll_optcast_exchange_t, opal_list_item_t, exchange_construct,
                   exchange_destruct);

static void exchange_let_go(mca_coll_optcast_exchange_t *x)
{
    if (1 == atomic_fetch_sub(&x->holders, 1)) {
        OBJ_RELEASE(x);
    }
}

static void append(mca_coll_optcast_exchange_t *x)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;

    OPAL_THREAD_LOCK(&st->lock);
    opal_list_append(&st->exchanges, &x->super);
    OPAL_THREAD_UNLOCK(&st->lock);
}

static mca_coll_optcast_exchange_t *exchange_begin(mca_coll_optcast_exchange_t *x,
                                                   ompi_communicator_t *comm, int tag)
{
    OBJ_RETAIN(comm);
    x->comm = comm;
    x->tag = tag;
    atomic_store(&x->holders, 2);
    atomic_store(&x->status, OC_IN_PROGRESS);
    append(x);
    return x;
}

/* With room for so many records, of which the first one is this. */
static mca_coll_optcast_exchange_t *exchange_make(size_t count, const void *record, size_t size)
{
    mca_coll_optcast_exchange_t *x = OBJ_NEW(mca_coll_optcast_exchange_t);

    if (NULL == x) {
        return NULL;
    }
    x->size = size;
    x->records = calloc(count, size);
    if (NULL == x->records) {
        OBJ_RELEASE(x);
        return NULL;
    }
    memcpy(x->records, record, size);
    return x;
}

mca_coll_optcast_exchange_t *mca_coll_optcast_exchange_records(ompi_communicator_t *comm, int tag,
                                                               const void *record, size_t size)
{
    mca_coll_optcast_exchange_t *x = exchange_make((size_t) ompi_comm_size(comm), record, size);

    return NULL == x ? NULL : exchange_begin(x, comm, tag);
}

mca_coll_optcast_exchange_t *
mca_coll_optcast_exchange_contacts(ompi_communicator_t *comm, int tag,
                                   const oc_exchange_t *buffers)
{
    mca_coll_optcast_exchange_t *x =
        exchange_make(1 + *buffers->num_neighbours, buffers->contact, buffers->contact_size);

    if (NULL == x) {
        return NULL;
    }
    x->num_neighbours = *buffers->num_neighbours;
    memcpy(x->neighbours, buffers->neighbours, x->num_neighbours * sizeof(x->neighbours[0]));
    return exchange_begin(x, comm, tag);
}

mca_coll_optcast_exchange_t *mca_coll_optcast_exchange_vote(ompi_communicator_t *comm, int tag,
                                                            const int64_t *vote)
{
    mca_coll_optcast_exchange_t *x = OBJ_NEW(mca_coll_optcast_exchange_t);

    if (NULL == x) {
        return NULL;
    }
    memcpy(x->least, vote, sizeof(x->least));
    return exchange_begin(x, comm, tag);
}

oc_status_t mca_coll_optcast_exchange_test(const mca_coll_optcast_exchange_t *x)
{
    return (oc_status_t) atomic_load(&x->status);
}

void mca_coll_optcast_exchange_copy(const mca_coll_optcast_exchange_t *x, void *records)
{
    size_t below;

    if (x->num_neighbours > 0) {
        memcpy(records, x->records + x->size, x->num_neighbours * x->size);
        return;
    }
    below = (size_t) ompi_comm_rank(x->comm) * x->size;
    memcpy((uint8_t *) records + below, x->records,
           (size_t) ompi_comm_size(x->comm) * x->size - below);
    memcpy(records, x->records + (size_t) ompi_comm_size(x->comm) * x->size - below, below);
}

const int64_t *mca_coll_optcast_exchange_least(const mca_coll_optcast_exchange_t *x)
{
    return x->least;
}

void mca_coll_optcast_exchange_end(mca_coll_optcast_exchange_t *x)
{
    exchange_let_go(x);
}

static void exchange_count(size_t bytes)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;

    (void) __atomic_fetch_add(&st->counters.setup_messages, 1, __ATOMIC_RELAXED);
    (void) __atomic_fetch_add(&st->counters.setup_bytes, bytes, __ATOMIC_RELAXED);
}

/* One of the messages of a round, in both directions; elements of one type, bytes in all. */
typedef struct {
    void *from, *to;
    int above, below;           /* ranks: that it is received from, and sent to */
    ompi_datatype_t *type;
    size_t elements, bytes;
} link_t;

static int exchange_post(mca_coll_optcast_exchange_t *x, unsigned number, const link_t *link)
{
    int rc = MCA_PML_CALL(irecv(link->to, link->elements, link->type, link->above, x->tag, x->comm,
                                &x->receives[number]));

    if (OMPI_SUCCESS != rc) {
        x->receives[number] = NULL;
        return rc;
    }
    rc = MCA_PML_CALL(isend(link->from, link->elements, link->type, link->below, x->tag,
                            MCA_PML_BASE_SEND_STANDARD, x->comm, &x->sends[number]));
    if (OMPI_SUCCESS != rc) {
        x->sends[number] = NULL;
        return rc;
    }
    exchange_count(link->bytes);
    return OMPI_SUCCESS;
}

static int post_contacts(mca_coll_optcast_exchange_t *x)
{
    int rc = OMPI_SUCCESS;

    for (unsigned i = 0; OMPI_SUCCESS == rc && i < x->num_neighbours; i++) {
        link_t link = {.from = x->records, .to = x->records + (1 + i) * x->size,
                       .above = (int) x->neighbours[i], .below = (int) x->neighbours[i],
                       .type = MPI_BYTE, .elements = x->size, .bytes = x->size};

        rc = exchange_post(x, i, &link);
    }
    return rc;
}

/* A part of the records, or a vote. */
static int post_round(mca_coll_optcast_exchange_t *x)
{
    int ranks = ompi_comm_size(x->comm), self = ompi_comm_rank(x->comm), d = x->distance;
    size_t bytes = (size_t) (d < ranks - d ? d : ranks - d) * x->size;
    link_t link = {.from = x->records, .to = x->records + (size_t) d * x->size,
                   .above = (self + d) % ranks, .below = (self + ranks - d) % ranks,
                   .type = MPI_BYTE, .elements = bytes, .bytes = bytes};

    if (0 == x->size) {
        link.from = x->least;
        link.to = x->other;
        link.type = MPI_INT64_T;
        link.elements = OC_VOTE_WORDS;
        link.bytes = sizeof(x->least);
    }
    return exchange_post(x, 0, &link);
}

/* Whether nothing is left to wait for; error: the first of those that there were. */
static bool exchange_collect(ompi_request_t **request, int *error)
{
    if (NULL == *request) {
        return true;
    }
    if (!REQUEST_COMPLETE(*request)) {
        return false;
    }
    /* another thread may have completed it */
    atomic_thread_fence(memory_order_acquire);
    if (OMPI_SUCCESS == *error) {
        *error = (*request)->req_status.MPI_ERROR;
    }
    (void) ompi_request_free(request);
    *request = NULL;
    return true;
}

/* The same of all messages of the round. */
static bool collect_all(mca_coll_optcast_exchange_t *x, int *error)
{
    bool ended = true;

    for (unsigned i = 0; i < OC_CAST_NEIGHBOURS; i++) {
        ended &= exchange_collect(&x->receives[i], error);
        ended &= exchange_collect(&x->sends[i], error);
    }
    return ended;
}

/* Told at once: another request may be to a rank that is gone, and never end. */
static void exchange_fail(mca_coll_optcast_exchange_t *x)
{
    if (OC_IN_PROGRESS != atomic_load(&x->status)) {
        return;
    }
    atomic_store(&x->status, OC_ERR_SYSTEM);
    for (unsigned i = 0; i < OC_CAST_NEIGHBOURS; i++) {
        if (NULL != x->receives[i]) {
            (void) ompi_request_cancel(x->receives[i]);
        }
    }
}

static void take_in(mca_coll_optcast_exchange_t *x)
{
    if (x->distance > 0 && 0 == x->size) {
        oc_vote_take(x->least, x->other);
    }
}

/* The next round. OC_IN_PROGRESS, or how the exchange has ended. */
static oc_status_t exchange_go_on(mca_coll_optcast_exchange_t *x)
{
    bool last = x->num_neighbours > 0 ? x->distance > 0
                                      : 2 * x->distance >= ompi_comm_size(x->comm);
    int rc;

    take_in(x);
    if (last) {
        return OC_OK;
    }
    x->distance = 0 == x->distance ? 1 : 2 * x->distance;
    rc = x->num_neighbours > 0 ? post_contacts(x) : post_round(x);
    return OMPI_SUCCESS == rc ? OC_IN_PROGRESS : OC_ERR_SYSTEM;
}

/* Whether the exchange has ended, and the PML has given back its buffers. */
static bool exchange_advance(mca_coll_optcast_exchange_t *x)
{
    for (;;) {
        int error = OMPI_SUCCESS;
        bool ended = collect_all(x, &error);
        oc_status_t status;

        /* nobody waits for it any more */
        if (OMPI_SUCCESS != error || 1 == atomic_load(&x->holders)) {
            exchange_fail(x);
        }
        if (!ended) {
            return false;
        }
        if (OC_IN_PROGRESS != atomic_load(&x->status)) {
            return true;
        }
        status = exchange_go_on(x);
        if (OC_OK == status) {
            atomic_store(&x->status, OC_OK);
            return true;
        }
        if (OC_IN_PROGRESS != status) {
            exchange_fail(x);
        }
    }
}

static void advance_all(opal_list_t *running)
{
    mca_coll_optcast_exchange_t *x;

    while (NULL != (x = (mca_coll_optcast_exchange_t *) opal_list_remove_first(running))) {
        ompi_communicator_t *comm = x->comm;

        if (!exchange_advance(x)) {
            append(x);
            continue;
        }
        exchange_let_go(x);
        OBJ_RELEASE(comm);
    }
}

void mca_coll_optcast_exchange_progress(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    opal_list_t running;

    if (0 == opal_list_get_size(&st->exchanges) || atomic_flag_test_and_set(&st->exchanging)) {
        return;
    }
    OBJ_CONSTRUCT(&running, opal_list_t);
    OPAL_THREAD_LOCK(&st->lock);
    opal_list_join(&running, opal_list_get_end(&running), &st->exchanges);
    OPAL_THREAD_UNLOCK(&st->lock);
    advance_all(&running);
    OBJ_DESTRUCT(&running);
    atomic_flag_clear(&st->exchanging);
}

/* The PML is gone, and its requests with it. */
void mca_coll_optcast_exchange_forget(void)
{
    opal_list_t *exchanges = &mca_coll_optcast_state.exchanges;
    mca_coll_optcast_exchange_t *x;

    while (NULL != (x = (mca_coll_optcast_exchange_t *) opal_list_remove_first(exchanges))) {
        exchange_let_go(x);
    }
}
