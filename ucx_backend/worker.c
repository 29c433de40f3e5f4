/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers: their life and their progress. */
#include "ucx_backend/worker_types.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/signals.h"
#include "ucx_backend/context.h"
#include "ucx_backend/endpoint.h"
#include "ucx_backend/transfer.h"
#include "ucx_backend/ucx_status.h"
#include "ucx_backend/wakeup.h"

/* Calls of ucp_worker_progress in a row before completions are handed out. */
#define PROGRESS_BURST 64

/* How often a closing worker is progressed; the second half sleeps a millisecond each time. */
#define SETTLE_ROUNDS 400

const char *oc_ucx_version(void)
{
    return ucp_get_version_string();
}

/* Of two at a time, each would find the sockets of the other. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static ucs_status_t worker_open_worker(oc_worker_t *worker)
{
    /* a message that is here in part, and nobody receives, keeps a request: that is no news for the user */
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_FLAGS,
        .thread_mode = UCS_THREAD_MODE_SERIALIZED,
        .flags = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK,
    };
    ucp_context_attr_t attributes = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES};
    oc_sockets_t before;
    ucs_status_t status;

    pthread_mutex_lock(&opening);
    oc_sockets_remember(&before);
    status = ucp_worker_create(worker->context, &params, &worker->worker);

    /* to map memory of the host means to register it with accelerators, too, if there are some */
    oc_mappings_open(&worker->mappings, worker->context,
                     UCS_OK == ucp_context_query(worker->context, &attributes)
                         && UCS_BIT(UCS_MEMORY_TYPE_HOST) == attributes.memory_types);

    if (UCS_OK == status) {
        status = ucp_worker_get_address(worker->worker, &worker->address, &worker->address_length);
    }
    if (UCS_OK == status) {
        oc_listeners_find(&before, worker->address, worker->address_length, &worker->listeners);
        status = ucp_worker_get_efd(worker->worker, &worker->wakeup.event_fd);
    }
    pthread_mutex_unlock(&opening);
    oc_sockets_forget(&before);
    return status;
}

oc_status_t oc_worker_open(const char *net_devices, oc_worker_t **worker_p, char *error,
                           size_t error_size)
{
    oc_worker_t *worker = calloc(1, sizeof(*worker));
    ucs_status_t status;
    sigset_t before;

    if (NULL == worker) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    worker->wakeup.timer_fd = -1;
    worker->thresholds_given = NULL != getenv("OPTCAST_UCX_RNDV_THRESH");
    /* UCX has a thread of its own in each process, which begins here, unless it runs already */
    oc_signals_block(&before);
    status = oc_context_open(net_devices, &worker->context);
    if (UCS_OK == status) {
        status = worker_open_worker(worker);
    }
    oc_signals_restore(&before);
    if (UCS_OK != status) {
        snprintf(error, error_size, "UCX cannot be used (%s): check the OPTCAST_UCX_* "
                 "settings; UCX_LOG_LEVEL=info shows what it tried", ucs_status_string(status));
        oc_worker_close(worker);
        return oc_status_from_ucs(status);
    }
    if (!oc_wakeup_open(&worker->wakeup)) {
        snprintf(error, error_size, "no timer to be woken by: %s", strerror(errno));
        oc_worker_close(worker);
        return OC_ERR_SYSTEM;
    }
    *worker_p = worker;
    return OC_OK;
}

void oc_worker_guard(oc_worker_t *worker, oc_admission_t *admission)
{
    worker->admission = admission;
    for (unsigned i = 0; i < worker->listeners.count; i++) {
        oc_admission_guard(admission, worker->listeners.fds[i]);
    }
    if (0 != worker->listeners.error) {
        oc_admission_miss(admission, strerror(worker->listeners.error));
    }
    /* another version of UCX may write addresses in another way */
    for (unsigned i = 0; i < worker->listeners.unknown; i++) {
        oc_admission_miss(admission, "a socket that listens since UCX was started is not part of "
                          "its address, and may be another one's");
    }
}

static void unguard(oc_worker_t *worker)
{
    for (unsigned i = 0; NULL != worker->admission && i < worker->listeners.count; i++) {
        oc_admission_release(worker->admission, worker->listeners.fds[i]);
    }
}

unsigned oc_worker_progress(oc_worker_t *worker)
{
    unsigned count = 0;

    for (int i = 0; i < PROGRESS_BURST && NULL == worker->completed; i++) {
        if (0 == ucp_worker_progress(worker->worker)) {
            break;
        }
        worker->wakeup.vain = 0;
    }
    if (NULL != worker->closing) {
        oc_endpoints_reap(worker);
    }
    if (worker->endpoint_failed) {
        count += oc_endpoints_notify(worker);
    }
    return count + oc_transfers_hand_out(worker);
}

/* UCX sometimes needs a moment to let go of what was canceled. */
static void worker_settle(oc_worker_t *worker)
{
    oc_transfers_cancel(worker);
    for (int i = 0; i < SETTLE_ROUNDS && (NULL != worker->active || NULL != worker->closing); i++) {
        ucp_worker_progress(worker->worker);
        oc_endpoints_reap(worker);
        if (i > SETTLE_ROUNDS / 2) {
            poll(NULL, 0, 1);
        }
    }
}

/*
 * Messages that nobody receives any more, as of a last Barrier or of an operation that failed: UCX would warn the user of each.
 * Of those that are only announced, UCX drops the announcement where this end of the connection is closed.
 */
static void take_what_is_left(oc_worker_t *worker)
{
    oc_unexpected_t message;

    while (oc_unexpected_take(worker, 0, 0, &message)) {
        oc_unexpected_drop(worker, &message);
    }
}

static void close_ucx(oc_worker_t *worker)
{
    oc_endpoints_close(worker);
    worker_settle(worker);
    take_what_is_left(worker);
    unguard(worker);
    if (NULL != worker->address) {
        ucp_worker_release_address(worker->worker, worker->address);
    }
    ucp_worker_destroy(worker->worker);
    oc_endpoints_free(worker);
}

void oc_worker_close(oc_worker_t *worker)
{
    if (NULL == worker) {
        return;
    }
    if (NULL != worker->worker) {
        close_ucx(worker);
    }
    while (NULL != worker->active) {
        oc_transfer_complete(worker->active, OC_ERR_CANCELED);
    }
    oc_transfers_hand_out(worker);
    if (NULL != worker->context) {
        ucp_cleanup(worker->context);
    }
    oc_wakeup_close(&worker->wakeup);
    free(worker->listeners.fds);
    free(worker);
}

const void *oc_worker_address(const oc_worker_t *worker, size_t *length)
{
    *length = worker->address_length;
    return worker->address;
}

unsigned oc_worker_pending(const oc_worker_t *worker)
{
    return worker->pending;
}

oc_mapping_t *oc_map(oc_worker_t *worker, const void *memory, size_t length)
{
    return oc_mappings_take(&worker->mappings, memory, length);
}

void oc_unmap(oc_worker_t *worker, oc_mapping_t *mapping)
{
    oc_mappings_give(&worker->mappings, mapping);
}
