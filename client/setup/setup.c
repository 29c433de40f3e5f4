/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up of a group: its life, step by step, to the vote of its ranks. */
#include "client/setup/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/log.h"
#include "client/group/cast_group.h"
#include "client/group/group.h"
#include "client/group/place.h"
#include "client/servers/membership.h"
#include "client/servers/tree.h"
#include "client/setup/choose.h"
#include "client/setup/flooding.h"
#include "client/setup/introduction.h"
#include "client/setup/joining.h"
#include "client/state/collapse.h"
#include "client/state/loss.h"
#include "client/state/promise.h"
#include "client/state/setup_state.h"
#include "protocol/tag.h"

/* Each takes about as long as the first; servers that come and go faster than that are none to count on. */
#define OC_SETUP_ATTEMPTS 8

_Static_assert(OC_TAG_HANDLE_BITS == OC_HANDLES_BITS, "tags have room for handles");

static void take_handle(oc_group_t *group)
{
    group->servers->has_handle = oc_handles_take(group->client->handles,
                                                 &group->servers->reply_handle);
    if (!group->servers->has_handle) {
        oc_setup_give_up(group, "this process has %u communicators with service, and more cannot "
                                "be, or it gets no random numbers from the system",
                         OC_HANDLES_MAX);
    }
}

static bool setup_make_room(oc_setup_t *setup, const oc_group_params_t *params,
                            oc_exchange_t *exchange)
{
    size_t ranks = params->num_ranks, size = oc_record_size(params->service);

    setup->records = calloc(ranks + 1, size);
    setup->contacts = calloc(OC_CAST_NEIGHBOURS + 1, OC_CONTACT_MAX);
    setup->nodes = calloc(ranks, sizeof(*setup->nodes));
    if (NULL == setup->records || NULL == setup->contacts || NULL == setup->nodes) {
        return false;
    }
    setup->record = setup->records + ranks * size;
    setup->contact = setup->contacts + OC_CAST_NEIGHBOURS * OC_CONTACT_MAX;
    *exchange = (oc_exchange_t) {
        .record = setup->record, .records = setup->records, .size = size,
        .neighbours = setup->neighbours, .num_neighbours = &setup->num_neighbours, .contact = setup->contact,
        .contacts = setup->contacts, .contact_size = OC_CONTACT_MAX, .vote = setup->vote,
        .outcome = setup->outcome};
    return true;
}

static oc_status_t setup_new(oc_group_t *group)
{
    oc_setup_t *setup = calloc(1, sizeof(*setup));
    oc_status_t status = OC_ERR_NO_MEMORY;
    oc_exchange_t exchange;

    if (NULL == setup) {
        return status;
    }
    if (setup_make_room(setup, &group->params, &exchange)) {
        status = group->params.bootstrap->begin(group->params.context, &exchange);
    }
    if (OC_OK != status) {
        oc_setup_free(setup);
        return status;
    }
    group->setup = setup;
    group->state = OC_GROUP_SETTING_UP;
    DL_APPEND2(group->client->setups, group, setup_prev, setup_next);
    group->client->cast_setups += OC_SERVICE_MULTICAST == group->params.service;
    atomic_fetch_add(&group->client->pending, 1);
    return OC_OK;
}

static void setup_end(oc_group_t *group)
{
    group->params.bootstrap->end(group->params.context);
    oc_setup_drop(group);
}

/*
 * The exchange itself failed. Declining would be wrong: the other ranks may still be in it, or
 * come to another outcome, while this one would wait for them in the previous module.
 */
static void setup_break_off(oc_group_t *group, const char *what)
{
    setup_end(group);
    oc_group_break(group, OC_ERR_SYSTEM, what);
}

static void ask_for_hints(oc_group_t *group)
{
    const oc_bootstrap_t *bootstrap = group->params.bootstrap;
    const oc_job_settings_t *settings = group->client->config.settings;

    group->hints = (oc_hints_t) {.reduce_scatter_beside = settings->reduce_scatter_beside};
    if (NULL != bootstrap->hints) {
        bootstrap->hints(group->params.context, &group->hints);
    }
}

static oc_status_t introduce(oc_group_t *group)
{
    oc_status_t status;

    if (OC_SERVICE_AGGREGATION == group->params.service) {
        take_handle(group);
    }
    oc_introduction_make(group);
    status = group->params.bootstrap->start(group->params.context, OC_EXCHANGE_RECORDS);
    if (OC_OK != status) {
        setup_break_off(group, "the exchange between the ranks cannot be started");
    }
    return status;
}

