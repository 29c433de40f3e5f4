/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of a client whose small contribution found no room: it is sent once more,
 * when it is asked for, and whoever asks otherwise ends the service.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "base/clock.h"
#include "client/client.h"
#include "client/collective/small.h"
#include "client/servers/lanes.h"
#include "protocol/seal.h"
#include "protocol/tag.h"
#include "reduction/reduction.h"

#define COUNT 100u
#define BYTES (COUNT * sizeof(int32_t))

static const uint8_t key[OC_JOB_KEY_SIZE] = {1, 2, 3};
static oc_job_settings_t settings;
static oc_counters_t counters;
static oc_client_t *client;
static oc_connection_t connection;    /* it has no other end */
static oc_route_t route;
static oc_group_t *group;
static oc_worker_t *server;           /* the aggregator's, as far as this test is one */
static oc_endpoint_t *to_client;
static int32_t contribution[COUNT], result[COUNT];

static void endpoint_failed(void *arg)
{
    (void) arg;
}

/* One link, with one lane, whose number is 2. */
static int join(void)
{
    oc_group_servers_t *servers = group->servers;

    servers->links = calloc(1, sizeof(*servers->links));
    if (NULL == servers->links) {
        return -1;
    }
    connection = (oc_connection_t) {.client = client, .name = "a server", .users = 1,
                                    .codes = client->codes, .routes = &route,
                                    .num_aggregators = 1};
    servers->id = 0x123450000;
    servers->reply_handle = 9;
    servers->num_links = 1;
    servers->links[0] = (oc_link_t) {.connection = &connection,
                                     .teams = calloc(1, sizeof(oc_membership_t))};
    if (NULL == servers->links[0].teams) {
        return -1;
    }
    servers->links[0].teams[0].handle = 7;
    group->state = OC_GROUP_LIVE;
    if (OC_OK != oc_lanes_make(group)) {
        return -1;
    }
    servers->lanes[0].index = 2;
    return 0;
}

static int connect_workers(void)
{
    char error[256];
    size_t length;

    if (OC_OK != oc_worker_open(NULL, &client->worker, error, sizeof(error))
        || OC_OK != oc_worker_open(NULL, &server, error, sizeof(error))
        || OC_OK != oc_endpoint_open(server, oc_worker_address(client->worker, &length),
                                     endpoint_failed, NULL, &to_client)) {
        return -1;
    }
    return OC_OK == oc_endpoint_open(client->worker, oc_worker_address(server, &length),
                                     endpoint_failed, NULL, &route.endpoint) ? 0 : -1;
}

static int setup(void **state)
{
    oc_client_config_t config = {.settings = &settings, .counters = &counters};
    oc_group_params_t params = {.num_ranks = 2, .rank = 1, .name = "a group"};

    (void) state;
    oc_settings_default(&oc_job_settings_table, &settings);
    settings.progress = OC_PROGRESS_MPI;
    settings.servers = "localhost";
    counters = (oc_counters_t) {0};
    route = (oc_route_t) {.unasked = 0};
    for (unsigned i = 0; i < COUNT; i++) {
        contribution[i] = (int32_t) (i * i);
    }
    memset(result, 0, sizeof(result));
    if (OC_OK != oc_client_create(&config, &client)) {
        return -1;
    }
    client->codes = oc_seal_new(key, 0);
    return OC_OK == oc_group_create(client, &params, &group) && 0 == connect_workers() ? join()
                                                                                      : -1;
}

static int teardown(void **state)
{
    (void) state;
    oc_worker_close(client->worker);
    client->worker = NULL;
    oc_worker_close(server);
    if (NULL != group->running) {
        return -1;
    }
    oc_client_destroy(client);
    return 0;
}

/* ---- the aggregator ---- */

typedef struct {
    oc_transfer_t transfer;
    bool done;
    uint8_t bytes[OC_HEADER_SIZE + BYTES + 64];
    oc_header_t header;
} message_t;

static void on_message(oc_transfer_t *transfer)
{
    ((message_t *) transfer)->done = true;
}

