/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the code of a datagram costs its receiver, beside what else is done with each fragment: it
 * is read from a socket, its code is looked at, it is copied to its place, and its checksum is
 * made. All take turns on the same fragments, and only the processor time of this thread counts.
 */
#include "config.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench_arguments.h"
#include "multicast/core/cast_seal.h"
#include "multicast/core/crc32c.h"
#include "multicast/transport/udp.h"

#define MAX_ROUNDS 99u
#define STAGED     64u                 /* fragments that are staged, as after one read */
#define WORK       ((size_t) 64 << 20) /* bytes that each passes in a round */
#define TOKEN      0x0123456789abcdefull
#define PORT       8929

/* Of datagrams with an MTU of 1500, of verbs with 4096, and of jumbo frames. */
static const size_t datagram_sizes[] = {1472, 4096, 8972};

enum { RECEIVE, CODE, COPY, CHECKSUM, TOGETHER, NUM_STEPS };

static const char *const step_names[NUM_STEPS] = {"receive", "code", "copy", "crc32c",
                                                  "code+copy+crc32c"};

typedef struct {
    size_t payload, count;              /* bytes, fragments */
    uint8_t *staging, *vector;          /* STAGED datagrams, and where fragments belong */
    oc_datagram_t headers[STAGED];
    oc_cast_seal_t *seal;
    oc_transport_t *transport, *sender; /* NULL: there is no loopback */
    unsigned wrong;
} bench_t;

/* Of the processor: what other programs take of it does not count. */
static double seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static void *get_memory(size_t size)
{
    void *memory = aligned_alloc(4096, (size + 4095) / 4096 * 4096);

    if (NULL == memory) {
        fprintf(stderr, "optcast-bench-codes: out of memory\n");
        exit(1);
    }
    memset(memory, 0x3c, size);
    return memory;
}

static uint8_t *staged(const bench_t *bench, size_t i)
{
    return bench->staging + i % STAGED * (OC_DATAGRAM_HEADER + bench->payload);
}

static void stage(bench_t *bench)
{
    for (uint32_t i = 0; i < STAGED; i++) {
        uint8_t *bytes = staged(bench, i);

        bench->headers[i] = (oc_datagram_t) {.kind = OC_DATAGRAM_FRAGMENT, .token = TOKEN,
                                             .generation = 1, .rank = 1, .index = i,
                                             .length = (uint16_t) bench->payload};
        memset(bytes, (int) i, OC_DATAGRAM_HEADER + bench->payload);
        oc_datagram_encode(&bench->headers[i], bytes);
        oc_cast_seal_datagram(bench->seal, 1, &bench->headers[i], bytes + OC_DATAGRAM_HEADER, bytes);
    }
}

/* ---- steps ---- */

static void check_code(bench_t *bench, size_t i)
{
    bench->wrong += !oc_cast_seal_fits_datagram(bench->seal, 1, &bench->headers[i % STAGED],
                                           staged(bench, i));
}

static void copy(bench_t *bench, size_t i)
{
    memcpy(bench->vector + i * bench->payload, staged(bench, i) + OC_DATAGRAM_HEADER,
           bench->payload);
}

static uint32_t sum(const bench_t *bench, size_t i, uint32_t crc)
{
    return oc_crc32c(crc, bench->vector + i * bench->payload, bench->payload);
}

/* What is summed has just been copied, and is in the cache. */
static double time_fragments(bench_t *bench, int step)
{
    double begin = seconds(), copied = 0;
    uint32_t crc = 0;

    for (size_t i = 0; i < bench->count; i += STAGED) {
        double before = seconds();

        for (size_t k = i; CHECKSUM == step && k < i + STAGED; k++) {
            copy(bench, k);
        }
        copied += CHECKSUM == step ? seconds() - before : 0;
        for (size_t k = i; k < i + STAGED; k++) {
            if (CODE == step || TOGETHER == step) {
                check_code(bench, k);
            }
            if (COPY == step || TOGETHER == step) {
                copy(bench, k);
            }
            if (CHECKSUM == step || TOGETHER == step) {
                crc = sum(bench, k, crc);
            }
        }
    }
    bench->wrong += 0 == crc && CHECKSUM <= step; /* so that it is needed */
    return seconds() - begin - copied;
}

static void count_arrival(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length)
{
    (void) from;
    (void) bytes;
    *(size_t *) arg += length;
}