oc_status_t oc_setup_begin(oc_group_t *group)
{
    oc_status_t status = setup_new(group);

    if (OC_OK != status) {
        oc_group_break(group, status, "its set-up cannot begin");
        return status;
    }
    ask_for_hints(group);
    return introduce(group);
}

static void setup_decline(oc_group_t *group, const char *reason)
{
    char copy[OC_REASON_SIZE];

    snprintf(copy, sizeof(copy), "%s", reason);
    setup_end(group);
    oc_group_decline(group, copy);
}

static void start_vote(oc_group_t *group, oc_setup_step_t step, bool can, int64_t vote)
{
    group->setup->step = step;
    group->setup->vote[OC_WORD_VOTE] = can ? vote : (int64_t) group->params.rank;
    if (OC_OK != group->params.bootstrap->start(group->params.context, OC_EXCHANGE_VOTE)) {
        setup_break_off(group, "the vote of the ranks cannot be started");
    }
}

static int64_t own_vote(const oc_group_t *group)
{
    const oc_setup_t *setup = group->setup;

    if (setup->upset) {
        return OC_VOTE_AGAIN(group->params.rank);
    }
    if (setup->no_gain) {
        return OC_VOTE_LEAVE;
    }
    if (setup->flood_tested) {
        return oc_flooding_vote(group);
    }
    return NULL != setup->readiness ? OC_VOTE_CHUNK(setup->readiness->chunk_bytes) : OC_VOTE_YES;
}

/* The rest of the vote for a group that may lose its servers. */
static void vote_on_servers(oc_group_t *group)
{
    int64_t mark = (int64_t) (oc_membership_mark(group) >> 1), *vote = group->setup->vote;

    vote[OC_WORD_SERVERS] = mark;
    vote[OC_WORD_SERVERS_NEGATED] = -mark;
    vote[OC_WORD_KEPT] = (int64_t) oc_promise_offer(group);
}

static void vote(oc_group_t *group)
{
    if (!oc_setup_has_given_up(group) && oc_group_is_renewable(group)) {
        vote_on_servers(group);
    }
    start_vote(group, OC_SETUP_VOTE, !oc_setup_has_given_up(group) || group->setup->upset, own_vote(group));
}

/*
 * Of multicast: a message to a rank that does not expect its sender yet would be seconds late, and
 * all have to send to the same address.
 */
static void setup_admit(oc_group_t *group)
{
    bool done = oc_group_cast_admit(group), own = done && oc_group_cast_reserve(group);

    if (!done) {
        oc_setup_give_up(group, "this rank cannot admit the hosts of other ranks to its port");
    }
    start_vote(group, OC_SETUP_ADMIT, done, own ? OC_VOTE_YES : OC_VOTE_COMMON);
}

/* A rank has no service: it alone can say why. */
static void decline_for(oc_group_t *group, int64_t rank)
{
    char reason[OC_REASON_SIZE];

    group->tells = rank == (int64_t) group->params.rank;
    snprintf(reason, sizeof(reason), "rank %lld has no service", (long long) rank);
    setup_decline(group, group->tells ? group->setup->reason : reason);
}

/* Of multicast: the ranks are the service. */
static void join_ranks(oc_group_t *group)
{
    char reason[OC_REASON_SIZE];

    group->setup->step = OC_SETUP_PROBE;
    if (OC_OK != oc_group_cast_join(group, reason, sizeof(reason))) {
        oc_setup_give_up(group, "%s", reason);
    }
}

static void wait_for_ranks(oc_group_t *group)
{
    oc_status_t status = oc_group_cast_ready(group);

    if (OC_IN_PROGRESS == status && !oc_setup_has_given_up(group)) {
        return;
    }
    if (oc_setup_has_given_up(group)) {
        /* others may wait to hear this rank for as long as it takes */
        oc_group_cast_fail(group, OC_ERR_CANCELED, group->setup->reason);
    } else if (OC_OK != status) {
        oc_setup_give_up(group, "%s", oc_cast_group_reason(group->cast));
    }
    if (oc_setup_has_given_up(group) || !group->setup->terms.tested) {
        vote(group);
    } else if (oc_group_cast_flood_is_sent(group)) {
        start_vote(group, OC_SETUP_FLOOD, true, OC_VOTE_YES);
    }
}

