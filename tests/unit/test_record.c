/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the record that a rank gives to the others when a group is set up. */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>

#include "client/state/record.h"
#include "tests/unit/fence.h"

/* Offsets of doc/protocol.md. */
#define STATE     3
#define GROUP     12
#define SEGMENT   44
#define BELL      76
#define RATE      84
#define FABRIC    87
#define PORT      100
#define ADDRESSES 102

static fence_t fence;

static int setup(void **state)
{
    (void) state;
    fence_open(&fence, OC_RECORD_SIZE);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    fence_close(&fence);
    return 0;
}

static struct in6_addr address(const char *text)
{
    struct in6_addr result;

    assert_int_equal(inet_pton(AF_INET6, text, &result), 1);
    return result;
}

static oc_record_t legal(void)
{
    oc_record_t record = {.ready = true, .settings = 0x0102030405060708u,
                          .group = OC_GROUP_ID(0xa1b2c3, 0x102030), .job = 0x1112131415161718u,
                          .host = 0x2122232425262728u,
                          .offer = {OC_SHARES_MEMORY, .node = 0x3132333435363738u},
                          .network = {0x0186a0, OC_FABRIC_RDMA}, .away = 0x4142434445464748u, .epoch = 0x51525354u, .port = 0xc0de, .num_addresses = 2};

    memset(record.offer.segment, 'S', sizeof(record.offer.segment));
    memset(record.offer.bell, 'B', sizeof(record.offer.bell));
    record.addresses[0] = address("::ffff:10.1.2.3");
    record.addresses[1] = address("2001:db8::4");
    return record;
}

static bool judge(const uint8_t bytes[OC_RECORD_SIZE], oc_record_t *record)
{
    memset(record, 0x5a, sizeof(*record));
    return oc_record_decode(fence_copy(&fence, bytes, OC_RECORD_SIZE), record);
}

static void assert_equal(const oc_record_t *is, const oc_record_t *should)
{
    assert_int_equal(is->ready, should->ready);
    assert_int_equal(is->reserve, should->reserve);
    assert_int_equal(is->settings, should->settings);
    assert_int_equal(is->group, should->group);
    assert_int_equal(is->job, should->job);
    assert_int_equal(is->host, should->host);
    assert_int_equal(is->offer.node, should->offer.node);
    assert_int_equal(is->offer.shares, should->offer.shares);
    assert_memory_equal(is->offer.segment, should->offer.segment, sizeof(is->offer.segment));
    assert_memory_equal(is->offer.bell, should->offer.bell, sizeof(is->offer.bell));
    assert_int_equal(is->network.rate, should->network.rate);
    assert_int_equal(is->network.fabric, should->network.fabric);
    assert_int_equal(is->away, should->away);
    assert_int_equal(is->epoch, should->epoch);
    assert_int_equal(is->port, should->port);
    assert_int_equal(is->num_addresses, should->num_addresses);
    assert_memory_equal(is->addresses, should->addresses, sizeof(is->addresses));
}

static void test_layout(void **state)
{
    static const uint8_t expected[OC_RECORD_SIZE] =
        "OR\x0b\x03\x08\x07\x06\x05\x04\x03\x02\x01\0\0\x30\x20\x10\xc3\xb2\xa1"
        "\x18\x17\x16\x15\x14\x13\x12\x11\x28\x27\x26\x25\x24\x23\x22\x21"
        "\x38\x37\x36\x35\x34\x33\x32\x31SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSBBBBBBBB"
        "\xa0\x86\x01\x02\x48\x47\x46\x45\x44\x43\x42\x41\x54\x53\x52\x51\xde\xc0\4\x0a\1\2\3\6\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\4";
    oc_record_t record = legal(), back;
    uint8_t bytes[OC_RECORD_SIZE];

    (void) state;
    oc_record_encode(&record, bytes);
    assert_memory_equal(bytes, expected, sizeof(bytes));
    assert_true(judge(bytes, &back));
    assert_equal(&back, &record);
    assert_int_equal(OC_GROUP_PROCESS(back.group), 0xa1b2c3);
    /* no link is faster than three bytes tell */
    record.network.rate = 0x1000000;
    oc_record_encode(&record, bytes);
    assert_true(judge(bytes, &back));
    assert_int_equal(back.network.rate, 0xffffff);
    assert_int_equal(bytes[RATE], 0xff);
}

/* A rank without server and memory, one that cannot take part, and one that cannot share. */
static void test_little(void **state)
{
    oc_record_t records[] = {{.ready = true}, {.ready = false},
                             {.ready = true, .offer = {OC_SHARES_FAILED}},
                             {.ready = true, .port = 1}, {.ready = true, .port = 1, .reserve = true}};
    uint8_t bytes[OC_RECORD_SIZE];
    oc_record_t back;

    (void) state;
    for (unsigned i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
        oc_record_encode(&records[i], bytes);
        assert_true(judge(bytes, &back));
        assert_equal(&back, &records[i]);
    }
}

