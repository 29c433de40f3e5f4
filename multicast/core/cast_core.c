/* SPDX-License-Identifier: BSD-3-Clause */
/* A group: its life and its progress. */
#include "multicast/core/cast_core.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/check.h"
#include "multicast/core/backoff.h"
#include "multicast/core/cast_check.h"
#include "multicast/core/cast_memory.h"
#include "multicast/core/cast_probe.h"
#include "multicast/core/cast_tree.h"
#include "multicast/core/credit.h"
#include "multicast/core/operation.h"
#include "multicast/core/pace.h"
#include "multicast/core/partners.h"
#include "multicast/core/poll.h"
#include "multicast/core/reception.h"
#include "multicast/core/repair.h"
#include "multicast/core/route.h"
#include "multicast/core/send.h"
#include "multicast/core/serve.h"
#include "multicast/core/unicast.h"

/* Batches of datagrams that one progress sends, so that what arrives meanwhile is looked at. */
#define SEND_ROUNDS 4

/* Of requests, until something is known. */
#define FIRST_ROUND_TRIP (5 * OC_MILLISECOND)

static oc_status_t copy_hosts(oc_cast_group_t *group, const uint32_t *hosts)
{
    size_t size = group->config.num_ranks * sizeof(*group->hosts);

    group->hosts = malloc(size);
    if (NULL == group->hosts) {
        return OC_ERR_NO_MEMORY;
    }
    memcpy(group->hosts, hosts, size);
    group->config.hosts = group->hosts;
    return oc_partners_begin(group);
}

oc_status_t oc_cast_group_new(const oc_cast_config_t *config, uint64_t now,
                              oc_cast_group_t **result)
{
    oc_cast_group_t *group;

    if (config->datagram_size < OC_DATAGRAM_MIN || config->num_ranks > UINT16_MAX
        || config->rank >= config->num_ranks) {
        return OC_ERR_INVALID;
    }
    group = calloc(1, sizeof(*group));
    if (NULL == group) {
        return OC_ERR_NO_MEMORY;
    }
    group->config = *config;
    group->payload = (uint32_t) config->datagram_size - OC_DATAGRAM_HEADER;
    if (group->payload > OC_CAST_MESSAGE_MAX - OC_CAST_HEAD_MAX) {
        group->payload = OC_CAST_MESSAGE_MAX - OC_CAST_HEAD_MAX; /* it has to fit a REPAIR */
    }
    group->serials = calloc(config->num_ranks, sizeof(*group->serials));
    group->scratch = malloc(OC_CAST_MESSAGE_MAX);
    group->seal = oc_cast_seal_new(config->job_key, config->token);
    group->config.job_key = NULL;
    group->stepped = now;
    group->round_trip = FIRST_ROUND_TRIP;
    oc_pace_begin(group);
    oc_poll_begin(group);
    oc_backoff_begin(group);
    oc_tree_begin(group);
    if (NULL == group->serials || NULL == group->scratch || NULL == group->seal
        || OC_OK != copy_hosts(group, config->hosts)
        || OC_OK != oc_reception_begin(group) || OC_OK != oc_probe_begin(group, now)) {
        oc_cast_group_free(group);
        return OC_ERR_NO_MEMORY;
    }
    group->rotation = config->rank + 1;
    *result = group;
    return OC_OK;
}

void oc_cast_group_free(oc_cast_group_t *group)
{
    oc_cast_operation_t *operation, *next;

    if (NULL == group) {
        return;
    }
    if (NULL != group->active) {
        oc_operation_free(group->active);
    }
    DL_FOREACH_SAFE (group->queue, operation, next) {
        DL_DELETE(group->queue, operation);
        oc_operation_free(operation);
    }
    if (NULL != group->other) {
        group->other->other = NULL;
    }
    oc_probe_end(group);
    oc_cast_route_end(group);
    oc_partners_end(group);
    oc_reception_end(group);
    free(group->hosts);
    free(group->serials);
    free(group->scratch);
    oc_cast_seal_free(group->seal);
    free(group);
}

