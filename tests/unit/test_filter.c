/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs of classic BPF made from sets of addresses, run by a small interpreter and compared with
 * the sets themselves; and the sets, when they are made smaller.
 *
 * Test: quick 60
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <linux/filter.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/filter.h"

#define PACKET 60

static uint64_t seed = 1;

static uint32_t next_random(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t) (seed >> 32);
}

static struct in6_addr v4(uint32_t address)
{
    struct in6_addr result = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    uint32_t swapped = htonl(address);

    memcpy(result.s6_addr + 12, &swapped, 4);
    return result;
}

static struct in6_addr v6(const char *text)
{
    struct in6_addr result;

    assert_int_equal(inet_pton(AF_INET6, text, &result), 1);
    return result;
}

/* ---- the interpreter: what the programs may consist of, and no more ---- */

static uint32_t load(const uint8_t *packet, uint32_t at, unsigned size)
{
    uint32_t value = 0;

    assert_in_range(at, (uint32_t) SKF_NET_OFF, (uint32_t) SKF_NET_OFF + PACKET - size);
    for (unsigned i = 0; i < size; i++) {
        value = value << 8 | packet[at - (uint32_t) SKF_NET_OFF + i];
    }
    return value;
}

static bool holds(uint16_t code, uint32_t a, uint32_t k)
{
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return a == k;
    case BPF_JGE:
        return a >= k;
    case BPF_JGT:
        return a > k;
    default:
        fail_msg("jump %x", code);
        return false;
    }
}

/* Whether the packet is kept; every jump must lead forward and stay inside. */
static bool keeps(const struct sock_filter *program, size_t length, const uint8_t *packet,
                  unsigned *steps)
{
    uint32_t a = 0;
    size_t at = 0;

    for (*steps = 0; at < length; ++*steps) {
        const struct sock_filter *one = &program[at++];

        if ((BPF_RET | BPF_K) == one->code) {
            assert_true(0 == one->k || UINT32_MAX == one->k);
            return 0 != one->k;
        }
        if ((BPF_LD | BPF_W | BPF_ABS) == one->code) {
            a = load(packet, one->k, 4);
        } else if ((BPF_LD | BPF_B | BPF_ABS) == one->code) {
            a = load(packet, one->k, 1);
        } else if ((BPF_JMP | BPF_JA) == one->code) {
            at += one->k;
        } else {
            assert_int_equal(one->code & ~0xf0, BPF_JMP | BPF_K);
            at += holds(one->code, a, one->k) ? one->jt : one->jf;
        }
    }
    fail_msg("no end");
    return false;
}

static void make_packet(const struct in6_addr *source, uint8_t packet[PACKET])
{
    for (unsigned i = 0; i < PACKET; i++) {
        packet[i] = (uint8_t) next_random();
    }
    if (IN6_IS_ADDR_V4MAPPED(source)) {
        packet[0] = 0x45;
        memcpy(packet + 12, source->s6_addr + 12, 4);
    } else {
        packet[0] = (uint8_t) (0x60 | (packet[0] & 0xf));
        memcpy(packet + 8, source, sizeof(*source));
    }
}

/* ---- programs and sets ---- */

typedef struct {
    struct sock_filter code[2][OC_FILTER_MAX];
    size_t length[2];
    unsigned most;
} programs_t;

static void make_programs(const oc_host_set_t *set, programs_t *programs)
{
    static const int families[] = {AF_INET, AF_INET6};

    programs->most = 0;
    for (unsigned i = 0; i < 2; i++) {
        programs->length[i] = oc_filter_make(set, families[i], programs->code[i], OC_FILTER_MAX);
    }
}

/* Both programs agree with the set about this source; packets of IPv6 reach sockets of it only. */
static void compare(const oc_host_set_t *set, programs_t *programs, const struct in6_addr *source)
{
    bool mapped = IN6_IS_ADDR_V4MAPPED(source), expected = oc_host_set_has(set, source);
    uint8_t packet[PACKET];
    unsigned steps;

    make_packet(source, packet);
    for (unsigned i = mapped ? 0 : 1; i < 2; i++) {
        assert_true(programs->length[i] > 0);
        assert_int_equal(keeps(programs->code[i], programs->length[i], packet, &steps), expected);
        programs->most = steps > programs->most ? steps : programs->most;
    }
}