/* All ranks choose the same: no vote is needed. */
static void setup_choose(oc_group_t *group)
{
    if (oc_group_choose(group)) {
        group->setup->step = OC_SETUP_RESOLVE;
    } else {
        setup_decline(group, "the MPI library is expected to be faster");
    }
}

/* Attaching can fail, on one host: all ranks have to know before they join any server. */
static void setup_share(oc_group_t *group)
{
    oc_setup_t *setup = group->setup;
    oc_status_t status = oc_place_attach(group, setup->unshared, sizeof(setup->unshared));

    start_vote(group, OC_SETUP_SHARE, OC_OK == status, OC_VOTE_YES);
}

/* Who is to connect to whom is known: they tell each other how. */
static void exchange_contacts(oc_group_t *group)
{
    oc_setup_t *setup = group->setup;

    if (!oc_group_cast_meet(group)) {
        setup_break_off(group, "out of memory");
        return;
    }
    if (0 == setup->num_neighbours) {
        setup_admit(group);
        return;
    }
    setup->step = OC_SETUP_CONTACTS;
    if (OC_OK != group->params.bootstrap->start(group->params.context, OC_EXCHANGE_CONTACTS)) {
        setup_break_off(group, "the exchange between the ranks cannot be started");
    }
}

/* It is known which ranks share memory. */
static void shape_done(oc_group_t *group)
{
    if (OC_SERVICE_MULTICAST == group->params.service) {
        exchange_contacts(group);
    } else {
        setup_choose(group);
    }
}

static void share_done(oc_group_t *group)
{
    if (OC_VOTE_YES == group->setup->outcome[OC_WORD_VOTE]) {
        oc_place_take(group);
    } else {
        if (group->setup->outcome[OC_WORD_VOTE] == (int64_t) group->params.rank) {
            oc_place_tell(group);
        }
        oc_place_flat(group);
    }
    shape_done(group);
}

/* Whether all ranks find that they can go on. */
static bool agree_to_multicast(oc_group_t *group)
{
    char reason[OC_REASON_SIZE];
    uint32_t blamed;

    switch (oc_group_cast_judge(group, &blamed, reason, sizeof(reason))) {
    case OC_OK:
        return true;
    case OC_DECLINED:
        group->tells = blamed == group->params.rank;
        if (group->tells && oc_setup_has_given_up(group)) {
            snprintf(reason + strlen(reason), sizeof(reason) - strlen(reason), ": %s",
                     group->setup->reason);
        }
        setup_decline(group, reason);
        return false;
    default:
        setup_break_off(group, reason);
        return false;
    }
}

static bool agree_to_servers(oc_group_t *group)
{
    char reason[OC_REASON_SIZE + 64];

    if (oc_introduction_agree(group, reason, sizeof(reason))) {
        return true;
    }
    setup_decline(group, reason);
    return false;
}

static void exchange_done(oc_group_t *group)
{
    if (!(OC_SERVICE_MULTICAST == group->params.service ? agree_to_multicast(group)
                                                         : agree_to_servers(group))) {
        return;
    }
    if (oc_place_find(group)) {
        setup_share(group);
        return;
    }
    oc_place_flat(group);
    shape_done(group);
}

static void admit_done(oc_group_t *group)
{
    int64_t outcome = group->setup->outcome[OC_WORD_VOTE];

    if (OC_VOTE_COMMON == outcome) {
        oc_group_cast_release(group);
    }
    if (OC_VOTE_YES == outcome || OC_VOTE_COMMON == outcome) {
        join_ranks(group);
    } else {
        decline_for(group, outcome);
    }
}

/* Rank 0 has sent all of the flood test; who has given up meanwhile has voted for the last time. */
static void flood_done(oc_group_t *group)
{
    if (OC_VOTE_YES != group->setup->outcome[OC_WORD_VOTE]) {
        decline_for(group, group->setup->outcome[OC_WORD_VOTE]);
        return;
    }
    if (oc_group_cast_ready(group) < OC_OK) {
        oc_setup_give_up(group, "%s", oc_cast_group_reason(group->cast));
    }
    oc_flooding_look(group);
    vote(group);
}

/* All that the bootstrap was told of stays where it is. */
static void forget_attempt(oc_setup_t *setup)
{
    oc_readiness_end(setup->readiness);
    *setup = (oc_setup_t) {.records = setup->records, .record = setup->record, .contacts = setup->contacts,
                           .contact = setup->contact, .nodes = setup->nodes, .attempts = setup->attempts + 1};
}

