/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns of what only a few processes of a host may do at a time, whichever servers they belong to. Any
 * thread; nobody waits.
 */
#ifndef OC_SERVER_HOST_TURNS_H
#define OC_SERVER_HOST_TURNS_H

/*
 * One of so many turns of that name. It is given back when the descriptor is closed by oc_fd_close, or
 * the process ends. -1: all are taken, or the system does not know.
 */
int oc_turn_take(const char *name, unsigned count);

#endif