oc_status_t oc_cast_group_ready(const oc_cast_group_t *group)
{
    if (OC_OK != group->status) {
        return group->status;
    }
    return 0 == group->probe.missing ? OC_OK : OC_IN_PROGRESS;
}

uint64_t oc_cast_is_awaited_until(const oc_cast_group_t *group, uint64_t now)
{
    const oc_cast_operation_t *operation = group->active;
    bool enters = NULL != operation ? OC_CAST_ENTERING == operation->state : NULL != group->queue;
    size_t queue;

    if (!enters || 0 == group->rate || OC_CAST_MAY_BEGIN != group->may) {
        return 0;
    }
    queue = group->config.net.queued(group->config.net.context) * (group->config.num_ranks - 1);
    return (NULL != operation ? operation->begun : now)
           + (uint64_t) ((double) queue / group->payload / group->rate);
}

const char *oc_cast_group_reason(const oc_cast_group_t *group)
{
    return group->reason;
}

void oc_cast_group_missed(oc_cast_group_t *group, uint64_t time)
{
    if (time > OC_CAST_STALL) {
        oc_reception_excuse(group);
    }
    if (time > OC_CAST_MAX_STEP && NULL != group->active) {
        oc_repair_absent(group->active, time - OC_CAST_MAX_STEP);
    }
}

void oc_cast_group_absent(oc_cast_group_t *group, bool absent)
{
    oc_reception_absent(group, absent);
}

bool oc_cast_group_is_unicast(const oc_cast_group_t *group, uint32_t *unheard, uint32_t *receiver)
{
    *unheard = group->unicast ? group->unheard : group->config.num_ranks;
    *receiver = group->unicast ? group->unreached : group->config.num_ranks;
    return group->unicast || group->closed; /* LEAVE may come before UNICAST */
}

/*
 * The root says so before it has sent all LEAVEs, and a rank hears it before it has passed it on.
 */
bool oc_cast_group_is_closed(const oc_cast_group_t *group)
{
    return group->closed && 0 == group->pending;
}

unsigned oc_cast_pending(const oc_cast_group_t *group)
{
    return group->pending;
}

size_t oc_cast_arrived(const oc_cast_group_t *group, uint32_t rank)
{
    const oc_block_t *block;
    size_t bytes;

    if (NULL == group->active || OC_CAST_RUNNING > group->active->state) {
        return 0;
    }
    block = &group->active->blocks[rank];
    bytes = (size_t) block->summed * group->payload;
    return bytes < block->length ? bytes : block->length;
}

bool oc_cast_has_all(const oc_cast_group_t *group)
{
    return NULL != group->active && OC_CAST_RUNNING <= group->active->state
           && 0 == group->active->incomplete;
}

bool oc_cast_wants_to_send(const oc_cast_group_t *group)
{
    return NULL != group->active && OC_CAST_RUNNING == group->active->state
           && group->active->blocked;
}

/* The next operation of the queue becomes active. */
static void activate(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->queue;
    oc_status_t status;

    if (NULL != group->active || NULL == operation || OC_OK != group->status
        || OC_CAST_MAY_WAIT == group->may) {
        return;
    }
    assert(OC_CAST_QUEUED == operation->state && group->pending > 0);
    DL_DELETE(group->queue, operation);
    group->active = operation;
    oc_tree_listen(group, now);
    status = oc_operation_prepare(group, operation, now);
    if (OC_OK != status) {
        oc_cast_group_fail(group, status, oc_status_string(status));
        return;
    }
    oc_tree_advance(group, now);
}

