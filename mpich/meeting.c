/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Init cannot be relied upon to be ours (Fortran 2008 calls PMPI_Init), and nothing but MPICH's
 * collectives connects the ranks before there is a service. So the ranks of a communicator meet in its first
 * blocking collective, whatever it is, since none of them can know yet whether it will be offloaded.
 *
 * Terms come from process 0 of MPI_COMM_WORLD and go from communicator to communicator. Where no rank
 * has them, all leave the collective to MPICH, and try again in the second, fourth, eighth … one.
 */
#include "mpich/meeting.h"

#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "net/host.h"

#include "mpich/memory.h"
#include "mpich/pmpi.h"
#include "mpich/report.h"
#include "mpich/state.h"

/*
 * What each rank says; what counts is the least of all. A number and its negative tell whether all are equal.
 * Length and the first two stay as they are in all versions: with other ones nothing else is looked at.
 */
typedef struct {
    int64_t version, minus_version;
    int64_t has_terms;
    int64_t holder;             /* this rank, if it has them; else beyond all */
    int64_t job, minus_job;     /* a hash of the job's identity; without terms beyond all */
    int64_t host, minus_host;
    int64_t unused[5];
} statement_t;

/* The same terms may mean something else to another release. */
static const char decides_by[] = OC_TERMS_FORMAT " " PACKAGE_VERSION;

/* Of a call that other ranks may have come back from well: they would wait for this one. */
#define MPICH_FAILED "MPICH has failed while the ranks agreed on what to offload"

enum { STATEMENT_LENGTH = 13 };
_Static_assert(sizeof(statement_t) == STATEMENT_LENGTH * sizeof(int64_t), "versions have to understand it");

/* Without a sign, so that it has a negative. */
static int64_t positive_hash(const void *data, size_t size)
{
    return (int64_t) (oc_hash(OC_HASH_START, data, size) >> 1);
}

static statement_t statement_of(const oc_mpich_comm_t *c)
{
    const oc_mpich_state_t *st = &oc_mpich_state;
    bool has = atomic_load(&st->has_terms);
    uint64_t identity = oc_host_identity();
    int64_t job = has ? positive_hash(&st->terms.job, sizeof(st->terms.job)) : 0;
    int64_t host = positive_hash(&identity, sizeof(identity));
    int64_t version = positive_hash(decides_by, sizeof(decides_by));

    return (statement_t) {.version = version, .minus_version = -version,
                          .has_terms = has, .holder = has ? c->rank : c->size,
                          .job = has ? job : INT64_MAX, .minus_job = has ? -job : INT64_MAX,
                          .host = host, .minus_host = -host};
}

/* The ranks cannot decide alike: MPICH does everything here, and one of them says why. */
static void meeting_refuse(oc_mpich_comm_t *c, const char *why)
{
    c->meeting = OC_MEETING_REFUSED;
    if (0 == c->rank) {
        oc_mpich_report_refusal(c, why);
    }
}

static void decide_by_terms(oc_mpich_comm_t *c)
{
    const oc_terms_t *terms = &oc_mpich_state.terms;
    uint32_t ranks = (uint32_t) c->size;

    c->mode = atomic_load(&oc_mpich_state.mode);
    c->mode = OC_MPICH_MODE_OF_JOB == c->mode ? terms->mode : c->mode;
    c->bcast_least = c->gather_least = 1;
    if (OC_MODE_AUTO == c->mode) {
        c->bcast_least = oc_terms_bcast_least(terms, ranks, c->one_host);
        c->gather_least = oc_terms_gather_least(terms, ranks, c->one_host);
    }
    for (int ruled = 0; OC_MODE_AUTO == c->mode && ruled < OC_NUM_RULED; ruled++) {
        c->least[ruled] = oc_least_find(&terms->least[ruled], ranks, c->one_host);
    }
}

/* Whoever has the terms gives them to all: a copy, because others may take them over at the same time. */
static bool spread_terms(const oc_mpich_comm_t *c, int holder)
{
    oc_terms_t terms;

    memset(&terms, 0, sizeof(terms));
    if (holder == c->rank) {
        terms = oc_mpich_state.terms;
    }
    if (MPI_SUCCESS != PMPI_Bcast(&terms, sizeof(terms), MPI_BYTE, holder, c->comm)) {
        return false;
    }
    oc_mpich_state_take_terms(&terms);
    return atomic_load(&oc_mpich_state.has_terms);
}

static void meeting_conclude(oc_mpich_comm_t *c, const statement_t *least)
{
    if (least->version != -least->minus_version) {
        meeting_refuse(c, "its ranks have different versions of liboptcast-mpich.so: install one of them on "
                  "all hosts");
        return;
    }
    if (least->holder == c->size) {
        return;
    }
    if (least->job != -least->minus_job) {
        meeting_refuse(c, "it has ranks of several MPI jobs");
        return;
    }
    if (!least->has_terms && !spread_terms(c, (int) least->holder)) {
        oc_mpich_end_job(c->comm, c->name, "the terms of the job did not come");
    }
    c->one_host = least->host == -least->minus_host;
    oc_mpich_state_make_client(!c->one_host);
    if (NULL == oc_mpich_state.client) {
        oc_mpich_need(c->comm, c->name, "a client of the service");
    }
    decide_by_terms(c);
    c->meeting = OC_MEETING_MET;
}

void oc_mpich_meet(oc_mpich_comm_t *c)
{
    statement_t own, least;

    if (OC_MEETING_NONE != c->meeting || ++c->tries < c->next_try) {
        return;
    }
    c->next_try = 2 * c->tries;
    oc_mpich_state_make_terms();
    own = statement_of(c);
    if (MPI_SUCCESS != PMPI_Allreduce(&own, &least, STATEMENT_LENGTH, MPI_INT64_T, MPI_MIN, c->comm)) {
        oc_mpich_end_job(c->comm, c->name, MPICH_FAILED);
    }
    meeting_conclude(c, &least);
}

