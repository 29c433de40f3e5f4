/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of a job as the control side knows them: who joined, who left, which handle. */
#include "server/job/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/log.h"
#include "server/aggregator/budget.h"
#include "server/job/aggregators.h"
#include "server/job/eager.h"
#include "server/job/failure.h"
#include "server/job/notice.h"
#include "server/job/parent.h"

_Static_assert(sizeof(oc_registered_group_t) <= OC_GROUP_COST / 2,
               "a group costs more than is counted");
_Static_assert(OC_MAX_GROUPS == OC_HANDLES_MAX, "each group needs a handle");
_Static_assert(sizeof(oc_registered_member_t) <= OC_GROUP_RANK_COST / 2,
               "a member costs more than is counted");

static size_t step_of(const oc_join_t *join)
{
    return oc_budget_step(join->num_ranks, join->chunk_bytes, join->small_bytes);
}

/* Counts as long as the group exists. Outside of trees, all groups share the room for a step. */
static size_t registry_cost_of(const oc_join_t *join, bool in_tree)
{
    return oc_budget_group(join->num_ranks, 0 != join->leaves)
           + (join->reserves && in_tree ? oc_budget_reserve(join->num_ranks, join->chunk_bytes,
                                                 join->small_bytes) : 0);
}

static void registry_group_free(oc_job_server_t *job, oc_registered_group_t *group)
{
    oc_command_t drop = {.type = OC_COMMAND_GROUP_DROP, .handle = group->handle};

    oc_aggregators_post(job, &drop);
    oc_parent_leave(job, group);
    HASH_DEL(job->groups, group);
    oc_handles_give(job->handles, group->handle);
    job->groups_cost -= registry_cost_of(&group->join, group->in_tree);
    if (NULL == job->groups) {
        job->largest_step = 0;
    }
    free(group->refusal);
    free(group->members);
    free(group);
}

void oc_registry_free(oc_job_server_t *job)
{
    oc_registered_group_t *group, *next;

    HASH_ITER (hh, job->groups, group, next) {
        registry_group_free(job, group);
    }
    oc_handles_free(job->handles);
    job->handles = NULL;
}

static oc_registered_group_t *registry_group_new(oc_job_server_t *job, const oc_join_t *join,
                                                 uint32_t asked, bool in_tree)
{
    oc_registered_group_t *group = calloc(1, sizeof(*group));

    if (NULL == group) {
        return NULL;
    }
    group->id = join->group;
    group->join = *join;
    group->asked = asked;
    group->in_tree = in_tree;
    group->members = calloc(join->num_ranks, sizeof(*group->members));
    if (NULL == group->members || !oc_handles_take(job->handles, &group->handle)) {
        free(group->members);
        free(group);
        return NULL;
    }
    HASH_ADD(hh, job->groups, id, sizeof(group->id), group);
    job->groups_cost += registry_cost_of(join, in_tree);
    if (step_of(join) > job->largest_step) {
        job->largest_step = step_of(join);
    }
    return group;
}

static bool same_group(const oc_registered_group_t *group, const oc_join_t *b)
{
    const oc_join_t *a = &group->join;

    return a->num_ranks == b->num_ranks && a->first_aggregator == b->first_aggregator
           && group->asked == b->chunk_bytes && a->window == b->window
           && a->small_bytes == b->small_bytes && a->reserves == b->reserves
           && a->epoch == b->epoch
           && a->leaves == b->leaves && a->leaf == b->leaf;
}

/* Whether every group can still do its largest step; false with a sentence about why not. */
static bool fits(const oc_job_server_t *job, const oc_join_t *join, bool in_tree, char *reason,
                 size_t size)
{
    size_t limit = job->config.memory_limit / job->num_aggregators;
    size_t cost = registry_cost_of(join, in_tree), step = step_of(join);
    size_t largest = step > job->largest_step ? step : job->largest_step;

    if (cost + step > limit) {
        snprintf(reason, size, "it needs %zu bytes of an aggregator's memory to do one step for %u "
                 "ranks, and an aggregator has %zu: raise --memory-limit%s", cost + step,
                 join->num_ranks, limit,
                 join->chunk_bytes >= join->small_bytes
                     ? " or use fewer aggregators"
                     : ", use fewer aggregators, or lower coll_optcast_small_size");
        return false;
    }
    if (job->groups_cost + cost + largest > limit) {
        snprintf(reason, size, "it needs %zu bytes of an aggregator's memory, and the %u "
                 "communicators that the job has leave %zu of %zu: raise --memory-limit",
                 cost + largest, HASH_COUNT(job->groups), limit - job->groups_cost, limit);
        return false;
    }
    return true;
}

/*
 * The largest chunk for which there is room. If it has to be less than what was asked for, two of
 * them have: one is reduced while the next one comes, and other communicators have to be known
 * beside.
 */
