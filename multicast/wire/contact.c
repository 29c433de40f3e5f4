/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout: 0 "OC", version (1), number of the host's addresses (1), length of the worker's address
 * (2), zero (2), then the worker's address and those of the host (16 each).
 */
#include "multicast/wire/contact.h"

#include "base/text.h"
#include "base/wire.h"

#define MAGIC   0x434f
#define VERSION 1

size_t oc_contact_encode(const oc_contact_t *contact, uint8_t bytes[OC_CONTACT_MAX])
{
    oc_writer_t w = {.at = bytes, .end = bytes + OC_CONTACT_MAX};

    oc_put(&w, MAGIC, 2);
    oc_put(&w, VERSION, 1);
    oc_put(&w, contact->num_hosts, 1);
    oc_put(&w, contact->length, 2);
    oc_put(&w, 0, 2);
    oc_put_bytes(&w, contact->address, contact->length);
    oc_put_bytes(&w, contact->hosts, contact->num_hosts * sizeof(contact->hosts[0]));
    return (size_t) (w.at - bytes);
}

bool oc_contact_decode(const uint8_t *bytes, size_t length, oc_contact_t *contact)
{
    oc_reader_t r = {.at = bytes, .end = bytes + length};
    uint64_t magic = oc_get(&r, 2), version = oc_get(&r, 1), zero;
    const uint8_t *address, *hosts;

    contact->num_hosts = (uint8_t) oc_get(&r, 1);
    contact->length = (uint16_t) oc_get(&r, 2);
    zero = oc_get(&r, 2);
    if (r.bad || MAGIC != magic || VERSION != version || 0 != zero || 0 == contact->length
        || contact->length > OC_CONTACT_ADDRESS_SIZE || contact->num_hosts > OC_CONTACT_HOSTS) {
        return false;
    }
    address = oc_get_bytes(&r, contact->length);
    hosts = oc_get_bytes(&r, contact->num_hosts * sizeof(contact->hosts[0]));
    if (r.bad) {
        return false;
    }
    memcpy(contact->address, address, contact->length);
    memcpy(contact->hosts, hosts, contact->num_hosts * sizeof(contact->hosts[0]));
    return true;
}

uint64_t oc_contact_digest(const void *address, size_t length)
{
    uint64_t hash = oc_hash(OC_HASH_START, address, length);

    return 0 != hash ? hash : 1;
}
