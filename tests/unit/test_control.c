/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the control messages' codec: what goes in, limits, cuts and rubbish. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <unistd.h>

#include "protocol/control.h"
#include "protocol/tag.h"
#include "tests/unit/fence.h"

#define ROOM (OC_MAX_BODY + OC_FRAME_SIZE + 64)

/* offsets in a frame */
#define AT_VERSION 4
#define AT_TYPE    6
#define AT_LENGTH  8

static uint8_t buffer[ROOM];
static uint8_t blob[OC_MAX_ADDRESS + 64];
static fence_t fence;

static const uint16_t all_types[] = {
    OC_CONTROL_HELLO, OC_CONTROL_WELCOME, OC_CONTROL_REFUSE, OC_CONTROL_JOIN, OC_CONTROL_JOINED,
    OC_CONTROL_LEAVE, OC_CONTROL_PING, OC_CONTROL_PONG, OC_CONTROL_GROUP_ERROR,
    OC_CONTROL_JOB_ERROR, OC_CONTROL_DRAIN, OC_CONTROL_BYE, OC_CONTROL_ROUTE, OC_CONTROL_RETIRE,
    OC_CONTROL_QUERY, OC_CONTROL_STATUS, OC_CONTROL_WATCH, OC_CONTROL_LOOK, OC_CONTROL_SIGHT,
    OC_CONTROL_LOST};

#define NUM_TYPES (sizeof(all_types) / sizeof(all_types[0]))

static void put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (uint8_t) (value >> (8 * i));
    }
}

static oc_bytes_t bytes_of(uint32_t offset, uint32_t length)
{
    return (oc_bytes_t) {.data = blob + offset, .length = length};
}

static void fill_origins(oc_origins_t *origins, uint8_t count)
{
    origins->count = count;
    for (uint8_t i = 0; i < count; i++) {
        memset(&origins->addresses[i], 0x30 + i, sizeof(origins->addresses[i]));
        origins->addresses[i].s6_addr[15] = i;
    }
}

static void fill_hello(oc_hello_t *hello)
{
    hello->version_min = 0x0102;
    hello->version_max = 0x0304;
    for (int i = 0; i < OC_JOB_ID_SIZE; i++) {
        hello->job_id[i] = (uint8_t) (0x10 + i);
    }
    for (int i = 0; i < OC_JOB_KEY_SIZE; i++) {
        hello->job_key[i] = (uint8_t) (0x80 + i);
    }
    hello->process = 0xfedcba98u;
    hello->address = bytes_of(3, 77);
    fill_origins(&hello->origins, OC_MAX_ORIGINS);
}

static void fill_welcome(oc_welcome_t *welcome)
{
    welcome->version = 1;
    welcome->identity = 0x0f1e2d3c4b5a6978ull;
    welcome->parent = 0x8796a5b4c3d2e1f0ull;
    welcome->incarnation = 0x123456789abcdef0ull;
    welcome->num_aggregators = 3;
    for (uint32_t i = 0; i < 3; i++) {
        welcome->address[i] = bytes_of(i, 20 + i);
    }
    fill_origins(&welcome->origins, 2);
}

static void fill_lookout(oc_lookout_t *lookout)
{
    lookout->token = 0xf1e2d3c4b5a69788ull;
    for (int i = 0; i < OC_JOB_KEY_SIZE; i++) {
        lookout->key[i] = (uint8_t) (0x40 + i);
    }
    lookout->probes.s_addr = 0x040302efu;
    lookout->marks.s_addr = 0x070605efu;
    lookout->port = 0x2345;
}

