/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns groups, their operations, and the judgement of what they do. */
#include "tests/multicast/crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "multicast/core/alternate.h"
#include "multicast/core/cast_check.h"
#include "multicast/transport/senders.h"
#include "multicast/wire/contact.h"
#include "tests/multicast/memory.h"
#include "tests/multicast/score.h"

#define MAX_OPERATIONS 512

/* Of messages that are forged: higher than those of ranks. */
#define FIRST_SERIAL (1ull << 40)

/* Turns that may be for nothing: some, and so many in a second. */
#define IDLE_TURNS          5000
#define IDLE_TURNS_A_SECOND 1500

/* Beyond what room allows: control messages. */
#define CONTROL_SLACK (256u << 10)

/* What the last messages need to arrive. */
#define AFTERMATH (10 * OC_SECOND)

/* Bytes of a rank's contact that stand for the address of its worker. */
#define ADDRESS_LENGTH 300

typedef struct {
    operation_t plan;
    score_t score;
} piece_t;

typedef struct rank rank_t;

/* An operation of a rank. */
typedef struct {
    rank_t *rank;
    unsigned number;
    buffers_t buffers;
    bool computed;
    outcome_t outcome;
} part_t;

struct rank {
    crew_t *crew;
    unsigned number, next;       /* next: operation to begin */
    bool starting;
    oc_cast_group_t *group;
    oc_cast_group_t *second;     /* if they alternate */
    oc_alternate_t alternate;
    oc_cast_counters_t counters;
    oc_transport_t *transport;
    bool *known;                 /* by rank: how to connect to it … */
    bool *shy;                   /* … which this one may not do yet */
    part_t parts[MAX_OPERATIONS];
};

struct crew {
    crew_config_t config;
    network_t *network;
    uint32_t *hosts;             /* by rank */
    uint64_t token, begin;
    unsigned num_ranks, num_operations;
    bool ready;                  /* all ranks were, once */
    piece_t pieces[MAX_OPERATIONS];
    rank_t *ranks;
    struct errand *errands;
    oc_cast_seal_t *seal;             /* of who has the key, and lies */
    uint64_t serial;
    oc_senders_t senders;        /* all ranks */
};

const uint8_t crew_key[OC_JOB_KEY_SIZE] = "the key of a job of a simulation";

/* An event that concerns a rank. */
typedef struct errand {
    crew_t *crew;
    unsigned rank;
    uint64_t time;               /* until others are told, or of a pause */
    struct errand *next;
} errand_t;

/* ---- operations ---- */

unsigned crew_add(crew_t *crew, const operation_t *operation)
{
    unsigned number = crew->num_operations++;
    piece_t *piece = &crew->pieces[number];

    if (number >= MAX_OPERATIONS) {
        abort();
    }
    piece->plan = *operation;
    score_init(&piece->score, crew->num_ranks, operation->block, operation->lengths,
               operation->gap, crew->config.network.seed << 32 ^ (uint64_t) number << 8);
    for (unsigned i = 0; i < crew->num_ranks; i++) {
        network_wake(crew->network, i);
    }
    return number;
}

static void complain(const part_t *part, const char *what)
{
    network_complain(part->rank->crew->network, "rank %u, operation %u: %s", part->rank->number,
                     part->number, what);
}

static void finish(void *arg, oc_status_t status)
{
    part_t *part = arg;
    char text[128];

    if (part->outcome.over) {
        complain(part, "is over twice");
        return;
    }
    if (part->rank->starting) {
        complain(part, "is over before it has begun");
    }
    part->outcome.over = true;
    part->outcome.status = status;
    part->outcome.end = network_now(part->rank->crew->network);
    if (!buffers_check(&part->buffers, OC_OK == status, text, sizeof(text))) {
        complain(part, text);
    }
    buffers_take_back(&part->buffers);
}

/* ---- ranks ---- */

static bool all_ready(crew_t *crew)
{
    if (crew->ready) {
        return true;
    }
    for (unsigned i = 0; i < crew->num_ranks; i++) {
        if (NULL == crew->ranks[i].group
            || OC_IN_PROGRESS == oc_cast_group_ready(crew->ranks[i].group)) {
            return false;
        }
    }
    crew->ready = true;
    return true;
}

