/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between a loss and the new membership datagrams are sent as before: most networks carry them, and
 * what does not get through is asked for. What others send is lost here meanwhile.
 */
#include "multicast/transport/verbs_group.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/log.h"
#include "base/text.h"

static oc_verbs_group_t *group_of(oc_verbs_watcher_t *watcher)
{
    return (oc_verbs_group_t *) ((char *) watcher - offsetof(oc_verbs_group_t, watcher));
}

/* Whoever changes the membership calls it afterwards. */
static void verbs_group_reschedule(oc_verbs_group_t *group)
{
    group->watcher.due = group->membership.due;
    oc_verbs_watch_hurry(&group->source->watch, group->watcher.due);
}

static bool verbs_group_is_over(const oc_verbs_group_t *group)
{
    return OC_MEMBERSHIP_REFUSED == group->membership.state
           || OC_MEMBERSHIP_ENDED == group->membership.state;
}

static void refuse(oc_verbs_group_t *group, const char *reason)
{
    char name[64];

    oc_verbs_port_group_text(&group->port, name, sizeof(name));
    snprintf(group->refusal, sizeof(group->refusal), "%s cannot be joined: %s", name, reason);
}

/* ---- the way to the group ---- */

/* Destroys the handles by which nothing is being sent any more. */
static void destroy_former(oc_verbs_group_t *group)
{
    oc_verbs_former_t *former, *next;

    LL_FOREACH_SAFE (group->former, former, next) {
        if (oc_verbs_source_has_sent(group->source, former->end)) {
            LL_DELETE(group->former, former);
            (void) ibv_destroy_ah(former->handle);
            free(former);
        }
    }
}

/* Something may still be sent by the one that there was. Returns 0 or an errno. */
static int replace_handle(oc_verbs_group_t *group, struct ibv_ah_attr *attributes)
{
    oc_verbs_former_t *former = calloc(1, sizeof(*former));
    struct ibv_ah *handle;

    if (NULL == former) {
        return ENOMEM;
    }
    errno = 0;
    handle = ibv_create_ah(group->source->domain, attributes);
    if (NULL == handle) {
        int failed = 0 != errno ? errno : EIO;

        free(former);
        return failed;
    }
    *former = (oc_verbs_former_t) {.handle = group->to.handle, .end = group->source->posted};
    if (NULL == former->handle) {
        free(former);
    } else {
        LL_PREPEND(group->former, former);
    }
    group->to.handle = handle;
    group->attributes = *attributes;
    destroy_former(group);
    return 0;
}

/* Returns 0 or an errno. */
static int adopt(oc_verbs_group_t *group, struct rdma_ud_param *destination)
{
    int failed = 0;

    if (NULL == group->to.handle
        || 0 != memcmp(&group->attributes, &destination->ah_attr, sizeof(group->attributes))) {
        failed = replace_handle(group, &destination->ah_attr);
    }
    if (0 == failed) {
        group->to.key = destination->qkey;
    }
    return failed;
}

/* ---- what becomes of the membership ---- */

static void verbs_group_lose(oc_verbs_group_t *group, const char *reason, uint64_t now)
{
    char name[64];

    oc_verbs_port_group_text(&group->port, name, sizeof(name));
    if (OC_MEMBERSHIP_JOINED == group->membership.state) {
        oc_warn("%s: the membership was lost (%s): what ranks send is asked for one by one until "
                "it is joined again, which is slow", name, reason);
        group->warned = true;
    } else {
        oc_debug("%s is not joined again yet: %s", name, reason);
    }
    if (!group->membership.was_joined) {
        refuse(group, reason);
    }
    oc_verbs_membership_lost(&group->membership, now);
}

/* Whoever was warned of the loss is told that it is over. */
static void note_renewal(oc_verbs_group_t *group, uint64_t lost, uint64_t now)
{
    char name[64];

    oc_verbs_port_group_text(&group->port, name, sizeof(name));
    oc_log(group->warned ? OC_LOG_WARN : OC_LOG_INFO, "%s was joined again after %.3f seconds",
           name, (double) (now - lost) / (double) OC_SECOND);
    group->warned = false;
    (*group->renewed)++;
}

static void verbs_group_enter(oc_verbs_group_t *group, struct rdma_ud_param *destination,
                              uint64_t now)
{
    uint64_t lost = group->membership.since;
    bool again = group->membership.was_joined;
    int failed;

    if (group->broken) {
        return; /* it is to be mended, and asked for once more */
    }
    failed = adopt(group, destination);
    if (0 != failed) {
        verbs_group_lose(group, strerror(failed), now);
        return;
    }
    oc_verbs_membership_joined(&group->membership, now);
    if (again) {
        note_renewal(group, lost, now);
    }
}

void oc_verbs_group_end(oc_verbs_group_t *group, const char *reason)
{
    char name[64];

    if (verbs_group_is_over(group)) {
        return;
    }
    oc_verbs_port_group_text(&group->port, name, sizeof(name));
    if (group->membership.was_joined) {
        oc_warn("%s has ended (%s): what ranks send is asked for one by one from now on, which is "
                "slow", name, reason);
    } else {
        refuse(group, reason);
    }
    oc_verbs_membership_end(&group->membership);
    verbs_group_reschedule(group);
}

void oc_verbs_group_break(oc_verbs_group_t *group, const char *what, const char *reason)
{
    char text[160];

    if (group->broken || verbs_group_is_over(group)) {
        return;
    }
    group->broken = true;
    snprintf(text, sizeof(text), "%s, %s", what, reason);
    verbs_group_lose(group, text, oc_clock_ns());
    verbs_group_reschedule(group);
}