/* A legal message of each type; every field different from the others and from zero. */
static oc_control_t *make(uint16_t type)
{
    static oc_control_t message;

    memset(&message, 0, sizeof(message));
    message.type = type;
    switch (type) {
    case OC_CONTROL_HELLO:
        fill_hello(&message.hello);
        break;
    case OC_CONTROL_WELCOME:
        fill_welcome(&message.welcome);
        break;
    case OC_CONTROL_JOIN:
        message.join = (oc_join_t) {.group = 0x1122334455667788ull, .num_ranks = 300, .rank = 299,
                                    .reply_handle = 0xabcde, .first_aggregator = 17,
                                    .chunk_bytes = 65536, .window = 9,
                                    .small_bytes = 12345, .reserves = 1, 
                                    .epoch = 0x99887766554433ull,
                                    .leaves = 200, .leaf = 199};
        break;
    case OC_CONTROL_JOINED:
        message.joined = (oc_joined_t) {.group = 0x8877665544332211ull, .handle = 0xfffff,
                                         .eager_window = 0x1122334455667788ull};
        break;
    case OC_CONTROL_LEAVE:
        message.leave = (oc_leave_t) {.group = 0xa1b2c3d4e5f60718ull, .rank = 0xfedcba98u, .unsettled = true};
        break;
    case OC_CONTROL_PING:
    case OC_CONTROL_PONG:
        message.ping = 0xdeadbeefu;
        break;
    case OC_CONTROL_ROUTE:
        message.route = (oc_leaf_route_t) {.aggregator = 63, .address = bytes_of(7, 55)};
        break;
    case OC_CONTROL_STATUS:
        message.status = (oc_server_status_t) {
            .version_min = 0x0102, .version_max = 0x0304, .aggregators = 0x0506,
            .jobs = 0x11223344, .max_jobs = 0x55667788, .memory_limit = 0x99aabbccddeeff11ull,
            .release = bytes_of(9, 21)};
        break;
    case OC_CONTROL_WATCH:
        fill_lookout(&message.lookout);
        break;
    case OC_CONTROL_LOOK:
        message.look = 0xf1e2d3c4b5a69788ull;
        break;
    case OC_CONTROL_SIGHT:
        message.sight = (oc_sight_t) {.token = 0xf1e2d3c4b5a69788ull, .view = OC_VIEW_FLOODED,
                                      .text = bytes_of(11, 19)};
        break;
    case OC_CONTROL_LOST:
        message.loss = (oc_loss_t) {.servers = {.count = 3, .servers = {5, 0x1122334455667788ull,
                                                                        UINT64_MAX},
                                                .num_returned = 2,
                                                .returned = {{.incarnation = 3, .number = 0x0102},
                                                             {.incarnation = UINT64_MAX, .number = 1}}},
                                    .text = bytes_of(13, 17)};
        break;
    case OC_CONTROL_QUERY:
    case OC_CONTROL_BYE:
        break;
    default:
        message.notice = (oc_notice_t) {.group = 0x0102030405060708ull,
                                        .status = OC_ERR_MISMATCH, .text = bytes_of(5, 33)};
    }
    return &message;
}

static void assert_same_bytes(const oc_bytes_t *a, const oc_bytes_t *b)
{
    assert_int_equal(a->length, b->length);
    assert_memory_equal(a->data, b->data, a->length);
}

static void assert_same_origins(const oc_origins_t *a, const oc_origins_t *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->addresses, b->addresses, a->count * sizeof(a->addresses[0]));
}

static void assert_same_hello(const oc_hello_t *a, const oc_hello_t *b)
{
    assert_int_equal(a->version_min, b->version_min);
    assert_int_equal(a->version_max, b->version_max);
    assert_memory_equal(a->job_id, b->job_id, OC_JOB_ID_SIZE);
    assert_memory_equal(a->job_key, b->job_key, OC_JOB_KEY_SIZE);
    assert_int_equal(a->process, b->process);
    assert_same_bytes(&a->address, &b->address);
    assert_same_origins(&a->origins, &b->origins);
}

static void assert_same_welcome(const oc_welcome_t *a, const oc_welcome_t *b)
{
    assert_int_equal(a->version, b->version);
    assert_true(a->identity == b->identity);
    assert_true(a->parent == b->parent);
    assert_true(a->incarnation == b->incarnation);
    assert_int_equal(a->num_aggregators, b->num_aggregators);
    for (unsigned i = 0; i < a->num_aggregators; i++) {
        assert_same_bytes(&a->address[i], &b->address[i]);
    }
    assert_same_origins(&a->origins, &b->origins);
}