static void progress(const bool *done, unsigned ms)
{
    uint64_t end = oc_clock_ns() + ms * OC_MILLISECOND;

    while (!*done && oc_clock_ns() < end) {
        (void) oc_worker_progress(client->worker);
        (void) oc_worker_progress(server);
    }
}

/* The contribution, whole and right. */
static void expect_contribution(void)
{
    message_t message = {.transfer.done = on_message};

    oc_receive(server, &message.transfer, message.bytes, sizeof(message.bytes),
               oc_tag(OC_KIND_REQUEST, 7, 1, 0, 0), OC_TAG_EXACT);
    progress(&message.done, 5000);
    assert_true(message.done);
    assert_int_equal(message.transfer.length, OC_HEADER_SIZE + BYTES);
    assert_int_equal(oc_header_decode(message.bytes, message.transfer.length, &message.header),
                     OC_OK);
    assert_int_equal(message.header.message, OC_MESSAGE_SMALL);
    assert_memory_equal(message.bytes + OC_HEADER_SIZE, contribution, BYTES);
}

static void send_answer(message_t *message, size_t length)
{
    bool never = false;

    message->transfer.done = on_message;
    oc_send(to_client, &message->transfer, message->bytes, length,
            oc_tag(OC_KIND_REPLY, 9, 2, 0, 0));
    progress(&message->done, 5000);
    assert_true(message->done);
    progress(&never, 20);
}

/* Returns its length. */
static size_t make_answer(message_t *message, uint8_t type, uint32_t bytes)
{
    oc_header_t header = {.message = type, .op = OC_OP_SUM, .type = OC_TYPE_INT32, .handle = 7,
                          .rank = 2, .chunk_bytes = bytes, .count = COUNT,
                          .chunks = OC_MESSAGE_COMMIT == type};
    size_t length = OC_HEADER_SIZE + (OC_MESSAGE_RESULT == type ? bytes : 0);

    oc_header_encode(&header, message->bytes);
    memset(message->bytes + OC_HEADER_SIZE, 0x11, BYTES);
    oc_seal(client->codes, group->servers->id, 2, &header, message->bytes, length);
    return length;
}

static void answer(uint8_t type, uint32_t bytes)
{
    message_t message = {.done = false};
    size_t length = make_answer(&message, type, bytes);

    send_answer(&message, length);
}

static oc_collective_t *start(void)
{
    oc_allreduce_args_t args = {.send = contribution, .recv = result, .count = COUNT,
                                .op = OC_OP_SUM, .type = OC_TYPE_INT32};

    assert_int_equal(oc_allreduce_start(group, &args), OC_OK);
    assert_non_null(group->running);
    return group->running;
}

static void expect_result(const oc_collective_t *collective)
{
    assert_ptr_equal(client->finished, collective);
    assert_int_equal(collective->status, OC_OK);
    assert_int_equal(client->collapse, OC_OK);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(result[i], 0x11111111);
    }
}

static void expect_collapse(const oc_collective_t *collective, const char *part)
{
    bool never = false;

    progress(&never, 20);
    assert_int_equal(client->collapse, OC_ERR_INVALID);
    assert_non_null(strstr(client->collapse_reason, part));
    assert_ptr_equal(client->finished, collective);
    assert_int_equal(collective->status, OC_ERR_INVALID);
    assert_int_equal(result[0], 0);
}

/* ---- tests ---- */

static void test_not_asked(void **state)
{
    const oc_collective_t *collective = start();

    (void) state;
    expect_contribution();
    answer(OC_MESSAGE_RESULT, BYTES);
    expect_result(collective);
    assert_int_equal(counters.messages_sent, 1);
    assert_int_equal(counters.messages_resent, 0);
}

static void test_asked(void **state)
{
    const oc_collective_t *collective = start();

    (void) state;
    expect_contribution();
    answer(OC_MESSAGE_RESEND, BYTES);
    assert_null(client->finished);
    expect_contribution();
    answer(OC_MESSAGE_RESULT, BYTES);
    expect_result(collective);
    assert_int_equal(counters.messages_sent, 2);
    assert_int_equal(counters.messages_resent, 1);
    assert_int_equal(counters.bytes_sent, 2 * BYTES);
    /* there and back: it was kept, not made again */
    assert_int_equal(counters.bytes_copied, 2 * BYTES);
}