static void verbs_group_take(oc_verbs_group_t *group, oc_port_news_t news,
                             struct rdma_ud_param *destination, const char *text)
{
    uint64_t now = oc_clock_ns();

    if (verbs_group_is_over(group)) {
        return;
    }
    switch (news) {
    case OC_PORT_NOTHING:
        break;
    case OC_PORT_JOINED:
        verbs_group_enter(group, destination, now);
        break;
    case OC_PORT_REFUSED:
        verbs_group_lose(group, text, now);
        break;
    case OC_PORT_CHANGED:
        oc_info("multicast on %s: %s: the group is joined again", group->port.interface, text);
        oc_verbs_membership_doubt(&group->membership, now);
        break;
    case OC_PORT_DOWN:
        oc_warn("multicast on %s: the port is down: what ranks send is asked for one by one until "
                "it is up again, which is slow", group->port.interface);
        group->warned = true;
        oc_verbs_membership_suspend(&group->membership, now);
        break;
    case OC_PORT_GONE:
        oc_verbs_group_end(group, text);
        break;
    }
    verbs_group_reschedule(group);
}

/* ---- what the watch tells ---- */

static void verbs_group_heed(oc_verbs_watcher_t *watcher)
{
    oc_verbs_group_t *group = group_of(watcher);
    struct rdma_ud_param destination;
    char text[128];
    oc_port_news_t news;

    do {
        news = oc_verbs_port_next(&group->port, &destination, text, sizeof(text));
        verbs_group_take(group, news, &destination, text);
    } while (OC_PORT_NOTHING != news);
}

static void verbs_group_happened(oc_verbs_watcher_t *watcher, const struct ibv_async_event *event)
{
    oc_verbs_group_t *group = group_of(watcher);
    const char *text = ibv_event_type_str(event->event_type);
    int gid_index = NULL != group->to.handle ? group->attributes.grh.sgid_index : -1;

    if (IBV_EVENT_QP_FATAL == event->event_type && event->element.qp == group->port.id->qp) {
        oc_verbs_group_break(group, "its queue pair has failed", text);
    } else if (IBV_EVENT_CQ_ERR == event->event_type
               && event->element.cq == group->intake->queue) {
        oc_verbs_group_end(group, text);
    } else {
        verbs_group_take(group, oc_verbs_port_happened(&group->port, event, gid_index), NULL,
                         text);
    }
}

/* Again: what is left of the membership is given up first. */
static void verbs_group_ask(oc_verbs_group_t *group, uint64_t now)
{
    char error[256];
    int failed = 0;

    oc_verbs_port_leave(&group->port);
    if (group->broken) {
        failed = oc_verbs_intake_mend(group->intake);
        group->broken = 0 != failed;
    }
    if (0 != failed) {
        snprintf(error, sizeof(error), "its queue pair cannot be mended, %s", strerror(failed));
    } else if (oc_verbs_port_ask(&group->port, group->address, error, sizeof(error))) {
        return;
    }
    verbs_group_lose(group, error, now);
}

static void is_late(oc_verbs_group_t *group)
{
    char text[96];

    snprintf(text, sizeof(text), "the network did not answer within %u seconds; is there a subnet "
             "manager?", (unsigned) (OC_JOIN_LIMIT / OC_SECOND));
    if (OC_MEMBERSHIP_REFUSED == group->membership.state) {
        refuse(group, text);
    } else {
        oc_debug("multicast on %s: %s", group->port.interface, text);
    }
}

static void verbs_group_step(oc_verbs_watcher_t *watcher, uint64_t now)
{
    oc_verbs_group_t *group = group_of(watcher);

    switch (oc_verbs_membership_step(&group->membership, now)) {
    case OC_MEMBERSHIP_REST:
        break;
    case OC_MEMBERSHIP_ASK:
        verbs_group_ask(group, now);
        break;
    case OC_MEMBERSHIP_LATE:
        is_late(group);
        break;
    }
    group->watcher.due = group->membership.due;
}

/* ---- joining and leaving ---- */

oc_status_t oc_verbs_group_join(oc_verbs_group_t *group, char *error, size_t error_size)
{
    oc_verbs_watch_t *watch = &group->source->watch;
    oc_origin_t origin = oc_verbs_source_origin(group->source);
    uint32_t salt = (uint32_t) oc_hash(OC_HASH_START, &origin, sizeof(origin));
    int failed;

    oc_verbs_membership_begin(&group->membership, salt, oc_clock_ns());
    group->watcher = (oc_verbs_watcher_t) {.heed = verbs_group_heed,
                                           .happened = verbs_group_happened,
                                           .step = verbs_group_step,
                                           .due = group->membership.due};
    failed = oc_verbs_watch_add(watch, &group->watcher, group->port.events->fd);
    if (0 != failed) {
        snprintf(error, error_size, "%s: cannot watch what happens to it (%s)",
                 group->port.interface, strerror(failed));
        return OC_ERR_SYSTEM;
    }
    return oc_verbs_port_ask(&group->port, group->address, error, error_size) ? OC_OK
                                                                              : OC_ERR_SYSTEM;
}

void oc_verbs_group_leave(oc_verbs_group_t *group)
{
    oc_verbs_former_t *former, *next;

    oc_verbs_port_leave(&group->port);
    if (NULL != group->port.events) {
        oc_verbs_watch_remove(&group->source->watch, &group->watcher, group->port.events->fd);
    }
    if (NULL != group->to.handle) {
        oc_verbs_source_drain(group->source);
        (void) ibv_destroy_ah(group->to.handle);
    }
    LL_FOREACH_SAFE (group->former, former, next) {
        (void) ibv_destroy_ah(former->handle);
        free(former);
    }
}
