/* SPDX-License-Identifier: BSD-3-Clause */
/* The two servers, and what ranks see of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/engine/visitor.h"

#include <stdio.h>

bool visitor_in_use(const unsigned seen[TRAFFIC_VALUES])
{
    return 2 == seen[TRAFFIC_SERVERS];
}

bool visitor_first_away(const unsigned seen[TRAFFIC_VALUES])
{
    return 1 == seen[TRAFFIC_RECOVERIES] && 0 == seen[TRAFFIC_RETURNS] && 1 == seen[TRAFFIC_SERVERS];
}

bool visitor_sent_away(const unsigned seen[TRAFFIC_VALUES])
{
    return seen[TRAFFIC_RETURNS] > 0 && seen[TRAFFIC_RECOVERIES] == 1 + seen[TRAFFIC_RETURNS] && 1 == seen[TRAFFIC_SERVERS];
}

/* A server that was only looked at when it died may have counted as lost, too. */
bool visitor_back_for_good(const unsigned seen[TRAFFIC_VALUES])
{
    return 2 == seen[TRAFFIC_SERVERS] && seen[TRAFFIC_RETURNS] > 0 && seen[TRAFFIC_RECOVERIES] >= seen[TRAFFIC_RETURNS];
}

oc_job_settings_t visitor_settings(int connect_timeout)
{
    oc_job_settings_t settings = test_settings("");

    settings.recovery = 1;
    settings.connect_timeout = connect_timeout;
    settings.heartbeat_timeout = 60; /* dead servers are noticed by their connections, and the machine may be busy */
    return settings;
}

void visitor_begin(visitor_t *visitor, const oc_job_settings_t *settings, const char *aggregators,
                   unsigned (*obey)(rank_t *rank, unsigned order))
{
    const char *options[] = {"--aggregators", aggregators, NULL};
    oc_job_settings_t copy = *settings;

    visitor->port = free_port();
    server_start(&visitor->kept, options);
    visitor_come(visitor, aggregators, NULL, NULL);
    snprintf(visitor->list, sizeof(visitor->list), "%s,%s", visitor->kept.address, visitor->server.address);
    copy.servers = visitor->list;
    traffic_start(&visitor->traffic, VISITOR_RANKS, &copy, obey);
    TRAFFIC_AWAIT(&visitor->traffic, visitor_in_use);
}

void visitor_begin_away(visitor_t *visitor, const oc_job_settings_t *settings, const char *aggregators,
                        unsigned (*obey)(rank_t *rank, unsigned order))
{
    visitor_begin(visitor, settings, aggregators, obey);
    visitor_go(visitor);
    TRAFFIC_AWAIT(&visitor->traffic, visitor_first_away);
}

void visitor_go(visitor_t *visitor)
{
    server_kill(&visitor->server);
}

void visitor_come_to(visitor_t *visitor, uint16_t port, const char *aggregators, const char *name, const char *value)
{
    const char *options[] = {"--aggregators", aggregators, name, value, NULL};
    char listen[32];

    snprintf(listen, sizeof(listen), "127.0.0.1:%u", port);
    server_start_at(&visitor->server, listen, options);
}

void visitor_come(visitor_t *visitor, const char *aggregators, const char *name, const char *value)
{
    visitor_come_to(visitor, visitor->port, aggregators, name, value);
}

void visitor_end(visitor_t *visitor)
{
    traffic_stop(&visitor->traffic);
    assert_int_equal(server_stop(&visitor->server), 0);
    assert_int_equal(server_stop(&visitor->kept), 0);
}

void visitor_clean(visitor_t *visitor)
{
    traffic_kill(&visitor->traffic);
    server_kill(&visitor->server);
    server_kill(&visitor->kept);
}