static void settle(rank_t *rank)
{
    if (NULL != rank->second && 0 != oc_alternate_settle(&rank->alternate)) {
        network_wake(rank->crew->network, rank->number);
    }
}

static oc_status_t start(rank_t *rank, const oc_cast_args_t *args)
{
    uint64_t now = network_now(rank->crew->network);
    oc_status_t status;
    unsigned which;

    if (NULL == rank->second) {
        return oc_cast_start(rank->group, args, now);
    }
    status = oc_alternate_start(&rank->alternate, args, now, &which);
    settle(rank);
    return status;
}

static void begin(rank_t *rank, part_t *part)
{
    crew_t *crew = rank->crew;
    const piece_t *piece = &crew->pieces[part->number];
    oc_cast_args_t args = {.block = piece->plan.block,
                           .blocking = piece->plan.blocking,
                           .finished = finish,
                           .arg = part};
    oc_status_t status;

    buffers_init(&part->buffers, &piece->score, rank->number, piece->plan.in_place);
    args.recv = part->buffers.recv;
    args.send = part->buffers.send;
    if (NULL != piece->plan.lengths || piece->plan.gap > 0) {
        args.lengths = piece->score.lengths;
        args.offsets = piece->score.offsets;
    }
    part->outcome.begun = true;
    part->outcome.begin = network_now(crew->network);
    rank->starting = true;
    status = start(rank, &args);
    rank->starting = false;
    if (OC_OK != status) {
        finish(part, status);
    }
}

/* What a table says of a rank. */
static uint64_t scripted(const uint64_t *table, unsigned rank)
{
    return rank < SCRIPTED_RANKS ? table[rank] : 0;
}

/* Begins what is to be begun now. true: something is. */
static bool go_on(rank_t *rank)
{
    crew_t *crew = rank->crew;
    bool begun = false;

    if (crew->config.eager ? OC_IN_PROGRESS == oc_cast_group_ready(rank->group)
                           : !all_ready(crew)) {
        return false;
    }
    while (rank->next < crew->num_operations) {
        part_t *part = &rank->parts[rank->next];
        const operation_t *plan = &crew->pieces[rank->next].plan;
        uint64_t compute = scripted(plan->compute, rank->number);

        if (!plan->queued && rank->next > 0 && !rank->parts[rank->next - 1].outcome.over) {
            break;
        }
        if (!part->computed && compute > 0) {
            part->computed = true;
            network_pause(crew->network, rank->number, network_now(crew->network) + compute);
            break;
        }
        part->rank = rank;
        part->number = rank->next++;
        begin(rank, part);
        begun = true;
    }
    return begun;
}

/* Before, its transport waits for the network to agree. */
static bool has_joined(const rank_t *rank)
{
    const crew_t *crew = rank->crew;

    return network_now(crew->network)
           >= crew->begin + scripted(crew->config.joined, rank->number);
}

/* That of the second group is the next one. */
static bool has_token(const rank_t *rank, uint64_t token)
{
    return token == rank->crew->token || (NULL != rank->second && token == rank->crew->token + 1);
}

static oc_cast_group_t *group_of(const rank_t *rank, uint64_t token)
{
    return token == rank->crew->token ? rank->group : rank->second;
}

static void get_datagram(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length)
{
    rank_t *rank = arg;
    oc_datagram_t header;

    if (!has_joined(rank)) {
        return;
    }
    if (!oc_senders_have(&rank->crew->senders, from)) {
        rank->counters.datagrams_foreign++;
        return;
    }
    if (NULL == rank->group || !oc_datagram_decode(bytes, length, &header)
        || !has_token(rank, header.token)) {
        rank->counters.fragments_foreign++;
        return;
    }
    oc_cast_datagram(group_of(rank, header.token), &header, bytes,
                     network_now(rank->crew->network));
}

static void get_message(void *arg, const uint8_t *bytes, size_t length)
{
    rank_t *rank = arg;
    uint64_t token;

    if (NULL != rank->group && oc_cast_message_token(bytes, length, &token)
        && has_token(rank, token)) {
        oc_cast_message(group_of(rank, token), bytes, length, network_now(rank->crew->network));
        settle(rank);
    }
}

