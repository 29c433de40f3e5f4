/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terms of a job: what process 0 decides for all of its processes, and gives them before they
 * offload anything. Plain numbers and texts, sent as they are in memory.
 */
#ifndef OC_ADAPTER_TERMS_H
#define OC_ADAPTER_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rules.h"
#include "base/settings.h"
#include "client/client.h"

/* Of this version. */
#define OC_TERMS_FORMAT "OCJ04001"

/*
 * In the host's byte order. The first letters of format, and all up to the rules, stay as they are
 * in all versions from the first release on, and decide what begins a set-up: a rank with another
 * version decides like process 0, and says in the set-up that it cannot take part. What comes then
 * belongs to one format, and may have any length.
 */
typedef struct {
    char format[8];
    uint64_t multicast_min_size;
    uint64_t cast_least;        /* bytes of all ranks that multicast carries in mode auto, … */
    uint64_t block_least;       /* … of one of them in an Allgather, on average, … */
    uint64_t pair_least;        /* … and of an Allgather between two; UINT64_MAX: none */
    int32_t mode, max_ranks, priority, multicast;
    oc_job_t job;
    oc_least_t least[OC_NUM_RULED]; /* mode auto: no smaller vector is offloaded */
    oc_rules_t rules;           /* for mode auto */
} oc_terms_t;

/* What process 0 knows when it makes them. */
typedef struct {
    const oc_job_settings_t *settings;
    const oc_network_t *network;    /* of its host */
    uint32_t hosts, ranks;          /* of the job; no more hosts than these */
    const uint64_t *previous;       /* OC_NUM_RULED: what the MPI library would run (previous.h) */
} oc_terms_basis_t;

/* The terms that hold until process 0 has sent its own: nothing is known. */
void oc_terms_default(oc_terms_t *terms);
/*
 * Makes them, on process 0. Returns OC_OK; OC_ERR_INVALID: the file of rules is wrong, as error says,
 * and the model decides; OC_ERR_SYSTEM: there are no random numbers, and no terms.
 */
oc_status_t oc_terms_make(const oc_terms_basis_t *basis, oc_terms_t *terms, char *error,
                          size_t error_size);
/*
 * Takes over what process 0 has sent. OC_OK; OC_DECLINED: it is of another version, so this process
 * decides like it and takes part in nothing; OC_ERR_INVALID: it says nothing.
 */
oc_status_t oc_terms_take(const void *data, size_t size, oc_terms_t *terms);
/*
 * Gives settings the values of process 0, which all ranks have to decide by. names gets the names of those
 * that differed, each behind prefix; "" if none did.
 */
void oc_terms_impose(const oc_terms_t *terms, oc_job_settings_t *settings, const char *prefix,
                     char *names, size_t names_size);

/*
 * The fewest bytes of all ranks that multicast carries in mode auto, with so many ranks; UINT64_MAX: it
 * carries nothing.
 */
uint64_t oc_terms_gather_least(const oc_terms_t *terms, uint32_t ranks, bool one_host);
uint64_t oc_terms_bcast_least(const oc_terms_t *terms, uint32_t ranks, bool one_host);

/* How this host is connected, by the devices that the UCX of ranks is told to use. */
void oc_terms_read_network(oc_network_t *network);

#endif
