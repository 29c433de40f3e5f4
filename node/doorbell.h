/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How processes of one host wake each other: each has a bell with a random name, and sleeps on its
 * descriptor. A ring carries nothing; whoever is woken looks for what has changed. Bells are
 * heard inside one network namespace.
 *
 * Threads: any; ringing needs no lock.
 */
#ifndef OC_NODE_DOORBELL_H
#define OC_NODE_DOORBELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Nobody guesses a name; who did could wake a process, no more. */
#define OC_DOORBELL_NAME_SIZE 8

typedef struct oc_doorbell oc_doorbell_t;

/* An error is one sentence. */
oc_status_t oc_doorbell_open(oc_doorbell_t **bell, char *error, size_t error_size);

/* NULL is allowed. */
void oc_doorbell_close(oc_doorbell_t *bell);

void oc_doorbell_name(const oc_doorbell_t *bell, uint8_t name[OC_DOORBELL_NAME_SIZE]);

/* Readable when it was rung and nobody has listened since. */
int oc_doorbell_fd(const oc_doorbell_t *bell);

/* Whether it was rung; forgets that. */
bool oc_doorbell_listen(oc_doorbell_t *bell);

/*
 * Whether there is a bell of this name, without ringing it: OC_OK, or OC_ERR_UNREACHABLE when there
 * is none in this network namespace.
 */
oc_status_t oc_doorbell_find(const uint8_t name[OC_DOORBELL_NAME_SIZE]);

/*
 * Rings the bell of this name; never blocks. OC_ERR_UNREACHABLE as above; OC_IN_PROGRESS: it did
 * not ring, but may do so later.
 */
oc_status_t oc_doorbell_ring(const oc_doorbell_t *own, const uint8_t name[OC_DOORBELL_NAME_SIZE]);

#endif