static uint32_t affordable_chunk(const oc_job_server_t *job, const oc_join_t *join, bool in_tree)
{
    size_t limit = job->config.memory_limit / job->num_aggregators;
    oc_join_t smaller = *join;
    char reason[OC_MAX_TEXT];

    if (fits(job, join, in_tree, reason, sizeof(reason))) {
        return join->chunk_bytes;
    }
    do {
        smaller.chunk_bytes = smaller.chunk_bytes / 2 / OC_MIN_CHUNK * OC_MIN_CHUNK;
        if (smaller.chunk_bytes < OC_MIN_CHUNK) {
            return OC_MIN_CHUNK;
        }
    } while (job->groups_cost + registry_cost_of(&smaller, in_tree)
             + 2 * oc_budget_chunk(join->num_ranks, smaller.chunk_bytes) > limit);
    return smaller.chunk_bytes;
}

/* As the aggregators see it: all groups of a leaf, and on a parent those of leaves. */
static bool is_in_tree(const oc_session_t *session, const oc_join_t *join)
{
    return 0 != join->leaves || OC_PROCESS_LEAF == session->process
           || NULL != session->job->parent;
}

/* NULL and a sentence about why not. */
static oc_registered_group_t *registry_make(const oc_session_t *session, const oc_join_t *join,
                                            char *reason, size_t size)
{
    oc_job_server_t *job = session->job;
    bool in_tree = is_in_tree(session, join);
    oc_registered_group_t *group;
    oc_join_t affordable = *join;

    if (job->draining) {
        snprintf(reason, size, "the server is going to stop");
        return NULL;
    }
    if (HASH_COUNT(job->groups) >= OC_MAX_GROUPS) {
        snprintf(reason, size, "the job has %d communicators on this server, and more cannot be",
                 OC_MAX_GROUPS);
        return NULL;
    }
    if (0 != join->leaves && NULL == job->parent) {
        snprintf(reason, size, "it is no leaf of a tree of servers: it has no --parent");
        return NULL;
    }
    affordable.chunk_bytes = affordable_chunk(job, join, in_tree);
    if (!fits(job, &affordable, in_tree, reason, size)) {
        return NULL;
    }
    group = registry_group_new(job, &affordable, join->chunk_bytes, in_tree);
    if (NULL == group) {
        snprintf(reason, size, "the server is out of memory");
        return NULL;
    }
    return group;
}

/* NULL and a sentence about why not. */
static oc_registered_group_t *find_or_make(const oc_session_t *session, const oc_join_t *join,
                                           char *reason, size_t size)
{
    oc_registered_group_t *group;

    HASH_FIND(hh, session->job->groups, &join->group, sizeof(join->group), group);
    if (NULL == group) {
        return registry_make(session, join, reason, size);
    }
    if (!same_group(group, join) || NULL != group->members[join->rank].group) {
        snprintf(reason, size, "rank %u does not fit into the group that others joined",
                 join->rank);
        return NULL;
    }
    if (NULL != group->refusal) {
        snprintf(reason, size, "%s", group->refusal);
        return NULL;
    }
    return group;
}

static void tell_aggregators(const oc_registered_group_t *group, const oc_session_t *session,
                             const oc_join_t *join)
{
    oc_job_server_t *job = session->job;
    bool tree = 0 != join->leaves || OC_PROCESS_LEAF == session->process;

    for (unsigned i = 0; i < job->num_aggregators; i++) {
        oc_command_t *command = oc_command_new(OC_COMMAND_MEMBER_ADD, NULL, 0);

        if (NULL == command) {
            oc_job_fail(job, OC_ERR_NO_MEMORY, "the server is out of memory");
            return;
        }
        command->client = session->client;
        command->member = (oc_server_member_t) {
            .group = group->id, .handle = group->handle, .num_ranks = join->num_ranks,
            .rank = join->rank,
            .reply_handle = join->reply_handle, .aggregator = join->first_aggregator + i,
            .chunk_bytes = group->join.chunk_bytes, .window = join->window,
            .small_bytes = join->small_bytes, .reserves = 0 != join->reserves,
            .renewed = 0 != join->epoch,
            .tree = tree, .leaves = join->leaves, .leaf = join->leaf};
        oc_aggregator_post(job->aggregators[i], command);
    }
}

/* All ranks of a group are refused: the log has one line for them. */
static void registry_refuse(oc_session_t *session, const oc_join_t *join, const char *reason)
{
    oc_job_server_t *job = session->job;
    char name[OC_SESSION_NAME_SIZE];

    if (!job->has_refused || join->group != job->refused_group) {
        oc_session_name(session, name);
        oc_warn("%s cannot join a group: %s", name, reason);
    }
    job->has_refused = true;
    job->refused_group = join->group;
    oc_session_notice(session, OC_CONTROL_GROUP_ERROR, join->group, OC_ERR_REFUSED, reason);
}

