/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the simulated workers, and what is under way between them. */
#include "tests/simulation/messages.h"

#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "tests/multicast/memory.h"
#include "tests/simulation/sockets.h"
#include "tests/simulation/wire.h"
#include "ucx_backend/worker.h"

/* No longer ones come whole. */
#define PIECE 8192u

/* Messages that were not announced are no longer, where memory is registered. */
#define ADDRESS_SIZE 64u

typedef struct message message_t;

struct message {
    uint64_t tag;
    size_t length, moved;
    uint8_t *copy;               /* NULL: announced, the sender has it */
    const uint8_t *from;
    oc_endpoint_t *endpoint;     /* NULL: it is closed */
    oc_worker_t *worker;         /* to which it goes */
    unsigned sending_host;
    oc_transfer_t *sender;       /* announced: as long as it waits */
    oc_transfer_t *receiver;     /* that has begun to match; NULL: none, or it is gone */
    uint8_t *into;
    size_t room;
    bool dropped;                /* no receive will get it */
    bool lost;                   /* what has not come will not come */
    message_t *prev, *next;      /* of those that wait for a receive */
    message_t *prev_sent, *next_sent; /* of the endpoint, announced or in pieces */
};

/* What a receive waits for, beside the transfer. */
typedef struct posted {
    oc_transfer_t *transfer;
    uint8_t *into;
    size_t room;
    uint64_t tag, mask;
    struct posted *prev, *next;
} posted_t;

struct oc_endpoint {
    oc_worker_t *worker, *other;
    void (*failed)(void *arg);
    void *arg;
    bool is_failed, notified, closed;
    wire_t *out;
    message_t *sent;
    oc_endpoint_t *prev, *next;
};

struct oc_worker {
    uint64_t id;
    process_t *process;
    int fd;
    bool closed, told, endpoint_failed;
    unsigned pending;
    oc_transfer_t *active, *completed;
    posted_t *posted;
    message_t *waiting;
    oc_endpoint_t *endpoints;
    uint8_t address[ADDRESS_SIZE];
    struct oc_worker *below;     /* of all there ever were */
};

static oc_worker_t *workers;

static bool worker_is_readable(void *thing)
{
    const oc_worker_t *worker = thing;

    return worker->told || worker->endpoint_failed || NULL != worker->completed;
}

static void tell(oc_worker_t *worker)
{
    worker->told = true;
    process_look(worker->process);
}

/* ---- transfers ---- */

static void prepare(oc_worker_t *worker, oc_transfer_t *transfer)
{
    transfer->worker = worker;
    transfer->request = NULL;
    transfer->active = true;
    transfer->called_back = false;
    worker->pending++;
    DL_APPEND(worker->active, transfer);
}

static void complete(oc_transfer_t *transfer, oc_status_t status)
{
    oc_worker_t *worker = transfer->worker;

    DL_DELETE(worker->active, transfer);
    transfer->active = false;
    transfer->called_back = true;
    transfer->status = status;
    DL_APPEND(worker->completed, transfer);
    tell(worker);
}

void oc_transfer_fail(oc_worker_t *worker, oc_transfer_t *transfer, oc_status_t status)
{
    prepare(worker, transfer);
    complete(transfer, status);
}

static unsigned hand_out(oc_worker_t *worker)
{
    oc_transfer_t *transfer;
    unsigned count = 0;

    while (NULL != (transfer = worker->completed)) {
        DL_DELETE(worker->completed, transfer);
        worker->pending--;
        count++;
        transfer->done(transfer);
    }
    return count;
}

/* ---- messages ---- */

static void message_free(message_t *message)
{
    if (NULL != message->endpoint) {
        DL_DELETE2(message->endpoint->sent, message, prev_sent, next_sent);
    }
    free(message->copy);
    free(message);
}

/* The sender hears that it may have its buffer back. */
static void release_sender(message_t *message)
{
    if (NULL != message->sender) {
        oc_transfer_t *sender = message->sender;

        sender->request = NULL;
        message->sender = NULL;
        complete(sender, OC_OK);
    }
}

static void message_end(message_t *message)
{
    oc_transfer_t *receiver = message->receiver;

    release_sender(message);
    if (NULL != receiver) {
        receiver->request = NULL;
        receiver->length = message->length;
        receiver->tag = message->tag;
        complete(receiver, message->length <= message->room ? OC_OK : OC_ERR_TRUNCATED);
    }
    message_free(message);
}

static void plan_piece(message_t *message, uint64_t delay);

