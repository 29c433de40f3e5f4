/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An aggregator without its thread, as the control side makes it: by a configuration and commands.
 * The test is its thread, its control side, and a client process that has all ranks of all groups;
 * on a leaf it is the server above, too. What fails here fails the test.
 */
#ifndef OC_TESTS_UNIT_AGGREGATOR_FIXTURE_H
#define OC_TESTS_UNIT_AGGREGATOR_FIXTURE_H

#include "server/aggregator/aggregator_types.h"

typedef struct {
    oc_aggregator_t *aggregator;
    oc_mailbox_t control;
    oc_worker_t *clients;
    oc_endpoint_t *to_aggregator;    /* theirs */
} aggregator_fixture_t;

/* An aggregator with so much memory, which has the key of its job and one client. */
void aggregator_open(aggregator_fixture_t *fixture, size_t memory_limit);

/* It is a leaf from now on. */
void aggregator_connect_above(aggregator_fixture_t *fixture);

/*
 * A group that all its ranks have joined. member->reply_handle is that of rank 0, and those of the
 * others follow; member->rank does not count.
 */
oc_server_group_t *aggregator_join(aggregator_fixture_t *fixture,
                                   const oc_server_member_t *member);

/* All have left the group. It is freed when the last transfer that points to it has ended. */
void aggregator_drop(aggregator_fixture_t *fixture, const oc_server_group_t *group);

/* Until the aggregator has no transfers, for five seconds at most. */
void aggregator_settle(aggregator_fixture_t *fixture);

/* Takes the oldest message to the control side, which is of that type and has that text in it. */
void aggregator_expect(aggregator_fixture_t *fixture, oc_command_type_t type, const char *text);

/* Nothing is wrong with it (oc_aggregator_check). */
void aggregator_expect_sound(const aggregator_fixture_t *fixture);

/* Drops all groups, frees everything, and expects that nothing was left. */
void aggregator_close(aggregator_fixture_t *fixture);

#endif
