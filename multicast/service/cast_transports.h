/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transports of a process: one for each multicast address that its groups use and kind of
 * network, opened when the first group needs it. A few that no group uses any more stay open, for
 * communicators that are made and freed again and again.
 */
#ifndef OC_MULTICAST_SERVICE_CAST_TRANSPORTS_H
#define OC_MULTICAST_SERVICE_CAST_TRANSPORTS_H

#include "base/limits.h"
#include "multicast/core/cast_core.h"
#include "multicast/service/cast_record.h"
#include "multicast/transport/cast_address.h"
#include "multicast/transport/interface.h"
#include "multicast/transport/transport.h"
#include "multicast/transport/udp_source.h"
#include "multicast/transport/verbs.h"

/* Most multicast addresses of a process: the maximum of coll_optcast_multicast_groups. */
#define OC_MAX_SLOTS 16

/* Addresses that stay joined though no group uses them, of all kinds of network together. */
#define OC_IDLE_SLOTS 2u

/* Bytes that are locked to receive by verbs, at most, but for the first address. */
#define OC_VERBS_STAGING (32u << 20)

struct oc_cast_slot {
    oc_transport_t *transport;
    oc_carrier_t carrier;
    struct in_addr address;
    unsigned place;            /* less than OC_MAX_SLOTS; no other open one of its carrier has it */
    unsigned users;            /* groups that have it, or are about to */
    uint64_t rested;           /* if there are none: higher than of those that rest for longer */
    unsigned listeners;        /* groups that wait for datagrams now */
    bool receiving;            /* it is handing out, and must not be called */
    bool absent;               /* its transport was, as groups have been told */
    bool sending;              /* somebody waits for room to send */
};

#define OC_CAST_TEXT_SIZE 192

/* What was found out about a way to multicast. */
typedef struct {
    oc_carrier_record_t record;
    char text[OC_CAST_TEXT_SIZE]; /* which interface it is, or why it cannot be used */
} oc_carrier_state_t;

typedef struct {
    const oc_job_settings_t *settings;
    oc_cast_counters_t *counters;
    uint8_t job_id[OC_JOB_ID_SIZE];
    uint64_t first_number;     /* for oc_cast_transports_wrap: each process has its own */
    bool surveyed;
    oc_carrier_state_t carriers[OC_CARRIERS];
    oc_multicast_range_t range;
    oc_interface_t interfaces[OC_CARRIERS]; /* of those that may flood, and of udp … */
    oc_udp_source_t source;    /* … what it is sent from */
    oc_verbs_source_t *verbs_source;    /* the same; NULL: there is none */
    oc_cast_slot_t *open[OC_CARRIERS * OC_MAX_SLOTS];
    unsigned num_open;
    uint64_t rests;            /* how often a slot has lost its last user */
} oc_cast_transports_t;

/*
 * The door for tests; NULL in the product. If it is set, it is given each transport that has been
 * opened, with a number that no other transport of the job has. It returns the transport to use,
 * which owns the given one, or NULL: out of memory, and the given one is still the caller's. It is
 * set before transports are opened, and not afterwards.
 */
typedef oc_transport_t *oc_cast_transports_wrap_t(oc_transport_t *transport, uint64_t number);
extern oc_cast_transports_wrap_t *oc_cast_transports_wrap;

/* Settings and counters outlive them. Opens nothing. */
void oc_cast_transports_init(oc_cast_transports_t *transports, const oc_job_settings_t *settings,
                             oc_cast_counters_t *counters, const uint8_t *job_id,
                             uint32_t process);

/* Leaves all addresses. */
void oc_cast_transports_close(oc_cast_transports_t *transports);

/*
 * Finds out, once, what this host can multicast by; the result is in carriers. An error: the
 * settings make no sense, error names the one.
 */
oc_status_t oc_cast_transports_survey(oc_cast_transports_t *transports, char *error,
                                      size_t error_size);

/*
 * One user more for the slot of an address: it is joined, or about to be. OC_ERR_LIMIT: this
 * process has as many addresses as it may; it is never so for the common one of the job, for which
 * a place is kept. After an error there is no user more. A slot that was refused is tried once
 * more, and keeps its place. Not while a slot hands out.
 */
oc_status_t oc_cast_transports_get(oc_cast_transports_t *transports, oc_carrier_t carrier,
                                   struct in_addr address, oc_cast_slot_t **slot, char *error,
                                   size_t error_size);

/* One user fewer: the last one's address may be left now or later. */
void oc_cast_transports_put(oc_cast_transports_t *transports, oc_cast_slot_t *slot);

#endif
