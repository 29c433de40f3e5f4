/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns of what only a few processes of a host may do at a time, whichever servers they belong to.
 * They are for manners and not for safety: any user of the host can take them all, and containers
 * with a network of their own have turns of their own. Any thread; nobody waits.
 */
#ifndef OC_SERVER_HOST_TURNS_H
#define OC_SERVER_HOST_TURNS_H

/*
 * One of so many turns of that name. It is given back when the descriptor is closed by oc_fd_close,
 * or the process ends. -1: all are taken, or the system does not know.
 */
int oc_turn_take(const char *name, unsigned count);

#endif