static void on_piece(void *owner, const event_t *event)
{
    message_t *message = owner;
    size_t length = message->length - message->moved;

    (void) event;
    if (message->lost || message->worker->closed) {
        /* whoever has begun to match it waits for ever */
        return;
    }
    if (wire_is_blocked(message->sending_host, message->worker->process->host)) {
        plan_piece(message, 30 * OC_MILLISECOND);
        return;
    }
    length = length > PIECE && length > message->length / 3 ? message->length / 3 : length;
    if (NULL != message->receiver && message->length <= message->room) {
        memcpy(message->into + message->moved, message->from + message->moved, length);
    }
    message->moved += length;
    if (message->moved < message->length) {
        plan_piece(message, wire_delay());
    } else {
        message_end(message);
    }
}

static void plan_piece(message_t *message, uint64_t delay)
{
    static const event_kind_t piece = {.happen = on_piece};

    world_plan(delay, &piece, message, NULL);
}

static void match(message_t *message, oc_transfer_t *receiver, void *into, size_t room)
{
    message->receiver = receiver;
    message->into = into;
    message->room = room;
    if (NULL != receiver) {
        receiver->request = message;
    }
    if (NULL != message->copy && message->length <= PIECE) {
        if (NULL != receiver && message->length <= room && message->length > 0) {
            memcpy(into, message->copy, message->length);
        }
        message_end(message);
    } else {
        plan_piece(message, NULL != message->copy ? world_random(20000) : 2 * wire_delay());
    }
}

static bool fits(const message_t *message, uint64_t tag, uint64_t mask)
{
    return (message->tag & mask) == (tag & mask);
}

static void on_arrival(void *thing);

static void endpoint_break(oc_endpoint_t *endpoint);

static void on_refused(void *thing)
{
    endpoint_break(thing);
}

static void on_arrival(void *thing)
{
    message_t *message = thing;
    oc_worker_t *worker = message->worker;
    posted_t *posted;

    if (worker->closed) {
        if (NULL != message->endpoint) {
            oc_endpoint_t *endpoint = message->endpoint;

            wire_send(wire_new(worker->process->host, message->sending_host, NULL, NULL), on_refused, endpoint);
        }
        message->lost = true;
        return;
    }
    worker->told = true;
    DL_FOREACH (worker->posted, posted) {
        if (fits(message, posted->tag, posted->mask)) {
            DL_DELETE(worker->posted, posted);
            match(message, posted->transfer, posted->into, posted->room);
            free(posted);
            return;
        }
    }
    DL_APPEND(worker->waiting, message);
    process_look(worker->process);
}

static void send_message(oc_endpoint_t *endpoint, oc_transfer_t *transfer, const void *buffer, size_t length,
                         uint64_t tag, bool announced)
{
    message_t *message;

    prepare(endpoint->worker, transfer);
    if (endpoint->is_failed) {
        complete(transfer, OC_ERR_UNREACHABLE);
        return;
    }
    transfer->length = length;
    message = memory_new(sizeof(*message));
    *message = (message_t) {.tag = tag, .length = length, .from = buffer, .endpoint = endpoint, .worker = endpoint->other,
                            .sending_host = endpoint->worker->process->host};
    DL_APPEND2(endpoint->sent, message, prev_sent, next_sent);
    if (announced) {
        message->sender = transfer;
        transfer->request = message;
    } else {
        message->copy = memory_new(length);
        if (length > 0) {
            memcpy(message->copy, buffer, length);
        }
        message->from = message->copy;
        complete(transfer, OC_OK);
    }
    wire_send(endpoint->out, on_arrival, message);
}

void oc_send(oc_endpoint_t *endpoint, oc_transfer_t *transfer, const void *buffer, size_t length, uint64_t tag)
{
    send_message(endpoint, transfer, buffer, length, tag, length > PIECE);
}

/* As over TCP. */
void oc_send_eager(oc_endpoint_t *endpoint, oc_transfer_t *transfer, const void *buffer, size_t length, uint64_t tag)
{
    send_message(endpoint, transfer, buffer, length, tag, false);
}

void oc_receive(oc_worker_t *worker, oc_transfer_t *transfer, void *buffer, size_t length, uint64_t tag,
                uint64_t tag_mask)
{
    message_t *message;
    posted_t *posted;

    prepare(worker, transfer);
    DL_FOREACH (worker->waiting, message) {
        if (fits(message, tag, tag_mask)) {
            DL_DELETE(worker->waiting, message);
            match(message, transfer, buffer, length);
            return;
        }
    }
    posted = memory_new(sizeof(*posted));
    *posted = (posted_t) {.transfer = transfer, .into = buffer, .room = length, .tag = tag, .mask = tag_mask};
    DL_APPEND(worker->posted, posted);
}

void oc_receive_cancel(oc_transfer_t *transfer)
{
    posted_t *posted, *next;

    if (!transfer->active) {
        return;
    }
    DL_FOREACH_SAFE (transfer->worker->posted, posted, next) {
        if (transfer == posted->transfer) {
            DL_DELETE(transfer->worker->posted, posted);
            free(posted);
            complete(transfer, OC_ERR_CANCELED);
        }
    }
}