oc_status_t oc_cast_start(oc_cast_group_t *group, const oc_cast_args_t *args, uint64_t now)
{
    oc_cast_operation_t *operation;

    (void) now;
    OC_CHECK(oc_cast_group_check(group));
    if (OC_OK != group->status) {
        return group->status;
    }
    operation = oc_operation_new(group, args);
    if (NULL == operation) {
        oc_cast_group_fail(group, OC_ERR_NO_MEMORY, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    DL_APPEND(group->queue, operation);
    group->pending++;
    return OC_OK;
}

/* Nobody may get what a device has not given, and nobody else can give it. */
static void fail_for_memory(oc_cast_group_t *group, const char *trouble)
{
    char reason[OC_CAST_REASON_SIZE];

    snprintf(reason, sizeof(reason), "rank %u cannot reach its buffers: %s", group->config.rank,
             trouble);
    oc_cast_group_fail(group, OC_ERR_SYSTEM, reason);
}

static uint64_t progress_running(oc_cast_group_t *group, uint64_t now)
{
    const char *trouble = oc_memory_trouble(group->active);
    bool more = true;
    uint64_t due, served, credited;

    if (NULL != trouble) {
        fail_for_memory(group, trouble);
        return now;
    }
    credited = oc_credit_progress(group, now);
    oc_poll_progress(group);
    /* first, as there may be no room for what others wait for behind what is new */
    served = oc_serve_progress(group, now);
    for (int i = 0; more && i < SEND_ROUNDS; i++) {
        more = oc_cast_send(group, now);
    }
    due = more ? now : UINT64_MAX;
    if (group->active->blocked && served > now + OC_MILLISECOND) {
        served = now + OC_MILLISECOND;
    }
    due = served < due ? served : due;
    due = credited < due ? credited : due;
    if (0 != group->active->incomplete || group->active->args.blocking) {
        uint64_t look = oc_repair_look(group, now);

        due = look < due ? look : due;
    }
    return oc_unicast_look(group) ? now : due;
}

/* Everybody has everything; but what this rank said about it may still be here. */
static bool has_left(oc_cast_group_t *group)
{
    return 0 == group->config.net.unsent(group->config.net.context);
}

/* Others may have begun, and need what is here; see alternate.c for why this rank has not. */
static uint64_t progress_entering(oc_cast_group_t *group, uint64_t now)
{
    const char *trouble;

    if (!group->active->let_go) {
        return UINT64_MAX;
    }
    trouble = oc_memory_trouble(group->active);
    if (NULL != trouble) {
        fail_for_memory(group, trouble);
        return now;
    }
    oc_poll_progress(group);
    return oc_serve_progress(group, now);
}

static uint64_t progress_active(oc_cast_group_t *group, uint64_t now, uint64_t step)
{
    oc_cast_operation_t *active;
    uint64_t due = UINT64_MAX, ping;

    oc_tree_advance(group, now);
    if (NULL != group->active && OC_CAST_RUNNING == group->active->state) {
        oc_reception_watch(group, step);
        due = progress_running(group, now);
        oc_tree_advance(group, now);
    } else if (NULL != group->active && OC_CAST_ENTERING == group->active->state) {
        due = progress_entering(group, now);
    }
    ping = oc_tree_watch(group, now);
    due = ping < due ? ping : due;
    active = group->active;
    if (NULL == active || OC_CAST_LEAVING != active->state) {
        return due;
    }
    if (!has_left(group)) {
        return now + OC_MILLISECOND;
    }
    oc_backoff_moved(group);
    oc_pace_over(group, now);
    group->ended = true;
    group->active = NULL;
    oc_operation_finish(group, active, OC_OK);
    return NULL != group->queue ? now : UINT64_MAX;
}

uint64_t oc_cast_progress(oc_cast_group_t *group, uint64_t now)
{
    uint64_t step = now - group->stepped, due, other;

    if (OC_OK != group->status) {
        return UINT64_MAX;
    }
    group->stepped = now;
    step = step < OC_CAST_MAX_STEP ? step : OC_CAST_MAX_STEP;
    due = oc_probe_progress(group, now, step);
    activate(group, now);
    if (NULL != group->active) {
        other = progress_active(group, now, step);
        due = other < due ? other : due;
    }
    other = oc_cast_route_progress(group, now);
    return other < due ? other : due;
}