static void step(struct in6_addr *address, int by)
{
    for (int i = 15; i >= 0; i--) {
        unsigned sum = address->s6_addr[i] + (unsigned) (by & 0xff);

        address->s6_addr[i] = (uint8_t) sum;
        if (by > 0 ? sum < 256 : sum >= 256) {
            return;
        }
    }
}

/* All that is in the set, what is next to it, and others. */
static void compare_all(const oc_host_set_t *set, programs_t *programs)
{
    for (size_t i = 0; i < set->count; i++) {
        struct in6_addr address = set->prefixes[i].address, beside = address;

        assert_true(oc_host_set_has(set, &address));
        compare(set, programs, &address);
        step(&beside, 1);
        compare(set, programs, &beside);
        beside = address;
        step(&beside, -1);
        compare(set, programs, &beside);
        beside = address;
        beside.s6_addr[next_random() % 16] ^= (uint8_t) (1 << next_random() % 8);
        compare(set, programs, &beside);
        for (unsigned bit = set->prefixes[i].bits; bit < OC_ADDRESS_BITS; bit++) {
            address.s6_addr[bit / 8] |= (uint8_t) ((next_random() & 0x80) >> bit % 8);
        }
        assert_true(oc_host_set_has(set, &address));
        compare(set, programs, &address);
    }
    for (unsigned i = 0; i < 500; i++) {
        struct in6_addr address = v4(next_random());

        compare(set, programs, &address);
        for (unsigned j = 0; j < 16; j++) {
            address.s6_addr[j] = (uint8_t) next_random();
        }
        compare(set, programs, &address);
    }
}

static void add(oc_host_set_t *set, struct in6_addr address)
{
    assert_int_equal(oc_host_set_add(set, &address), OC_HOST_ADDED);
}

static void check(const oc_host_set_t *set)
{
    static programs_t programs;

    make_programs(set, &programs);
    compare_all(set, &programs);
}

/* ---- tests ---- */

static void test_nobody(void **state)
{
    oc_host_set_t set = {0};
    struct sock_filter program[4];

    (void) state;
    assert_int_equal(oc_filter_make(&set, AF_INET, program, 4), 1);
    assert_int_equal(program[0].code, BPF_RET | BPF_K);
    assert_int_equal(program[0].k, 0);
    check(&set);
}

