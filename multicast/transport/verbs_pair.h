/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A UD queue pair that has failed is made to work again: it keeps its number, which others know it
 * by, and loses what was posted. For verbs.c only. Functions return 0 or an errno.
 */
#ifndef OC_MULTICAST_TRANSPORT_VERBS_PAIR_H
#define OC_MULTICAST_TRANSPORT_VERBS_PAIR_H

#include <rdma/rdma_cma.h>

/* Then nothing is posted, and receives may be. What is in its completion queue is of before. */
int oc_verbs_pair_reset(struct rdma_cm_id *id);

/* From then on it works. */
int oc_verbs_pair_start(struct rdma_cm_id *id);

#endif
