/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An aggregator: one thread with a UCX worker and memory of its own, which receives
 * contributions, reduces them in rank order and sends the results back. It is told about
 * clients and groups by commands and knows nothing of connections.
 */
#ifndef OC_SERVER_AGGREGATOR_AGGREGATOR_H
#define OC_SERVER_AGGREGATOR_AGGREGATOR_H

#include "net/admission.h"
#include "server/aggregator/mailbox.h"
#include "server/host/binding.h"

typedef struct oc_aggregator oc_aggregator_t;

typedef struct {
    const char *net_devices;    /* NULL: any */
    oc_admission_t *admission;  /* guards its worker, and outlives it; NULL: nobody does */
    size_t memory_limit;       /* bytes for vectors in flight */
    int huge_pages;            /* oc_huge_pages_t */
    bool busy;                 /* does not sleep as long as it has groups */
    unsigned index;            /* in its job */
    const oc_binding_t *binding; /* where its thread, by index, and its memory belong; or NULL */
    const char *timeline;      /* prefix of its file; NULL or "": none */
    oc_mailbox_t *control;     /* where its answers go */
} oc_aggregator_config_t;

/*
 * Starts the thread. On failure nothing is left, and a sentence is in error. The caller keeps what
 * config points to until the aggregator is closed.
 */
oc_status_t oc_aggregator_open(const oc_aggregator_config_t *config, oc_aggregator_t **aggregator,
                               char *error, size_t error_size);

/*
 * Stops the thread, which lets go of everything at once, waits for its end, and frees the aggregator
 * and all commands that it has not carried out. NULL is allowed.
 */
void oc_aggregator_close(oc_aggregator_t *aggregator);

/* Any thread, without a lock: the address is constant. It is the aggregator's, and ends with it. */
const void *oc_aggregator_address(const oc_aggregator_t *aggregator, size_t *length);

/*
 * Any thread. Takes the command over, and may wait for the lock of the mailbox, never for the
 * aggregator's work. Commands are carried out in order.
 */
void oc_aggregator_post(oc_aggregator_t *aggregator, oc_command_t *command);

#endif
