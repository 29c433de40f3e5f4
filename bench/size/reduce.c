/* SPDX-License-Identifier: BSD-3-Clause */
/* START, a contribution, a result, SENT, ACK and COMMIT for each rank and aggregator. */
#include "bench/size/reduce.h"

#include <stdlib.h>

#include "bench/size/members.h"
#include "protocol/message.h"
#include "protocol/seal.h"
#include "protocol/tag.h"
#include "reduction/reduction.h"

#define SECONDS 60.0

typedef struct reduce reduce_t;

/* A message that has no memory of its own is followed by another one when it has left or come. */
typedef struct {
    oc_transfer_t transfer;
    reduce_t *reduce;
    uint32_t rank, aggregator;
} step_t;

struct reduce {
    oc_crowd_t *crowd;
    const oc_crowd_join_t *join;
    oc_endpoint_t *endpoints[OC_MAX_AGGREGATORS];
    uint32_t chunk, handle;
    int32_t *contribution;     /* of all ranks alike */
    uint8_t *results;
    oc_mac_t *codes;
    step_t *steps;             /* for each rank and aggregator: three receives and three sends */
    uint8_t *headers;          /* START, SENT, ACK, COMMIT */
    uint8_t *answers;          /* for each rank and aggregator: of result and SENT, those that came */
    unsigned waiting, wrong;
};

enum { RESULT, SENT, COMMIT, START, CONTRIBUTION, ACK, STEPS };
enum { HEADER_START, HEADER_SENT, HEADER_ACK, HEADER_COMMIT, HEADERS };

static size_t number_of(const step_t *step)
{
    return (size_t) step->rank * step->reduce->join->aggregators + step->aggregator;
}

static step_t *prepare(reduce_t *reduce, uint32_t rank, uint32_t aggregator, unsigned what,
                       void (*done)(oc_transfer_t *))
{
    step_t *step = &reduce->steps[((size_t) rank * reduce->join->aggregators + aggregator) * STEPS
                                  + what];

    *step = (step_t) {.transfer.done = done, .reduce = reduce, .rank = rank,
                      .aggregator = aggregator};
    reduce->waiting++;
    return step;
}

static void on_done(oc_transfer_t *transfer)
{
    step_t *step = (step_t *) transfer;

    step->reduce->waiting--;
    step->reduce->wrong += OC_OK != transfer->status;
}

static uint8_t *header_of(const step_t *step, unsigned which)
{
    return step->reduce->headers + (number_of(step) * HEADERS + which) * OC_HEADER_SIZE;
}

static uint32_t reply_handle(const step_t *step)
{
    return (step->reduce->join->number * step->reduce->join->hosts + step->rank) % (1u << 20);
}

static void send_header(reduce_t *reduce, uint32_t rank, uint32_t aggregator, unsigned what,
                        unsigned which, uint8_t message)
{
    step_t *step = prepare(reduce, rank, aggregator, what, on_done);
    oc_header_t header = {
        .message = message, .op = OC_OP_SUM, .type = OC_TYPE_INT32, .handle = reduce->handle,
        .rank = rank, .chunk_bytes = reduce->chunk, .last_bytes = reduce->chunk, .chunks = 1,
        .count = (uint64_t) reduce->chunk / sizeof(int32_t) * reduce->join->aggregators};

    oc_header_encode(&header, header_of(step, which));
    oc_seal(reduce->codes, oc_crowd_group(reduce->join), aggregator, &header,
            header_of(step, which), OC_HEADER_SIZE);
    oc_send(reduce->endpoints[aggregator], &step->transfer, header_of(step, which),
            OC_HEADER_SIZE, oc_tag(OC_KIND_REQUEST, reduce->handle, rank, 0, 0));
}

static void expect(step_t *step, unsigned which, uint32_t slot)
{
    oc_receive(step->reduce->crowd->worker, &step->transfer, header_of(step, which), OC_HEADER_SIZE,
               oc_tag(OC_KIND_REPLY, reply_handle(step), step->aggregator, 0, slot), OC_TAG_EXACT);
}

/* The result, or SENT, which says that there are no others. */
static void on_answer(oc_transfer_t *transfer)
{
    step_t *step = (step_t *) transfer;
    reduce_t *reduce = step->reduce;

    on_done(transfer);
    if (0 != reduce->wrong || 2 != ++reduce->answers[number_of(step)]) {
        return;
    }
    expect(prepare(reduce, step->rank, step->aggregator, COMMIT, on_done), HEADER_COMMIT,
           OC_COMMIT_SLOT);
    send_header(reduce, step->rank, step->aggregator, ACK, HEADER_ACK, OC_MESSAGE_ACK);
}

