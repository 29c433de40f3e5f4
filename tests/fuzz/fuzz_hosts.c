/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any addresses as those of hosts that may connect. The set has them and no others, also
 * when it is made smaller by prefixes, and the kernel's filter made from it drops what is not in it.
 */
/* Test: default 5; all 60 */
#include "net/filter.h"
#include "tests/fuzz/input.h"

#define MOST   40
#define PACKET 40

typedef struct {
    struct in6_addr addresses[MOST];
    size_t count;
} hosts_t;

/* Near one another: many addresses differ in few bits. */
static void next_address(input_t *input, const hosts_t *before, struct in6_addr *address)
{
    uint64_t how = input_number(input, 1);

    if (0 == how % 3 || 0 == before->count) {
        *address = (struct in6_addr) {.s6_addr = {[10] = 0xff, [11] = 0xff}};
        input_bytes(input, address->s6_addr + 12, 4);
    } else if (1 == how % 3) {
        input_bytes(input, address->s6_addr, sizeof(address->s6_addr));
    } else {
        *address = before->addresses[how % before->count];
        address->s6_addr[input_number(input, 1) % 16] ^= (uint8_t) input_number(input, 1);
    }
}

static uint32_t load(const uint8_t *packet, uint32_t at, unsigned size)
{
    uint32_t value = 0;

    check(at >= (uint32_t) SKF_NET_OFF && at - (uint32_t) SKF_NET_OFF + size <= PACKET);
    for (unsigned i = 0; i < size; i++) {
        value = value << 8 | packet[at - (uint32_t) SKF_NET_OFF + i];
    }
    return value;
}

static bool jumps(const struct sock_filter *one, uint32_t value)
{
    switch (one->code) {
    case BPF_JMP | BPF_K | BPF_JEQ:
        return value == one->k;
    case BPF_JMP | BPF_K | BPF_JGE:
        return value >= one->k;
    case BPF_JMP | BPF_K | BPF_JGT:
        return value > one->k;
    default:
        check(false);
        return false;
    }
}

/* As the kernel runs it. */
static bool keeps(const struct sock_filter *program, size_t length, const uint8_t *packet)
{
    uint32_t value = 0;
    size_t at = 0;

    for (;;) {
        const struct sock_filter *one = &program[at++];

        check(at <= length);
        if ((BPF_RET | BPF_K) == one->code) {
            return 0 != one->k;
        }
        if ((BPF_LD | BPF_W | BPF_ABS) == one->code) {
            value = load(packet, one->k, 4);
        } else if ((BPF_LD | BPF_B | BPF_ABS) == one->code) {
            value = load(packet, one->k, 1);
        } else if ((BPF_JMP | BPF_JA) == one->code) {
            at += one->k;
        } else {
            at += jumps(one, value) ? one->jt : one->jf;
        }
    }
}

static void make_packet(const struct in6_addr *source, uint8_t packet[PACKET])
{
    memset(packet, 0xa5, PACKET);
    if (IN6_IS_ADDR_V4MAPPED(source)) {
        packet[0] = 0x45;
        memcpy(packet + 12, source->s6_addr + 12, 4);
    } else {
        packet[0] = 0x6f;
        memcpy(packet + 8, source, sizeof(*source));
    }
}

/* IPv6 never comes to a socket of IPv4. */
static void check_filters(const oc_host_set_t *set, const hosts_t *hosts)
{
    static struct sock_filter program[OC_FILTER_MAX];
    uint8_t packet[PACKET];

    for (int family = AF_INET; AF_INET == family || AF_INET6 == family;
         family = AF_INET == family ? AF_INET6 : AF_UNSPEC) {
        size_t length = oc_filter_make(set, family, program, OC_FILTER_MAX);

        check(length > 0 && length <= OC_FILTER_MAX);
        for (size_t i = 0; i < hosts->count; i++) {
            const struct in6_addr *host = &hosts->addresses[i];

            if (AF_INET6 == family || IN6_IS_ADDR_V4MAPPED(host)) {
                make_packet(host, packet);
                check(oc_host_set_has(set, host) == keeps(program, length, packet));
            }
        }
    }
}

static bool was_added(const hosts_t *hosts, size_t added, const struct in6_addr *address)
{
    for (size_t i = 0; i < added; i++) {
        if (0 == memcmp(&hosts->addresses[i], address, sizeof(*address))) {
            return true;
        }
    }
    return false;
}

static void check_set(const oc_host_set_t *set, const hosts_t *hosts, size_t added, bool widened)
{
    for (size_t i = 0; i < hosts->count; i++) {
        bool known = was_added(hosts, added, &hosts->addresses[i]);

        check(oc_host_set_has(set, &hosts->addresses[i]) ? known || widened : !known);
    }
    check(set->count <= added && oc_host_set_mapped(set) <= set->count);
    for (size_t i = 1; i < set->count; i++) {
        check(!IN6_IS_ADDR_V4MAPPED(&set->prefixes[i].address) || i < oc_host_set_mapped(set));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input_t input = {data, data + size};
    unsigned bits = 32 + (unsigned) input_number(&input, 1) % (OC_ADDRESS_BITS - 32);
    size_t added = input_number(&input, 1);
    oc_host_set_t set = {0}, copy;
    hosts_t hosts = {.count = 0};

    while (hosts.count < MOST && input.at < input.end) {
        next_address(&input, &hosts, &hosts.addresses[hosts.count]);
        hosts.count++;
    }
    added = added < hosts.count ? added : hosts.count;
    for (size_t i = 0; i < added; i++) {
        bool known = was_added(&hosts, i, &hosts.addresses[i]);

        check((known ? OC_HOST_KNOWN : OC_HOST_ADDED)
              == oc_host_set_add(&set, &hosts.addresses[i]));
    }
    check_set(&set, &hosts, added, false);
    check_filters(&set, &hosts);
    check(oc_host_set_copy(&set, &copy));
    oc_host_set_widen(&copy, bits);
    check_set(&copy, &hosts, added, true);
    check_filters(&copy, &hosts);
    oc_host_set_free(&copy);
    oc_host_set_free(&set);
    return 0;
}
