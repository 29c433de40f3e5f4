/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests that ranks which multicast has served cost nothing between operations: no time, no
 * thread, and no more memory than multicast_staging, whatever strangers send.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/harness.h"

#define RANKS      3
#define BLOCK      8000
#define NAP        (2 * OC_SECOND)
#define STAGING    196608u  /* no kernel has less by default */
#define FLOOD      8000u    /* datagrams, 40 times of what staging holds */
#define STRANGE    1000u    /* bytes of each */
#define MAX_FD     1024
#define SOME_BYTES 262144u  /* for what allocators and libraries keep */

static atomic_uint own_threads;

/* Those of UCX and of sanitizers are none of ours, which are in this program. */
int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    Dl_info caller, self;

    *(void **) &real = dlsym(RTLD_NEXT, "pthread_create");
    if (0 != dladdr(__builtin_return_address(0), &caller)
        && 0 != dladdr((const void *) &own_threads, &self) && caller.dli_fbase == self.dli_fbase) {
        atomic_fetch_add(&own_threads, 1);
    }
    return real(id, attributes, run, arg);
}

static uint64_t cpu_time(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t) used.tv_sec * OC_SECOND + (uint64_t) used.tv_nsec;
}

/* Bytes that are resident; /proc/self/statm may be some pages behind. */
static long memory(const rank_t *rank)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[200];
    long kib = -1;

    CHECK(NULL != file);
    while (kib < 0 && NULL != fgets(line, sizeof(line), file)) {
        (void) sscanf(line, "Rss: %ld kB", &kib);
    }
    fclose(file);
    CHECK(kib > 0);
    return kib * 1024;
}

static void allgather(rank_t *rank, unsigned group)
{
    static uint8_t blocks[RANKS * BLOCK];
    outcome_t outcome = {0};
    oc_allgather_args_t args = {.recv = blocks, .block = BLOCK, .blocking = true,
                                .finished = rank_on_finished, .arg = &outcome};

    memset(blocks, 0, sizeof(blocks));
    memset(blocks + rank->rank * BLOCK, (int) rank->rank + 1, BLOCK);
    CHECK(OC_OK == oc_allgather_start(rank_group(rank, group), &args));
    CHECK(rank_wait(rank, &outcome, 1, 20));
    CHECK(OC_OK == outcome.status);
    for (size_t i = 0; i < sizeof(blocks); i++) {
        CHECK(i / BLOCK + 1 == blocks[i]);
    }
}

/* Last messages have left, of all ranks. */
static void settle(rank_t *rank)
{
    rank_settle(rank);
    rank_barrier(rank);
}

/* Nothing wakes a rank that has nothing to do, and nothing else runs in its process. */
static void rest(rank_t *rank)
{
    uint64_t begun = oc_clock_ns(), used = cpu_time(), napped;

    oc_client_wait(rank->client, (unsigned) (NAP / 1000));
    napped = oc_clock_ns() - begun;
    used = cpu_time() - used;
    if (napped < NAP || used > NAP / 100) {
        fprintf(stderr, "rank %u slept for %.3f s and used %.3f s of a processor\n", rank->rank,
                (double) napped / OC_SECOND, (double) used / OC_SECOND);
    }
    CHECK(napped >= NAP && used <= NAP / 100);
}

static void idle(rank_t *rank)
{
    rank->service = OC_SERVICE_MULTICAST;
    for (unsigned group = 0; group < 3; group++) {
        allgather(rank, group);
    }
    settle(rank);
    rest(rank);
    rank_barrier(rank);
    CHECK(0 == atomic_load(&own_threads));
    allgather(rank, 0);
    CHECK(4 == rank->counters.allgather_offloaded);
}

static oc_job_settings_t idle_settings(void)
{
    oc_job_settings_t settings = test_settings("embedded");

    settings.multicast = OC_MULTICAST_UDP;
    settings.multicast_interface = "lo";
    settings.multicast_groups = 1;
    settings.multicast_staging = STAGING;
    return settings;
}

static void test_idle(void **state)
{
    oc_job_settings_t settings = idle_settings();

    (void) state;
    assert_int_equal(ranks_run(RANKS, &settings, idle, 60), 0);
}

/* The one socket that is bound to a multicast address; its buffer is what the setting says. */
static struct sockaddr_in check_staging(const rank_t *rank)
{
    struct sockaddr_in address, found = {0};
    unsigned count = 0;
    int given = 0;

    for (int fd = 0; fd < MAX_FD; fd++) {
        socklen_t length = sizeof(address), size = sizeof(given);

        if (0 == getsockname(fd, (struct sockaddr *) &address, &length)
            && AF_INET == address.sin_family && IN_MULTICAST(ntohl(address.sin_addr.s_addr))) {
            CHECK(0 == getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &given, &size));
            found = address;
            count++;
        }
    }
    CHECK(1 == count);
    /* the kernel doubles it, for structures of its own */
    CHECK(2 * STAGING == (unsigned) given);
    return found;
}

static void send_flood(const rank_t *rank, const struct sockaddr_in *to)
{
    struct in_addr way = {htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    uint8_t strange[STRANGE];

    fill_random(strange, sizeof(strange));
    CHECK(fd >= 0 && 0 == setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &way, sizeof(way)));
    for (unsigned i = 0; i < FLOOD; i++) {
        CHECK(STRANGE == sendto(fd, strange, STRANGE, 0, (const struct sockaddr *) to,
                                sizeof(*to)));
    }
    close(fd);
    atomic_store(&rank->shared->signal, 1);
}

/* Nobody reads what strangers send while there is no operation: the kernel keeps some of it. */
static void endure(rank_t *rank)
{
    struct sockaddr_in address = check_staging(rank);
    long before;

    settle(rank);
    atomic_store(&rank->shared->signal, 0);
    rank_barrier(rank);
    before = memory(rank);
    if (0 == rank->rank) {
        send_flood(rank, &address);
    } else {
        do {
            rest(rank);
        } while (0 == atomic_load(&rank->shared->signal));
        CHECK(memory(rank) - before <= (long) SOME_BYTES);
    }
    rank_barrier(rank);
}

static void flooded(rank_t *rank)
{
    unsigned long long foreign;
    long before, after;

    rank->service = OC_SERVICE_MULTICAST;
    allgather(rank, 0);
    endure(rank);
    allgather(rank, 0);
    foreign = rank->counters.cast.datagrams_foreign;
    CHECK(foreign > 0 && foreign <= 2 * STAGING / STRANGE);
    settle(rank);
    before = memory(rank);
    endure(rank);
    allgather(rank, 0);
    CHECK(rank->counters.cast.datagrams_foreign > foreign);
    after = memory(rank);
    CHECK(after - before <= (long) SOME_BYTES);
}

static void test_flood(void **state)
{
    oc_job_settings_t settings = idle_settings();

    (void) state;
    assert_int_equal(ranks_run(RANKS, &settings, flooded, 60), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_flood),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
