/* SPDX-License-Identifier: BSD-3-Clause */
/* A job under traffic with two servers: one stays, and the other one goes and comes back. What goes wrong fails the test. */
#ifndef OC_TESTS_ENGINE_VISITOR_H
#define OC_TESTS_ENGINE_VISITOR_H

#include "tests/engine/traffic.h"

#define VISITOR_RANKS 3

typedef struct {
    test_server_t kept;       /* the first of the list */
    test_server_t server;     /* the other one, while it is there */
    uint16_t port;            /* of that, always */
    char list[160];
    traffic_t traffic;
} visitor_t;

/* Settings for such jobs: recovery is on, servers are waited for so many seconds. */
oc_job_settings_t visitor_settings(int connect_timeout);

/* Servers with so many aggregators each. Returns when operations use both. */
void visitor_begin(visitor_t *visitor, const oc_job_settings_t *settings, const char *aggregators,
                   unsigned (*obey)(rank_t *rank, unsigned order));

/* The same, and the second one has gone for the first time. */
void visitor_begin_away(visitor_t *visitor, const oc_job_settings_t *settings, const char *aggregators,
                        unsigned (*obey)(rank_t *rank, unsigned order));

/* It is killed. Whether somebody has noticed is seen in the traffic. */
void visitor_go(visitor_t *visitor);

/* It is there again, with so many aggregators and two more options, or NULL. */
void visitor_come(visitor_t *visitor, const char *aggregators, const char *name, const char *value);

/* The same on another port: the ranks do not find it there. */
void visitor_come_to(visitor_t *visitor, uint16_t port, const char *aggregators, const char *name, const char *value);

/* The job ends well, as do both servers. */
void visitor_end(visitor_t *visitor);

/* Whatever there still is after a failure. */
void visitor_clean(visitor_t *visitor);

/* States of traffic: all servers are in use; the first one alone, before anything has come back. */
bool visitor_in_use(const unsigned seen[TRAFFIC_VALUES]);
bool visitor_first_away(const unsigned seen[TRAFFIC_VALUES]);

/* It has come back, and was lost again, each time; or not the last time. */
bool visitor_sent_away(const unsigned seen[TRAFFIC_VALUES]);
bool visitor_back_for_good(const unsigned seen[TRAFFIC_VALUES]);

#endif