static void check_order(const rank_t *rank)
{
    const char *wrong = oc_cast_group_check(rank->group);

    if (NULL == wrong && NULL != rank->second) {
        wrong = oc_cast_group_check(rank->second);
    }
    if (NULL != wrong) {
        network_complain(rank->crew->network, "rank %u: %s", rank->number, wrong);
    }
}

static void check_patience(const rank_t *rank)
{
    const traffic_t *traffic = network_traffic(rank->crew->network, rank->number);
    uint64_t seconds = (network_now(rank->crew->network) - rank->crew->begin) / OC_SECOND;

    if (traffic->idle_turns > IDLE_TURNS + IDLE_TURNS_A_SECOND * seconds) {
        network_complain(rank->crew->network, "rank %u was called %llu times for nothing in %llu s",
                         rank->number, traffic->idle_turns, (unsigned long long) seconds);
    }
    if (traffic->most_outstanding > rank->crew->config.network.message_room + CONTROL_SLACK) {
        network_complain(rank->crew->network, "rank %u had %zu bytes for one peer under way",
                         rank->number, traffic->most_outstanding);
    }
}

static void missed(void *arg, uint64_t time)
{
    rank_t *rank = arg;

    if (NULL != rank->group) {
        oc_cast_group_missed(rank->group, time);
    }
    if (NULL != rank->second) {
        oc_cast_group_missed(rank->second, time);
    }
}

static uint64_t progress_groups(rank_t *rank)
{
    uint64_t now = network_now(rank->crew->network);
    uint64_t next = oc_cast_progress(rank->group, now), other = UINT64_MAX;

    settle(rank);
    if (NULL != rank->second) {
        other = oc_cast_progress(rank->second, now);
        settle(rank);
    }
    return other < next ? other : next;
}

static uint64_t progress(void *arg)
{
    rank_t *rank = arg;
    crew_t *crew = rank->crew;
    uint64_t next = UINT64_MAX;

    if (NULL == rank->group) {
        return next;
    }
    (void) go_on(rank);
    next = progress_groups(rank);
    if (go_on(rank)) {
        next = network_now(crew->network);
    }
    if (!crew->config.unchecked) {
        check_order(rank);
    }
    check_patience(rank);
    return next;
}

static bool wants_to_send(void *arg)
{
    const rank_t *rank = arg;

    return NULL != rank->group
           && (oc_cast_wants_to_send(rank->group)
               || (NULL != rank->second && oc_cast_wants_to_send(rank->second)));
}

/* ---- what groups get ---- */

static unsigned cast(void *context, const oc_outgoing_t *datagrams, unsigned count)
{
    rank_t *rank = context;

    return has_joined(rank) ? rank->transport->ops->send(rank->transport, datagrams, count) : 0;
}

static void check_message(const rank_t *rank, const void *head, size_t head_length,
                          const void *data, size_t data_length)
{
    static uint8_t bytes[OC_CAST_MESSAGE_MAX];
    network_t *network = rank->crew->network;
    oc_cast_message_t message;

    if (head_length + data_length > sizeof(bytes)) {
        network_complain(network, "rank %u posts %zu + %zu bytes", rank->number, head_length,
                         data_length);
        return;
    }
    memcpy(bytes, head, head_length);
    if (data_length > 0) {
        memcpy(bytes + head_length, data, data_length);
    }
    if (!oc_cast_decode(bytes, head_length + data_length, &message)
        || message.rank != rank->number || !has_token(rank, message.token)) {
        network_complain(network, "rank %u posts a message that makes no sense", rank->number);
    }
}

static void send_message(rank_t *rank, uint32_t to, const void *head, size_t head_length,
                         const void *data, size_t data_length, bool counts)
{
    check_message(rank, head, head_length, data, data_length);
    if (!rank->known[to]) {
        network_complain(rank->crew->network, "rank %u posts to rank %u, which it does not know",
                         rank->number, to);
    } else if (!rank->crew->ranks[to].known[rank->number]) {
        network_complain(rank->crew->network, "rank %u connects to rank %u, which does not let it",
                         rank->number, to);
    }
    network_post(rank->crew->network, rank->number, to, head, head_length, data, data_length,
                 counts);
}

