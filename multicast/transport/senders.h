/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The addresses from which datagrams are accepted: those of the ranks of all groups of a process.
 * An address that was admitted several times has to be dismissed as often. One thread at a time.
 */
#ifndef OC_MULTICAST_TRANSPORT_SENDERS_H
#define OC_MULTICAST_TRANSPORT_SENDERS_H

#include <stdbool.h>

#include "multicast/transport/transport.h"

typedef struct oc_sender oc_sender_t;

/* Zero: there are none. */
typedef struct {
    oc_sender_t *table;
    const oc_sender_t *last;   /* that was found */
} oc_senders_t;

/* false: no memory. */
bool oc_senders_admit(oc_senders_t *senders, const oc_origin_t *origin);

/* One that was admitted. */
void oc_senders_dismiss(oc_senders_t *senders, const oc_origin_t *origin);

bool oc_senders_have(oc_senders_t *senders, const oc_origin_t *origin);

/* Dismisses all. */
void oc_senders_clear(oc_senders_t *senders);

#endif