static void test_few(void **state)
{
    oc_host_set_t set = {0};
    struct in6_addr again = v4(0x0a4d0001);

    (void) state;
    add(&set, v4(0x0a4d0001));
    check(&set);
    add(&set, v6("fd77::1"));
    add(&set, v6("::1"));
    add(&set, v6("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
    add(&set, v4(0));
    add(&set, v4(UINT32_MAX));
    add(&set, v4(0x80000000));
    assert_int_equal(oc_host_set_add(&set, &again), OC_HOST_KNOWN);
    assert_int_equal(set.count, 7);
    assert_int_equal(oc_host_set_mapped(&set), 4);
    check(&set);
    oc_host_set_free(&set);
}

/* kinds of clusters: side by side, in racks, anywhere, IPv6 by number and by hardware address */
static struct in6_addr draw(unsigned kind, unsigned i)
{
    struct in6_addr address;

    switch (kind) {
    case 0:
        return v4(0x0a000000 + i);
    case 1:
        return v4(0x0a000000 + (i / 40 << 16) + i % 40 * 3);
    case 2:
        return v4(next_random());
    case 3:
        address = v6("2001:db8:0:7::");
        address.s6_addr[14] = (uint8_t) (i >> 8);
        address.s6_addr[15] = (uint8_t) i;
        return address;
    default:
        address = v6("2001:db8:0:7::");
        for (unsigned j = 4 == kind ? 8 : 0; j < 16; j++) {
            address.s6_addr[j] = (uint8_t) next_random();
        }
        return address;
    }
}

static void test_random(void **state)
{
    (void) state;
    for (unsigned round = 0; round < 120; round++) {
        oc_host_set_t set = {0};
        unsigned count = 1 + next_random() % (round % 10 ? 60 : 700);

        for (unsigned i = 0; i < count; i++) {
            struct in6_addr address = draw(round % 6, i);

            assert_int_not_equal(oc_host_set_add(&set, &address), OC_HOST_NO_MEMORY);
            if (0 == round % 7) {
                address = draw((round + 3) % 6, i);
                (void) oc_host_set_add(&set, &address);
            }
        }
        check(&set);
        oc_host_set_widen(&set, 128 - next_random() % 40);
        check(&set);
        oc_host_set_free(&set);
    }
}

/* What doc/architecture.md says fits, and how many instructions a packet meets then. */
static void test_sizes(void **state)
{
    static const struct { unsigned kind, count, steps; } fits[] = {
        {0, 2800, 24}, {1, 2800, 24}, {2, 2800, 24}, {3, 2800, 30}, {4, 800, 30}, {5, 450, 30}};
    static programs_t programs;

    (void) state;
    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++) {
        oc_host_set_t set = {0};

        while (set.count < fits[i].count) {
            struct in6_addr address = draw(fits[i].kind, (unsigned) set.count);

            (void) oc_host_set_add(&set, &address);
        }
        make_programs(&set, &programs);
        print_message("kind %u: %zu addresses, %zu instructions", fits[i].kind, set.count,
                      programs.length[1]);
        compare_all(&set, &programs);
        print_message(", of which a packet meets %u\n", programs.most);
        assert_in_range(programs.most, 1, fits[i].steps);
        oc_host_set_free(&set);
    }
}

static void test_too_long(void **state)
{
    static struct sock_filter program[OC_FILTER_MAX + 1];
    oc_host_set_t set = {0};
    size_t length;

    (void) state;
    for (unsigned i = 0; i < 5000; i++) {
        add(&set, v4(0x0a000000 + 2 * i));
    }
    program[OC_FILTER_MAX].k = 77;
    assert_int_equal(oc_filter_make(&set, AF_INET, program, OC_FILTER_MAX), 0);
    assert_int_equal(program[OC_FILTER_MAX].k, 77);
    oc_host_set_widen(&set, 126);
    assert_int_equal(set.count, 2500);
    length = oc_filter_make(&set, AF_INET, program, OC_FILTER_MAX);
    assert_int_equal(length, 0);
    oc_host_set_widen(&set, 125);
    length = oc_filter_make(&set, AF_INET, program, OC_FILTER_MAX);
    assert_in_range(length, 1250, OC_FILTER_MAX);
    /* it needs exactly what it says */
    assert_int_equal(oc_filter_make(&set, AF_INET, program, length), length);
    assert_int_equal(oc_filter_make(&set, AF_INET, program, length - 1), 0);
    check(&set);
    oc_host_set_free(&set);
}

/* Neighbours become one; who is alone, or of the other family, stays alone. */
static void test_widen(void **state)
{
    oc_host_set_t set = {0}, copy;
    struct in6_addr inside = v4(0x0a000003), outside = v4(0x0a000004), lone = v4(0xc0a80001);

    (void) state;
    add(&set, v4(0x0a000001));
    add(&set, v4(0x0a000002));
    add(&set, lone);
    add(&set, v6("::1"));
    assert_true(oc_host_set_copy(&set, &copy));
    oc_host_set_widen(&set, 126);
    assert_int_equal(set.count, 3);
    assert_true(oc_host_set_has(&set, &inside));
    assert_false(oc_host_set_has(&set, &outside));
    step(&lone, 1);
    assert_false(oc_host_set_has(&set, &lone));
    for (unsigned bits = 125; bits > 0; bits--) {
        oc_host_set_widen(&set, bits);
    }
    /* 10.… and 192.… have no bit in common */
    assert_int_equal(set.count, 3);
    assert_int_equal(copy.count, 4);
    assert_false(oc_host_set_has(&copy, &inside));
    /* what a prefix covers is known */
    assert_int_equal(oc_host_set_add(&set, &inside), OC_HOST_KNOWN);
    oc_host_set_free(&set);
    oc_host_set_free(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_widen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
