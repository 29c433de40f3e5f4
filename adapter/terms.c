/* SPDX-License-Identifier: BSD-3-Clause */
/* How process 0 makes the terms of a job, and how others take them over. */
#include "adapter/terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "net/link_speed.h"

#define NUM_LETTERS 5

/*
 * Multicast carries what takes a link so long, within these bounds, in mode auto (bench/run
 * regret). Each block of an Allgather is announced, received and credited by itself: small ones
 * cost more than the MPI library's algorithms, which put them together.
 */
#define CAST_TIME_US    500
#define MIN_CAST_LEAST  65536u
#define MAX_CAST_LEAST  262144u
#define BLOCK_TIME_US   50
#define MIN_BLOCK_LEAST 4096u
#define MAX_BLOCK_LEAST 8192u

/*
 * With fewer ranks multicast sends as much as any other way, and gains what that does not make of
 * links.
 */
#define MIN_RANKS 3

_Static_assert(offsetof(oc_terms_t, rules)
                   == 56 + sizeof(oc_job_t)
                          + OC_NUM_RULED * 2 * OC_LEAST_CLASSES * sizeof(uint64_t),
               "other versions would misunderstand it");

/* The settings whose scope is OC_SCOPE_FIRST, and their types in the structure of settings. */
#define FOREACH_FIRST(X)          \
    X(multicast_min_size, size_t) \
    X(mode, int)                  \
    X(max_ranks, int)             \
    X(priority, int)              \
    X(multicast, int)

/* UCX in ranks has a name of its own for what is set for it alone. */
static const char *ucx_setting(const char *name)
{
    const char *value = getenv(name);

    return NULL != value ? value : getenv(name + strlen("OPTCAST_"));
}

void oc_terms_read_network(oc_network_t *network)
{
    oc_network_read("/sys", ucx_setting("OPTCAST_UCX_NET_DEVICES"), ucx_setting("OPTCAST_UCX_TLS"),
                    network);
}

void oc_terms_default(oc_terms_t *terms)
{
    memset(terms, 0, sizeof(*terms));
    oc_rules_default(&terms->rules);
}

/* A mistake in the rules must not stop a job, nor change silently how fast it is. */
static oc_status_t read_rules(const oc_job_settings_t *settings, oc_rules_t *rules, char *error,
                              size_t error_size)
{
    const char *path = NULL == settings->rules ? "" : settings->rules;
    oc_status_t status;

    if ('\0' == path[0] || OC_MODE_NEVER == settings->mode) {
        return OC_OK;
    }
    status = oc_rules_read(path, rules, error, error_size);
    if (OC_ERR_UNREACHABLE == status && 0 == strcmp(path, OPTCAST_RULES)) {
        return OC_OK;
    }
    return OC_OK == status ? OC_OK : OC_ERR_INVALID;
}

static void find_leasts(const oc_terms_basis_t *basis, oc_terms_t *terms)
{
    oc_outlook_t outlook;

    memcpy(terms->rules.previous, basis->previous, sizeof(terms->rules.previous));
    oc_outlook_make(basis->settings, basis->hosts, basis->network, &outlook);
    for (int ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        oc_least_make(&terms->rules, &outlook, (oc_ruled_t) ruled, basis->ranks,
                      &terms->least[ruled]);
    }
}

/*
 * Where links are slow, less is worth it: a power of two, within bounds, that takes a link so long.
 */
static uint64_t find_least(const oc_terms_basis_t *basis, const oc_rules_t *rules,
                           uint64_t time_us, uint64_t most, uint64_t fewest)
{
    uint64_t least = most;
    oc_constants_t constants;

    oc_rules_constants(rules, basis->network, &constants);
    while (0 != constants.link_rate && least > fewest
           && least / 2 * 8 >= constants.link_rate * time_us) {
        least /= 2;
    }
    return least;
}

/*
 * Two ranks exchange by one connection of TCP, whose two directions hinder each other:
 * client/plan/previous.c.
 */
static uint64_t find_pair_least(const oc_terms_basis_t *basis, uint64_t cast_least)
{
    if (OC_FABRIC_TCP != basis->network->fabric) {
        return UINT64_MAX;
    }
    return cast_least > MAX_CAST_LEAST ? cast_least : MAX_CAST_LEAST;
}

static void find_casts(const oc_terms_basis_t *basis, oc_terms_t *terms)
{
    uint64_t given = basis->settings->multicast_min_size;

    terms->cast_least = 0 != given ? given
                                   : find_least(basis, &terms->rules, CAST_TIME_US, MAX_CAST_LEAST,
                                                MIN_CAST_LEAST);
    terms->block_least = 0 != given ? 0
                                    : find_least(basis, &terms->rules, BLOCK_TIME_US,
                                                 MAX_BLOCK_LEAST, MIN_BLOCK_LEAST);
    terms->pair_least = find_pair_least(basis, terms->cast_least);
}

oc_status_t oc_terms_make(const oc_terms_basis_t *basis, oc_terms_t *terms, char *error,
                          size_t error_size)
{
    oc_status_t status;

    oc_terms_default(terms);
    if (sizeof(terms->job) != getrandom(&terms->job, sizeof(terms->job), 0)) {
        return OC_ERR_SYSTEM;
    }
    memcpy(terms->format, OC_TERMS_FORMAT, sizeof(terms->format));
    status = read_rules(basis->settings, &terms->rules, error, error_size);
    find_leasts(basis, terms);
    find_casts(basis, terms);
#define X(name, type) terms->name = basis->settings->name;
    FOREACH_FIRST(X)
#undef X
    return status;
}

oc_status_t oc_terms_take(const void *data, size_t size, oc_terms_t *terms)
{
    oc_rules_t unknown;
    bool same;

    if (NULL == data || size < offsetof(oc_terms_t, rules)
        || 0 != memcmp(data, OC_TERMS_FORMAT, NUM_LETTERS)) {
        return OC_ERR_INVALID;
    }
    same = sizeof(*terms) == size && 0 == memcmp(data, OC_TERMS_FORMAT, sizeof(terms->format));
    oc_rules_default(&unknown);
    memcpy(terms, data, same ? size : offsetof(oc_terms_t, rules));
    if (!same) {
        terms->rules = unknown;
    }
    return same ? OC_OK : OC_DECLINED;
}

void oc_terms_impose(const oc_terms_t *terms, oc_job_settings_t *settings, const char *prefix,
                     char *names, size_t names_size)
{
    size_t used = 0;

    names[0] = '\0';
#define X(name, type)                                                                      \
    if (settings->name != (type) terms->name) {                                            \
        settings->name = (type) terms->name;                                               \
        snprintf(names + used, names_size - used, "%s%s%s", 0 == used ? "" : ", ", prefix, \
                 #name);                                                                   \
        used = strlen(names);                                                              \
    }
    FOREACH_FIRST(X)
#undef X
}

uint64_t oc_terms_bcast_least(const oc_terms_t *terms, uint32_t ranks, bool one_host)
{
    return one_host || ranks < MIN_RANKS ? UINT64_MAX : terms->cast_least;
}

uint64_t oc_terms_gather_least(const oc_terms_t *terms, uint32_t ranks, bool one_host)
{
    uint64_t blocks = (uint64_t) ranks * terms->block_least;

    if (one_host) {
        return UINT64_MAX;
    }
    if (ranks < MIN_RANKS) {
        return terms->pair_least;
    }
    return blocks > terms->cast_least ? blocks : terms->cast_least;
}