/* ---- messages that nobody has asked for yet ---- */

static message_t *find_waiting(const oc_worker_t *worker, uint64_t tag, uint64_t mask, oc_unexpected_t *found)
{
    message_t *message;

    DL_FOREACH (worker->waiting, message) {
        if (fits(message, tag, mask)) {
            *found = (oc_unexpected_t) {.tag = message->tag, .length = message->length};
            return message;
        }
    }
    return NULL;
}

bool oc_worker_holds(oc_worker_t *worker, uint64_t tag, uint64_t tag_mask)
{
    oc_unexpected_t found;

    return NULL != find_waiting(worker, tag, tag_mask, &found);
}

bool oc_unexpected_look(oc_worker_t *worker, oc_unexpected_t *found)
{
    return NULL != find_waiting(worker, 0, 0, found);
}

bool oc_unexpected_take(oc_worker_t *worker, uint64_t tag, uint64_t tag_mask, oc_unexpected_t *found)
{
    message_t *message = find_waiting(worker, tag, tag_mask, found);

    if (NULL != message) {
        DL_DELETE(worker->waiting, message);
        found->handle = message;
    }
    return NULL != message;
}

void oc_unexpected_receive(oc_worker_t *worker, oc_transfer_t *transfer, void *buffer, size_t length,
                           const oc_unexpected_t *found)
{
    prepare(worker, transfer);
    match(found->handle, transfer, buffer, length);
}

void oc_unexpected_drop(oc_worker_t *worker, const oc_unexpected_t *found)
{
    (void) worker;
    match(found->handle, NULL, NULL, 0);
}

/* ---- endpoints ---- */

/* What is announced stays here; what is on the wire may be lost, too. */
static void endpoint_lose(oc_endpoint_t *endpoint, oc_status_t status)
{
    bool cut = world_chance(0.5);
    message_t *message, *next;

    if (cut) {
        wire_cut(endpoint->out);
    }
    DL_FOREACH_SAFE2 (endpoint->sent, message, next, next_sent) {
        message->endpoint = NULL;
        message->lost = message->lost || cut || NULL == message->copy;
        if (NULL != message->sender) {
            oc_transfer_t *sender = message->sender;

            sender->request = NULL;
            message->sender = NULL;
            complete(sender, status);
        }
    }
    endpoint->sent = NULL;
}

static void endpoint_break(oc_endpoint_t *endpoint)
{
    if (endpoint->is_failed || endpoint->closed || endpoint->worker->closed) {
        return;
    }
    world_trace("an endpoint of %s breaks", endpoint->worker->process->name);
    endpoint->is_failed = true;
    endpoint->worker->endpoint_failed = true;
    endpoint_lose(endpoint, OC_ERR_UNREACHABLE);
    tell(endpoint->worker);
}

static void on_wire_broken(void *owner)
{
    endpoint_break(owner);
}

oc_status_t oc_endpoint_open(oc_worker_t *worker, const void *address, void (*failed)(void *arg), void *arg,
                             oc_endpoint_t **result)
{
    oc_endpoint_t *endpoint = memory_new(sizeof(*endpoint));
    uint64_t id;

    memcpy(&id, address, sizeof(id));
    *endpoint = (oc_endpoint_t) {.worker = worker, .failed = failed, .arg = arg};
    LL_SEARCH_SCALAR2(workers, endpoint->other, id, id, below);
    if (NULL == endpoint->other) {
        world_fail("there never was a worker %llu", (unsigned long long) id);
    }
    endpoint->out = wire_new(worker->process->host, endpoint->other->process->host, on_wire_broken, endpoint);
    DL_APPEND(worker->endpoints, endpoint);
    *result = endpoint;
    return OC_OK;
}

/* The memory stays: events may have it. */
void oc_endpoint_close(oc_endpoint_t *endpoint)
{
    if (NULL == endpoint) {
        return;
    }
    endpoint->closed = true;
    endpoint_lose(endpoint, OC_ERR_CANCELED);
    DL_DELETE(endpoint->worker->endpoints, endpoint);
}

bool oc_endpoint_is_rdma(oc_endpoint_t *endpoint)
{
    (void) endpoint;
    return false;
}

/* A callback may close any endpoint, so the search starts anew after each. */
static unsigned notify(oc_worker_t *worker)
{
    oc_endpoint_t *endpoint;
    unsigned count = 0;

    while (worker->endpoint_failed) {
        worker->endpoint_failed = false;
        DL_FOREACH (worker->endpoints, endpoint) {
            if (endpoint->is_failed && !endpoint->notified) {
                endpoint->notified = true;
                worker->endpoint_failed = true;
                count++;
                endpoint->failed(endpoint->arg);
                break;
            }
        }
    }
    return count;
}