static void post(void *context, uint32_t to, const void *head, size_t head_length,
                 const void *data, size_t data_length)
{
    send_message(context, to, head, head_length, data, data_length, false);
}

static void tell(void *context, uint32_t to, const void *head, size_t head_length,
                 const void *data, size_t data_length)
{
    send_message(context, to, head, head_length, data, data_length, true);
}

static bool knows(void *context, uint32_t to)
{
    const rank_t *rank = context;

    return rank->known[to] && !rank->shy[to];
}

static void write_contact(uint32_t number, oc_contact_t *contact)
{
    memset(contact, 0, sizeof(*contact));
    contact->length = ADDRESS_LENGTH;
    memcpy(contact->address, &number, sizeof(number));
    contact->address[ADDRESS_LENGTH - 1] = 1;
}

static size_t get_contact(void *context, uint8_t *bytes)
{
    oc_contact_t contact;

    write_contact(((const rank_t *) context)->number, &contact);
    return oc_contact_encode(&contact, bytes);
}

static void heard(void *context, uint32_t from)
{
    ((rank_t *) context)->shy[from] = false;
}

static void learn(void *context, uint32_t from, const uint8_t *bytes, size_t length, bool shy)
{
    rank_t *rank = context;
    oc_contact_t expected, contact;

    write_contact(from, &expected);
    memset(&contact, 0, sizeof(contact));
    if (!oc_contact_decode(bytes, length, &contact)
        || 0 != memcmp(&contact, &expected, sizeof(contact))) {
        network_complain(rank->crew->network, "rank %u gets a wrong contact of rank %u",
                         rank->number, from);
    }
    rank->shy[from] = shy && (rank->shy[from] || !rank->known[from]);
    rank->known[from] = true;
}

static size_t queued(void *context)
{
    const rank_t *rank = context;

    return rank->crew->config.queued;
}

static unsigned connections(void *context)
{
    const rank_t *rank = context;

    return rank->crew->config.connections;
}

static size_t room(void *context, uint32_t to)
{
    const rank_t *rank = context;

    return network_room(rank->crew->network, rank->number, to);
}

static unsigned unsent(void *context)
{
    const rank_t *rank = context;

    return network_unsent(rank->crew->network, rank->number);
}

/* ---- life ---- */

static void be_born(void *arg)
{
    rank_t *rank = arg;
    crew_t *crew = rank->crew;
    oc_cast_config_t config = {
        .num_ranks = crew->num_ranks,
        .rank = rank->number,
        .token = crew->token,
        .job_key = crew_key,
        .hosts = crew->hosts,
        .datagram_size = crew->config.network.datagram_size,
        .chains = crew->config.chains,
        .window = crew->config.window,
        .staging = crew->config.staging,
        .probe_timeout = crew->config.probe_timeout,
        .net = {.context = rank, .cast = cast, .post = post, .tell = tell, .room = room,
                .queued = queued, .connections = connections,
                .unsent = unsent, .knows = knows, .contact = get_contact,
                .learn = learn, .heard = heard},
        .counters = &rank->counters};

    rank->transport = network_transport(crew->network, rank->number);
    if (OC_OK != oc_cast_group_new(&config, network_now(crew->network), &rank->group)) {
        network_complain(crew->network, "rank %u gets no group", rank->number);
        return;
    }
    if (crew->config.alternates) {
        config.token++;
        config.second = true;
        if (OC_OK != oc_cast_group_new(&config, network_now(crew->network), &rank->second)) {
            network_complain(crew->network, "rank %u gets no second group", rank->number);
            return;
        }
        oc_alternate_init(&rank->alternate, rank->group, rank->second);
    }
    network_wake(crew->network, rank->number);
}

void crew_defaults(crew_config_t *config, unsigned num_ranks)
{
    memset(config, 0, sizeof(*config));
    network_defaults(&config->network, num_ranks);
    config->window = 512 << 10;
    config->probe_timeout = 5 * OC_SECOND;
}

