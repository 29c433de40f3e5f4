/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction between two hosts, in which nothing overtakes: what arrives is a call. While a host is cut off, things wait
 * as TCP's do, and for longer than TCP does the wire breaks.
 */
#ifndef OC_TESTS_SIMULATION_WIRE_H
#define OC_TESTS_SIMULATION_WIRE_H

#include <stdbool.h>

typedef struct wire wire_t;

/* broken(owner) is called once, if it breaks; NULL: nobody cares. */
wire_t *wire_new(unsigned from, unsigned to, void (*broken)(void *owner), void *owner);

void wire_send(wire_t *wire, void (*arrive)(void *thing), void *thing);

/* What is on it is lost, and what is sent from now on. */
void wire_cut(wire_t *wire);
bool wire_is_cut(const wire_t *wire);
/* Nothing is on it. */
bool wire_is_empty(const wire_t *wire);

/* A delay between hosts, ns. */
unsigned long long wire_delay(void);

/* Whether a host of the two is cut off. */
bool wire_is_blocked(unsigned from, unsigned to);

#endif
