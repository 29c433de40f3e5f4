/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that moves a client's nonblocking collectives on while the application computes, and takes part in what
 * follows the loss of a server. It
 * keeps away while the application drives the client itself. It never calls back: set-ups, which use
 * the bootstrap, and finished callbacks wait for oc_client_progress. So does everything while a
 * collective has memory of a device: drivers may expect the application's own threads.
 *
 * Callers hold the lock of the client, but for oc_helper_end.
 */
#ifndef OC_CLIENT_PROCESS_HELPER_H
#define OC_CLIENT_PROCESS_HELPER_H

#include <stdbool.h>

typedef struct oc_client oc_client_t;
typedef struct oc_helper oc_helper_t;

/*
 * The application has started a collective, and others are under way in the background, or this one is.
 * The first call starts the thread, if the client is to have one.
 */
void oc_helper_notice(oc_client_t *client, bool background);
/* The application has moved the client on, and may do so again soon. What is no collective may have begun. */
void oc_helper_give_way(oc_client_t *client);
/*
 * Has the helper watch the control connections from now on, if a group wants that: so a computing process takes part in
 * what follows the loss of a server. Does nothing the next time.
 */
void oc_helper_watch(oc_client_t *client);
/* Waits until the thread has ended. The client may have none. */
void oc_helper_end(oc_client_t *client);

#endif
