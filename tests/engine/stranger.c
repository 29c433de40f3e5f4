/* SPDX-License-Identifier: BSD-3-Clause */
/* The stranger's process, and the orders that it gets. */
#include "tests/engine/stranger.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/state/types.h"
#include "control/stream.h"
#include "net/socket.h"
#include "ucx_backend/worker.h"

#define PATIENCE (60 * OC_SECOND)

/* After a message has left, or was announced: it is not there yet. */
#define SETTLE_US 50000

struct stranger {
    pid_t pid;
    atomic_uint orders, done;
    atomic_bool failed;
    place_t to;
    uint64_t tag;
    size_t length;
    send_way_t way;
    uint8_t bytes[STRANGER_BYTES];
};

static void on_failed(void *arg)
{
    (void) arg;
}

static void on_sent(oc_transfer_t *transfer)
{
    transfer->tag = 1;
}

static void progress(oc_worker_t *worker, const oc_transfer_t *transfer, uint64_t patience)
{
    uint64_t end = oc_clock_ns() + patience;

    while (0 == transfer->tag && oc_clock_ns() < end) {
        (void) oc_worker_progress(worker);
    }
}

static oc_transfer_t *transfer_new(void)
{
    oc_transfer_t *transfer = calloc(1, sizeof(*transfer));

    transfer->done = on_sent;
    return transfer;
}

/* Whoever gets it may fetch it later: the transfer stays. */
static bool carry_out(const stranger_t *stranger, oc_worker_t *worker)
{
    static uint8_t bytes[STRANGER_BYTES];
    oc_transfer_t *transfer = transfer_new();
    oc_endpoint_t *endpoint;

    if (OC_OK != oc_endpoint_open(worker, stranger->to.bytes, on_failed, NULL, &endpoint)) {
        return false;
    }
    memcpy(bytes, stranger->bytes, stranger->length);
    switch (stranger->way) {
    case SEND_AT_ONCE:
        oc_send_eager(endpoint, transfer, bytes, stranger->length, stranger->tag);
        progress(worker, transfer, PATIENCE);
        return 0 != transfer->tag && OC_OK == transfer->status;
    case SEND_ANNOUNCED:
    case SEND_AND_STALL:
        oc_send(endpoint, transfer, bytes, stranger->length, stranger->tag);
        progress(worker, transfer, OC_SECOND / 4);
        return true;
    }
    return false;
}

static oc_worker_t *open_worker(void)
{
    oc_worker_t *worker;
    char error[256];

    if (OC_OK != oc_worker_open(NULL, &worker, error, sizeof(error))) {
        fprintf(stderr, "stranger: %s\n", error);
        _exit(EXIT_FAILURE);
    }
    return worker;
}

/* A worker that has announced something is not progressed again, but by the kernel. */
static void __attribute__((noreturn)) live(stranger_t *stranger)
{
    oc_worker_t *worker = NULL;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* over shared memory a receiver could fetch what was announced by itself */
    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    for (;;) {
        unsigned orders = atomic_load(&stranger->orders);

        if (orders != atomic_load(&stranger->done)) {
            worker = NULL == worker ? open_worker() : worker;
            atomic_store(&stranger->failed, !carry_out(stranger, worker));
            worker = SEND_AND_STALL == stranger->way ? NULL : worker;
            atomic_store(&stranger->done, orders);
        }
        if (NULL != worker) {
            (void) oc_worker_progress(worker);
        }
        usleep(100);
    }
}

stranger_t *stranger_start(void)
{
    stranger_t *stranger = shared_memory(sizeof(*stranger));
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(EXIT_FAILURE);
    }
    if (0 == pid) {
        live(stranger);
    }
    stranger->pid = pid;
    return stranger;
}

void stranger_stop(stranger_t *stranger)
{
    (void) kill(stranger->pid, SIGKILL);
    (void) waitpid(stranger->pid, NULL, 0);
    (void) munmap(stranger, sizeof(*stranger));
}

void stranger_send(stranger_t *stranger, const rank_t *rank, const place_t *to, uint64_t tag,
                   const void *bytes, size_t length, send_way_t way)
{
    uint64_t end = oc_clock_ns() + PATIENCE;

    CHECK(length <= STRANGER_BYTES);
    stranger->to = *to;
    stranger->tag = tag;
    stranger->length = length;
    stranger->way = way;
    if (NULL != bytes) {
        memcpy(stranger->bytes, bytes, length);
    } else {
        memset(stranger->bytes, 0x5a, length);
    }
    atomic_fetch_add(&stranger->orders, 1);
    while (atomic_load(&stranger->done) != atomic_load(&stranger->orders)) {
        CHECK(oc_clock_ns() < end);
        /* it may be sending to this rank, which has to take part in that */
        (void) oc_worker_progress(rank->client->worker);
        usleep(100);
    }
    CHECK(!atomic_load(&stranger->failed));
    usleep(SETTLE_US);
}

void place_of_rank(const rank_t *rank, place_t *place)
{
    const void *address = oc_worker_address(rank->client->worker, &place->length);

    CHECK(place->length <= sizeof(place->bytes));
    memcpy(place->bytes, address, place->length);
}

static oc_control_t hear(const rank_t *rank, oc_stream_t *stream)
{
    uint64_t end = oc_clock_ns() + PATIENCE;
    oc_control_t message;
    size_t used;

    do {
        CHECK(OC_OK == oc_stream_read(stream));
        CHECK(oc_clock_ns() < end);
        usleep(100);
    } while (OC_OK != oc_stream_next(stream, &message, &used));
    return message;
}

/* As another process of the job, which says good-bye at once. */
void place_of_server(const rank_t *rank, uint16_t port, place_t *place)
{
    oc_control_t message = {.type = OC_CONTROL_HELLO};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    oc_sockaddr_t address = {.length = sizeof(in)};
    oc_worker_t *worker;
    oc_stream_t stream;
    char error[256];
    size_t length;

    memcpy(&address.address, &in, sizeof(in));
    CHECK(OC_OK == oc_worker_open(NULL, &worker, error, sizeof(error)));
    oc_stream_init(&stream, oc_connect_start(&address), OC_MAX_BODY);
    CHECK(stream.fd >= 0);
    usleep(10000);
    message.hello.version_min = OC_PROTOCOL_VERSION_MIN;
    message.hello.version_max = OC_PROTOCOL_VERSION_MAX;
    memcpy(message.hello.job_id, rank->client->job.id, OC_JOB_ID_SIZE);
    memcpy(message.hello.job_key, rank->client->job.key, OC_JOB_KEY_SIZE);
    message.hello.process = 4711;
    message.hello.address.data = oc_worker_address(worker, &length);
    message.hello.address.length = (uint32_t) length;
    CHECK(OC_OK == oc_stream_send(&stream, &message));
    message = hear(rank, &stream);
    CHECK(OC_CONTROL_WELCOME == message.type);
    place->length = message.welcome.address[0].length;
    CHECK(place->length <= sizeof(place->bytes));
    memcpy(place->bytes, message.welcome.address[0].data, place->length);
    message = (oc_control_t) {.type = OC_CONTROL_BYE};
    CHECK(OC_OK == oc_stream_send(&stream, &message));
    usleep(10000);
    oc_stream_close(&stream);
    oc_worker_close(worker);
}
