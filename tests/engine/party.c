/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges over shared memory. */
#include "tests/engine/party.h"

#include <string.h>

static oc_status_t party_job(void *context, oc_job_t *job)
{
    *job = *((party_t *) context)->job;
    return OC_OK;
}

static oc_status_t party_begin(void *context, const oc_exchange_t *exchange)
{
    party_t *party = context;

    party->exchange = *exchange;
    party->step = -1;
    party->begun++;
    return exchange->size <= MAX_RECORD_SIZE ? OC_OK : OC_ERR_LIMIT;
}

static oc_status_t party_start(void *context, oc_exchange_step_t step)
{
    party_t *party = context;

    if ((int) step + 1 == party->broken_start) {
        return OC_ERR_SYSTEM;
    }
    if (OC_EXCHANGE_CONTACTS == step) {
        board_take_contacts(party->board, &party->exchange);
        return OC_OK;
    }
    party->step++;
    party->is_record = OC_EXCHANGE_RECORDS == step;
    board_give(party->board, party->rank, party->step, party->is_record, &party->exchange);
    return OC_OK;
}

static bool is_gone(const party_t *party, uint32_t rank)
{
    uint32_t process = NULL != party->members ? party->members[rank] : rank;

    return NULL != party->gone && 0 != atomic_load(&party->gone[process]);
}

static oc_status_t party_test(void *context)
{
    party_t *party = context;
    bool complete = true, possible = true;

    if (party->step + 1 == party->broken_test) {
        return OC_ERR_SYSTEM;
    }
    for (uint32_t i = 0; i < party->num_ranks; i++) {
        bool was_gone = is_gone(party, i);

        /* in this order: what was given before the end counts */
        if (0 == atomic_load(&party->board->given[party->step][i])) {
            complete = false;
            possible = possible && !was_gone;
        }
    }
    if (!complete) {
        return possible ? OC_IN_PROGRESS : OC_ERR_SYSTEM;
    }
    board_take(party->board, party->num_ranks, party->step, party->is_record, &party->exchange);
    return OC_OK;
}

static void party_end(void *context)
{
    ((party_t *) context)->ended++;
}

const oc_bootstrap_t party_bootstrap = {.job = party_job, .begin = party_begin,
                                        .start = party_start, .test = party_test,
                                        .end = party_end};

oc_group_t *party_group(party_t *party, oc_client_t *client, const char *name)
{
    oc_group_params_t params = {.service = party->service, .num_ranks = party->num_ranks,
                                .rank = party->rank, .name = name,
                                .lowest_on_host = 0 == party->rank, .max_hosts = 1,
                                .bootstrap = &party_bootstrap, .context = party};
    oc_group_t *group = NULL;

    return OC_OK == oc_group_create(client, &params, &group) ? group : NULL;
}