/* The answer may be faster than the news that the message went. */
static void test_asked_while_sending(void **state)
{
    oc_collective_t *collective = start();
    oc_small_t *small = oc_allreduce_of(collective)->state;

    (void) state;
    expect_contribution();
    assert_false(small->sending);
    small->sending = true;
    small->allreduce->waiting++;
    answer(OC_MESSAGE_RESEND, BYTES);
    assert_int_equal(counters.messages_sent, 1);
    small->request.transfer.done(&small->request.transfer);
    assert_int_equal(counters.messages_sent, 2);
    expect_contribution();
    answer(OC_MESSAGE_RESULT, BYTES);
    expect_result(collective);
}

static void test_asked_twice(void **state)
{
    const oc_collective_t *collective = start();

    (void) state;
    expect_contribution();
    answer(OC_MESSAGE_RESEND, BYTES);
    expect_contribution();
    answer(OC_MESSAGE_RESEND, BYTES);
    expect_collapse(collective, "asked twice for the contribution to collective 0");
    assert_int_equal(counters.messages_resent, 1);
    assert_int_equal(counters.failures, 1);
}

static void test_asked_for_something_else(void **state)
{
    const oc_collective_t *collective = start();

    (void) state;
    expect_contribution();
    answer(OC_MESSAGE_RESEND, BYTES - 4);
    expect_collapse(collective, "a reply that does not fit collective 0");
    assert_int_equal(counters.messages_resent, 0);
}

/* An answer as short as a RESEND that is none. */
static void test_other_short_answer(void **state)
{
    const oc_collective_t *collective = start();

    (void) state;
    expect_contribution();
    answer(OC_MESSAGE_COMMIT, BYTES);
    expect_collapse(collective, "a reply that does not fit collective 0");
}

/* ---- answers that nobody of the job has made ---- */

/* Not a byte of it can be another one, and it is neither shorter nor longer. */
static void test_forged(void **state)
{
    static const size_t places[] = {0, 4, 9, 40, OC_CODE_OFFSET, OC_HEADER_SIZE - 1, OC_HEADER_SIZE,
                                    OC_HEADER_SIZE + BYTES - 1};
    const oc_collective_t *collective = start();
    message_t message = {.done = false};
    size_t length = make_answer(&message, OC_MESSAGE_RESULT, BYTES);
    unsigned tries = 0;

    (void) state;
    expect_contribution();
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        message.bytes[places[i]] ^= 0x40;
        send_answer(&message, length);
        message.bytes[places[i]] ^= 0x40;
        assert_int_equal(counters.replies_forged, ++tries);
    }
    send_answer(&message, length + 1);
    send_answer(&message, OC_HEADER_SIZE);
    send_answer(&message, 3);
    assert_int_equal(counters.replies_forged, tries + 3);
    assert_null(client->finished);
    assert_int_equal(client->collapse, OC_OK);
    answer(OC_MESSAGE_RESULT, BYTES);
    expect_result(collective);
    assert_int_equal(counters.messages_sent, 1);
}

/* Nor does one that asks for the contribution get it. */
static void test_forged_question(void **state)
{
    const oc_collective_t *collective = start();
    message_t message = {.done = false};
    size_t length = make_answer(&message, OC_MESSAGE_RESEND, BYTES);

    (void) state;
    expect_contribution();
    message.bytes[OC_CODE_OFFSET + 3] ^= 1;
    send_answer(&message, length);
    send_answer(&message, length);
    assert_int_equal(counters.replies_forged, 2);
    assert_int_equal(counters.messages_resent, 0);
    answer(OC_MESSAGE_RESEND, BYTES);
    expect_contribution();
    answer(OC_MESSAGE_RESULT, BYTES);
    expect_result(collective);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_not_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_asked_while_sending, setup, teardown),
        cmocka_unit_test_setup_teardown(test_asked_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_asked_for_something_else, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_short_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_forged, setup, teardown),
        cmocka_unit_test_setup_teardown(test_forged_question, setup, teardown),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
