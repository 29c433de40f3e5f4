/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the component in this process. */
#ifndef MCA_COLL_OPTCAST_STATE_H
#define MCA_COLL_OPTCAST_STATE_H

#include "coll_optcast_compat.h"

#include <stdatomic.h>

#include "opal/class/opal_free_list.h"
#include "opal/util/output.h"

#include "adapter/counters.h"
#include "adapter/terms.h"
#include "base/settings.h"
#include "client/client.h"

/* What the component has in this process, for all communicators. */
typedef struct {
    const mca_base_component_t *component; /* what MCA knows it by */
    oc_job_settings_t settings;
    bool settings_valid;
    int output;
    oc_client_t *client;        /* made for the first communicator */
    int live_modules;           /* under lock */
    atomic_int han_calls;       /* of all threads, that are under way: see han.c */
    oc_network_t network;       /* of this host */
    uint32_t max_hosts;         /* of the job: no more than these */
    oc_terms_t terms;           /* of the job */
    long spare_processors;      /* of this host, beside one for each rank; may be negative */
    opal_free_list_t requests;
    opal_list_t inner;          /* requests that wait for one of the previous module */
    opal_list_t exchanges;      /* under way; but those that the one below moves on */
    atomic_flag exchanging;     /* somebody moves exchanges on */
    opal_mutex_t lock;          /* of both lists, live_modules and the text of the error code */
    atomic_int error_code;      /* of MPI, with the last reason as its text; 0: none */
    atomic_bool error_code_asked;
    oc_adapter_counters_t counters;
} mca_coll_optcast_state_t;

extern mca_coll_optcast_state_t mca_coll_optcast_state;

#define OC_VERBOSE(level, ...) \
    opal_output_verbose((level), mca_coll_optcast_state.output, __VA_ARGS__)

#endif
