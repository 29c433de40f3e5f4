/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data model of this folder, on one page. All of it belongs to the thread that has the worker,
 * and so do the functions of its files: none of them blocks.
 *
 *   worker --< endpoint         a peer
 *          --< transfer         one send or receive: UCX has it, or it waits for its callback
 *          --- mappings --< mapping
 *          --- wakeup          what its owner sleeps on
 *          --- listeners       sockets on which it takes connections
 */
#ifndef OC_UCX_BACKEND_WORKER_TYPES_H
#define OC_UCX_BACKEND_WORKER_TYPES_H

#include <ucp/api/ucp.h>

#include "net/admission.h"
#include "ucx_backend/listeners.h"
#include "ucx_backend/mappings.h"
#include "ucx_backend/ucx_transports.h"
#include "ucx_backend/worker.h"

struct oc_endpoint {
    oc_worker_t *worker;
    ucp_ep_h ep;                /* NULL once closing */
    void *close_request;
    void (*failed)(void *arg);
    void *arg;
    bool is_failed;             /* UCX gave it up */
    bool examined;              /* what its transports are, once somebody wanted to know */
    oc_ucx_transports_t transports;
    bool notified;
    oc_endpoint_t *prev, *next;
};

/* What the worker's owner sleeps on. */
typedef struct {
    int event_fd;               /* UCX's, which closes it */
    int timer_fd;
    unsigned vain;              /* how often the former was readable in a row with nothing to do */
} oc_wakeup_t;

struct oc_worker {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    size_t address_length;
    unsigned pending;
    bool endpoint_failed;       /* some endpoint has to be notified */
    bool thresholds_given;      /* the user says how large messages are sent */
    oc_listeners_t listeners;
    oc_admission_t *admission;  /* guards the listeners; NULL: nobody does */
    oc_mappings_t mappings;
    oc_wakeup_t wakeup;
    oc_transfer_t *active;      /* UCX has them */
    oc_transfer_t *completed;   /* waiting for their callback */
    oc_endpoint_t *endpoints;
    oc_endpoint_t *closing;
};

#endif
