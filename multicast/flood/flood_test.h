/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host's part in a flood test. In the set-up of a group it begins before this rank is heard by
 * any other: so rank 0, when it has heard all, knows that all hosts have joined, or watch. One thread
 * at a time; what a watcher waits for stands in flood_watch.h, and nobody else waits.
 */
#ifndef OC_MULTICAST_FLOOD_FLOOD_TEST_H
#define OC_MULTICAST_FLOOD_FLOOD_TEST_H

#include "base/mac.h"
#include "multicast/flood/flood_sender.h"
#include "multicast/flood/flood_watch.h"

typedef enum {
    OC_FLOOD_IDLE,             /* another rank of its host does what there is to do */
    OC_FLOOD_SENDER,           /* joins the address of the probes, and sends them */
    OC_FLOOD_MEMBER,           /* joins it */
    OC_FLOOD_WATCHER,          /* looks whether they arrive without that */
} oc_flood_role_t;

typedef struct oc_flood_test {
    oc_flood_place_t place;
    oc_flood_role_t role;
    oc_mac_t *seal;
    int member_fd;             /* -1: this rank does not join the address of the probes */
    oc_flood_sender_t sender;
    oc_flood_watch_t *watch;   /* NULL: not its part, or it cannot */
    struct oc_flood_test *prev, *next; /* for its owner */
} oc_flood_test_t;

/* place is copied. NULL: no memory. */
oc_flood_test_t *oc_flood_test_new(const oc_flood_place_t *place, oc_flood_role_t role,
                                   const uint8_t *job_key);
/* Leaves the address of the probes. NULL is allowed. */
void oc_flood_test_free(oc_flood_test_t *test);

/* This rank has heard all others. false: it has to send, which is not over. */
bool oc_flood_test_is_sent(oc_flood_test_t *test, uint64_t now);

void oc_flood_test_progress(oc_flood_test_t *test, uint64_t now);
/* When it has something to send; UINT64_MAX: not for now. */
uint64_t oc_flood_test_due(const oc_flood_test_t *test);
/* Readable when it has to be progressed; -1: never. */
int oc_flood_test_fd(const oc_flood_test_t *test);

/*
 * All has been sent. OC_FLOOD_BLIND if it is not this rank's part to look; OC_FLOOD_UNKNOWN: it
 * could not look this time.
 */
oc_flood_verdict_t oc_flood_test_verdict(oc_flood_test_t *test);

#endif
