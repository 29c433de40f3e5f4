/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a queue pair; librdmacm takes it through them when it makes it, and never again. */
#include "multicast/transport/verbs_pair.h"

#include <errno.h>

int oc_verbs_pair_reset(struct rdma_cm_id *id)
{
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_RESET};
    int failed = ibv_modify_qp(id->qp, &attributes, IBV_QP_STATE), mask;

    if (0 != failed) {
        return failed;
    }
    attributes = (struct ibv_qp_attr) {.qp_state = IBV_QPS_INIT};
    if (0 != rdma_init_qp_attr(id, &attributes, &mask)) {
        return errno;
    }
    return ibv_modify_qp(id->qp, &attributes, mask);
}

int oc_verbs_pair_start(struct rdma_cm_id *id)
{
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_RTR};
    int failed = ibv_modify_qp(id->qp, &attributes, IBV_QP_STATE);

    if (0 != failed) {
        return failed;
    }
    attributes = (struct ibv_qp_attr) {.qp_state = IBV_QPS_RTS, .sq_psn = 0};
    return ibv_modify_qp(id->qp, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN);
}
