/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of the MPI job: made by its rank 0, given to the others by the launcher. */
#include "coll_optcast.h"

#include <sys/random.h>

#include "ompi/proc/proc.h"

void mca_coll_optcast_job_publish(void)
{
    mca_coll_optcast_component_t *cm = &mca_coll_optcast_component;
    int rc = OMPI_SUCCESS;

    if (0 != OPAL_PROC_MY_NAME.vpid) {
        return;
    }
    if (sizeof(cm->job) != getrandom(&cm->job, sizeof(cm->job), 0)) {
        return;
    }
    OPAL_MODEX_SEND(rc, OC_MODEX_SCOPE, &cm->super.collm_version, &cm->job, sizeof(cm->job));
    (void) rc;
}

oc_status_t mca_coll_optcast_job_lookup(oc_job_t *job)
{
    mca_coll_optcast_component_t *cm = &mca_coll_optcast_component;
    opal_process_name_t first = OPAL_PROC_MY_NAME;
    void *data = NULL;
    size_t size = 0;
    int rc = OMPI_SUCCESS;

    first.vpid = 0;
    OPAL_MODEX_RECV(rc, &cm->super.collm_version, &first, &data, &size);
    if (OMPI_SUCCESS != rc || NULL == data || sizeof(*job) != size) {
        free(data);
        return OC_ERR_UNREACHABLE;
    }
    memcpy(job, data, sizeof(*job));
    free(data);
    return OC_OK;
}