static void assert_same_join(const oc_join_t *a, const oc_join_t *b)
{
    assert_true(a->group == b->group);
    assert_int_equal(a->num_ranks, b->num_ranks);
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->reply_handle, b->reply_handle);
    assert_int_equal(a->first_aggregator, b->first_aggregator);
    assert_int_equal(a->chunk_bytes, b->chunk_bytes);
    assert_int_equal(a->window, b->window);
    assert_int_equal(a->small_bytes, b->small_bytes);
    assert_int_equal(a->reserves, b->reserves);
    assert_true(a->epoch == b->epoch);
    assert_int_equal(a->leaves, b->leaves);
    assert_int_equal(a->leaf, b->leaf);
}

static void assert_same_status(const oc_server_status_t *a, const oc_server_status_t *b)
{
    assert_int_equal(a->version_min, b->version_min);
    assert_int_equal(a->version_max, b->version_max);
    assert_int_equal(a->aggregators, b->aggregators);
    assert_int_equal(a->jobs, b->jobs);
    assert_int_equal(a->max_jobs, b->max_jobs);
    assert_true(a->memory_limit == b->memory_limit);
    assert_same_bytes(&a->release, &b->release);
}

static void assert_same_lookout(const oc_lookout_t *a, const oc_lookout_t *b)
{
    assert_true(a->token == b->token);
    assert_memory_equal(a->key, b->key, OC_JOB_KEY_SIZE);
    assert_int_equal(a->probes.s_addr, b->probes.s_addr);
    assert_int_equal(a->marks.s_addr, b->marks.s_addr);
    assert_int_equal(a->port, b->port);
}

static void assert_same_sight(const oc_sight_t *a, const oc_sight_t *b)
{
    assert_true(a->token == b->token);
    assert_int_equal(a->view, b->view);
    assert_same_bytes(&a->text, &b->text);
}

static void assert_same(const oc_control_t *a, const oc_control_t *b)
{
    assert_int_equal(a->type, b->type);
    switch (a->type) {
    case OC_CONTROL_HELLO:
        assert_same_hello(&a->hello, &b->hello);
        break;
    case OC_CONTROL_WELCOME:
        assert_same_welcome(&a->welcome, &b->welcome);
        break;
    case OC_CONTROL_JOIN:
        assert_same_join(&a->join, &b->join);
        break;
    case OC_CONTROL_JOINED:
        assert_true(a->joined.group == b->joined.group);
        assert_int_equal(a->joined.handle, b->joined.handle);
        assert_true(a->joined.eager_window == b->joined.eager_window);
        break;
    case OC_CONTROL_LEAVE:
        assert_true(a->leave.group == b->leave.group);
        assert_int_equal(a->leave.rank, b->leave.rank);
        assert_int_equal(a->leave.unsettled, b->leave.unsettled);
        break;
    case OC_CONTROL_PING:
    case OC_CONTROL_PONG:
        assert_int_equal(a->ping, b->ping);
        break;
    case OC_CONTROL_ROUTE:
        assert_int_equal(a->route.aggregator, b->route.aggregator);
        assert_same_bytes(&a->route.address, &b->route.address);
        break;
    case OC_CONTROL_STATUS:
        assert_same_status(&a->status, &b->status);
        break;
    case OC_CONTROL_WATCH:
        assert_same_lookout(&a->lookout, &b->lookout);
        break;
    case OC_CONTROL_LOOK:
        assert_true(a->look == b->look);
        break;
    case OC_CONTROL_SIGHT:
        assert_same_sight(&a->sight, &b->sight);
        break;
    case OC_CONTROL_LOST:
        assert_int_equal(a->loss.servers.count, b->loss.servers.count);
        assert_memory_equal(a->loss.servers.servers, b->loss.servers.servers,
                            a->loss.servers.count * sizeof(a->loss.servers.servers[0]));
        assert_int_equal(a->loss.servers.num_returned, b->loss.servers.num_returned);
        for (unsigned i = 0; i < a->loss.servers.num_returned; i++) {
            assert_true(a->loss.servers.returned[i].incarnation == b->loss.servers.returned[i].incarnation
                        && a->loss.servers.returned[i].number == b->loss.servers.returned[i].number);
        }
        assert_same_bytes(&a->loss.text, &b->loss.text);
        break;
    case OC_CONTROL_QUERY:
    case OC_CONTROL_BYE:
        break;
    default:
        assert_true(a->notice.group == b->notice.group);
        assert_int_equal(a->notice.status, b->notice.status);
        assert_same_bytes(&a->notice.text, &b->notice.text);
    }
}

