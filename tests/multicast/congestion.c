/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the growth and the reduction of a congestion window. Constants are those of RFC 9438. */
#include "tests/multicast/congestion.h"

#include <math.h>

#include "base/clock.h"

#define INITIAL_WINDOW 10.0
#define LEAST_WINDOW   2.0
#define SCALE          0.4       /* C */
#define BETA           0.7
/* segments a round trip that a window grows by which shares like one that is halved */
#define FRIENDLY_STEP (3.0 * (1.0 - BETA) / (1.0 + BETA))

void congestion_init(congestion_t *congestion, double limit)
{
    *congestion = (congestion_t) {.window = INITIAL_WINDOW < limit ? INITIAL_WINDOW : limit,
                                  .limit = limit, .threshold = HUGE_VAL};
}

/* Where CUBIC is so many seconds after the last loss. */
static double cubic_at(const congestion_t *congestion, double seconds)
{
    double away = seconds - congestion->plateau;

    return SCALE * away * away * away + congestion->most;
}

static void avoid(congestion_t *congestion, double segments, uint64_t now, uint64_t rtt)
{
    double target;

    if (0 == congestion->epoch) {
        /* slow start ended at its limit, without a loss */
        congestion->epoch = now;
        congestion->most = congestion->friendly = congestion->window;
        congestion->plateau = 0;
    }
    congestion->friendly += FRIENDLY_STEP * segments / congestion->window;
    target = cubic_at(congestion, (double) (now + rtt - congestion->epoch) / OC_SECOND);
    target = target < congestion->friendly ? congestion->friendly : target;
    target = target > 1.5 * congestion->window ? 1.5 * congestion->window : target;
    if (target > congestion->window) {
        congestion->window += (target - congestion->window) * segments / congestion->window;
    }
}

void congestion_acked(congestion_t *congestion, double segments, uint64_t now, uint64_t rtt)
{
    if (congestion->window < congestion->threshold) {
        congestion->window += segments;
    } else {
        avoid(congestion, segments, now, rtt);
    }
    if (congestion->window > congestion->limit) {
        congestion->window = congestion->limit;
    }
}

void congestion_lost(congestion_t *congestion, uint64_t now)
{
    double window = congestion->window;

    /* one that is pushed back before it has all again leaves room for others */
    congestion->most = window < congestion->most ? window * (1.0 + BETA) / 2.0 : window;
    congestion->window = window * BETA > LEAST_WINDOW ? window * BETA : LEAST_WINDOW;
    congestion->threshold = congestion->friendly = congestion->window;
    congestion->plateau = cbrt((congestion->most - congestion->window) / SCALE);
    congestion->epoch = now;
}

void congestion_timeout(congestion_t *congestion, uint64_t now)
{
    congestion_lost(congestion, now);
    congestion->window = 1;
}