/* Before any of them joins. */
static void tell_contacts(rank_t *rank)
{
    uint32_t neighbours[OC_CAST_NEIGHBOURS];
    unsigned count = oc_cast_neighbours(rank->crew->num_ranks, rank->number, neighbours);

    rank->known = memory_new(rank->crew->num_ranks * sizeof(*rank->known));
    rank->shy = memory_new(rank->crew->num_ranks * sizeof(*rank->shy));
    for (unsigned i = 0; i < rank->crew->num_ranks; i++) {
        rank->known[i] = rank->crew->config.acquainted;
    }
    for (unsigned i = 0; i < count; i++) {
        rank->known[neighbours[i]] = true;
    }
}

static void admit(crew_t *crew, unsigned rank)
{
    oc_origin_t origin = network_origin(rank);

    if (!oc_senders_admit(&crew->senders, &origin)) {
        abort();
    }
}

crew_t *crew_new(const crew_config_t *config)
{
    crew_t *crew = memory_new(sizeof(*crew));

    crew->config = *config;
    crew->num_ranks = config->network.num_nodes;
    crew->network = network_new(&config->network);
    crew->begin = network_now(crew->network);
    crew->token = 0x746f6b656e000000ull ^ config->network.seed;
    crew->ranks = memory_new(crew->num_ranks * sizeof(rank_t));
    crew->hosts = memory_new(crew->num_ranks * sizeof(*crew->hosts));
    crew->seal = oc_cast_seal_new(crew_key, crew->token);
    crew->serial = FIRST_SERIAL;
    for (unsigned i = 0; i < crew->num_ranks; i++) {
        rank_t *rank = &crew->ranks[i];
        node_t node = {.datagram = get_datagram, .message = get_message, .missed = missed,
                       .progress = progress, .wants_to_send = wants_to_send, .arg = rank};

        crew->hosts[i] = NULL == config->hosts ? i : config->hosts[i];
        rank->crew = crew;
        rank->number = i;
        tell_contacts(rank);
        network_attach(crew->network, i, &node);
        admit(crew, i);
    }
    for (unsigned i = 0; i < crew->num_ranks; i++) {
        network_at(crew->network, crew->begin + scripted(config->born, i), be_born, &crew->ranks[i]);
    }
    return crew;
}

void crew_free(crew_t *crew)
{
    if (NULL == crew) {
        return;
    }
    for (unsigned i = 0; i < crew->num_ranks; i++) {
        oc_cast_group_free(crew->ranks[i].group);
        oc_cast_group_free(crew->ranks[i].second);
        for (unsigned k = 0; k < crew->num_operations; k++) {
            buffers_free(&crew->ranks[i].parts[k].buffers);
        }
        free(crew->ranks[i].known);
        free(crew->ranks[i].shy);
    }
    for (unsigned k = 0; k < crew->num_operations; k++) {
        score_free(&crew->pieces[k].score);
    }
    while (NULL != crew->errands) {
        errand_t *next = crew->errands->next;

        free(crew->errands);
        crew->errands = next;
    }
    network_free(crew->network);
    oc_cast_seal_free(crew->seal);
    oc_senders_clear(&crew->senders);
    free(crew->ranks);
    free(crew->hosts);
    free(crew);
}

network_t *crew_network(crew_t *crew)
{
    return crew->network;
}

oc_cast_group_t *crew_group(crew_t *crew, unsigned rank)
{
    return crew->ranks[rank].group;
}

oc_cast_group_t *crew_second(crew_t *crew, unsigned rank)
{
    return crew->ranks[rank].second;
}

const oc_cast_counters_t *crew_counters(const crew_t *crew, unsigned rank)
{
    return &crew->ranks[rank].counters;
}

oc_cast_counters_t crew_totals(const crew_t *crew)
{
    oc_cast_counters_t totals = {0};
    unsigned long long *sum = (unsigned long long *) &totals;

    for (unsigned i = 0; i < crew->num_ranks; i++) {
        const unsigned long long *one = (const unsigned long long *) &crew->ranks[i].counters;

        for (size_t k = 0; k < sizeof(totals) / sizeof(*sum); k++) {
            sum[k] += one[k];
        }
    }
    return totals;
}

