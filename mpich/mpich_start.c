/* SPDX-License-Identifier: BSD-3-Clause */
/* An operation that cannot begin on this rank is told to the others by the end of the group. */
#include "mpich/mpich_start.h"

static oc_status_t prepare_and_start(const oc_mpich_comm_t *c, oc_mpich_call_t *call,
                                     void (*finished)(void *, oc_status_t), void *arg)
{
    const oc_mpich_operation_t *operation = call->operation;

    if (NULL != operation->prepare && !operation->prepare(c, call)) {
        return OC_ERR_NO_MEMORY;
    }
    return operation->start(c, call, finished, arg);
}

oc_status_t oc_mpich_start(const oc_mpich_comm_t *c, oc_mpich_call_t *call,
                           void (*finished)(void *, oc_status_t), void *arg)
{
    oc_status_t status = prepare_and_start(c, call, finished, arg);

    if (status < OC_OK) {
        oc_group_give_up(c->services[call->operation->service].group, status,
                         oc_status_string(status));
    }
    return status;
}
