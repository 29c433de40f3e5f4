/* SPDX-License-Identifier: BSD-3-Clause */
/* The roles of a flood test. Who cannot play his sees nothing: then this host does not tell. */
#include "multicast/flood/flood_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/descriptors.h"
#include "base/log.h"
#include "multicast/transport/flood_socket.h"

static void open_role(oc_flood_test_t *test)
{
    if (OC_FLOOD_SENDER == test->role || OC_FLOOD_MEMBER == test->role) {
        test->member_fd = oc_flood_socket_join(&test->place.interface, test->place.probes);
        if (test->member_fd < 0) {
            oc_info("the address that tests for floods of multicast cannot be joined: %s",
                    strerror(errno));
        }
    }
    if (OC_FLOOD_SENDER == test->role) {
        oc_flood_sender_open(&test->sender, &test->place, test->seal);
    } else if (OC_FLOOD_WATCHER == test->role) {
        test->watch = oc_flood_watch_open(&test->place, test->seal);
    }
}

oc_flood_test_t *oc_flood_test_new(const oc_flood_place_t *place, oc_flood_role_t role,
                                   const uint8_t *job_key)
{
    oc_flood_test_t *test = calloc(1, sizeof(*test));

    if (NULL == test) {
        return NULL;
    }
    test->place = *place;
    test->role = role;
    test->member_fd = -1;
    test->seal = oc_flood_seal_new(job_key, place->token);
    if (NULL == test->seal) {
        oc_flood_test_free(test);
        return NULL;
    }
    open_role(test);
    return test;
}

void oc_flood_test_free(oc_flood_test_t *test)
{
    if (NULL == test) {
        return;
    }
    oc_flood_watch_close(test->watch);
    oc_flood_sender_close(&test->sender);
    if (test->member_fd >= 0) {
        oc_fd_close(test->member_fd);
    }
    oc_mac_free(test->seal);
    free(test);
}

bool oc_flood_test_is_sent(oc_flood_test_t *test, uint64_t now)
{
    if (OC_FLOOD_SENDER != test->role) {
        return true;
    }
    oc_flood_sender_begin(&test->sender, now);
    return test->sender.over;
}

void oc_flood_test_progress(oc_flood_test_t *test, uint64_t now)
{
    if (OC_FLOOD_SENDER == test->role) {
        oc_flood_sender_progress(&test->sender, now);
    } else if (NULL != test->watch) {
        oc_flood_watch_progress(test->watch);
    }
}

uint64_t oc_flood_test_due(const oc_flood_test_t *test)
{
    return OC_FLOOD_SENDER == test->role ? test->sender.due : UINT64_MAX;
}

int oc_flood_test_fd(const oc_flood_test_t *test)
{
    return NULL != test->watch ? oc_flood_watch_fd(test->watch) : -1;
}

oc_flood_verdict_t oc_flood_test_verdict(oc_flood_test_t *test)
{
    return NULL != test->watch ? oc_flood_watch_verdict(test->watch) : OC_FLOOD_BLIND;
}
