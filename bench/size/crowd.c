/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a crowd, what they are told, and what they answer. */
#include "bench/size/crowd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/size/members.h"
#include "protocol/message.h"
#include "protocol/tag.h"

/* Receives for READY that are posted at a time. */
#define READIES 64

typedef struct {
    oc_transfer_t transfer;
    oc_crowd_t *crowd;
    uint8_t bytes[OC_HEADER_SIZE];
} ready_t;

static void __attribute__((noreturn)) give_up(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

/* ---- READY ---- */

static void receive_ready(ready_t *ready)
{
    oc_receive(ready->crowd->worker, &ready->transfer, ready->bytes, sizeof(ready->bytes),
               oc_tag(OC_KIND_REPLY, 0, 0, 0, OC_READY_SLOT), OC_TAG_KIND_MASK | OC_READY_SLOT);
}

static void on_ready(oc_transfer_t *transfer)
{
    ready_t *ready = (ready_t *) transfer;
    oc_crowd_t *crowd = ready->crowd;
    oc_header_t header;

    if (OC_OK != transfer->status) {
        free(ready);
        return;
    }
    if (OC_OK == oc_header_decode(ready->bytes, transfer->length, &header)
        && OC_MESSAGE_READY == header.message) {
        crowd->ready++;
        if (0 == crowd->chunk_bytes || header.chunk_bytes < crowd->chunk_bytes) {
            crowd->chunk_bytes = header.chunk_bytes;
        }
    }
    receive_ready(ready);
}

static void open_worker(oc_crowd_t *crowd)
{
    char error[256] = "";
    size_t length;
    const void *address;

    if (OC_OK != oc_worker_open(NULL, &crowd->worker, error, sizeof(error))) {
        fprintf(stderr, "optcast-bench-size: %s\n", error);
        exit(EXIT_FAILURE);
    }
    for (int i = 0; i < READIES; i++) {
        ready_t *ready = calloc(1, sizeof(*ready));

        if (NULL == ready) {
            give_up("calloc");
        }
        ready->crowd = crowd;
        ready->transfer.done = on_ready;
        receive_ready(ready);
    }
    address = oc_worker_address(crowd->worker, &length);
    memcpy(crowd->shared->worker_address, address, length);
    crowd->shared->worker_address_length = (uint32_t) length;
}

bool oc_crowd_wait_ready(oc_crowd_t *crowd, unsigned count, double seconds)
{
    double end = oc_crowd_clock() + seconds;

    while (crowd->ready < count && oc_crowd_clock() < end) {
        if (0 == oc_worker_progress(crowd->worker)) {
            (void) poll(NULL, 0, 1);
        }
    }
    return crowd->ready >= count;
}

/* ---- processes ---- */

static void start_process(oc_crowd_t *crowd, unsigned number)
{
    unsigned first = crowd->count * number / OC_CROWD_PROCESSES;
    unsigned end = crowd->count * (number + 1) / OC_CROWD_PROCESSES;
    int pair[2];

    if (0 != socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        give_up("socketpair");
    }
    fflush(NULL);
    crowd->pids[number] = fork();
    if (crowd->pids[number] < 0) {
        give_up("fork");
    }
    if (0 == crowd->pids[number]) {
        /* of an earlier one: it ends when this process closes it */
        for (unsigned i = 0; i < number; i++) {
            close(crowd->channels[i]);
        }
        close(pair[0]);
        oc_members_run(crowd->shared, number, first, end - first, pair[1]);
    }
    close(pair[1]);
    crowd->channels[number] = pair[0];
}

static void make_job(oc_crowd_shared_t *shared, uint16_t port)
{
    struct sockaddr_in *in = (struct sockaddr_in *) &shared->server.address;

    in->sin_family = AF_INET;
    in->sin_port = htons(port);
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    shared->server.length = sizeof(*in);
    if (sizeof(shared->id) != getrandom(shared->id, sizeof(shared->id), 0)
        || sizeof(shared->key) != getrandom(shared->key, sizeof(shared->key), 0)) {
        give_up("getrandom");
    }
}

void oc_crowd_open(oc_crowd_t *crowd, unsigned count, uint16_t port)
{
    *crowd = (oc_crowd_t) {.count = count};
    crowd->shared = mmap(NULL, sizeof(*crowd->shared), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (MAP_FAILED == (void *) crowd->shared) {
        give_up("mmap");
    }
    make_job(crowd->shared, port);
    for (unsigned i = 0; i < OC_CROWD_PROCESSES; i++) {
        start_process(crowd, i);
    }
    open_worker(crowd);
}

void oc_crowd_close(oc_crowd_t *crowd)
{
    for (unsigned i = 0; i < OC_CROWD_PROCESSES; i++) {
        close(crowd->channels[i]);
        (void) waitpid(crowd->pids[i], NULL, 0);
    }
    oc_worker_close(crowd->worker);
    munmap(crowd->shared, sizeof(*crowd->shared));
}

/* ---- what they do ---- */

static void add(oc_crowd_outcome_t *sum, const oc_crowd_outcome_t *one)
{
    sum->answered += one->answered;
    sum->refused += one->refused;
    sum->late += one->late;
    sum->last = one->last > sum->last ? one->last : sum->last;
    if ('\0' == sum->text[0]) {
        memcpy(sum->text, one->text, sizeof(sum->text));
    }
}

/* Messages of the server come meanwhile. */
static void wait_for(oc_crowd_t *crowd, unsigned number)
{
    struct pollfd event = {.fd = crowd->channels[number], .events = POLLIN};
    char done;

    while (0 == poll(&event, 1, 1)) {
        while (0 != oc_worker_progress(crowd->worker)) {
            continue;
        }
    }
    if (1 != read(event.fd, &done, 1)) {
        give_up("a process of the crowd");
    }
}

static oc_crowd_outcome_t all_do(oc_crowd_t *crowd, oc_crowd_deed_t deed)
{
    oc_crowd_outcome_t sum = {0};
    char letter = (char) deed;

    /* so that all of them are awake when it begins */
    crowd->shared->begin = oc_crowd_clock() + 0.05;
    for (unsigned i = 0; i < OC_CROWD_PROCESSES; i++) {
        if (1 != write(crowd->channels[i], &letter, 1)) {
            give_up("a process of the crowd");
        }
    }
    for (unsigned i = 0; i < OC_CROWD_PROCESSES; i++) {
        wait_for(crowd, i);
        add(&sum, &crowd->shared->outcomes[i]);
    }
    return sum;
}

oc_crowd_outcome_t oc_crowd_connect(oc_crowd_t *crowd, double limit, unsigned at_a_time)
{
    crowd->shared->limit = limit;
    crowd->shared->at_a_time = at_a_time;
    return all_do(crowd, OC_CROWD_CONNECT);
}

oc_crowd_outcome_t oc_crowd_ping(oc_crowd_t *crowd)
{
    return all_do(crowd, OC_CROWD_PING);
}

oc_crowd_outcome_t oc_crowd_join(oc_crowd_t *crowd, const oc_crowd_join_t *join)
{
    crowd->shared->join = *join;
    crowd->ready = 0;
    crowd->chunk_bytes = 0;
    return all_do(crowd, OC_CROWD_JOIN);
}

/* Servers that say nothing take what they were asked for. */
uint32_t oc_crowd_chunk(const oc_crowd_t *crowd, const oc_crowd_join_t *join)
{
    return 0 != crowd->chunk_bytes ? crowd->chunk_bytes : join->chunk_bytes;
}
