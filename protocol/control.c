/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec of the control messages: one pair of functions per body. */
#include "protocol/control.h"

#include <ctype.h>

#include "base/wire.h"
#include "protocol/tag.h"

static const uint8_t magic[4] = {'O', 'C', 'S', 'T'};

static void put_blob(oc_writer_t *w, uint32_t max, const oc_bytes_t *bytes)
{
    if (bytes->length > max) {
        w->bad = true;
        return;
    }
    oc_put(w, bytes->length, 4);
    oc_put_bytes(w, bytes->data, bytes->length);
}

static void get_blob(oc_reader_t *r, uint32_t max, oc_bytes_t *bytes)
{
    bytes->length = (uint32_t) oc_get(r, 4);
    if (bytes->length > max) {
        r->bad = true;
    }
    bytes->data = oc_get_bytes(r, bytes->length);
}

static void put_origins(oc_writer_t *w, const oc_origins_t *origins)
{
    if (origins->count > OC_MAX_ORIGINS) {
        w->bad = true;
        return;
    }
    oc_put(w, origins->count, 1);
    oc_put_bytes(w, origins->addresses, origins->count * sizeof(origins->addresses[0]));
}

static void get_origins(oc_reader_t *r, oc_origins_t *origins)
{
    const uint8_t *bytes;

    origins->count = (uint8_t) oc_get(r, 1);
    if (origins->count > OC_MAX_ORIGINS) {
        r->bad = true;
        return;
    }
    bytes = oc_get_bytes(r, origins->count * sizeof(origins->addresses[0]));
    if (NULL != bytes) {
        memcpy(origins->addresses, bytes, origins->count * sizeof(origins->addresses[0]));
    }
}

static void put_hello(oc_writer_t *w, const oc_hello_t *hello)
{
    oc_put(w, hello->version_min, 2);
    oc_put(w, hello->version_max, 2);
    oc_put_bytes(w, hello->job_id, OC_JOB_ID_SIZE);
    oc_put_bytes(w, hello->job_key, OC_JOB_KEY_SIZE);
    oc_put(w, hello->process, 4);
    put_blob(w, OC_MAX_ADDRESS, &hello->address);
    put_origins(w, &hello->origins);
}

static void get_hello(oc_reader_t *r, oc_hello_t *hello)
{
    const uint8_t *bytes;

    hello->version_min = (uint16_t) oc_get(r, 2);
    hello->version_max = (uint16_t) oc_get(r, 2);
    bytes = oc_get_bytes(r, OC_JOB_ID_SIZE + OC_JOB_KEY_SIZE);
    if (NULL != bytes) {
        memcpy(hello->job_id, bytes, OC_JOB_ID_SIZE);
        memcpy(hello->job_key, bytes + OC_JOB_ID_SIZE, OC_JOB_KEY_SIZE);
    }
    hello->process = (uint32_t) oc_get(r, 4);
    get_blob(r, OC_MAX_ADDRESS, &hello->address);
    if (0 == hello->address.length) {
        r->bad = true;
    }
    get_origins(r, &hello->origins);
}

static void put_welcome(oc_writer_t *w, const oc_welcome_t *welcome)
{
    oc_put(w, welcome->version, 2);
    oc_put(w, welcome->num_aggregators, 2);
    oc_put(w, welcome->identity, 8);
    oc_put(w, welcome->parent, 8);
    oc_put(w, welcome->incarnation, 8);
    for (unsigned i = 0; i < welcome->num_aggregators; i++) {
        put_blob(w, OC_MAX_ADDRESS, &welcome->address[i]);
    }
    put_origins(w, &welcome->origins);
}