void oc_registry_join(oc_session_t *session, const oc_join_t *join)
{
    oc_control_t answer = {.type = OC_CONTROL_JOINED};
    oc_registered_member_t *member;
    oc_registered_group_t *group;
    char reason[OC_MAX_TEXT];

    group = find_or_make(session, join, reason, sizeof(reason));
    if (NULL == group) {
        registry_refuse(session, join, reason);
        return;
    }
    member = &group->members[join->rank];
    member->session = session;
    member->group = group;
    DL_APPEND(session->memberships, member);
    group->joined++;
    session->job->num_members++;
    session->job->has_joined = true;
    tell_aggregators(group, session, join);
    if (1 == group->joined) {
        /* what comes from there finds the group in the aggregators, or in their mail */
        oc_parent_join(session->job, group);
    }
    answer.joined = (oc_joined_t) {.group = group->id, .handle = group->handle,
                                   .eager_window = oc_eager_offer(session, join->num_ranks)};
    oc_session_send(session, &answer);
}

static void tell_members(const oc_registered_group_t *group, oc_status_t status, const char *text)
{
    for (uint32_t rank = 0; rank < group->join.num_ranks; rank++) {
        if (NULL != group->members[rank].session) {
            oc_session_notice(group->members[rank].session, OC_CONTROL_GROUP_ERROR, group->id,
                              status, text);
        }
    }
}

/* Those that join later hear it, too; without memory for that, they wait for READY in vain. */
static void refuse_others(oc_registered_group_t *group, oc_status_t status, const char *text)
{
    if (NULL == group->refusal) {
        tell_members(group, status, text);
        group->refusal = strdup(text);
    }
}

static bool registry_is_left(const oc_registered_group_t *group)
{
    return group->left == group->joined;
}

static void take_out(oc_registered_member_t *member)
{
    oc_session_t *session = member->session;

    DL_DELETE(session->memberships, member);
    member->session = NULL;
    member->group->left++;
    session->job->num_members--;
}

static void leave(oc_registered_member_t *member)
{
    oc_registered_group_t *group = member->group;
    oc_job_server_t *job = member->session->job;

    take_out(member);
    if (registry_is_left(group)) {
        registry_group_free(job, group);
    }
}

static bool registry_is_complete(const oc_registered_group_t *group)
{
    return 0 == group->join.epoch || group->joined == group->join.num_ranks;
}

/* Ranks come into a new epoch one by one, and without all of them it has no groups: those that are still to come have to hear it. */
static void leave_early(oc_registered_member_t *member)
{
    oc_registered_group_t *group = member->group;
    oc_job_server_t *job = member->session->job;

    take_out(member);
    refuse_others(group, OC_ERR_UNREACHABLE, "a rank has left it after the loss of a server, before it was known what became of its collectives");
    if (registry_is_complete(group) && registry_is_left(group)) {
        registry_group_free(job, group);
    }
}

/* From a group that refused it, everybody leaves too. */
void oc_registry_leave(oc_session_t *session, const oc_leave_t *message)
{
    oc_registered_group_t *group;

    HASH_FIND(hh, session->job->groups, &message->group, sizeof(message->group), group);
    if (NULL != group && message->rank < group->join.num_ranks
        && session == group->members[message->rank].session) {
        if (registry_is_complete(group) && !message->unsettled) {
            leave(&group->members[message->rank]);
        } else {
            leave_early(&group->members[message->rank]);
        }
    }
}

void oc_registry_forget(oc_session_t *session)
{
    while (NULL != session->memberships) {
        leave(session->memberships);
    }
}

static void forget_all_but(oc_session_t *session, uint64_t epoch)
{
    oc_registered_member_t *member, *next;

    DL_FOREACH_SAFE (session->memberships, member, next) {
        if (epoch != member->group->join.epoch) {
            take_out(member);
        }
    }
}

void oc_registry_begin_epoch(oc_job_server_t *job, uint64_t epoch)
{
    oc_registered_group_t *group, *next;
    oc_session_t *session;

    DL_FOREACH (job->sessions, session) {
        forget_all_but(session, epoch);
    }
    HASH_ITER (hh, job->groups, group, next) {
        if (epoch != group->join.epoch && registry_is_left(group)) {
            registry_group_free(job, group);
        }
    }
}

void oc_registry_error(oc_job_server_t *job, uint32_t handle, oc_status_t status, const char *text)
{
    oc_registered_group_t *group, *next;

    HASH_ITER (hh, job->groups, group, next) {
        if (group->handle == handle) {
            tell_members(group, status, text);
            return;
        }
    }
}

void oc_registry_error_above(oc_job_server_t *job, uint64_t id, oc_status_t status,
                             const char *text)
{
    oc_registered_group_t *group;

    HASH_FIND(hh, job->groups, &id, sizeof(id), group);
    if (NULL != group) {
        oc_warn("a group cannot go on: %s", text);
        refuse_others(group, status, text);
    }
}

void oc_registry_above(oc_job_server_t *job, const oc_joined_t *joined)
{
    oc_command_t command = {.type = OC_COMMAND_GROUP_ABOVE, .token = joined->handle,
                            .eager_window = joined->eager_window};
    oc_registered_group_t *group;

    HASH_FIND(hh, job->groups, &joined->group, sizeof(joined->group), group);
    if (NULL != group) {
        command.handle = group->handle;
        oc_aggregators_post(job, &command);
    }
}
