/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table of addresses. Datagrams come in runs of one sender: the last is looked at first. */
#include "multicast/transport/senders.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct oc_sender {
    oc_origin_t origin;
    unsigned users;
    UT_hash_handle hh;
};

_Static_assert(sizeof(oc_origin_t) == 20, "the key has no gaps");

static oc_sender_t *senders_find(const oc_senders_t *senders, const oc_origin_t *origin)
{
    oc_sender_t *sender;

    HASH_FIND(hh, senders->table, origin, sizeof(*origin), sender);
    return sender;
}

bool oc_senders_admit(oc_senders_t *senders, const oc_origin_t *origin)
{
    oc_sender_t *sender = senders_find(senders, origin);

    if (NULL == sender) {
        sender = calloc(1, sizeof(*sender));
        if (NULL == sender) {
            return false;
        }
        sender->origin = *origin;
        HASH_ADD(hh, senders->table, origin, sizeof(sender->origin), sender);
    }
    sender->users++;
    return true;
}

void oc_senders_dismiss(oc_senders_t *senders, const oc_origin_t *origin)
{
    oc_sender_t *sender = senders_find(senders, origin);

    assert(NULL == sender || sender->users > 0);
    if (NULL != sender && 0 == --sender->users) {
        senders->last = NULL;
        HASH_DELETE(hh, senders->table, sender);
        free(sender);
    }
}

bool oc_senders_have(oc_senders_t *senders, const oc_origin_t *origin)
{
    if (NULL == senders->last
        || 0 != memcmp(&senders->last->origin, origin, sizeof(*origin))) {
        const oc_sender_t *sender = senders_find(senders, origin);

        if (NULL == sender) {
            return false;
        }
        senders->last = sender;
    }
    return true;
}

void oc_senders_clear(oc_senders_t *senders)
{
    oc_sender_t *sender, *next;

    HASH_ITER(hh, senders->table, sender, next) {
        HASH_DELETE(hh, senders->table, sender);
        free(sender);
    }
    senders->last = NULL;
}