static void get_welcome(oc_reader_t *r, oc_welcome_t *welcome)
{
    welcome->version = (uint16_t) oc_get(r, 2);
    welcome->num_aggregators = (uint16_t) oc_get(r, 2);
    welcome->identity = oc_get(r, 8);
    welcome->parent = oc_get(r, 8);
    welcome->incarnation = oc_get(r, 8);
    if (0 == welcome->incarnation || 0 == welcome->num_aggregators
        || welcome->num_aggregators > OC_MAX_AGGREGATORS) {
        r->bad = true;
        return;
    }
    for (unsigned i = 0; i < welcome->num_aggregators; i++) {
        get_blob(r, OC_MAX_ADDRESS, &welcome->address[i]);
        if (0 == welcome->address[i].length) {
            r->bad = true;
        }
    }
    get_origins(r, &welcome->origins);
}

static void put_join(oc_writer_t *w, const oc_join_t *join)
{
    oc_put(w, join->group, 8);
    oc_put(w, join->num_ranks, 4);
    oc_put(w, join->rank, 4);
    oc_put(w, join->reply_handle, 4);
    oc_put(w, join->first_aggregator, 4);
    oc_put(w, join->chunk_bytes, 4);
    oc_put(w, join->window, 4);
    oc_put(w, join->small_bytes, 4);
    oc_put(w, join->reserves, 1);
    oc_put(w, join->epoch, 8);
    oc_put(w, join->leaves, 4);
    oc_put(w, join->leaf, 4);
}

/* A tree of one leaf is none. */
static bool leaf_is_legal(const oc_join_t *join)
{
    return 0 == join->leaves ? 0 == join->leaf
                             : join->leaves > 1 && join->leaves <= OC_MAX_LEAVES
                                   && join->leaf < join->leaves;
}

static void get_join(oc_reader_t *r, oc_join_t *join)
{
    join->group = oc_get(r, 8);
    join->num_ranks = (uint32_t) oc_get(r, 4);
    join->rank = (uint32_t) oc_get(r, 4);
    join->reply_handle = (uint32_t) oc_get(r, 4);
    join->first_aggregator = (uint32_t) oc_get(r, 4);
    join->chunk_bytes = (uint32_t) oc_get(r, 4);
    join->window = (uint32_t) oc_get(r, 4);
    join->small_bytes = (uint32_t) oc_get(r, 4);
    join->reserves = (uint8_t) oc_get(r, 1);
    join->epoch = oc_get(r, 8);
    join->leaves = (uint32_t) oc_get(r, 4);
    join->leaf = (uint32_t) oc_get(r, 4);
    if (!leaf_is_legal(join) || join->num_ranks > OC_MAX_RANKS || join->rank >= join->num_ranks
        || join->reply_handle > OC_HANDLE_MAX
        || join->first_aggregator >= OC_MAX_LANES
        || join->chunk_bytes < OC_MIN_CHUNK || join->chunk_bytes > OC_MAX_CHUNK
        || 0 == join->window || join->window > OC_MAX_WINDOW
        || join->small_bytes > OC_MAX_SMALL || join->reserves > 1) {
        r->bad = true;
    }
}

static void get_leave(oc_reader_t *r, oc_leave_t *leave)
{
    uint8_t unsettled;

    leave->group = oc_get(r, 8);
    leave->rank = (uint32_t) oc_get(r, 4);
    unsettled = (uint8_t) oc_get(r, 1);
    leave->unsettled = 0 != unsettled;
    if (unsettled > 1) {
        r->bad = true;
    }
}

static void get_joined(oc_reader_t *r, oc_joined_t *joined)
{
    joined->group = oc_get(r, 8);
    joined->handle = (uint32_t) oc_get(r, 4);
    joined->eager_window = oc_get(r, 8);
    if (joined->handle > OC_HANDLE_MAX) {
        r->bad = true;
    }
}

static void put_notice(oc_writer_t *w, const oc_notice_t *notice)
{
    oc_put(w, notice->group, 8);
    oc_put(w, (uint32_t) notice->status, 4);
    put_blob(w, OC_MAX_TEXT, &notice->text);
}