static size_t encode(const oc_control_t *message)
{
    size_t length = oc_control_encode(message, buffer, sizeof(buffer));

    assert_true(length >= OC_FRAME_SIZE);
    return length;
}

static long decode(size_t length, oc_control_t *message)
{
    return oc_control_decode(fence_copy(&fence, buffer, length), length, OC_MAX_BODY, message);
}

/* What a message as it stands in memory is worth on the other side. */
static long judge(const oc_control_t *message)
{
    oc_control_t got;

    return decode(encode(message), &got);
}

static int setup(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(blob); i++) {
        blob[i] = (uint8_t) (i * 31 + 7);
    }
    fence_open(&fence, ROOM);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    fence_close(&fence);
    return 0;
}

static void test_round_trip(void **state)
{
    (void) state;
    for (size_t i = 0; i < NUM_TYPES; i++) {
        const oc_control_t *message = make(all_types[i]);
        oc_control_t got;
        size_t length = encode(message);

        assert_int_equal(decode(length, &got), length);
        assert_same(message, &got);
    }
}

static void put_count(size_t at, unsigned count)
{
    buffer[at] = (uint8_t) count;
    buffer[at + 1] = (uint8_t) (count >> 8);
}

/* Servers that are lost, or back: some, and in order. */
static void test_loss(void **state)
{
    oc_control_t message = *make(OC_CONTROL_LOST);

    (void) state;
    message.loss.servers.servers[1] = message.loss.servers.servers[0];
    assert_int_equal(judge(&message), OC_ERR_INVALID);
    message.loss.servers.servers[0] = 0;
    assert_int_equal(judge(&message), OC_ERR_INVALID);
    /* only returned ones */
    message.loss.servers.count = 0;
    assert_true(judge(&message) > 0);
    message.loss.servers.returned[1] = message.loss.servers.returned[0];
    assert_int_equal(judge(&message), OC_ERR_INVALID);
    message.loss.servers.returned[0].incarnation = 0;
    assert_int_equal(judge(&message), OC_ERR_INVALID);
    message.loss.servers.num_returned = 0;
    assert_int_equal(judge(&message), OC_ERR_INVALID);
    message.loss.servers = (oc_lost_t) {.count = OC_MAX_LOST};
    for (unsigned i = 0; i < OC_MAX_LOST; i++) {
        message.loss.servers.servers[i] = i + 1;
    }
    assert_true(judge(&message) > 0);
    put_count(OC_FRAME_SIZE, OC_MAX_LOST + 1);
    assert_int_equal(decode(OC_FRAME_SIZE + 2 + 8 * OC_MAX_LOST + 2 + 4 + 17, &message), OC_ERR_INVALID);
    message.loss.servers = (oc_lost_t) {.num_returned = OC_MAX_LOST};
    for (unsigned i = 0; i < OC_MAX_LOST; i++) {
        message.loss.servers.returned[i].incarnation = i + 1;
    }
    assert_true(judge(&message) > 0);
    put_count(OC_FRAME_SIZE + 2, OC_MAX_LOST + 1);
    assert_int_equal(decode(OC_FRAME_SIZE + 2 + 2 + 10 * OC_MAX_LOST + 4 + 17, &message), OC_ERR_INVALID);
}

/* The frame is what the header file draws, so that other programs can speak it. */
static void test_frame(void **state)
{
    static const uint8_t expected[] = {'O', 'C', 'S', 'T', OC_PROTOCOL_VERSION_MAX, 0, 7, 0,
                                       4, 0, 0, 0, 0xef, 0xbe, 0xad, 0xde};

    (void) state;
    assert_int_equal(encode(make(OC_CONTROL_PING)), sizeof(expected));
    assert_memory_equal(buffer, expected, sizeof(expected));
}

static void test_truncated(void **state)
{
    (void) state;
    for (size_t i = 0; i < NUM_TYPES; i++) {
        size_t length = encode(make(all_types[i]));
        oc_control_t got;

        for (size_t cut = 0; cut < length; cut++) {
            assert_int_equal(decode(cut, &got), 0);
        }
    }
}

