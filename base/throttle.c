/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines in a period. */
#include "base/throttle.h"

/* What was left out is not forgotten by the next period: its turn to be told of may come later. */
static void throttle_renew(oc_throttle_t *throttle, uint64_t now)
{
    if (0 == throttle->begin || now - throttle->begin >= OC_THROTTLE_PERIOD) {
        throttle->begin = now;
        throttle->said = 0;
    }
}

bool oc_throttle_passes(oc_throttle_t *throttle, uint64_t now)
{
    throttle_renew(throttle, now);
    if (throttle->said < OC_THROTTLE_LINES) {
        throttle->said++;
        return true;
    }
    throttle->left_out++;
    return false;
}

unsigned oc_throttle_left_out(oc_throttle_t *throttle, uint64_t now)
{
    unsigned count = throttle->left_out;

    if (0 == count || now - throttle->begin < OC_THROTTLE_PERIOD) {
        return 0;
    }
    throttle->left_out = 0;
    return count;
}

bool oc_throttle_owes(const oc_throttle_t *throttle)
{
    return 0 != throttle->left_out;
}