static void get_notice(oc_reader_t *r, oc_notice_t *notice)
{
    notice->group = oc_get(r, 8);
    notice->status = (int32_t) oc_get(r, 4);
    get_blob(r, OC_MAX_TEXT, &notice->text);
}

static void get_route(oc_reader_t *r, oc_leaf_route_t *route)
{
    route->aggregator = (uint32_t) oc_get(r, 4);
    get_blob(r, OC_MAX_ADDRESS, &route->address);
    if (0 == route->address.length || route->aggregator >= OC_MAX_AGGREGATORS) {
        r->bad = true;
    }
}

static void put_status(oc_writer_t *w, const oc_server_status_t *status)
{
    oc_put(w, status->version_min, 2);
    oc_put(w, status->version_max, 2);
    oc_put(w, status->aggregators, 2);
    oc_put(w, status->jobs, 4);
    oc_put(w, status->max_jobs, 4);
    oc_put(w, status->memory_limit, 8);
    put_blob(w, OC_MAX_TEXT, &status->release);
}

static void get_status(oc_reader_t *r, oc_server_status_t *status)
{
    status->version_min = (uint16_t) oc_get(r, 2);
    status->version_max = (uint16_t) oc_get(r, 2);
    status->aggregators = (uint16_t) oc_get(r, 2);
    status->jobs = (uint32_t) oc_get(r, 4);
    status->max_jobs = (uint32_t) oc_get(r, 4);
    status->memory_limit = oc_get(r, 8);
    get_blob(r, OC_MAX_TEXT, &status->release);
}

static void put_lookout(oc_writer_t *w, const oc_lookout_t *lookout)
{
    oc_put(w, lookout->token, 8);
    oc_put_bytes(w, lookout->key, OC_JOB_KEY_SIZE);
    oc_put_bytes(w, &lookout->probes, 4);
    oc_put_bytes(w, &lookout->marks, 4);
    oc_put(w, lookout->port, 2);
}

static void get_lookout(oc_reader_t *r, oc_lookout_t *lookout)
{
    const uint8_t *bytes;

    lookout->token = oc_get(r, 8);
    bytes = oc_get_bytes(r, OC_JOB_KEY_SIZE + 8);
    if (NULL != bytes) {
        memcpy(lookout->key, bytes, OC_JOB_KEY_SIZE);
        memcpy(&lookout->probes, bytes + OC_JOB_KEY_SIZE, 4);
        memcpy(&lookout->marks, bytes + OC_JOB_KEY_SIZE + 4, 4);
    }
    lookout->port = (uint16_t) oc_get(r, 2);
}

static void put_sight(oc_writer_t *w, const oc_sight_t *sight)
{
    oc_put(w, sight->token, 8);
    oc_put(w, sight->view, 1);
    put_blob(w, OC_MAX_TEXT, &sight->text);
}

static void get_sight(oc_reader_t *r, oc_sight_t *sight)
{
    sight->token = oc_get(r, 8);
    sight->view = (uint8_t) oc_get(r, 1);
    get_blob(r, OC_MAX_TEXT, &sight->text);
    if (sight->view >= OC_VIEWS) {
        r->bad = true;
    }
}

static void put_loss(oc_writer_t *w, const oc_loss_t *loss)
{
    oc_put(w, loss->servers.count, 2);
    for (unsigned i = 0; i < loss->servers.count; i++) {
        oc_put(w, loss->servers.servers[i], 8);
    }
    oc_put(w, loss->servers.num_returned, 2);
    for (unsigned i = 0; i < loss->servers.num_returned; i++) {
        oc_put(w, loss->servers.returned[i].incarnation, 8);
        oc_put(w, loss->servers.returned[i].number, 2);
    }
    put_blob(w, OC_MAX_TEXT, &loss->text);
}

