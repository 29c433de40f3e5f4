/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges among the ranks of a communicator, by messages of our own: an Allgather of records by
 * Bruck's algorithm, and the minimum of one number of each rank.
 *
 * Both take ceil(log2 n) rounds of one message to one rank and one from another. In the round of
 * distance d = 1, 2, 4, … a rank sends what it has to the rank d below and gets from the rank d above
 * what that one has: afterwards it knows of the 2·d ranks from itself upwards, modulo n. The last
 * round brings only the records that are still missing; the minimum may well count a rank twice.
 *
 * Messages are moved on from progress, never from inside the engine: functions of the PML may call
 * progress themselves, which must find the client's lock free. Only one thread at a time moves them
 * on, and what progress leads to meanwhile leaves them alone.
 *
 * One tag does for all exchanges of a set-up. They follow each other in the same order on all
 * ranks, and in each of them a rank sends at most one message to any other, because no two
 * distances are equal modulo n. So the messages of one rank to another are sent, and received, in
 * the order of the exchanges, and MPI's messages do not overtake each other.
 */
#include "coll_optcast.h"

#include "ompi/mca/pml/pml.h"

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
    size_t size;                /* bytes of a record; 0: a vote */
    uint8_t *records;           /* the own one first, then that of the rank above, and so on */
    int64_t least, other;
    ompi_request_t *receive, *send;
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

static void let_go(mca_coll_optcast_exchange_t *x)
{
    if (1 == atomic_fetch_sub(&x->holders, 1)) {
        OBJ_RELEASE(x);
    }
}

static void append(mca_coll_optcast_exchange_t *x)
{
    mca_coll_optcast_component_t *cm = &mca_coll_optcast_component;

    OPAL_THREAD_LOCK(&cm->lock);
    opal_list_append(&cm->exchanges, &x->super);
    OPAL_THREAD_UNLOCK(&cm->lock);
}

