/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rank 0 of the MPI job makes for all, given to the others by the launcher: the identity of
 * the job, and the settings that decide what is offloaded.
 */
#include "coll_optcast_job.h"

#include "ompi/proc/proc.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"

#include "coll_optcast_opponent.h"
#include "coll_optcast_state.h"

/* The terms of the job are known, and of this version. */
static bool has_terms;

/*
 * Where the launcher does not say, each rank that is elsewhere may have a host of its own. Others
 * may get another answer.
 */
uint32_t mca_coll_optcast_job_max_hosts(void)
{
    opal_process_name_t job = {.jobid = OPAL_PROC_MY_NAME.jobid, .vpid = OPAL_VPID_WILDCARD};
    int local = (int) opal_process_info.num_local_peers + 1;
    uint32_t most = (uint32_t) (ompi_proc_world_size() - local + 1), hosts = 0, *at = &hosts;
    int rc;

    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, OC_KEY_NUM_NODES, &job, &at, OC_MODEX_UINT32);
    return OPAL_SUCCESS == rc && hosts > 0 && hosts < most ? hosts : most;
}

static bool make_terms(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    uint64_t previous[OC_NUM_RULED];
    oc_terms_basis_t basis = {.settings = &st->settings, .network = &st->network,
                              .hosts = mca_coll_optcast_job_max_hosts(),
                              .ranks = (uint32_t) ompi_proc_world_size(), .previous = previous};
    char error[1024];
    oc_status_t status;

    mca_coll_optcast_opponent(previous);
    status = oc_terms_make(&basis, &st->terms, error, sizeof(error));
    if (OC_ERR_INVALID == status) {
        opal_output(0, "optcast: %s; set coll_optcast_rules to a file of rules, or to nothing. The "
                    "built-in model decides what mode auto offloads", error);
    }
    return OC_ERR_SYSTEM != status;
}

void mca_coll_optcast_job_publish(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    int rc = OMPI_SUCCESS;

    has_terms = false; /* each session has its own */
    oc_terms_default(&st->terms);
    oc_terms_read_network(&st->network);
    if (0 != OPAL_PROC_MY_NAME.vpid || !st->settings_valid || !make_terms()) {
        return;
    }
    OPAL_MODEX_SEND(rc, OC_MODEX_SCOPE, st->component, &st->terms, sizeof(st->terms));
    has_terms = OMPI_SUCCESS == rc;
}

static oc_status_t receive_terms(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    opal_process_name_t first = OPAL_PROC_MY_NAME;
    oc_status_t status;
    void *data = NULL;
    size_t size = 0;
    int rc = OMPI_SUCCESS;

    first.vpid = 0;
    OPAL_MODEX_RECV(rc, st->component, &first, &data, &size);
    status = OMPI_SUCCESS == rc ? oc_terms_take(data, size, &st->terms) : OC_ERR_INVALID;
    free(data);
    return status;
}

/* Ranks that decide differently about the same operation wait for each other for ever. */
static void impose_terms(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    char names[256];

    oc_terms_impose(&st->terms, &st->settings, "coll_optcast_", names, sizeof(names));
    if ('\0' != names[0] && st->settings_valid) {
        opal_output(0, "optcast: this process (%d of the job) has other values of %s than process "
                    "0; those of process 0 are used", (int) OPAL_PROC_MY_NAME.vpid, names);
    }
}

bool mca_coll_optcast_job_adopt(void)
{
    oc_status_t status;

    if (0 == OPAL_PROC_MY_NAME.vpid) {
        return has_terms;
    }
    status = receive_terms();
    if (OC_ERR_INVALID == status) {
        return false;
    }
    has_terms = OC_OK == status;
    impose_terms();
    return true;
}

oc_status_t mca_coll_optcast_job_lookup(oc_job_t *job)
{
    const mca_coll_optcast_state_t *st = &mca_coll_optcast_state;

    *job = st->terms.job;
    return has_terms && st->settings_valid ? OC_OK : OC_ERR_INVALID;
}
