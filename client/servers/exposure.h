/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether servers on other hosts get multicast that they have not joined, which takes their links
 * from reductions. Process 0 of the job, if it multicasts to other hosts, sends a flood test, once
 * for each server that it uses, and they watch. It runs in the background, changes nothing, and says
 * one line. Callers hold the lock of the client.
 */
#ifndef OC_CLIENT_SERVERS_EXPOSURE_H
#define OC_CLIENT_SERVERS_EXPOSURE_H

#include "client/state/types.h"

/* The group has become live: there is a test soon if this process has to make one. */
void oc_exposure_consider(const oc_group_t *group);

/* Begins and moves on what there is. Cheap if there is nothing. */
void oc_exposure_progress(oc_client_t *client);

/* Whether there is one that has begun. It counts in pending. */
bool oc_exposure_is_tested(const oc_client_t *client);

/* A server says what it sees. */
void oc_exposure_sight(oc_connection_t *connection, const oc_sight_t *sight);

/* The client ends, and with it all tests, without a word. */
void oc_exposure_drop(oc_client_t *client);

#endif