/* A legal record with one byte changed is refused, and nothing of it is left. */
static void refuse(const oc_record_t *record, unsigned offset, uint8_t value)
{
    static const oc_record_t nothing;
    uint8_t bytes[OC_RECORD_SIZE];
    oc_record_t back;

    oc_record_encode(record, bytes);
    assert_true(judge(bytes, &back));
    assert_int_not_equal(bytes[offset], value);
    bytes[offset] = value;
    assert_false(judge(bytes, &back));
    assert_memory_equal(&back, &nothing, sizeof(back));
}

static void test_refused(void **state)
{
    oc_record_t full = legal(), bare = {.ready = true}, failed = {.offer = {OC_SHARES_FAILED}};

    (void) state;
    refuse(&full, 0, 'X');
    refuse(&full, 1, 'X');
    refuse(&full, 2, OC_PROTOCOL_VERSION_MAX + 1);
    refuse(&full, 2, OC_PROTOCOL_VERSION_MAX - 1);
    refuse(&bare, STATE, 1 | 3 << 1);
    refuse(&bare, STATE, 0x80);
    refuse(&full, FABRIC, OC_NUM_FABRICS);
    refuse(&full, GROUP, 1);
    refuse(&full, GROUP + 1, 1);
    /* names of nothing */
    refuse(&bare, SEGMENT, 1);
    refuse(&bare, BELL + 7, 1);
    refuse(&failed, SEGMENT + 31, 1);
    /* addresses of no server */
    refuse(&bare, ADDRESSES, 4);
    refuse(&bare, OC_RECORD_SIZE - 1, 1);
}

static void test_refused_addresses(void **state)
{
    oc_record_t full = legal(), two = legal(), none = legal();
    uint8_t bytes[OC_RECORD_SIZE];
    oc_record_t back;

    (void) state;
    /* no family, the wrong length for what follows, the end before the end */
    refuse(&full, ADDRESSES, 5);
    refuse(&full, ADDRESSES, 6);
    refuse(&full, ADDRESSES, 0);
    refuse(&full, ADDRESSES + 5, 0);
    /* bytes behind the last one */
    refuse(&full, ADDRESSES + 22, 6);
    refuse(&full, OC_RECORD_SIZE - 1, 1);
    two.addresses[0] = two.addresses[1];
    oc_record_encode(&two, bytes);
    assert_true(judge(bytes, &back));
    assert_equal(&back, &two);
    /* IPv4 in the clothes of IPv6 has another form already */
    none.num_addresses = 1;
    none.addresses[0] = address("::fffe:10.1.2.3");
    none.addresses[1] = (struct in6_addr) {{{0}}};
    refuse(&none, ADDRESSES + 1 + 11, 0xff);
}

static void expect_selected(const char *const *all, unsigned count, const char *const *expected,
                            unsigned kept)
{
    struct in6_addr addresses[16];
    oc_record_t record = {.port = 1}, back;
    uint8_t bytes[OC_RECORD_SIZE];

    for (unsigned i = 0; i < count; i++) {
        addresses[i] = address(all[i]);
    }
    assert_int_equal(oc_record_select(addresses, count), kept);
    for (unsigned i = 0; i < count; i++) {
        struct in6_addr should = address(expected[i]);

        assert_memory_equal(&addresses[i], &should, sizeof(should));
    }
    record.num_addresses = kept;
    memcpy(record.addresses, addresses, kept * sizeof(*addresses));
    oc_record_encode(&record, bytes);
    assert_true(judge(bytes, &back));
    assert_equal(&back, &record);
}

static void test_select(void **state)
{
    static const char *const v4[] = {"::ffff:10.0.0.1", "::ffff:10.0.0.2", "::ffff:10.0.0.3",
                                     "::ffff:10.0.0.4", "::ffff:10.0.0.5", "::ffff:10.0.0.6",
                                     "::ffff:10.0.0.7"};
    static const char *const v6[] = {"2001:db8::1", "2001:db8::2", "2001:db8::3"};
    static const char *const mixed[] = {v4[0], v4[1], v4[2], v4[3], v4[4], v6[0], v6[1]};
    static const char *const chosen[] = {v4[0], v4[1], v4[2], v6[0], v4[3], v4[4], v6[1]};
    static const char *const late[] = {v6[0], v6[1], v6[2], v4[0]};
    static const char *const late_chosen[] = {v6[0], v4[0], v6[1], v6[2]};

    (void) state;
    expect_selected(NULL, 0, NULL, 0);
    expect_selected(v4, 6, v4, 6);
    expect_selected(v4, 7, v4, 6);
    expect_selected(v6, 2, v6, 2);
    expect_selected(v6, 3, v6, 2);
    expect_selected(mixed, 7, chosen, 4);
    expect_selected(late, 4, late_chosen, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_little),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_addresses),
        cmocka_unit_test(test_select),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
