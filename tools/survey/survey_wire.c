/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec of the messages: length, magic, version, type, and the fields in their order. */
#include "tools/survey/survey_wire.h"

#include <string.h>

#include "base/wire.h"
#include "multicast/flood/flood_test.h"

#define MAGIC   0x534fu /* OS */
#define VERSION 1

/* Reads and writes are one function for each kind, so that they cannot differ. */
typedef struct {
    oc_writer_t *to;           /* NULL: it is read … */
    oc_reader_t *from;         /* … from here */
} codec_t;

static uint64_t code(codec_t *codec, uint64_t value, unsigned bytes)
{
    if (NULL == codec->to) {
        return oc_get(codec->from, bytes);
    }
    oc_put(codec->to, value, bytes);
    return value;
}

static void code_u32(codec_t *codec, uint32_t *value)
{
    *value = (uint32_t) code(codec, *value, 4);
}

static void code_u64(codec_t *codec, uint64_t *value)
{
    *value = code(codec, *value, 8);
}

static void code_bool(codec_t *codec, bool *value)
{
    *value = 0 != code(codec, *value, 1);
}

/* Texts end up on somebody's terminal. */
static void take_text(oc_reader_t *from, char *text, size_t size)
{
    size_t length = (size_t) oc_get(from, 2);
    const uint8_t *bytes = oc_get_bytes(from, length);

    if (NULL == bytes || length >= size) {
        from->bad = true;
        text[0] = '\0';
        return;
    }
    for (size_t i = 0; i < length; i++) {
        text[i] = (char) (bytes[i] >= ' ' && bytes[i] <= '~' ? bytes[i] : '?');
    }
    text[length] = '\0';
}

static void code_text(codec_t *codec, char *text, size_t size)
{
    if (NULL == codec->to) {
        take_text(codec->from, text, size);
        return;
    }
    oc_put(codec->to, strlen(text), 2);
    oc_put_bytes(codec->to, text, strlen(text));
}

static void code_hello(codec_t *codec, oc_survey_hello_t *hello)
{
    code_text(codec, hello->token, sizeof(hello->token));
    code_text(codec, hello->name, sizeof(hello->name));
    code_u64(codec, &hello->identity);
}

static void code_key(codec_t *codec, uint8_t key[OC_JOB_KEY_SIZE])
{
    for (unsigned i = 0; i < OC_JOB_KEY_SIZE; i++) {
        key[i] = (uint8_t) code(codec, key[i], 1);
    }
}

static void code_plan(codec_t *codec, oc_survey_plan_t *plan)
{
    code_u32(codec, &plan->host);
    code_u32(codec, &plan->hosts);
    code_u32(codec, &plan->address);
    code_u32(codec, &plan->probes);
    code_u32(codec, &plan->marks);
    plan->port = (uint16_t) code(codec, plan->port, 2);
    code_u32(codec, &plan->rate);
    code_u64(codec, &plan->staging);
    code_u64(codec, &plan->token);
    code_key(codec, plan->key);
}

static void code_facts(codec_t *codec, oc_survey_facts_t *facts)
{
    code_bool(codec, &facts->joined);
    code_text(codec, facts->reason, sizeof(facts->reason));
    code_text(codec, facts->interface, sizeof(facts->interface));
    code_u32(codec, &facts->address);
    code_u32(codec, &facts->mtu);
    code_u32(codec, &facts->datagram_size);
    code_u32(codec, &facts->staging);
    code_u64(codec, &facts->rmem_max);
    code_u32(codec, &facts->memberships);
    code_bool(codec, &facts->sees_packets);
    code_bool(codec, &facts->may_flood);
}

static void code_step(codec_t *codec, oc_survey_step_t *step)
{
    code_u32(codec, &step->number);
    code_u32(codec, &step->sender);
    code_u32(codec, &step->small);
    code_u32(codec, &step->full);
    code_u32(codec, &step->length);
    code_u32(codec, &step->patience);
}

static void code_counts(codec_t *codec, oc_survey_counts_t *counts)
{
    code_u32(codec, &counts->small);
    code_u32(codec, &counts->full);
    code_u32(codec, &counts->doubled);
    code_u32(codec, &counts->spanned);
    code_u64(codec, &counts->span);
}