/* Fields that end before they should, in a frame that says so: wrong, and read no further. */
static void test_body_too_short(void **state)
{
    (void) state;
    for (size_t i = 0; i < NUM_TYPES; i++) {
        size_t length = encode(make(all_types[i]));
        oc_control_t got;

        for (size_t cut = OC_FRAME_SIZE; cut < length; cut++) {
            put_u32(buffer + AT_LENGTH, (uint32_t) (cut - OC_FRAME_SIZE));
            assert_int_equal(decode(cut, &got), OC_ERR_INVALID);
        }
    }
}

static void test_trailing_bytes(void **state)
{
    (void) state;
    for (size_t i = 0; i < NUM_TYPES; i++) {
        size_t length = encode(make(all_types[i]));
        oc_control_t got;

        /* behind the frame: another message's business */
        buffer[length] = 'O';
        assert_int_equal(decode(length + 1, &got), length);
        /* in the body: nobody's */
        put_u32(buffer + AT_LENGTH, (uint32_t) (length + 1 - OC_FRAME_SIZE));
        assert_int_equal(decode(length + 1, &got), OC_ERR_INVALID);
    }
}

static void test_magic(void **state)
{
    oc_control_t got;

    (void) state;
    for (size_t wrong = 0; wrong < 4; wrong++) {
        size_t length = encode(make(OC_CONTROL_BYE));

        buffer[wrong] ^= 0x20;
        for (size_t cut = 0; cut <= length; cut++) {
            assert_int_equal(decode(cut, &got), cut > wrong ? OC_ERR_INVALID : 0);
        }
    }
}

static void test_version(void **state)
{
    oc_control_t got;
    size_t length = encode(make(OC_CONTROL_PING));

    (void) state;
    for (unsigned version = 0; version <= 0xffff; version++) {
        bool known = version >= OC_PROTOCOL_VERSION_MIN && version <= OC_PROTOCOL_VERSION_MAX;

        buffer[AT_VERSION] = (uint8_t) version;
        buffer[AT_VERSION + 1] = (uint8_t) (version >> 8);
        assert_int_equal(decode(length, &got), known ? (long) length : OC_ERR_VERSION);
    }
    /* known before the body is there */
    assert_int_equal(decode(OC_FRAME_SIZE, &got), OC_ERR_VERSION);
}

static void test_type(void **state)
{
    oc_control_t got;
    size_t length = encode(make(OC_CONTROL_BYE));

    (void) state;
    for (unsigned type = 0; type <= 0xffff; type++) {
        buffer[AT_TYPE] = (uint8_t) type;
        buffer[AT_TYPE + 1] = (uint8_t) (type >> 8);
        if (OC_CONTROL_BYE != type && OC_CONTROL_QUERY != type) {
            assert_int_equal(decode(length, &got), OC_ERR_INVALID);
        }
    }
    for (unsigned type = 0; type < 300; type += 0 == type ? OC_CONTROL_LOST + 1 : 1) {
        oc_control_t wrong = {.type = (uint16_t) type};

        assert_int_equal(oc_control_encode(&wrong, buffer, sizeof(buffer)), 0);
    }
}

static void test_max_body(void **state)
{
    (void) state;
    for (size_t i = 0; i < NUM_TYPES; i++) {
        size_t length = encode(make(all_types[i])), body = length - OC_FRAME_SIZE;
        oc_control_t got;
        const uint8_t *copy = fence_copy(&fence, buffer, length);

        assert_int_equal(oc_control_decode(copy, length, body, &got), length);
        if (body > 0) {
            assert_int_equal(oc_control_decode(copy, length, body - 1, &got), OC_ERR_LIMIT);
            /* nobody waits for a body that will not be accepted */
            copy = fence_copy(&fence, buffer, OC_FRAME_SIZE);
            assert_int_equal(oc_control_decode(copy, OC_FRAME_SIZE, body - 1, &got),
                             OC_ERR_LIMIT);
        }
    }
    encode(make(OC_CONTROL_PING));
    put_u32(buffer + AT_LENGTH, UINT32_MAX);
    assert_int_equal(decode(OC_FRAME_SIZE, make(OC_CONTROL_BYE)), OC_ERR_LIMIT);
}