/* Where this rank is among those of its host, by what all say of theirs. */
static void find_place(const oc_mpich_comm_t *c, const int64_t *hosts, oc_group_params_t *params)
{
    int here = 0;

    params->lowest_on_host = true;
    for (int rank = 0; rank < c->size; rank++) {
        if (hosts[rank] == hosts[c->rank]) {
            params->lowest_on_host = params->lowest_on_host && rank >= c->rank;
            here++;
        }
    }
    params->shares_host = here > 1;
    params->max_hosts = (uint32_t) (c->size - here + 1);
}

static void make_groups(oc_mpich_comm_t *c, oc_group_params_t *params)
{
    oc_mpich_state_t *st = &oc_mpich_state;

    for (int i = 0; i < OC_MPICH_NUM_SERVICES; i++) {
        if (OC_SERVICE_MULTICAST == i && OC_MULTICAST_OFF == st->terms.multicast) {
            continue;
        }
        params->service = (oc_service_t) i;
        params->context = &c->services[i].exchange;
        if (OC_OK != oc_group_create(st->client, params, &c->services[i].group)) {
            oc_mpich_need(c->comm, c->name, "a group");
        }
    }
}

void oc_mpich_place(oc_mpich_comm_t *c)
{
    oc_mpich_state_t *st = &oc_mpich_state;
    uint64_t identity = oc_host_identity();
    int64_t own = positive_hash(&identity, sizeof(identity)), *hosts;
    oc_group_params_t params = {
        .num_ranks = (uint32_t) c->size, .rank = (uint32_t) c->rank, .name = c->name,
        .mode = c->mode, .rules = OC_MODE_AUTO == c->mode ? &st->terms.rules : NULL,
        .bootstrap = &oc_mpich_bootstrap,
    };

    hosts = malloc((size_t) c->size * sizeof(*hosts));
    if (NULL == hosts) {
        oc_mpich_need(c->comm, c->name, "a list of hosts");
    }
    if (MPI_SUCCESS != PMPI_Allgather(&own, 1, MPI_INT64_T, hosts, 1, MPI_INT64_T, c->comm)) {
        oc_mpich_end_job(c->comm, c->name, MPICH_FAILED);
    }
    memcpy(params.least, c->least, sizeof(params.least));
    find_place(c, hosts, &params);
    make_groups(c, &params);
    c->meeting = OC_MEETING_PLACED;
    free(hosts);
}

/*
 * Messages of the set-up need a communicator of their own, on which a program's receives from anybody do not
 * match them. MPI_Comm_create takes no attributes over, as a duplicate would.
 */
static MPI_Comm make_private_comm(const oc_mpich_comm_t *c)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group group;

    if (MPI_SUCCESS != PMPI_Comm_group(c->comm, &group)) {
        return MPI_COMM_NULL;
    }
    if (MPI_SUCCESS != PMPI_Comm_create(c->comm, group, &comm)) {
        comm = MPI_COMM_NULL;
    } else if (MPI_COMM_NULL != comm) {
        (void) PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    (void) PMPI_Group_free(&group);
    return comm;
}

/*
 * MPI_COMM_NULL, on all ranks: there is none, since a library has room for a limited number of communicators, which the program may
 * have used up. That is no error of the program, whose error handler must not see it.
 */
static MPI_Comm private_comm(const oc_mpich_comm_t *c)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm comm;
    int have, all_have = 0;

    (void) PMPI_Comm_get_errhandler(c->comm, &handler);
    (void) PMPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN);
    comm = make_private_comm(c);
    (void) PMPI_Comm_set_errhandler(c->comm, handler);
    (void) PMPI_Errhandler_free(&handler);
    have = MPI_COMM_NULL != comm;
    if (MPI_SUCCESS != PMPI_Allreduce(&have, &all_have, 1, MPI_INT, MPI_MIN, c->comm)) {
        oc_mpich_end_job(c->comm, c->name, MPICH_FAILED);
    }
    if (!all_have && have) {
        (void) PMPI_Comm_free(&comm);
    }
    return all_have ? comm : MPI_COMM_NULL;
}

static bool is_setting_up(const oc_group_t *group)
{
    return OC_GROUP_SETTING_UP == oc_group_state(group);
}

/* For want of a communicator. All ranks do so. */
static void do_without(oc_mpich_comm_t *c, oc_mpich_service_t *service)
{
    oc_group_destroy(service->group);
    service->group = NULL;
    if (0 == c->rank) {
        oc_mpich_report_refusal(c, "MPICH has no room for the communicator that a set-up needs: free some");
    }
}

void oc_mpich_set_up(oc_mpich_comm_t *c, oc_service_t number)
{
    oc_mpich_service_t *service = &c->services[number];
    oc_mpich_exchange_t *x = &service->exchange;
    oc_patience_t patience = {0};

    if (NULL == service->group || OC_GROUP_NEW != oc_group_state(service->group)) {
        return;
    }
    x->comm = private_comm(c);
    if (MPI_COMM_NULL == x->comm) {
        do_without(c, service);
        return;
    }
    (void) oc_group_set_up(service->group);
    while (is_setting_up(service->group)) {
        if (!oc_mpich_exchange_progress(x)) {
            oc_mpich_end_job(c->comm, c->name, MPICH_FAILED);
        }
        oc_mpich_progress(&patience);
    }
    (void) PMPI_Comm_free(&x->comm);
    oc_mpich_report_setup(c, number);
}