/* From the loopback's socket into memory of this process; sending does not count. */
static double time_receiving(bench_t *bench)
{
    oc_outgoing_t batch[STAGED];
    size_t bytes = 0;
    double time = 0;

    for (size_t i = 0; i < STAGED; i++) {
        memcpy(batch[i].header, staged(bench, i), OC_DATAGRAM_HEADER);
        batch[i].payload = staged(bench, i) + OC_DATAGRAM_HEADER;
        batch[i].length = bench->payload;
    }
    for (size_t i = 0; i < bench->count; i += STAGED) {
        size_t expected = bytes + STAGED * (OC_DATAGRAM_HEADER + bench->payload);
        double begin;

        if (STAGED != bench->sender->ops->send(bench->sender, batch, STAGED)) {
            bench->wrong++;
        }
        begin = seconds();
        (void) bench->transport->ops->receive(bench->transport, STAGED, count_arrival, &bytes);
        time += seconds() - begin;
        bench->wrong += bytes != expected;
    }
    return time;
}

/* ---- the program ---- */

static oc_transport_t *open_loopback(void)
{
    oc_udp_config_t config = {.port = PORT, .staging = 4u << 20, .send_buffer = 4u << 20};
    struct in_addr group = {htonl(0xefc00842u)};
    oc_transport_t *transport;
    oc_interface_t interface;
    char error[256];

    config.interface = &interface;
    config.group = group;
    if (OC_OK != oc_interface_find("lo", group, &interface, error, sizeof(error))
        || OC_OK != oc_udp_open(&config, &transport, error, sizeof(error))) {
        fprintf(stderr, "optcast-bench-codes: without receiving: %s\n", error);
        return NULL;
    }
    return transport;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static void measure(size_t datagram_size, unsigned rounds)
{
    static const uint8_t key[OC_JOB_KEY_SIZE] = {1};
    double times[NUM_STEPS][MAX_ROUNDS];
    bench_t bench = {.payload = datagram_size - OC_DATAGRAM_HEADER};

    bench.count = WORK / bench.payload / STAGED * STAGED;
    bench.staging = get_memory(STAGED * datagram_size);
    bench.vector = get_memory(bench.count * bench.payload);
    bench.seal = oc_cast_seal_new(key, TOKEN);
    bench.sender = open_loopback();
    bench.transport = NULL == bench.sender ? NULL : open_loopback();
    stage(&bench);
    for (unsigned round = 0; round < rounds; round++) {
        for (int step = RECEIVE; step < NUM_STEPS; step++) {
            times[step][round] = RECEIVE != step              ? time_fragments(&bench, step)
                                 : NULL == bench.transport ? 0
                                                           : time_receiving(&bench);
        }
    }
    for (int step = RECEIVE; step < NUM_STEPS; step++) {
        double time;

        qsort(times[step], rounds, sizeof(double), compare);
        time = times[step][rounds / 2] / (double) bench.count * 1e9;
        printf("%6zu  %-16s %8.0f %8.3f\n", bench.payload, step_names[step], time,
               time / (double) bench.payload);
    }
    if (bench.wrong > 0) {
        fprintf(stderr, "optcast-bench-codes: %u times something went wrong\n", bench.wrong);
        exit(1);
    }
    if (NULL != bench.transport) {
        bench.transport->ops->close(bench.transport);
        bench.sender->ops->close(bench.sender);
    }
    oc_cast_seal_free(bench.seal);
    free(bench.staging);
    free(bench.vector);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"rounds", required_argument, NULL, 'r'}, {0}};
    unsigned rounds = 9;
    int option;

    while (-1 != (option = getopt_long(argc, argv, "", options, NULL))) {
        if ('r' != option) {
            fprintf(stderr, "usage: optcast-bench-codes [--rounds N]\n");
            return OC_BENCH_USAGE;
        }
        rounds = (unsigned) oc_bench_number("--rounds", optarg, 1, MAX_ROUNDS);
    }
    oc_bench_no_more(argc, argv);
    printf("bytes   step          ns a fragment  ns a byte (processor time, median of %u)\n",
           rounds);
    for (size_t i = 0; i < sizeof(datagram_sizes) / sizeof(datagram_sizes[0]); i++) {
        measure(datagram_sizes[i], rounds);
    }
    return 0;
}
