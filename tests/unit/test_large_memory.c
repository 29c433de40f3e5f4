/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of a large Allreduce for which memory runs out while it is cut into parts: it
 * ends with an error, and what was made is freed.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/collective/large.h"
#include "client/servers/lanes.h"
#include "client/servers/network.h"
#include "reduction/reduction.h"

#define LANES 4u
#define BYTES ((size_t) 1 << 20)

static oc_job_settings_t settings;
static oc_counters_t counters;
static oc_client_t *client;
static oc_connection_t connection; /* it has no other end, and nothing gets so far */
static oc_route_t routes[LANES];
static oc_group_t *group;
static uint8_t contribution[BYTES], result[BYTES];

/* So many more calls of calloc succeed, then one fails; negative: none does. */
static int successes = -1;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
    if (successes >= 0 && 0 == successes--) {
        return NULL;
    }
    return __real_calloc(count, size);
}

static int setup(void **state)
{
    oc_client_config_t config = {.settings = &settings, .counters = &counters};
    oc_group_params_t params = {.num_ranks = 2, .rank = 1, .name = "a group"};
    oc_group_servers_t *servers;
    char error[256];

    (void) state;
    oc_settings_default(&oc_job_settings_table, &settings);
    settings.progress = OC_PROGRESS_MPI;
    settings.servers = "localhost";
    counters = (oc_counters_t) {0};
    if (OC_OK != oc_client_create(&config, &client)
        || OC_OK != oc_client_worker(client, error, sizeof(error))
        || OC_OK != oc_group_create(client, &params, &group)) {
        return -1;
    }
    connection = (oc_connection_t) {.client = client, .name = "a server", .users = 1,
                                    .routes = routes, .num_aggregators = LANES};
    servers = group->servers;
    servers->links = calloc(1, sizeof(*servers->links));
    if (NULL == servers->links) {
        return -1;
    }
    servers->num_links = 1;
    servers->links[0] = (oc_link_t) {.connection = &connection,
                                     .teams = calloc(1, sizeof(oc_membership_t))};
    group->state = OC_GROUP_LIVE;
    return NULL != servers->links[0].teams && OC_OK == oc_lanes_make(group) ? 0 : -1;
}

static int teardown(void **state)
{
    (void) state;
    successes = -1;
    oc_client_destroy(client);
    return 0;
}

/* The group has one lane for each aggregator, and so the vector has as many parts. */
static void run_out(int after)
{
    oc_allreduce_args_t args = {.send = contribution, .recv = result,
                                .count = BYTES / sizeof(int32_t), .op = OC_OP_SUM,
                                .type = OC_TYPE_INT32};
    oc_status_t status;

    assert_int_equal(setup(NULL), 0);
    assert_int_equal(group->servers->num_lanes, LANES);
    successes = after;
    status = oc_allreduce_start(group, &args);
    assert_int_equal(successes, -1);
    if (OC_OK == status) {
        assert_non_null(client->finished);
        assert_int_equal(client->finished->status, OC_ERR_NO_MEMORY);
        assert_int_equal(client->collapse, OC_ERR_NO_MEMORY);
    } else {
        assert_int_equal(status, OC_ERR_NO_MEMORY);
    }
    assert_int_equal(counters.chunks, 0);
    assert_int_equal(teardown(NULL), 0);
}

/* The list of parts and each part need memory; so does what is before. */
static void test_each_allocation(void **state)
{
    (void) state;
    for (unsigned i = 0; i < 1 + LANES; i++) {
        run_out((int) i);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
