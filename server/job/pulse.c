/* SPDX-License-Identifier: BSD-3-Clause */
/* The time that an answer takes. */
#include "server/job/pulse.h"

/* Silence only counts while this process runs. */
#define MAX_QUIET_STEP (1 * OC_SECOND)

bool oc_pulse_ask(oc_pulse_t *pulse, uint64_t now)
{
    if (pulse->open) {
        return false;
    }
    *pulse = (oc_pulse_t) {.looked = now, .number = pulse->number + 1, .open = true};
    return true;
}

void oc_pulse_answer(oc_pulse_t *pulse, uint32_t number)
{
    pulse->open = pulse->open && number != pulse->number;
}

bool oc_pulse_stopped(oc_pulse_t *pulse, uint64_t now)
{
    uint64_t elapsed = now - pulse->looked;

    if (!pulse->open) {
        return false;
    }
    pulse->looked = now;
    pulse->quiet += elapsed < MAX_QUIET_STEP ? elapsed : MAX_QUIET_STEP;
    return pulse->quiet > OC_PULSE_PATIENCE;
}