static void test_capacity(void **state)
{
    (void) state;
    for (size_t i = 0; i < NUM_TYPES; i++) {
        const oc_control_t *message = make(all_types[i]);
        size_t length = encode(message);

        for (size_t capacity = 0; capacity < length; capacity++) {
            assert_int_equal(oc_control_encode(message, fence.end - capacity, capacity), 0);
        }
        assert_int_equal(oc_control_encode(message, fence.end - length, length), length);
    }
}

static void test_hello_address(void **state)
{
    static const uint32_t bad[] = {0, OC_MAX_ADDRESS + 1, 0x7fffffffu, UINT32_MAX};
    size_t at = OC_FRAME_SIZE + 4 + OC_JOB_ID_SIZE + OC_JOB_KEY_SIZE + 4;
    oc_control_t *message = make(OC_CONTROL_HELLO), got;
    size_t length;

    (void) state;
    message->hello.address.length = OC_MAX_ADDRESS;
    length = encode(message);
    assert_int_equal(decode(length, &got), length);
    assert_true(length - OC_FRAME_SIZE <= OC_MAX_HELLO_BODY);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        put_u32(buffer + at, bad[i]);
        assert_int_equal(decode(length, &got), OC_ERR_INVALID);
    }
}

/* The layout of WATCH, and what a SIGHT may say. */
static void test_flood_messages(void **state)
{
    static const size_t probes_at = OC_FRAME_SIZE + 8 + OC_JOB_KEY_SIZE;
    static const uint8_t addresses[] = {0xef, 2, 3, 4, 0xef, 5, 6, 7, 0x45, 0x23};
    size_t length = encode(make(OC_CONTROL_WATCH));
    oc_control_t *message, got;

    (void) state;
    assert_int_equal(length, probes_at + sizeof(addresses));
    assert_memory_equal(buffer + probes_at, addresses, sizeof(addresses));
    message = make(OC_CONTROL_SIGHT);
    for (unsigned view = 0; view <= UINT8_MAX; view++) {
        message->sight.view = (uint8_t) view;
        length = encode(message);
        assert_int_equal(decode(length, &got), view < OC_VIEWS ? (long) length : OC_ERR_INVALID);
    }
    message = make(OC_CONTROL_SIGHT);
    message->sight.text = bytes_of(0, OC_MAX_TEXT);
    assert_true(judge(message) > 0);
    message->sight.text.length++;
    assert_int_equal(oc_control_encode(message, buffer, sizeof(buffer)), 0);
}

static void test_origins(void **state)
{
    static const uint16_t types[] = {OC_CONTROL_HELLO, OC_CONTROL_WELCOME};
    oc_control_t *message, got;

    (void) state;
    for (unsigned i = 0; i < 2; i++) {
        oc_origins_t *origins;
        size_t length, at;

        message = make(types[i]);
        origins = 0 == i ? &message->hello.origins : &message->welcome.origins;
        fill_origins(origins, 3);
        length = encode(message);
        at = length - 3 * 16 - 1;
        assert_int_equal(buffer[at], 3);
        for (unsigned count = 0; count < 256; count++) {
            buffer[at] = (uint8_t) count;
            assert_int_equal(decode(length, &got), 3 == count ? (long) length : OC_ERR_INVALID);
        }
        origins->count = OC_MAX_ORIGINS + 1;
        assert_int_equal(oc_control_encode(message, buffer, sizeof(buffer)), 0);
        fill_origins(origins, 0);
        length = encode(message);
        assert_int_equal(decode(length, &got), length);
    }
}

/* One byte too many, in a frame that has it: it is the limit that counts. */
static void test_blob_limits(void **state)
{
    oc_control_t got;
    size_t length, at;

    (void) state;
    length = encode(make(OC_CONTROL_HELLO));
    at = length - 77 - 4;
    put_u32(buffer + at, OC_MAX_ADDRESS + 1);
    put_u32(buffer + AT_LENGTH, (uint32_t) (at + 4 + OC_MAX_ADDRESS + 1 - OC_FRAME_SIZE));
    assert_int_equal(decode(at + 4 + OC_MAX_ADDRESS + 1, &got), OC_ERR_INVALID);

    length = encode(make(OC_CONTROL_REFUSE));
    at = length - 33 - 4;
    put_u32(buffer + at, OC_MAX_TEXT + 1);
    put_u32(buffer + AT_LENGTH, (uint32_t) (at + 4 + OC_MAX_TEXT + 1 - OC_FRAME_SIZE));
    assert_int_equal(decode(at + 4 + OC_MAX_TEXT + 1, &got), OC_ERR_INVALID);

    put_u32(buffer + at, OC_MAX_TEXT);
    put_u32(buffer + AT_LENGTH, (uint32_t) (at + 4 + OC_MAX_TEXT - OC_FRAME_SIZE));
    assert_int_equal(decode(at + 4 + OC_MAX_TEXT, &got), at + 4 + OC_MAX_TEXT);
}

