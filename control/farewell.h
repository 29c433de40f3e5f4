/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets that are done with, whose last words may still be under way. What a peer says to a socket that is closed makes the
 * system break the connection, and what the peer has not received by then is lost: so each is closed when all has
 * arrived, or the peer is gone. Of one thread, or under the owner's lock.
 */
#ifndef OC_CONTROL_FAREWELL_H
#define OC_CONTROL_FAREWELL_H

typedef struct oc_farewell oc_farewell_t;

/* Takes a socket over, which sends nothing more; farewells is NULL at first. Without memory it is closed at once. */
void oc_farewell_begin(oc_farewell_t **farewells, int fd);

/* Closes those that need not be open any longer. */
void oc_farewells_look(oc_farewell_t **farewells);

/* Closes all. */
void oc_farewells_end(oc_farewell_t **farewells);

#endif
