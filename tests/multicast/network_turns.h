/* SPDX-License-Identifier: BSD-3-Clause */
/* The turns of nodes of a simulated network: what wakes them and keeps them from it, and complaints. */
#ifndef OC_TESTS_MULTICAST_NETWORK_TURNS_H
#define OC_TESTS_MULTICAST_NETWORK_TURNS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct network network_t;

/* Where what no node has sent comes from. */
#define NOWHERE UINT32_MAX

/* The node gets a turn soon. */
void network_wake(network_t *network, unsigned node);
/* Not before that time. */
void network_plan_turn(network_t *network, unsigned node, uint64_t at);
/* No turns for a while; what was posted and has not left stays. */
void network_pause(network_t *network, unsigned node, uint64_t until);
/* No more turns. */
void network_kill(network_t *network, unsigned node);
bool network_is_dead(const network_t *network, unsigned node);

/* Something is wrong; the first complaint stays. */
void network_complain(network_t *network, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "" if there is none. */
const char *network_complaint(const network_t *network);

#endif