static void test_welcome_limits(void **state)
{
    oc_control_t *message = make(OC_CONTROL_WELCOME), got;
    size_t length;

    (void) state;
    message->welcome.num_aggregators = OC_MAX_AGGREGATORS;
    for (unsigned i = 0; i < OC_MAX_AGGREGATORS; i++) {
        message->welcome.address[i] = bytes_of(0, OC_MAX_ADDRESS);
    }
    length = encode(message);
    assert_int_equal(decode(length, &got), length);
    assert_same(message, &got);
    buffer[OC_FRAME_SIZE + 2] = OC_MAX_AGGREGATORS + 1;
    assert_int_equal(decode(length, &got), OC_ERR_INVALID);
    buffer[OC_FRAME_SIZE + 2] = 0;
    assert_int_equal(decode(length, &got), OC_ERR_INVALID);
    buffer[OC_FRAME_SIZE + 3] = 0xff;
    assert_int_equal(decode(length, &got), OC_ERR_INVALID);

    message = make(OC_CONTROL_WELCOME);
    message->welcome.address[1].length = 0;
    assert_int_equal(judge(message), OC_ERR_INVALID);
}

static void expect_small(uint32_t small_bytes, bool legal)
{
    oc_control_t *message = make(OC_CONTROL_JOIN);
    long got;

    message->join.small_bytes = small_bytes;
    got = judge(message);
    assert_true(legal ? got > 0 : OC_ERR_INVALID == got);
}

static void expect_join(uint32_t num_ranks, uint32_t rank, uint32_t reply_handle,
                        uint32_t first_aggregator, uint32_t chunk_bytes, uint32_t window,
                        bool legal)
{
    oc_control_t *message = make(OC_CONTROL_JOIN);
    long got;

    message->join = (oc_join_t) {.group = 1, .num_ranks = num_ranks, .rank = rank,
                                 .reply_handle = reply_handle,
                                 .first_aggregator = first_aggregator,
                                 .chunk_bytes = chunk_bytes, .window = window};
    got = judge(message);
    assert_true(legal ? got > 0 : OC_ERR_INVALID == got);
}

static void test_join_limits(void **state)
{
    const uint32_t last = OC_MAX_LANES - 1;

    (void) state;
    expect_join(1, 0, 0, 0, OC_MIN_CHUNK, 1, true);
    expect_join(OC_MAX_RANKS, OC_MAX_RANKS - 1, OC_HANDLE_MAX, last, OC_MAX_CHUNK, OC_MAX_WINDOW,
                true);
    expect_join(OC_MAX_RANKS + 1, 0, 0, 0, OC_MIN_CHUNK, 1, false);
    expect_join(0, 0, 0, 0, OC_MIN_CHUNK, 1, false);
    expect_join(4, 4, 0, 0, OC_MIN_CHUNK, 1, false);
    expect_join(4, UINT32_MAX, 0, 0, OC_MIN_CHUNK, 1, false);
    expect_join(4, 3, OC_HANDLE_MAX + 1, 0, OC_MIN_CHUNK, 1, false);
    expect_join(4, 3, 0, last + 1, OC_MIN_CHUNK, 1, false);
    expect_join(4, 3, 0, 0, OC_MIN_CHUNK - 1, 1, false);
    expect_join(4, 3, 0, 0, OC_MAX_CHUNK + 1, 1, false);
    expect_join(4, 3, 0, 0, 0, 1, false);
    expect_join(4, 3, 0, 0, OC_MIN_CHUNK, 0, false);
    expect_join(4, 3, 0, 0, OC_MIN_CHUNK, OC_MAX_WINDOW + 1, false);
    expect_small(0, true);
    expect_small(OC_MAX_SMALL, true);
    expect_small(OC_MAX_SMALL + 1, false);
    expect_small(UINT32_MAX, false);
}