static void begin(reduce_t *reduce, uint32_t rank, uint32_t aggregator)
{
    step_t *result = prepare(reduce, rank, aggregator, RESULT, on_answer), *contribution;

    oc_receive(reduce->crowd->worker, &result->transfer,
               reduce->results + number_of(result) * reduce->chunk, reduce->chunk,
               oc_tag(OC_KIND_RESULT, reply_handle(result), aggregator, 0, 0), OC_TAG_EXACT);
    expect(prepare(reduce, rank, aggregator, SENT, on_answer), HEADER_SENT, OC_SENT_SLOT);
    send_header(reduce, rank, aggregator, START, HEADER_START, OC_MESSAGE_START);
    contribution = prepare(reduce, rank, aggregator, CONTRIBUTION, on_done);
    oc_send(reduce->endpoints[aggregator], &contribution->transfer, reduce->contribution,
            reduce->chunk, oc_tag(OC_KIND_CONTRIBUTION, reduce->handle, rank, 0, 0));
}

static bool is_right(const reduce_t *reduce)
{
    size_t elements = (size_t) reduce->join->hosts * reduce->join->aggregators * reduce->chunk
                      / sizeof(int32_t);
    const int32_t *values = (const int32_t *) (const void *) reduce->results;

    for (size_t i = 0; i < elements; i++) {
        size_t place = i % (reduce->chunk / sizeof(int32_t));

        if (values[i] != reduce->contribution[place] * (int32_t) reduce->join->hosts) {
            return false;
        }
    }
    return 0 == reduce->wrong;
}

static bool run(reduce_t *reduce)
{
    double end = oc_crowd_clock() + SECONDS;

    for (uint32_t rank = 0; rank < reduce->join->hosts; rank++) {
        for (uint32_t i = 0; i < reduce->join->aggregators; i++) {
            begin(reduce, rank, i);
        }
    }
    while (reduce->waiting > 0 && 0 == reduce->wrong && oc_crowd_clock() < end) {
        (void) oc_worker_progress(reduce->crowd->worker);
    }
    return 0 == reduce->waiting && 0 == reduce->wrong;
}

static void on_failed(void *arg)
{
    ((reduce_t *) arg)->wrong++;
}

static bool make(reduce_t *reduce)
{
    size_t all = (size_t) reduce->join->hosts * reduce->join->aggregators;

    reduce->contribution = malloc(reduce->chunk);
    reduce->results = calloc(all, reduce->chunk);
    reduce->steps = calloc(all, STEPS * sizeof(*reduce->steps));
    reduce->headers = calloc(all, (size_t) HEADERS * OC_HEADER_SIZE);
    reduce->answers = calloc(all, 1);
    reduce->codes = oc_seal_new(reduce->crowd->shared->key, 0);
    for (uint32_t i = 0; i < reduce->join->aggregators; i++) {
        if (OC_OK != oc_endpoint_open(reduce->crowd->worker, reduce->crowd->shared->aggregators[i],
                                      on_failed, reduce, &reduce->endpoints[i])) {
            return false;
        }
    }
    if (NULL == reduce->contribution || NULL == reduce->results || NULL == reduce->steps
        || NULL == reduce->headers || NULL == reduce->answers || NULL == reduce->codes) {
        return false;
    }
    for (size_t i = 0; i < reduce->chunk / sizeof(int32_t); i++) {
        reduce->contribution[i] = (int32_t) i;
    }
    return true;
}

/* The worker is closed afterwards by whoever has the crowd; what did not end stays until then. */
double oc_reduce_once(oc_crowd_t *crowd, const oc_crowd_join_t *join)
{
    reduce_t *reduce = calloc(1, sizeof(*reduce));
    double begun, seconds = 0;

    if (NULL == reduce) {
        return 0;
    }
    *reduce = (reduce_t) {.crowd = crowd, .join = join, .chunk = oc_crowd_chunk(crowd, join),
                          .handle = crowd->shared->handle};
    if (make(reduce)) {
        begun = oc_crowd_clock();
        if (!run(reduce)) {
            return 0;
        }
        seconds = is_right(reduce) ? oc_crowd_clock() - begun : 0;
    }
    for (uint32_t i = 0; i < join->aggregators; i++) {
        oc_endpoint_close(reduce->endpoints[i]);
    }
    free(reduce->contribution);
    free(reduce->results);
    free(reduce->steps);
    free(reduce->headers);
    free(reduce->answers);
    oc_mac_free(reduce->codes);
    free(reduce);
    return seconds;
}
