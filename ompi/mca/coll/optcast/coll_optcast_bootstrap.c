/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's exchanges by messages between ranks: in one way, whether the first collective of a
 * communicator blocks, does not, or is persistent. What tells the messages of one set-up from all
 * others is their tag.
 *
 * If the first collective does not block, the tag comes from the counter of the communicator by
 * which Open MPI numbers its nonblocking collectives: each has its own until a thousand million
 * others were issued. (A PML that sends fewer bits of a tag has that limit for all nonblocking
 * collectives.) All ranks must take it at the same place in the order in which they issue
 * collectives. So it is taken when the set-up begins, in that collective; or when a persistent
 * operation is initialised, because ranks may start those in any order.
 *
 * If it blocks, the tag is that of all blocking Allreduces of the communicator. All ranks are
 * inside that one collective until the set-up is over, and no other blocking one of the
 * communicator runs meanwhile: what one rank sends another comes in the order in which both go
 * through collectives. The counter would not do: Open MPI itself takes from it inside progress,
 * while it duplicates a communicator, and at another time on each rank.
 */
#include "coll_optcast_bootstrap.h"

#include "ompi/mca/coll/base/coll_base_util.h"

#include "coll_optcast_exchange.h"
#include "coll_optcast_hints.h"
#include "coll_optcast_job.h"
#include "coll_optcast_module.h"

static oc_status_t bootstrap_job(void *context, oc_job_t *job)
{
    (void) context;
    return mca_coll_optcast_job_lookup(job);
}

void mca_coll_optcast_bootstrap_reserve(mca_coll_optcast_bootstrap_t *b)
{
    b->tag = ompi_coll_base_nbc_reserve_tags(b->module->comm, 1);
    b->reserved = true;
}

void mca_coll_optcast_bootstrap_release(mca_coll_optcast_bootstrap_t *b)
{
    if (NULL != b->exchange) {
        mca_coll_optcast_exchange_end(b->exchange);
        b->exchange = NULL;
    }
}

static void bootstrap_end(void *context)
{
    mca_coll_optcast_bootstrap_release(context);
}

static oc_status_t bootstrap_begin(void *context, const oc_exchange_t *exchange)
{
    mca_coll_optcast_bootstrap_t *b = context;

    b->buffers = *exchange;
    if (b->blocking) {
        b->tag = MCA_COLL_BASE_TAG_ALLREDUCE;
    } else if (!b->reserved) {
        mca_coll_optcast_bootstrap_reserve(b);
    }
    return OC_OK;
}

static oc_status_t bootstrap_start(void *context, oc_exchange_step_t step)
{
    mca_coll_optcast_bootstrap_t *b = context;
    ompi_communicator_t *comm = b->module->comm;

    b->step = step;
    switch (step) {
    case OC_EXCHANGE_RECORDS:
        b->exchange = mca_coll_optcast_exchange_records(comm, b->tag, b->buffers.record,
                                                        b->buffers.size);
        break;
    case OC_EXCHANGE_CONTACTS:
        b->exchange = mca_coll_optcast_exchange_contacts(comm, b->tag, &b->buffers);
        break;
    default:
        b->exchange = mca_coll_optcast_exchange_vote(comm, b->tag, b->buffers.vote);
    }
    return NULL != b->exchange ? OC_OK : OC_ERR_NO_MEMORY;
}

static void take_outcome(mca_coll_optcast_bootstrap_t *b)
{
    switch (b->step) {
    case OC_EXCHANGE_RECORDS:
        mca_coll_optcast_exchange_copy(b->exchange, b->buffers.records);
        break;
    case OC_EXCHANGE_CONTACTS:
        mca_coll_optcast_exchange_copy(b->exchange, b->buffers.contacts);
        break;
    default:
        memcpy(b->buffers.outcome, mca_coll_optcast_exchange_least(b->exchange), OC_VOTE_WORDS * sizeof(int64_t));
    }
}

static oc_status_t bootstrap_test(void *context)
{
    mca_coll_optcast_bootstrap_t *b = context;
    oc_status_t status = mca_coll_optcast_exchange_test(b->exchange);

    if (OC_IN_PROGRESS == status) {
        return status;
    }
    if (OC_OK == status) {
        take_outcome(b);
    }
    mca_coll_optcast_bootstrap_release(b);
    return status;
}

static void bootstrap_hints(void *context, oc_hints_t *hints)
{
    const mca_coll_optcast_bootstrap_t *b = context;

    mca_coll_optcast_hints(b->module, hints);
}

const oc_bootstrap_t mca_coll_optcast_bootstrap = {
    .job = bootstrap_job,
    .begin = bootstrap_begin,
    .start = bootstrap_start,
    .test = bootstrap_test,
    .end = bootstrap_end,
    .hints = bootstrap_hints,
};