static void get_lost(oc_reader_t *r, oc_lost_t *lost)
{
    uint64_t last = 0;

    lost->count = (uint16_t) oc_get(r, 2);
    r->bad = r->bad || lost->count > OC_MAX_LOST;
    for (unsigned i = 0; !r->bad && i < lost->count; i++) {
        lost->servers[i] = oc_get(r, 8);
        r->bad = r->bad || lost->servers[i] <= last;
        last = lost->servers[i];
    }
}

static void get_returned(oc_reader_t *r, oc_lost_t *lost)
{
    uint64_t last = 0;

    lost->num_returned = (uint16_t) oc_get(r, 2);
    r->bad = r->bad || lost->num_returned > OC_MAX_LOST;
    for (unsigned i = 0; !r->bad && i < lost->num_returned; i++) {
        lost->returned[i].incarnation = oc_get(r, 8);
        lost->returned[i].number = (uint16_t) oc_get(r, 2);
        r->bad = r->bad || lost->returned[i].incarnation <= last;
        last = lost->returned[i].incarnation;
    }
}

/* Nobody says that nothing has happened. */
static void get_loss(oc_reader_t *r, oc_loss_t *loss)
{
    get_lost(r, &loss->servers);
    get_returned(r, &loss->servers);
    r->bad = r->bad || oc_lost_is_empty(&loss->servers);
    get_blob(r, OC_MAX_TEXT, &loss->text);
}

static void put_body(oc_writer_t *w, const oc_control_t *message)
{
    switch (message->type) {
    case OC_CONTROL_HELLO:
        put_hello(w, &message->hello);
        break;
    case OC_CONTROL_WELCOME:
        put_welcome(w, &message->welcome);
        break;
    case OC_CONTROL_JOIN:
        put_join(w, &message->join);
        break;
    case OC_CONTROL_JOINED:
        oc_put(w, message->joined.group, 8);
        oc_put(w, message->joined.handle, 4);
        oc_put(w, message->joined.eager_window, 8);
        break;
    case OC_CONTROL_LEAVE:
        oc_put(w, message->leave.group, 8);
        oc_put(w, message->leave.rank, 4);
        oc_put(w, message->leave.unsettled, 1);
        break;
    case OC_CONTROL_PING:
    case OC_CONTROL_PONG:
        oc_put(w, message->ping, 4);
        break;
    case OC_CONTROL_REFUSE:
    case OC_CONTROL_GROUP_ERROR:
    case OC_CONTROL_JOB_ERROR:
    case OC_CONTROL_DRAIN:
    case OC_CONTROL_RETIRE:
        put_notice(w, &message->notice);
        break;
    case OC_CONTROL_ROUTE:
        oc_put(w, message->route.aggregator, 4);
        put_blob(w, OC_MAX_ADDRESS, &message->route.address);
        break;
    case OC_CONTROL_STATUS:
        put_status(w, &message->status);
        break;
    case OC_CONTROL_WATCH:
        put_lookout(w, &message->lookout);
        break;
    case OC_CONTROL_LOOK:
        oc_put(w, message->look, 8);
        break;
    case OC_CONTROL_SIGHT:
        put_sight(w, &message->sight);
        break;
    case OC_CONTROL_LOST:
        put_loss(w, &message->loss);
        break;
    case OC_CONTROL_QUERY:
    case OC_CONTROL_BYE:
        break;
    default:
        w->bad = true;
    }
}

