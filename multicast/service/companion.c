/* SPDX-License-Identifier: BSD-3-Clause */
/* Two members of the same ranks, which alternate. */
#include "multicast/service/companion.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "multicast/service/activity.h"
#include "multicast/service/cast_member.h"

/* Not 0, which is no token; nor, but by chance, that of another group. */
static uint64_t second_token(uint64_t token)
{
    uint64_t hash = oc_hash(OC_HASH_START, &token, sizeof(token));

    return 0 != hash ? hash : 1;
}

static void pair(oc_cast_member_t *first, oc_cast_member_t *second)
{
    oc_alternate_init(first->alternate, first->core, second->core);
    first->companion = second;
    second->companion = first;
    second->alternate = first->alternate;
}

/* The address that the first one has, once more. */
static oc_status_t share_slot(const oc_cast_member_t *member, oc_cast_slot_t **slot, char *error,
                              size_t error_size)
{
    if (NULL == member->slot || member->crowded) {
        return OC_OK;
    }
    return oc_cast_transports_get(&member->multicast->transports, member->carrier,
                                  member->slot->address, slot, error, error_size);
}

oc_status_t oc_companion_join(oc_cast_member_t *member, const oc_multicast_params_t *params,
                              const oc_multicast_terms_t *terms, uint64_t now, char *error,
                              size_t error_size)
{
    oc_multicast_terms_t others = *terms;
    oc_cast_member_t *second;
    oc_cast_slot_t *slot = NULL;
    oc_status_t status;

    others.token = second_token(terms->token);
    others.tested = false;
    member->alternate = calloc(1, sizeof(*member->alternate));
    if (NULL == member->alternate) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    status = share_slot(member, &slot, error, error_size);
    if (OC_OK == status) {
        status = oc_cast_member_join(member->multicast, params, &others, slot, true, now, &second,
                                     error, error_size);
    }
    if (OC_OK != status) {
        free(member->alternate);
        member->alternate = NULL;
        return status;
    }
    pair(member, second);
    oc_companion_settle(member);
    return OC_OK;
}

void oc_companion_leave(oc_cast_member_t *member)
{
    oc_cast_member_t *companion = member->companion;

    if (NULL == companion) {
        return;
    }
    member->companion = NULL;
    oc_cast_member_leave(companion);
    free(member->alternate);
    member->alternate = NULL;
}

oc_status_t oc_companion_start(oc_cast_member_t **member, const oc_cast_args_t *args, uint64_t now)
{
    unsigned which;
    oc_status_t status = oc_alternate_start((*member)->alternate, args, now, &which);

    *member = 0 == which ? *member : (*member)->companion;
    oc_companion_settle(*member);
    return status;
}

void oc_companion_settle(oc_cast_member_t *member)
{
    oc_cast_member_t *companion = member->companion;
    unsigned freed;

    if (NULL == companion) {
        return;
    }
    freed = oc_alternate_settle(member->alternate);
    if (0 != (freed & 1u << member->second)) {
        oc_cast_member_wake(member);
    }
    if (0 != (freed & 1u << companion->second)) {
        oc_cast_member_wake(companion);
    }
    oc_cast_member_look(member);
    oc_cast_member_look(companion);
}
