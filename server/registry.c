/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of a job as the control side knows them: who joined, who left, which handle. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "server/job_types.h"

static void group_free(oc_job_server_t *job, oc_registered_group_t *group)
{
    oc_command_t drop = {.type = OC_COMMAND_GROUP_DROP, .handle = group->handle};

    oc_job_post_all(job, &drop);
    HASH_DEL(job->groups, group);
    oc_handles_give(&job->handles, group->handle);
    free(group->members);
    free(group);
}

void oc_registry_free(oc_job_server_t *job)
{
    oc_registered_group_t *group, *next;

    HASH_ITER (hh, job->groups, group, next) {
        group_free(job, group);
    }
    oc_handles_free(&job->handles);
}

static oc_registered_group_t *group_new(oc_job_server_t *job, const oc_join_t *join)
{
    oc_registered_group_t *group = calloc(1, sizeof(*group));

    if (NULL == group) {
        return NULL;
    }
    group->id = join->group;
    group->join = *join;
    group->members = calloc(join->num_ranks, sizeof(*group->members));
    if (NULL == group->members || !oc_handles_take(&job->handles, &group->handle)) {
        free(group->members);
        free(group);
        return NULL;
    }
    HASH_ADD(hh, job->groups, id, sizeof(group->id), group);
    return group;
}

static bool same_group(const oc_join_t *a, const oc_join_t *b)
{
    return a->num_ranks == b->num_ranks && a->first_aggregator == b->first_aggregator
           && a->chunk_bytes == b->chunk_bytes && a->window == b->window;
}

/* NULL and a sentence about why not. */
static oc_registered_group_t *find_or_make(oc_job_server_t *job, const oc_join_t *join,
                                           char *reason, size_t size)
{
    size_t limit = job->config.memory_limit / job->num_aggregators;
    oc_registered_group_t *group;

    HASH_FIND(hh, job->groups, &join->group, sizeof(join->group), group);
    if (NULL != group) {
        if (same_group(&group->join, join) && 0 == group->members[join->rank].client) {
            return group;
        }
        snprintf(reason, size, "rank %u does not fit into the group that others joined",
                 join->rank);
        return NULL;
    }
    if ((uint64_t) join->num_ranks * join->chunk_bytes > limit) {
        snprintf(reason, size, "a chunk of %u bytes from each of %u ranks does not fit into the "
                 "memory limit of %zu bytes an aggregator: raise --memory-limit or lower "
                 "coll_optcast_chunk_size", join->chunk_bytes, join->num_ranks, limit);
        return NULL;
    }
    group = group_new(job, join);
    if (NULL == group) {
        snprintf(reason, size, "the server has no room for another group");
    }
    return group;
}

static void tell_aggregators(oc_job_server_t *job, const oc_registered_group_t *group,
                             uint32_t client, const oc_join_t *join)
{
    for (unsigned i = 0; i < job->num_aggregators; i++) {
        oc_command_t *command = oc_command_new(OC_COMMAND_MEMBER_ADD, NULL, 0);

        if (NULL == command) {
            oc_job_fail(job, OC_ERR_NO_MEMORY, "the server is out of memory");
            return;
        }
        command->client = client;
        command->member = (oc_member_t) {
            .handle = group->handle, .num_ranks = join->num_ranks, .rank = join->rank,
            .reply_handle = join->reply_handle, .aggregator = join->first_aggregator + i,
            .chunk_bytes = join->chunk_bytes, .window = join->window};
        oc_aggregator_post(job->aggregators[i], command);
    }
}

void oc_registry_join(oc_session_t *session, const oc_join_t *join)
{
    oc_job_server_t *job = session->job;
    oc_control_t answer = {.type = OC_CONTROL_JOINED};
    oc_registered_group_t *group;
    char reason[256];

    group = find_or_make(job, join, reason, sizeof(reason));
    if (NULL == group) {
        oc_warn("process %u cannot join a group: %s", session->process, reason);
        oc_session_notice(session, OC_CONTROL_GROUP_ERROR, join->group, OC_ERR_REFUSED, reason);
        return;
    }
    group->members[join->rank].client = session->client;
    group->joined++;
    tell_aggregators(job, group, session->client, join);
    answer.joined = (oc_joined_t) {.group = group->id, .handle = group->handle};
    oc_session_send(session, &answer);
}

static void leave(oc_job_server_t *job, oc_registered_group_t *group, uint32_t client)
{
    for (uint32_t rank = 0; rank < group->join.num_ranks; rank++) {
        oc_registered_member_t *member = &group->members[rank];

        if (member->client == client && !member->left) {
            member->left = true;
            group->left++;
        }
    }
    if (group->left == group->joined) {
        group_free(job, group);
    }
}

void oc_registry_leave(oc_session_t *session, uint64_t id)
{
    oc_registered_group_t *group;

    HASH_FIND(hh, session->job->groups, &id, sizeof(id), group);
    if (NULL != group) {
        leave(session->job, group, session->client);
    }
}

void oc_registry_forget(oc_session_t *session)
{
    oc_registered_group_t *group, *next;

    HASH_ITER (hh, session->job->groups, group, next) {
        leave(session->job, group, session->client);
    }
}

void oc_registry_error(oc_job_server_t *job, uint32_t handle, oc_status_t status, const char *text)
{
    oc_registered_group_t *group, *next;

    HASH_ITER (hh, job->groups, group, next) {
        if (group->handle != handle) {
            continue;
        }
        for (uint32_t rank = 0; rank < group->join.num_ranks; rank++) {
            oc_session_t *session = oc_job_session(job, group->members[rank].client);

            if (NULL != session) {
                oc_session_notice(session, OC_CONTROL_GROUP_ERROR, group->id, status, text);
            }
        }
        return;
    }
}
