/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data model of this folder, on one page, and what its files need of each other. All of it
 * belongs to the thread that has the worker.
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
#include "ucx_backend/transports.h"
#include "ucx_backend/worker.h"

struct oc_endpoint {
    oc_worker_t *worker;
    ucp_ep_h ep;                /* NULL once closing */
    void *close_request;
    void (*failed)(void *arg);
    void *arg;
    bool is_failed;             /* UCX gave it up */
    bool examined;              /* what its transports are, once somebody wanted to know */
    oc_transports_t transports;
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

/* worker.c */
oc_status_t oc_status_from_ucs(ucs_status_t status);

/* wakeup.c */
/* Whether there is a timer; errno says why not. */
bool oc_wakeup_open(oc_wakeup_t *wakeup);
void oc_wakeup_close(oc_wakeup_t *wakeup);

/* endpoint.c */
/* Tells whoever has an endpoint that UCX gave up; returns how many were told. */
unsigned oc_endpoints_notify(oc_worker_t *worker);
/* Frees those that are closed and that UCX has let go of. */
void oc_endpoints_reap(oc_worker_t *worker);
/* Begins to close all that are left. */
void oc_endpoints_close(oc_worker_t *worker);
/* Frees those that are closing still; the UCX worker is gone. */
void oc_endpoints_free(oc_worker_t *worker);
const oc_transports_t *oc_endpoint_transports(oc_endpoint_t *endpoint);

/* transfer.c */
/* To be called back with that status. */
void oc_transfer_complete(oc_transfer_t *transfer, oc_status_t status);
/* Calls back what has completed; returns how many. Callbacks may do what they like. */
unsigned oc_transfers_hand_out(oc_worker_t *worker);
/* Asks UCX to let go of all that it has; most of that completes only with progress. */
void oc_transfers_cancel(oc_worker_t *worker);

#endif