static void code_body(codec_t *codec, oc_survey_message_t *message)
{
    switch (message->type) {
    case OC_SURVEY_HELLO:
        code_hello(codec, &message->hello);
        break;
    case OC_SURVEY_REFUSED:
        code_text(codec, message->text, sizeof(message->text));
        break;
    case OC_SURVEY_PLAN:
        code_plan(codec, &message->plan);
        break;
    case OC_SURVEY_FACTS:
        code_facts(codec, &message->facts);
        break;
    case OC_SURVEY_LISTEN:
    case OC_SURVEY_SEND:
    case OC_SURVEY_COUNT:
        code_step(codec, &message->step);
        break;
    case OC_SURVEY_COUNTS:
        code_counts(codec, &message->counts);
        break;
    case OC_SURVEY_FLOOD:
        code_u32(codec, &message->role);
        break;
    case OC_SURVEY_VERDICT:
        code_u32(codec, &message->verdict);
        break;
    default: /* no more than a type */
        break;
    }
}

size_t oc_survey_encode(const oc_survey_message_t *message, uint8_t bytes[OC_SURVEY_FRAME])
{
    oc_writer_t prefix = {.at = bytes, .end = bytes + OC_SURVEY_PREFIX};
    oc_writer_t to = {.at = bytes + OC_SURVEY_PREFIX, .end = bytes + OC_SURVEY_FRAME};
    codec_t codec = {.to = &to};
    oc_survey_message_t copy = *message;

    oc_put(&to, MAGIC, 2);
    oc_put(&to, VERSION, 1);
    oc_put(&to, message->type, 1);
    code_body(&codec, &copy);
    oc_put(&prefix, (uint64_t) (to.at - bytes) - OC_SURVEY_PREFIX, OC_SURVEY_PREFIX);
    return (size_t) (to.at - bytes);
}

static bool step_is_valid(const oc_survey_step_t *step)
{
    return step->sender < OC_SURVEY_HOSTS && step->small <= OC_SURVEY_MOST
           && step->full <= OC_SURVEY_MOST && step->length <= UINT16_MAX
           && step->patience <= 10000;
}

/* What others rely on. */
static bool message_is_valid(const oc_survey_message_t *message)
{
    switch (message->type) {
    case OC_SURVEY_PLAN:
        return message->plan.host < message->plan.hosts && message->plan.hosts <= OC_SURVEY_HOSTS
               && message->plan.staging <= 1u << 30;
    case OC_SURVEY_LISTEN:
    case OC_SURVEY_SEND:
    case OC_SURVEY_COUNT:
        return step_is_valid(&message->step);
    case OC_SURVEY_COUNTS:
        return message->counts.small <= OC_SURVEY_MOST && message->counts.full <= OC_SURVEY_MOST
               && message->counts.spanned <= message->counts.full;
    case OC_SURVEY_FLOOD:
        return message->role <= OC_FLOOD_WATCHER;
    case OC_SURVEY_VERDICT:
        return message->verdict < OC_FLOOD_VERDICTS;
    default:
        return true;
    }
}

oc_status_t oc_survey_decode(const uint8_t *bytes, size_t length, oc_survey_message_t *message,
                             size_t *used)
{
    oc_reader_t prefix = {.at = bytes, .end = bytes + length}, from;
    codec_t codec = {.from = &from};
    uint64_t follows = oc_get(&prefix, OC_SURVEY_PREFIX), type;

    if (prefix.bad) {
        return OC_IN_PROGRESS;
    }
    if (follows > OC_SURVEY_FRAME - OC_SURVEY_PREFIX) {
        return OC_ERR_INVALID;
    }
    if (length < OC_SURVEY_PREFIX + follows) {
        return OC_IN_PROGRESS;
    }
    from = (oc_reader_t) {.at = prefix.at, .end = prefix.at + follows};
    if (MAGIC != oc_get(&from, 2) || VERSION != oc_get(&from, 1)) {
        return OC_ERR_INVALID;
    }
    type = oc_get(&from, 1);
    if (type < OC_SURVEY_HELLO || type >= OC_SURVEY_TYPES) {
        return OC_ERR_INVALID;
    }
    memset(message, 0, sizeof(*message));
    message->type = (oc_survey_type_t) type;
    code_body(&codec, message);
    *used = OC_SURVEY_PREFIX + (size_t) follows;
    return from.bad || from.at != from.end || !message_is_valid(message) ? OC_ERR_INVALID : OC_OK;
}
