/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged messages over UCX: the only folder that calls ucp_*. It does not know what the bytes mean.
 *
 * A worker belongs to one thread at a time (its callers lock if they share it). Nothing here
 * calls back but oc_worker_progress: completions of transfers and failures of endpoints are
 * queued while UCX runs and handed out afterwards, one after the other, so that a callback may
 * start transfers, close endpoints and free its own transfer without being re-entered.
 */
#ifndef OC_UCX_BACKEND_WORKER_H
#define OC_UCX_BACKEND_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "net/admission.h"

/* Messages that no transport has to announce: a copy of them costs less. */
#define OC_SHORT_MESSAGE (17u << 10)

/* Over TCP every receiver takes segments of so many bytes, and nobody sends longer ones. */
#define OC_TCP_SEGMENT (64u << 10)

typedef struct oc_worker oc_worker_t;
typedef struct oc_endpoint oc_endpoint_t;
typedef struct oc_transfer oc_transfer_t;
typedef struct oc_mapping oc_mapping_t;

/*
 * One send or receive. The caller owns the memory, which must stay until done was called, and
 * sets done (and whatever surrounds the structure); the rest is filled in by the worker.
 */
struct oc_transfer {
    void (*done)(oc_transfer_t *transfer);
    oc_status_t status;     /* OC_OK, OC_ERR_CANCELED, OC_ERR_TRUNCATED, OC_ERR_UNREACHABLE … */
    size_t length;          /* receive: bytes that arrived */
    uint64_t tag;           /* receive: tag of the message */

    oc_worker_t *worker;    /* private from here on */
    void *request;
    oc_transfer_t *prev, *next;
    bool active, called_back;
};

/*
 * Opens a UCX context of its own with one worker. Settings come from OPTCAST_UCX_* in the
 * environment. UCX_* are their defaults, but not for transports, devices and thresholds, nor for
 * the segments of TCP. net_devices names the devices to be used (NULL: any), separated by commas,
 * unless OPTCAST_UCX_NET_DEVICES says otherwise. On failure error tells what UCX said.
 */
oc_status_t oc_worker_open(const char *net_devices, oc_worker_t **worker, char *error,
                           size_t error_size);

/*
 * From now on, hosts that are not admitted cannot connect to it over TCP: UCX ends the process when
 * a stranger sends it something. Peers have to be admitted before they have its address. The
 * admission has to stay until the worker is closed.
 */
void oc_worker_guard(oc_worker_t *worker, oc_admission_t *admission);

/*
 * Ends everything at once: endpoints are closed by force; transfers that have not completed are
 * handed to their done callback with OC_ERR_CANCELED after UCX has let go of their buffers.
 * Does not wait for peers. NULL is allowed.
 */
void oc_worker_close(oc_worker_t *worker);

/* The address that peers connect to; owned by the worker. */
const void *oc_worker_address(const oc_worker_t *worker, size_t *length);

/* Moves data and calls back; returns how many callbacks ran. Never blocks. */
unsigned oc_worker_progress(oc_worker_t *worker);

/* Transfers that have not called back yet. */
unsigned oc_worker_pending(const oc_worker_t *worker);

/*
 * OC_OK: it is safe to sleep on *fd, which is readable as soon as there may be something to
 * progress. It is the worker's, and good for this sleep only. OC_IN_PROGRESS: progress again first.
 */
oc_status_t oc_worker_arm(oc_worker_t *worker, int *fd);

/*
 * failed(arg) is called once, from progress, when UCX gives the peer up; the endpoint then still
 * has to be closed. The address is copied.
 */
oc_status_t oc_endpoint_open(oc_worker_t *worker, const void *address, void (*failed)(void *arg),
                             void *arg, oc_endpoint_t **endpoint);

/* Closes by force: sends that have not completed are called back with an error. NULL is allowed. */
void oc_endpoint_close(oc_endpoint_t *endpoint);

/*
 * All three always lead to exactly one call of transfer->done, from a later oc_worker_progress.
 *
 * oc_send announces what is longer than 8 KiB (rendezvous): it leaves when the receiver has posted
 * a receive.
 */
void oc_send(oc_endpoint_t *endpoint, oc_transfer_t *transfer, const void *buffer, size_t length,
             uint64_t tag);
/*
 * oc_send_eager does not announce short messages, nor over TCP large ones: the receiver's answer
 * would wait behind all that is queued on its way, and save no copy. What comes before its receive
 * was posted takes memory of the receiver, so the caller limits how much that can be. If
 * OPTCAST_UCX_RNDV_THRESH is set, that is what decides in both.
 */
void oc_send_eager(oc_endpoint_t *endpoint, oc_transfer_t *transfer, const void *buffer,
                   size_t length, uint64_t tag);
void oc_receive(oc_worker_t *worker, oc_transfer_t *transfer, void *buffer, size_t length,
                uint64_t tag, uint64_t tag_mask);

/*
 * Whether a message with this tag is here, or announced, that no receive has taken yet. With an
 * exact tag it takes a few steps, however many there are; with a mask, one for each.
 */
bool oc_worker_holds(oc_worker_t *worker, uint64_t tag, uint64_t tag_mask);

/* A message that came before a receive was posted for it. */
typedef struct {
    uint64_t tag;
    size_t length;
    void *handle;           /* private; of one that was taken */
} oc_unexpected_t;

/*
 * The oldest message that waits for a receive, or the oldest whose tag fits; false: there is none,
 * which is found out at once if none waits. One that is taken meets no receive any more, but what
 * the caller does with it: one of the next two, before the worker is closed.
 */
bool oc_unexpected_look(oc_worker_t *worker, oc_unexpected_t *message);
bool oc_unexpected_take(oc_worker_t *worker, uint64_t tag, uint64_t tag_mask,
                        oc_unexpected_t *message);
/* As oc_receive. */
void oc_unexpected_receive(oc_worker_t *worker, oc_transfer_t *transfer, void *buffer,
                           size_t length, const oc_unexpected_t *message);
void oc_unexpected_drop(oc_worker_t *worker, const oc_unexpected_t *message);

/* A transfer that cannot even be tried: done is called with status from a later progress. */
void oc_transfer_fail(oc_worker_t *worker, oc_transfer_t *transfer, oc_status_t status);

/*
 * Asks a receive to end. One that has begun to match a message goes on until that message is
 * there, and for ever when its sender died: only oc_worker_close gives such a buffer back.
 */
void oc_receive_cancel(oc_transfer_t *transfer);

/* Whether it uses a device that memory has to be registered with. */
bool oc_endpoint_is_rdma(oc_endpoint_t *endpoint);

/*
 * Registers memory that is going to be sent and received in pieces, as a whole. Otherwise UCX
 * registers each piece when its turn comes, and if pieces share a cache line, all of them so far
 * once more. It is registered with every device that the worker might use. NULL if that fails, and
 * often for memory no shorter than what has failed (mappings.h); nothing depends on it. Memory of
 * which a mapping is there already gets that one, and each user ends it: before the worker is
 * closed, or in its last callbacks. What devices know UCX keeps, until the memory is given back to
 * the system.
 */
oc_mapping_t *oc_map(oc_worker_t *worker, const void *memory, size_t length);
/* NULL is allowed. */
void oc_unmap(oc_worker_t *worker, oc_mapping_t *mapping);

/* "1.13.1": the UCX library that is loaded. */
const char *oc_ucx_version(void);

#endif