/* One rank tells people, for all. */
static void report_missed(const oc_group_t *group)
{
    const oc_setup_t *setup = group->setup;

    if (setup->misses && setup->outcome[OC_WORD_VOTE] == OC_VOTE_AGAIN(group->params.rank)) {
        oc_warn("%s; communicators do without it", setup->reason);
    }
}

/* All ranks have voted for it: with the servers that there are now. What is queued waits. */
static void set_up_again(oc_group_t *group)
{
    if (group->setup->attempts + 1 == OC_SETUP_ATTEMPTS) {
        setup_decline(group, "servers were lost, or came back, during each attempt to set it up, or a name in "
                             "coll_optcast_servers leads ranks to different servers");
        return;
    }
    oc_debug("\"%s\" is set up again: %s", group->name,
             oc_setup_has_given_up(group) ? group->setup->reason : "ranks know, or have joined, different servers");
    group->service->leave(group);
    group->service->close(group);
    forget_attempt(group->setup);
    if (OC_OK == group->service->open(group)) {
        (void) introduce(group);
    } else {
        setup_break_off(group, "out of memory");
    }
}

/* A server that was started anew between two ranks' JOINs is two. */
static bool has_one_service(const oc_setup_t *setup)
{
    return setup->outcome[OC_WORD_SERVERS] == -setup->outcome[OC_WORD_SERVERS_NEGATED];
}

static void vote_done(oc_group_t *group)
{
    oc_setup_t *setup = group->setup;
    int64_t outcome = setup->outcome[OC_WORD_VOTE];
    oc_status_t broken = setup->broken;
    char reason[OC_REASON_SIZE];

    if (outcome < OC_VOTE_AGAIN(0)) {
        decline_for(group, outcome);
        return;
    }
    /* those who were of another epoch know better now */
    if (outcome < OC_VOTE_LEAVE || setup->differs || !has_one_service(setup)) {
        report_missed(group);
        set_up_again(group);
        return;
    }
    if (OC_OK == broken && NULL != group->servers) {
        oc_tree_remember(group);
    }
    if (OC_VOTE_LEAVE == outcome) {
        setup_decline(group, "the MPI library is expected to be faster than a tree of servers");
        return;
    }
    if (setup->flood_tested && !oc_flooding_is_excluded(group, outcome, reason, sizeof(reason))) {
        setup_decline(group, reason);
        return;
    }
    if (NULL != group->servers && OC_VOTE_YES != outcome) {
        group->servers->chunk_bytes = (size_t) (outcome - OC_VOTE_CHUNK(0));
    }
    if (oc_group_is_renewable(group)) {
        oc_promise_agree(group, (uint64_t) setup->outcome[OC_WORD_KEPT]);
    }
    snprintf(reason, sizeof(reason), "%s", setup->reason);
    setup_end(group);
    oc_group_go_live(group);
    if (OC_OK != broken) {
        /* other ranks may have begun to use it: they hear the reason */
        oc_client_collapse(group->client, broken, "%s", reason);
        oc_group_fail(group, broken, reason);
    }
}

static bool is_joining(const oc_setup_t *setup)
{
    return OC_SETUP_RESOLVE == setup->step || OC_SETUP_CONNECT == setup->step
           || OC_SETUP_JOIN == setup->step;
}

void oc_setup_progress(oc_group_t *group)
{
    oc_setup_t *setup = group->setup;

    if (is_joining(setup)) {
        if (oc_joining_progress(group)) {
            vote(group);
        }
        return;
    }
    if (OC_SETUP_PROBE == setup->step) {
        wait_for_ranks(group);
        return;
    }
    switch (group->params.bootstrap->test(group->params.context)) {
    case OC_IN_PROGRESS:
        return;
    case OC_OK:
        break;
    default:
        setup_break_off(group, "the exchange between the ranks failed");
        return;
    }
    if (OC_SETUP_EXCHANGE == setup->step) {
        exchange_done(group);
    } else if (OC_SETUP_CONTACTS == setup->step) {
        setup_admit(group);
    } else if (OC_SETUP_ADMIT == setup->step) {
        admit_done(group);
    } else if (OC_SETUP_FLOOD == setup->step) {
        flood_done(group);
    } else if (OC_SETUP_SHARE == setup->step) {
        share_done(group);
    } else {
        vote_done(group);
    }
}