unsigned crew_known(const crew_t *crew, unsigned rank)
{
    unsigned count = 0;

    for (unsigned i = 0; i < crew->num_ranks; i++) {
        count += crew->ranks[rank].known[i];
    }
    return count;
}

uint64_t crew_token(const crew_t *crew)
{
    return crew->token;
}

unsigned crew_fragments(const crew_t *crew, size_t length)
{
    size_t payload = crew->config.network.datagram_size - OC_DATAGRAM_HEADER;

    if (payload > OC_CAST_MESSAGE_MAX - OC_CAST_HEAD_MAX) {
        payload = OC_CAST_MESSAGE_MAX - OC_CAST_HEAD_MAX;
    }
    return 0 == length ? 0 : (unsigned) ((length + 4 + payload - 1) / payload);
}

/* ---- time ---- */

static bool is_probed(void *arg)
{
    crew_t *crew = arg;

    for (unsigned i = 0; i < crew->num_ranks; i++) {
        const oc_cast_group_t *group = crew->ranks[i].group;

        if (!network_is_dead(crew->network, i)
            && (NULL == group || OC_IN_PROGRESS == oc_cast_group_ready(group))) {
            return false;
        }
    }
    return true;
}

bool crew_probe(crew_t *crew, uint64_t patience)
{
    return network_run(crew->network, network_now(crew->network) + patience, is_probed, crew);
}

static bool is_rank_done(const rank_t *rank)
{
    if (network_is_dead(rank->crew->network, rank->number)) {
        return true;
    }
    for (unsigned k = rank->crew->num_operations; k > 0; k--) {
        if (!rank->parts[k - 1].outcome.over) {
            return false;
        }
    }
    return true;
}

static bool is_done(void *arg)
{
    crew_t *crew = arg;

    for (unsigned i = 0; i < crew->num_ranks; i++) {
        if (!is_rank_done(&crew->ranks[i])) {
            return false;
        }
    }
    return true;
}

static void complain_of_hang(crew_t *crew)
{
    for (unsigned i = 0; i < crew->num_ranks; i++) {
        for (unsigned k = 0; k < crew->num_operations; k++) {
            if (!network_is_dead(crew->network, i) && !crew->ranks[i].parts[k].outcome.over) {
                network_complain(crew->network, "rank %u, operation %u: %s, at %.6f s", i, k,
                                 crew->ranks[i].parts[k].outcome.begun ? "does not end"
                                                                       : "has not begun",
                                 (double) (network_now(crew->network) - crew->begin) * 1e-9);
            }
        }
    }
}

bool crew_finish(crew_t *crew, uint64_t patience)
{
    for (unsigned i = 0; i < crew->num_ranks; i++) {
        network_wake(crew->network, i);
    }
    if (!network_run(crew->network, network_now(crew->network) + patience, is_done, crew)) {
        complain_of_hang(crew);
        return false;
    }
    return true;
}

bool crew_play(crew_t *crew, uint64_t patience)
{
    if (!crew_finish(crew, patience)) {
        return false;
    }
    (void) network_run(crew->network, network_now(crew->network) + AFTERMATH, NULL, NULL);
    for (unsigned i = 0; i < crew->num_ranks; i++) {
        for (unsigned k = 0; k < crew->num_operations; k++) {
            const part_t *part = &crew->ranks[i].parts[k];

            if (part->outcome.over && !buffers_untouched(&part->buffers)) {
                complain(part, "a buffer is written after the end");
            }
        }
    }
    return '\0' == network_complaint(crew->network)[0];
}

const outcome_t *crew_outcome(const crew_t *crew, unsigned rank, unsigned operation)
{
    return &crew->ranks[rank].parts[operation].outcome;
}

bool crew_succeeded(crew_t *crew)
{
    for (unsigned i = 0; i < crew->num_ranks; i++) {
        for (unsigned k = 0; k < crew->num_operations; k++) {
            const outcome_t *outcome = crew_outcome(crew, i, k);

            if (!outcome->over || OC_OK != outcome->status) {
                network_complain(crew->network, "rank %u, operation %u: %s: %s", i, k,
                                 outcome->over ? oc_status_string(outcome->status) : "not over",
                                 oc_cast_group_reason(crew->ranks[i].group));
            }
        }
    }
    return '\0' == network_complaint(crew->network)[0];
}

