/* SPDX-License-Identifier: BSD-3-Clause */
/* Reasons in words. */
#include "adapter/fallback.h"

const char *oc_fallback_text(oc_fallback_t reason)
{
    static const char *const texts[OC_FALLBACK_END] = {
        [OC_FALLBACK_NONE] = "is offloaded",
        [OC_FALLBACK_OP] = "falls back: operation",
        [OC_FALLBACK_TYPE] = "falls back: type",
        [OC_FALLBACK_RANKS] = "falls back: too many ranks",
        [OC_FALLBACK_SIZE] = "falls back: size",
        [OC_FALLBACK_PLACE] = "falls back: place",
        [OC_FALLBACK_SETUP] = "falls back: no service",
        [OC_FALLBACK_ORDER] = "falls back: order",
    };

    return texts[reason];
}
