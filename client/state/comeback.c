/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a server is waited for that comes and goes. */
#include "client/state/comeback.h"

/* One that goes so soon after it has come is waited for twice as long the next time, up to 17 minutes. */
#define SOON           (60 * OC_SECOND)
#define MOST_DOUBLINGS 10

void oc_comeback_note(oc_comeback_t *comeback, bool back, uint64_t now)
{
    if (back && !comeback->back) {
        comeback->returned = now;
    } else if (!back && comeback->back) {
        comeback->lost = now;
        comeback->flaps = now - comeback->returned < SOON ? comeback->flaps + 1 : 0;
    }
    comeback->back = back;
}

bool oc_comeback_is_due(const oc_comeback_t *comeback, uint64_t now)
{
    unsigned doublings = comeback->flaps < MOST_DOUBLINGS ? comeback->flaps : MOST_DOUBLINGS;

    return now >= comeback->lost + (OC_COMEBACK_INTERVAL << doublings);
}