static void control_get_body(oc_reader_t *r, oc_control_t *message)
{
    switch (message->type) {
    case OC_CONTROL_HELLO:
        get_hello(r, &message->hello);
        break;
    case OC_CONTROL_WELCOME:
        get_welcome(r, &message->welcome);
        break;
    case OC_CONTROL_JOIN:
        get_join(r, &message->join);
        break;
    case OC_CONTROL_JOINED:
        get_joined(r, &message->joined);
        break;
    case OC_CONTROL_LEAVE:
        get_leave(r, &message->leave);
        break;
    case OC_CONTROL_PING:
    case OC_CONTROL_PONG:
        message->ping = (uint32_t) oc_get(r, 4);
        break;
    case OC_CONTROL_REFUSE:
    case OC_CONTROL_GROUP_ERROR:
    case OC_CONTROL_JOB_ERROR:
    case OC_CONTROL_DRAIN:
    case OC_CONTROL_RETIRE:
        get_notice(r, &message->notice);
        break;
    case OC_CONTROL_ROUTE:
        get_route(r, &message->route);
        break;
    case OC_CONTROL_STATUS:
        get_status(r, &message->status);
        break;
    case OC_CONTROL_WATCH:
        get_lookout(r, &message->lookout);
        break;
    case OC_CONTROL_LOOK:
        message->look = oc_get(r, 8);
        break;
    case OC_CONTROL_SIGHT:
        get_sight(r, &message->sight);
        break;
    case OC_CONTROL_LOST:
        get_loss(r, &message->loss);
        break;
    case OC_CONTROL_QUERY:
    case OC_CONTROL_BYE:
        break;
    default:
        r->bad = true;
    }
}

static bool opens_conversation(const oc_control_t *message)
{
    return OC_CONTROL_HELLO == message->type || OC_CONTROL_REFUSE == message->type
           || OC_CONTROL_QUERY == message->type || OC_CONTROL_STATUS == message->type;
}

size_t oc_control_encode(const oc_control_t *message, uint8_t *buffer, size_t capacity)
{
    oc_writer_t w, frame;
    size_t body;

    if (capacity < OC_FRAME_SIZE) {
        return 0;
    }
    w = (oc_writer_t) {.at = buffer + OC_FRAME_SIZE, .end = buffer + capacity};
    put_body(&w, message);
    body = (size_t) (w.at - buffer) - OC_FRAME_SIZE;
    if (w.bad || body > OC_MAX_BODY) {
        return 0;
    }
    frame = (oc_writer_t) {.at = buffer, .end = buffer + OC_FRAME_SIZE};
    oc_put_bytes(&frame, magic, sizeof(magic));
    /* what opens a conversation must be readable for every version that could go on with it */
    oc_put(&frame, opens_conversation(message) ? OC_PROTOCOL_VERSION_MIN : OC_PROTOCOL_VERSION_MAX,
           2);
    oc_put(&frame, message->type, 2);
    oc_put(&frame, body, 4);
    return OC_FRAME_SIZE + body;
}

long oc_control_decode(const uint8_t *buffer, size_t length, size_t max_body,
                       oc_control_t *message)
{
    oc_reader_t r = {.at = buffer, .end = buffer + length};
    uint64_t version, body;

    /* a stranger's first bytes are judged as early as they can be */
    if (0 != memcmp(buffer, magic, length < sizeof(magic) ? length : sizeof(magic))) {
        return OC_ERR_INVALID;
    }
    if (length < OC_FRAME_SIZE) {
        return 0;
    }
    r.at += sizeof(magic);
    version = oc_get(&r, 2);
    message->type = (uint16_t) oc_get(&r, 2);
    body = oc_get(&r, 4);
    if (version < OC_PROTOCOL_VERSION_MIN || version > OC_PROTOCOL_VERSION_MAX) {
        return OC_ERR_VERSION;
    }
    if (body > max_body) {
        return OC_ERR_LIMIT;
    }
    if (length - OC_FRAME_SIZE < body) {
        return 0;
    }
    r.end = r.at + body;
    control_get_body(&r, message);
    return r.bad || r.at != r.end ? OC_ERR_INVALID : (long) (OC_FRAME_SIZE + body);
}

void oc_control_text(const oc_bytes_t *text, char *buffer, size_t size)
{
    size_t length = text->length < size - 1 ? text->length : size - 1;

    for (size_t i = 0; i < length; i++) {
        buffer[i] = isprint(text->data[i]) ? (char) text->data[i] : '?';
    }
    buffer[length] = '\0';
}
