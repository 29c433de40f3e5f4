/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines for people, and error codes with the reason as their text. */
#include "mpich/report.h"

#include <stdio.h>
#include <unistd.h>

#include "adapter/summary.h"
#include "base/log.h"
#include "base/output.h"

#include "mpich/mpich_settings.h"
#include "mpich/pmpi.h"
#include "mpich/state.h"

#define CHOICE_SIZE 512
#define LINE_SIZE   1200

static char host[64] = "unknown";

static void log_to_stderr(oc_log_level_t level, const char *line)
{
    char copy[LINE_SIZE];

    (void) level;
    oc_mpich_settings_rename(line, copy, sizeof(copy));
    oc_output_line("[%s:%d] optcast: %s", host, (int) getpid(), copy);
}

void oc_mpich_report_open(void)
{
    static char name[128];
    int verbose = oc_mpich_state.settings.verbose;

    (void) gethostname(host, sizeof(host) - 1);
    snprintf(name, sizeof(name), "[%s:%d] optcast", host, (int) getpid());
    oc_output_set_name(name);
    oc_log_set_sink(log_to_stderr);
    oc_log_set_level(verbose > 1 ? OC_LOG_DEBUG : verbose > 0 ? OC_LOG_INFO : OC_LOG_WARN);
}

void oc_mpich_report_refusal(const oc_mpich_comm_t *c, const char *why)
{
    oc_warn("communicator \"%s\": %s; MPICH's own collectives are used", c->name, why);
}

/* A line for each kind of reduction that is offloaded, and for Allreduce. */
static void tell_choices(const oc_mpich_comm_t *c, const oc_group_t *group)
{
    char choice[CHOICE_SIZE];

    for (oc_ruled_t ruled = 0; OC_MODE_AUTO == c->mode && ruled < OC_NUM_RULED; ruled++) {
        if (oc_group_explain(group, ruled, choice, sizeof(choice))
            && (OC_RULED_ALLREDUCE == ruled || oc_group_offloads(group, ruled))) {
            oc_info("communicator \"%s\": %s %s", c->name, oc_ruled_name(ruled), choice);
        }
    }
}

void oc_mpich_report_setup(oc_mpich_comm_t *c, oc_service_t number)
{
    oc_mpich_service_t *service = &c->services[number];
    oc_group_state_t state = oc_group_state(service->group);
    char text[128];

    if (atomic_exchange(&service->told, true)) {
        return;
    }
    if (OC_GROUP_DECLINED == state && oc_group_tells(service->group)) {
        oc_warn("communicator \"%s\": %s; MPICH's own %s used", c->name,
                oc_group_reason(service->group),
                OC_SERVICE_MULTICAST == number ? "Allgather and Bcast are" : "collectives are");
    } else if (0 == c->rank
               && (OC_GROUP_LIVE == state || oc_group_leaves_all(service->group))) {
        oc_group_describe(service->group, text, sizeof(text));
        oc_info("communicator \"%s\": %d ranks%s%s", c->name, c->size, '\0' == text[0] ? "" : ", ",
                text);
        if (OC_SERVICE_AGGREGATION == number) {
            tell_choices(c, service->group);
        }
    }
}

void oc_mpich_report_call(const oc_mpich_comm_t *c, const oc_mpich_call_t *call,
                          oc_fallback_t reason)
{
    if (oc_mpich_state.settings.verbose > 1) {
        oc_info("%s on \"%s\": %llu bytes: %s", call->operation->names[!call->blocking], c->name,
                (unsigned long long) call->bytes, oc_fallback_text(reason));
    }
}

/*
 * One for the whole process: a program fails seldom, but may make communicators for ever, and MPI
 * cannot take classes back. MPI_Error_string of it gives the latest reason, and with it the server's name. A class,
 * which is a code as well: MPICH has no texts for codes that are added to its own classes.
 */
static int class_for(const char *reason)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int class;
    char text[MPI_MAX_ERROR_STRING], copy[MPI_MAX_ERROR_STRING];

    pthread_mutex_lock(&lock);
    if (0 == class && MPI_SUCCESS != PMPI_Add_error_class(&class)) {
        class = MPI_ERR_OTHER;
    }
    if (MPI_ERR_OTHER != class) {
        oc_mpich_settings_rename(reason, copy, sizeof(copy));
        snprintf(text, sizeof(text), "optcast: %.200s", copy);
        (void) PMPI_Add_error_string(class, text);
    }
    pthread_mutex_unlock(&lock);
    return class;
}

int oc_mpich_report_failure(oc_mpich_comm_t *c, oc_service_t number, oc_status_t status)
{
    oc_mpich_service_t *service = &c->services[number];
    const char *reason = oc_group_reason(service->group);

    if ('\0' == reason[0]) {
        reason = oc_status_string(status);
    }
    if (!atomic_exchange(&service->failure_told, true)) {
        oc_error("communicator \"%s\", rank %d: %s", c->name, c->rank, reason);
    }
    /* the program's own error, which has a class of its own */
    return OC_ERR_TRUNCATED == status ? MPI_ERR_TRUNCATE : class_for(reason);
}

void oc_mpich_report_summary(void)
{
    const oc_mpich_state_t *st = &oc_mpich_state;
    char text[512];

    if (NULL == st->client || 0 != st->rank) {
        return;
    }
    for (unsigned next = 0; oc_summary_line(&st->counters, &next, text, sizeof(text));) {
        oc_info("rank 0: %s", text);
    }
}
