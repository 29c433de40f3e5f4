/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress of what needs neither the bootstrap nor callbacks, and the collapse of a client. */
#include "client/process/moving.h"

#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/output.h"
#include "client/collective/leftovers.h"
#include "client/collective/node.h"
#include "client/group/group.h"
#include "client/group/parting.h"
#include "client/group/relay.h"
#include "client/process/cast_service.h"
#include "client/recovery/draining.h"
#include "client/recovery/recovery.h"
#include "client/recovery/returning.h"
#include "client/servers/connection.h"
#include "client/servers/exposure.h"
#include "client/servers/network.h"
#include "client/servers/resort.h"
#include "client/state/collapse.h"
#include "client/state/setup_state.h"

/* How often those that are under way are looked through for messages that nobody has taken. */
#define SWEEP_INTERVAL OC_SECOND

void oc_client_close_connections(oc_client_t *client, const oc_control_t *last_words)
{
    while (NULL != client->connections) {
        oc_connection_close(client->connections, last_words);
    }
}

/*
 * A receive that has begun to match cannot be taken back one by one, and user buffers must be
 * given back: the worker goes as a whole, and with it whatever every group had in flight.
 */
static void carry_out_collapse(oc_client_t *client)
{
    oc_control_t cause = {.type = OC_CONTROL_JOB_ERROR};
    oc_group_t *group;

    DL_FOREACH (client->groups, group) {
        if (OC_SERVICE_AGGREGATION == group->params.service) {
            oc_group_fail(group, client->collapse, client->collapse_reason);
        }
    }
    /* servers that are well tell the others what began it */
    cause.notice.status = client->collapse;
    cause.notice.text = (oc_bytes_t) {
        .data = (const uint8_t *) client->collapse_reason,
        .length = (uint32_t) strnlen(client->collapse_reason, OC_MAX_TEXT)};
    oc_client_close_connections(client, &cause);
    oc_client_close_worker(client);
    /* a name may lead elsewhere when the server is back */
    if (NULL != client->resolver && oc_resolver_done(client->resolver)) {
        oc_resolver_end(client->resolver);
        client->resolver = NULL;
    }
    client->tree = 0;
    client->losing = false;
    client->collapse = OC_OK;
    client->collapsed = oc_clock_ns();
}

/* For a group that goes into the new epoch if all others have, too. */
static bool has_voted(const oc_group_t *group)
{
    return OC_SETUP_VOTE == group->setup->step && group->setup->vote[OC_WORD_VOTE] > OC_VOTE_LEAVE;
}

/* Their ranks have not agreed yet that there is a group: they begin again. */
static void upset_setups(oc_client_t *client)
{
    oc_group_t *group;

    DL_FOREACH (client->groups, group) {
        if (OC_SERVICE_AGGREGATION == group->params.service && OC_GROUP_SETTING_UP == group->state
            && group->setup->step > OC_SETUP_RESOLVE && !has_voted(group)) {
            oc_setup_upset(group, client->loss_reason);
            group->service->release(group);
        }
    }
}

static void carry_out_loss(oc_client_t *client)
{
    if (oc_recovery_can_begin(client)) {
        upset_setups(client);
        oc_recovery_begin(client);
        oc_returning_note(client);
    } else {
        oc_client_collapse(client, client->loss_status, "%s%s", client->loss_reason,
                           client->loss_is_one ? "" : ", and what is under way in this process cannot change its servers");
    }
}

void oc_client_settle(oc_client_t *client)
{
    if (client->losing && OC_OK == client->collapse) {
        carry_out_loss(client);
    }
    if (OC_OK != client->collapse) {
        carry_out_collapse(client);
    }
}

static void look_around(oc_client_t *client)
{
    if (client->now - client->polled < OC_CLIENT_LOOK) {
        return;
    }
    client->polled = client->now;
    oc_output_catch_up();
    oc_connections_progress(client);
    oc_resort_look(client);
    oc_recovery_progress(client);
    oc_draining_look(client);
    oc_returning_look(client);
    if (NULL != client->worker && client->now - client->swept > SWEEP_INTERVAL) {
        client->swept = client->now;
        oc_leftovers_look(client);
    }
}

void oc_client_move(oc_client_t *client)
{
    client->now = oc_clock_ns();
    if (NULL != client->worker) {
        (void) oc_worker_progress(client->worker);
    }
    (void) oc_client_nodes_progress(client);
    oc_client_cast_progress(client);
    look_around(client);
    oc_exposure_progress(client);
    oc_client_settle(client);
    oc_parting_progress(client);
}

int oc_client_arm(oc_client_t *client, struct pollfd *fds, uint64_t *timeout)
{
    int count = 0, more;

    client->now = oc_clock_ns();
    if (NULL != client->nodes || NULL != client->relays) {
        (void) oc_doorbell_listen(client->bell);
        oc_client_nodes_arm(client);
        oc_client_relays_arm(client);
        if (oc_client_nodes_progress(client) || oc_client_relays_progress(client)) {
            return -1;
        }
        fds[count++] = (struct pollfd) {.fd = oc_doorbell_fd(client->bell), .events = POLLIN};
    }
    if (NULL != client->worker) {
        fds[count] = (struct pollfd) {.events = POLLIN};
        if (OC_OK != oc_worker_arm(client->worker, &fds[count++].fd)) {
            return -1;
        }
    }
    more = oc_client_cast_sleep(client, fds + count, timeout);
    return more < 0 ? -1 : count + more;
}
