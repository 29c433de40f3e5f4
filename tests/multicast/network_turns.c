/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns when nodes have turns. */
#include "tests/multicast/network_turns.h"

#include <stdarg.h>
#include <stdio.h>

#include "tests/multicast/network_types.h"

void network_plan_turn(network_t *network, unsigned number, uint64_t at)
{
    place_t *place = &network->places[number];

    at = at < place->paused_until ? place->paused_until : at;
    at = at < place->busy_until ? place->busy_until : at;
    if (place->attached && !place->dead && at < place->turn_at) {
        place->turn_at = at;
        events_plan(network->events, (event_t) {.at = at, .kind = network->turn, .owner = network,
                                                .to = number});
    }
}

void network_wake(network_t *network, unsigned node)
{
    network_plan_turn(network, node, events_now(network->events) + TURN_TIME);
}

void network_pause(network_t *network, unsigned node, uint64_t until)
{
    place_t *place = &network->places[node];

    if (UINT64_MAX == place->paused_from) {
        place->paused_from = events_now(network->events);
    }
    place->paused_until = until;
    place->turn_at = UINT64_MAX;
    network_plan_turn(network, node, until);
}

void network_kill(network_t *network, unsigned node)
{
    network->places[node].dead = true;
}

bool network_is_dead(const network_t *network, unsigned node)
{
    return network->places[node].dead;
}

void network_complain(network_t *network, const char *format, ...)
{
    va_list arguments;

    if ('\0' != network->complaint[0]) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(network->complaint, sizeof(network->complaint), format, arguments);
    va_end(arguments);
}

const char *network_complaint(const network_t *network)
{
    return network->complaint;
}
