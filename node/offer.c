/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of offers. */
#include "node/offer.h"

#include <string.h>

void oc_offer_put(oc_writer_t *w, const oc_offer_t *offer)
{
    oc_put(w, offer->node, 8);
    oc_put_bytes(w, offer->segment, OC_SEGMENT_NAME_SIZE);
    oc_put_bytes(w, offer->bell, OC_DOORBELL_NAME_SIZE);
}

static bool offer_is_empty(const oc_offer_t *offer)
{
    static const oc_offer_t nothing;

    return 0 == memcmp(offer->segment, nothing.segment, sizeof(offer->segment))
           && 0 == memcmp(offer->bell, nothing.bell, sizeof(offer->bell));
}

bool oc_offer_get(oc_reader_t *r, oc_offer_t *offer)
{
    const uint8_t *names;

    offer->node = oc_get(r, 8);
    names = oc_get_bytes(r, OC_SEGMENT_NAME_SIZE + OC_DOORBELL_NAME_SIZE);
    if (NULL == names) {
        return false;
    }
    memcpy(offer->segment, names, OC_SEGMENT_NAME_SIZE);
    memcpy(offer->bell, names + OC_SEGMENT_NAME_SIZE, OC_DOORBELL_NAME_SIZE);
    return offer->shares <= OC_SHARES_FAILED
           && (OC_SHARES_MEMORY == offer->shares || offer_is_empty(offer));
}
