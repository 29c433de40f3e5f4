/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets the network take its time to join a process to its multicast addresses, or refuse to. */
#ifndef OC_TESTS_ENGINE_LATE_H
#define OC_TESTS_ENGINE_LATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Transports that this process opens from now on are joined so much later, or refused then for this
 * reason, unless it is NULL. Until then they bring nothing and have no room to send.
 */
void late_joins(uint64_t delay, const char *refusal);

/* From now on they bring nothing; known: and say that they are about to be joined again. */
void late_is_cut_off(bool cut, bool known);

/* How many transports were opened, and how many of them closed, since late_joins. */
extern unsigned late_opened, late_closed;

#endif