static void expect_leaf(uint32_t leaves, uint32_t leaf, bool legal)
{
    oc_control_t *message = make(OC_CONTROL_JOIN);
    long got;

    message->join.leaves = leaves;
    message->join.leaf = leaf;
    got = judge(message);
    assert_true(legal ? got > 0 : OC_ERR_INVALID == got);
}

static void test_leaf_limits(void **state)
{
    (void) state;
    expect_leaf(0, 0, true);
    expect_leaf(0, 1, false);
    expect_leaf(1, 0, false);
    expect_leaf(2, 1, true);
    expect_leaf(2, 2, false);
    expect_leaf(OC_MAX_LEAVES, OC_MAX_LEAVES - 1, true);
    expect_leaf(OC_MAX_LEAVES + 1, 0, false);
    expect_leaf(UINT32_MAX, UINT32_MAX - 1, false);
}

static void test_route_limits(void **state)
{
    oc_control_t *message = make(OC_CONTROL_ROUTE);

    (void) state;
    message->route.aggregator = OC_MAX_AGGREGATORS;
    assert_int_equal(judge(message), OC_ERR_INVALID);
    message = make(OC_CONTROL_ROUTE);
    message->route.address.length = 0;
    assert_int_equal(judge(message), OC_ERR_INVALID);
    message->route.address = bytes_of(0, OC_MAX_ADDRESS);
    assert_true(judge(message) > 0);
    message->route.address.length = OC_MAX_ADDRESS + 1;
    assert_int_equal(oc_control_encode(message, buffer, sizeof(buffer)), 0);
}

static void test_joined_limit(void **state)
{
    oc_control_t *message = make(OC_CONTROL_JOINED);

    (void) state;
    message->joined.handle = OC_HANDLE_MAX + 1;
    assert_int_equal(judge(message), OC_ERR_INVALID);
}

/* The promise of the header file: 0 when a limit is passed. What nobody accepts is not sent. */
static void test_encode_keeps_limits(void **state)
{
    oc_control_t *message = make(OC_CONTROL_HELLO);

    (void) state;
    message->hello.address.length = OC_MAX_ADDRESS + 1;
    assert_int_equal(oc_control_encode(message, buffer, sizeof(buffer)), 0);
    message = make(OC_CONTROL_REFUSE);
    message->notice.text = bytes_of(0, OC_MAX_TEXT + 1);
    assert_int_equal(oc_control_encode(message, buffer, sizeof(buffer)), 0);
    message = make(OC_CONTROL_WELCOME);
    message->welcome.address[2].length = OC_MAX_ADDRESS + 1;
    assert_int_equal(oc_control_encode(message, buffer, sizeof(buffer)), 0);
}

static void test_text(void **state)
{
    oc_bytes_t text = {.data = (const uint8_t *) "a\nb\x1b[\x7f\0z\xff~ ", .length = 11};
    char got[32];

    (void) state;
    memset(got, '#', sizeof(got));
    oc_control_text(&text, got, sizeof(got));
    assert_string_equal(got, "a?b?[??z?~ ");
    memset(got, '#', sizeof(got));
    oc_control_text(&text, got, 4);
    assert_string_equal(got, "a?b");
    assert_int_equal(got[4], '#');
    oc_control_text(&text, got, 1);
    assert_string_equal(got, "");
    text.length = 0;
    oc_control_text(&text, got, sizeof(got));
    assert_string_equal(got, "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_body_too_short),
        cmocka_unit_test(test_trailing_bytes),
        cmocka_unit_test(test_magic),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_type),
        cmocka_unit_test(test_max_body),
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_hello_address),
        cmocka_unit_test(test_flood_messages),
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_blob_limits),
        cmocka_unit_test(test_welcome_limits),
        cmocka_unit_test(test_join_limits),
        cmocka_unit_test(test_leaf_limits),
        cmocka_unit_test(test_route_limits),
        cmocka_unit_test(test_joined_limit),
        cmocka_unit_test(test_encode_keeps_limits),
        cmocka_unit_test(test_text),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, setup, teardown);
}
