/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collective as a table of functions. What does not depend on it is in coll_optcast_operate.c,
 * coll_optcast_request.c and coll_optcast_persistent.c. A new collective is a file with a table.
 */
#ifndef MCA_COLL_OPTCAST_OPERATION_H
#define MCA_COLL_OPTCAST_OPERATION_H

#include "adapter/fallback.h"
#include "client/client.h"

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"

/* All that depends on which collective it is, whichever way it is called. */
struct mca_coll_optcast_operation {
    const char *names[OC_NUM_WAYS];
    oc_service_t service;
    bool by_size;               /* mode auto chooses sizes of it, by rules and model … */
    oc_ruled_t ruled;           /* … for these, and can say why */
    /*
     * Whether it is offloaded: a pure function of what MPI makes equal on all ranks. Fills in
     * what the call is for the engine.
     */
    oc_fallback_t (*decide)(const mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call);
    /* Once, in MPI's function, before start: fills in the layout. NULL: it has none. */
    int (*prepare)(const mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call);
    /* As oc_allreduce_start. */
    oc_status_t (*start)(const mca_coll_optcast_module_t *m, oc_group_t *group,
                         mca_coll_optcast_call_t *call, void (*finished)(void *, oc_status_t),
                         void *arg);
    /* After each success: what is temporary goes to where it belongs. NULL: nothing is. */
    int (*finish)(const mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call);
    /* The previous module's functions. */
    int (*previous)(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call);
    int (*previous_now)(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                        ompi_request_t **request);
    int (*previous_init)(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                         struct ompi_info_t *info, ompi_request_t **request);
    /* As previous_init, but may be of something small: for a request that is never started. */
    int (*previous_unused)(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                           ompi_request_t **request);
    /* Whether the previous module numbers an immediate operation like a persistent one. */
    bool (*same_numbers)(const mca_coll_optcast_module_t *m);
};

#endif