static mca_coll_optcast_exchange_t *begin(mca_coll_optcast_exchange_t *x,
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

mca_coll_optcast_exchange_t *mca_coll_optcast_exchange_records(ompi_communicator_t *comm, int tag,
                                                               const void *record, size_t size)
{
    mca_coll_optcast_exchange_t *x = OBJ_NEW(mca_coll_optcast_exchange_t);

    if (NULL == x) {
        return NULL;
    }
    x->size = size;
    x->records = calloc((size_t) ompi_comm_size(comm), size);
    if (NULL == x->records) {
        OBJ_RELEASE(x);
        return NULL;
    }
    memcpy(x->records, record, size);
    return begin(x, comm, tag);
}

mca_coll_optcast_exchange_t *mca_coll_optcast_exchange_vote(ompi_communicator_t *comm, int tag,
                                                            int64_t vote)
{
    mca_coll_optcast_exchange_t *x = OBJ_NEW(mca_coll_optcast_exchange_t);

    if (NULL == x) {
        return NULL;
    }
    x->least = vote;
    return begin(x, comm, tag);
}

oc_status_t mca_coll_optcast_exchange_test(const mca_coll_optcast_exchange_t *x)
{
    return (oc_status_t) atomic_load(&x->status);
}

void mca_coll_optcast_exchange_copy(const mca_coll_optcast_exchange_t *x, void *records)
{
    size_t below = (size_t) ompi_comm_rank(x->comm) * x->size;
    size_t above = (size_t) ompi_comm_size(x->comm) * x->size - below;

    memcpy((uint8_t *) records + below, x->records, above);
    memcpy(records, x->records + above, below);
}

int64_t mca_coll_optcast_exchange_least(const mca_coll_optcast_exchange_t *x)
{
    return x->least;
}

void mca_coll_optcast_exchange_end(mca_coll_optcast_exchange_t *x)
{
    let_go(x);
}

static void count(size_t bytes)
{
    mca_coll_optcast_component_t *cm = &mca_coll_optcast_component;

    (void) __atomic_fetch_add(&cm->setup_messages, 1, __ATOMIC_RELAXED);
    (void) __atomic_fetch_add(&cm->setup_bytes, bytes, __ATOMIC_RELAXED);
}

/* Buffers and length of the round: a part of the records, or one number. */
static int post(mca_coll_optcast_exchange_t *x)
{
    bool votes = 0 == x->size;
    int ranks = ompi_comm_size(x->comm), self = ompi_comm_rank(x->comm), d = x->distance;
    int above = (self + d) % ranks, below = (self + ranks - d) % ranks;
    size_t bytes = (size_t) (d < ranks - d ? d : ranks - d) * x->size;
    void *from = votes ? (void *) &x->least : x->records;
    void *to = votes ? (void *) &x->other : x->records + (size_t) d * x->size;
    ompi_datatype_t *type = votes ? MPI_INT64_T : MPI_BYTE;
    size_t elements = votes ? 1 : bytes;
    int rc = MCA_PML_CALL(irecv(to, elements, type, above, x->tag, x->comm, &x->receive));

    if (OMPI_SUCCESS != rc) {
        x->receive = NULL;
        return rc;
    }
    rc = MCA_PML_CALL(isend(from, elements, type, below, x->tag, MCA_PML_BASE_SEND_STANDARD,
                            x->comm, &x->send));
    if (OMPI_SUCCESS != rc) {
        x->send = NULL;
        return rc;
    }
    count(votes ? sizeof(x->least) : bytes);
    return OMPI_SUCCESS;
}

/* Whether nothing is left to wait for; error: the first of those that there were. */
static bool collect(ompi_request_t **request, int *error)
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

/* Told at once: the other request may be to a rank that is gone, and never end. */
static void fail(mca_coll_optcast_exchange_t *x)
{
    if (OC_IN_PROGRESS != atomic_load(&x->status)) {
        return;
    }
    atomic_store(&x->status, OC_ERR_SYSTEM);
    if (NULL != x->receive) {
        (void) ompi_request_cancel(x->receive);
    }
}

static void take_in(mca_coll_optcast_exchange_t *x)
{
    if (x->distance > 0 && 0 == x->size && x->other < x->least) {
        x->least = x->other;
    }
}

/* Whether the exchange has ended, and the PML has given back its buffers. */
static bool advance(mca_coll_optcast_exchange_t *x)
{
    for (;;) {
        int error = OMPI_SUCCESS;
        bool received = collect(&x->receive, &error), sent = collect(&x->send, &error);

        /* nobody waits for it any more */
        if (OMPI_SUCCESS != error || 1 == atomic_load(&x->holders)) {
            fail(x);
        }
        if (!received || !sent) {
            return false;
        }
        if (OC_IN_PROGRESS != atomic_load(&x->status)) {
            return true;
        }
        take_in(x);
        x->distance = 0 == x->distance ? 1 : 2 * x->distance;
        if (x->distance >= ompi_comm_size(x->comm)) {
            atomic_store(&x->status, OC_OK);
            return true;
        }
        if (OMPI_SUCCESS != post(x)) {
            fail(x);
        }
    }
}

static void advance_all(opal_list_t *running)
{
    mca_coll_optcast_exchange_t *x;

    while (NULL != (x = (mca_coll_optcast_exchange_t *) opal_list_remove_first(running))) {
        ompi_communicator_t *comm = x->comm;

        if (!advance(x)) {
            append(x);
            continue;
        }
        let_go(x);
        OBJ_RELEASE(comm);
    }
}

void mca_coll_optcast_exchange_progress(void)
{
    mca_coll_optcast_component_t *cm = &mca_coll_optcast_component;
    opal_list_t running;

    if (0 == opal_list_get_size(&cm->exchanges) || atomic_flag_test_and_set(&cm->exchanging)) {
        return;
    }
    OBJ_CONSTRUCT(&running, opal_list_t);
    OPAL_THREAD_LOCK(&cm->lock);
    opal_list_join(&running, opal_list_get_end(&running), &cm->exchanges);
    OPAL_THREAD_UNLOCK(&cm->lock);
    advance_all(&running);
    OBJ_DESTRUCT(&running);
    atomic_flag_clear(&cm->exchanging);
}

/* The PML is gone, and its requests with it. */
void mca_coll_optcast_exchange_forget(void)
{
    opal_list_t *exchanges = &mca_coll_optcast_component.exchanges;
    mca_coll_optcast_exchange_t *x;

    while (NULL != (x = (mca_coll_optcast_exchange_t *) opal_list_remove_first(exchanges))) {
        let_go(x);
    }
}