/* ---- workers ---- */

oc_status_t oc_worker_open(const char *net_devices, oc_worker_t **result, char *error, size_t error_size)
{
    static uint64_t ids;
    oc_worker_t *worker = memory_new(sizeof(*worker));

    (void) net_devices;
    (void) error;
    (void) error_size;
    worker->id = ++ids;
    worker->process = process_self();
    memcpy(worker->address, &worker->id, sizeof(worker->id));
    worker->fd = descriptor_of(worker_is_readable, worker);
    LL_PREPEND2(workers, worker, below);
    *result = worker;
    fiber_pause(1 * OC_MILLISECOND + world_random(4 * OC_MILLISECOND));
    return OC_OK;
}

void oc_worker_guard(oc_worker_t *worker, oc_admission_t *admission)
{
    (void) worker;
    (void) admission;
}

/* To those that are connected to a worker that is gone. */
static void tell_peers(const oc_worker_t *gone)
{
    oc_worker_t *worker;
    oc_endpoint_t *endpoint;

    LL_FOREACH2 (workers, worker, below) {
        DL_FOREACH (worker->endpoints, endpoint) {
            if (gone == endpoint->other && !worker->closed) {
                wire_send(wire_new(gone->process->host, worker->process->host, NULL, NULL), on_refused, endpoint);
            }
        }
    }
}

/* Messages go on to it, and nobody is there. */
static void worker_end(oc_worker_t *worker, bool silent)
{
    oc_endpoint_t *endpoint, *next;
    oc_transfer_t *transfer, *next_transfer;

    DL_FOREACH_SAFE (worker->endpoints, endpoint, next) {
        oc_endpoint_close(endpoint);
        if (silent) {
            wire_cut(endpoint->out);
        }
    }
    worker->closed = true;
    DL_FOREACH_SAFE (worker->active, transfer, next_transfer) {
        if (NULL != transfer->request) {
            ((message_t *) transfer->request)->receiver = NULL;
        }
        complete(transfer, OC_ERR_CANCELED);
    }
    if (!silent) {
        tell_peers(worker);
    }
}

void oc_worker_close(oc_worker_t *worker)
{
    posted_t *posted, *next;

    if (NULL == worker) {
        return;
    }
    worker_end(worker, false);
    DL_FOREACH_SAFE (worker->posted, posted, next) {
        free(posted);
    }
    worker->posted = NULL;
    descriptor_close(worker->fd);
    (void) hand_out(worker);
}

const void *oc_worker_address(const oc_worker_t *worker, size_t *length)
{
    *length = sizeof(worker->address);
    return worker->address;
}

unsigned oc_worker_progress(oc_worker_t *worker)
{
    unsigned count;

    if (worker->closed || process_self() != worker->process) {
        world_fail("a worker is used that is closed, or another process's");
    }
    fiber_pause(200 + world_random(800));
    worker->told = false;
    count = notify(worker);
    return count + hand_out(worker);
}

unsigned oc_worker_pending(const oc_worker_t *worker)
{
    return worker->pending;
}

oc_status_t oc_worker_arm(oc_worker_t *worker, int *fd)
{
    if (worker_is_readable(worker)) {
        return OC_IN_PROGRESS;
    }
    *fd = worker->fd;
    return OC_OK;
}

oc_mapping_t *oc_map(oc_worker_t *worker, const void *memory, size_t length)
{
    (void) worker;
    (void) memory;
    (void) length;
    return NULL;
}

void oc_unmap(oc_worker_t *worker, oc_mapping_t *mapping)
{
    (void) worker;
    (void) mapping;
}

const char *oc_ucx_version(void)
{
    return "1.13.1";
}

/* ---- for the schedule ---- */

void workers_drop(process_t *process)
{
    bool silent = world_host(process->host)->dark;
    oc_worker_t *worker;

    LL_FOREACH2 (workers, worker, below) {
        if (process == worker->process && !worker->closed) {
            worker_end(worker, silent);
        }
    }
}

/* NULL: there are not so many. */
static oc_endpoint_t *find_between(const process_t *process, const process_t *other, unsigned number)
{
    oc_worker_t *worker;
    oc_endpoint_t *endpoint;

    LL_FOREACH2 (workers, worker, below) {
        DL_FOREACH (worker->endpoints, endpoint) {
            if (process == worker->process && !worker->closed && !endpoint->is_failed && other == endpoint->other->process
                && 0 == number--) {
                return endpoint;
            }
        }
    }
    return NULL;
}

void workers_break_one(process_t *process, process_t *other)
{
    unsigned count = 0;

    while (NULL != find_between(process, other, count)) {
        count++;
    }
    if (count > 0) {
        endpoint_break(find_between(process, other, (unsigned) world_random(count)));
    }
}