const char *crew_run(crew_t *crew, uint64_t patience)
{
    if (!crew_probe(crew, patience)) {
        network_complain(crew->network, "probing does not end");
    } else if (crew_play(crew, patience)) {
        (void) crew_succeeded(crew);
    }
    return network_complaint(crew->network);
}

/* ---- faults ---- */

static void tell_of_death(void *arg)
{
    errand_t *errand = arg;
    crew_t *crew = errand->crew;
    char reason[64];

    snprintf(reason, sizeof(reason), "rank %u has died", errand->rank);
    for (unsigned i = 0; i < crew->num_ranks; i++) {
        if (!network_is_dead(crew->network, i) && NULL != crew->ranks[i].group) {
            oc_cast_group_fail(crew->ranks[i].group, OC_ERR_UNREACHABLE, reason);
            settle(&crew->ranks[i]);
            network_wake(crew->network, i);
        }
    }
}

static void die(void *arg)
{
    errand_t *errand = arg;
    network_t *network = errand->crew->network;

    network_kill(network, errand->rank);
    if (UINT64_MAX == errand->time) {
            return;
    }
    network_at(network, network_now(network) + errand->time, tell_of_death, errand);
}

static void plan_errand(crew_t *crew, unsigned rank, uint64_t when, uint64_t time,
                        void (*call)(void *arg))
{
    errand_t *errand = memory_new(sizeof(*errand));

    *errand = (errand_t) {.crew = crew, .rank = rank, .time = time, .next = crew->errands};
    crew->errands = errand;
    network_at(crew->network, when, call, errand);
}

void crew_kill(crew_t *crew, unsigned rank, uint64_t when, uint64_t notice)
{
    plan_errand(crew, rank, when, notice, die);
}

static void stop_for_a_while(void *arg)
{
    errand_t *errand = arg;
    network_t *network = errand->crew->network;

    network_pause(network, errand->rank, network_now(network) + errand->time);
}

void crew_pause(crew_t *crew, unsigned rank, uint64_t when, uint64_t duration)
{
    plan_errand(crew, rank, when, duration, stop_for_a_while);
}

void crew_forge(crew_t *crew, unsigned to, const oc_cast_message_t *message)
{
    uint8_t bytes[OC_CAST_HEAD_MAX + OC_CAST_MESSAGE_MAX];
    oc_cast_message_t copy = *message;
    size_t length;

    copy.serial = crew->serial++;
    length = oc_cast_encode(&copy, bytes);
    oc_cast_seal_message(crew->seal, 0, to, &copy, bytes, length);
    if (message->data_length > 0) {
        memcpy(bytes + length, message->data, message->data_length);
    }
    network_forge_message(crew->network, to, bytes, length + message->data_length,
                          network_now(crew->network));
}

void crew_forge_datagram(crew_t *crew, unsigned to, const oc_datagram_t *header,
                         const uint8_t *payload)
{
    uint8_t bytes[OC_DATAGRAM_HEADER + 65536];

    oc_datagram_encode(header, bytes);
    memcpy(bytes + OC_DATAGRAM_HEADER, payload, header->length);
    oc_cast_seal_datagram(crew->seal, OC_DATAGRAM_PROBE == header->kind ? 0 : header->generation,
                     header, payload, bytes);
    network_forge_datagram(crew->network, header->rank < crew->num_ranks ? header->rank : 1, to,
                           bytes, OC_DATAGRAM_HEADER + header->length,
                           network_now(crew->network));
}

void crew_seal_again(uint8_t *bytes, size_t length)
{
    oc_datagram_t header;
    oc_cast_seal_t *seal;

    if (!oc_datagram_decode(bytes, length, &header)) {
        abort();
    }
    seal = oc_cast_seal_new(crew_key, header.token);
    oc_cast_seal_datagram(seal, OC_DATAGRAM_PROBE == header.kind ? 0 : header.generation, &header,
                     bytes + OC_DATAGRAM_HEADER, bytes);
    oc_cast_seal_free(seal);
}
