/* SPDX-License-Identifier: BSD-3-Clause */
/* The time that an answer takes. */
#include "control/pulse.h"

void oc_pulse_init(oc_pulse_t *pulse, const oc_rhythm_t *rhythm)
{
    *pulse = (oc_pulse_t) {.rhythm = *rhythm};
}

void oc_pulse_begin(oc_pulse_t *pulse, uint64_t now)
{
    pulse->open = pulse->missed = false;
    pulse->due = now + pulse->rhythm.interval;
}

bool oc_pulse_ask(oc_pulse_t *pulse, uint64_t now)
{
    if (pulse->open || now < pulse->due) {
        return false;
    }
    pulse->due = now + pulse->rhythm.interval;
    pulse->looked = now;
    pulse->quiet = 0;
    pulse->number++;
    pulse->open = true;
    pulse->missed = false;
    return true;
}

void oc_pulse_answer(oc_pulse_t *pulse, uint32_t number)
{
    pulse->open = pulse->open && number != pulse->number;
}

bool oc_pulse_missed(oc_pulse_t *pulse, uint64_t now)
{
    uint64_t elapsed = now - pulse->looked;

    if (!pulse->open) {
        return false;
    }
    pulse->looked = now;
    pulse->quiet += elapsed < pulse->rhythm.step ? elapsed : pulse->rhythm.step;
    if (pulse->missed || pulse->quiet <= pulse->rhythm.patience) {
        return false;
    }
    pulse->missed = true;
    return true;
}

uint64_t oc_pulse_due(const oc_pulse_t *pulse, uint64_t now)
{
    uint64_t due = pulse->open ? pulse->looked + pulse->rhythm.step : pulse->due;

    if (pulse->open && pulse->missed) {
        return UINT64_MAX;
    }
    return due > now ? due - now : 0;
}
