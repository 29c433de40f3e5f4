/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns a prober of the verbs transport: joins a multicast address, sends or receives datagrams, and
 * counts what came; or joins and leaves many times. It sleeps when there is nothing to do.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "multicast/transport/verbs.h"
#include "tests/rdma/inject.h"

#define MAX_SENDERS 64
#define LINGER      (OC_SECOND / 4) /* duplicates come soon or never */
#define SEND_LINGER (2 * OC_SECOND)
#define MAX_LISTED  1000            /* missing datagrams of a sender */

enum { EXIT_MISSING = 1, EXIT_CANNOT = 2 };

static const char usage_text[] =
    "usage: transport_probe receive|send|both|cycle --interface I --group G [OPTION...]\n"
    "  --interface I  own network interface, by name or address\n"
    "  --group G      IPv4 multicast address\n"
    "  --rank R       own number as a sender: 0 to 63\n"
    "  --from LIST    senders to hear from: 1,2\n"
    "  --count N      datagrams of each sender, or times to join and leave (default 100)\n"
    "  --size B       bytes of a datagram (default: as many as it can have)\n"
    "  --batch N      datagrams that are sent at once: 1 to 64 (default 1)\n"
    "  --gap US       microseconds between two batches (default 0)\n"
    "  --staging B    bytes for datagrams that have arrived (default 4194304)\n"
    "  --token HEX    64 random bits of this run; datagrams with others are foreign (default 0)\n"
    "  --poll         do not sleep\n"
    "  --inject KIND  what happens to the device when half of all datagrams have come and gone\n"
    "  --hold         begin to send and to receive when standard input has a line, or ends\n"
    "  --idle S       seconds without a datagram, after the first, to give up (default 5)\n"
    "  --limit S      seconds to give up altogether (default 60)\n"
    "Says \"ready\" when it has joined, and in the end what it sent and received.\n"
    "The exit status is 0 if all of it came, 1 if not, and 2 if it cannot be tried.\n";

typedef struct {
    bool sends, receives, cycles, hold, polls;
    const char *interface, *injected;
    struct in_addr group;
    uint64_t from; /* a bit for each sender */
    uint64_t token, rank, count, size, batch, gap, staging, idle, limit;
} options_t;

typedef struct {
    uint8_t *seen[MAX_SENDERS]; /* by index; NULL for those that are not expected */
    uint64_t unique[MAX_SENDERS];
    oc_origin_t origins[MAX_SENDERS];  /* where the last of each came from */
    uint64_t missing, duplicate, foreign, wrong;
    unsigned long long own, renewed; /* see oc_verbs_config_t */
    uint64_t last; /* when the last that belongs here came; 0: none yet */
} ledger_t;

typedef struct {
    const options_t *options;
    oc_verbs_source_t *source;
    oc_transport_t *transport;
    oc_origin_t origin;
    ledger_t ledger;
    uint8_t *payloads; /* of a batch */
    uint64_t sent, refused;
    const char *injected; /* NULL: nothing, or it has happened */
    bool holding;
    uint64_t begin, next_send;
} run_t;

static void cannot(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void cannot(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "transport_probe: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(EXIT_CANNOT);
}

static void *allocate(size_t size)
{
    void *memory = calloc(1, size);

    if (NULL == memory) {
        cannot("no memory");
    }
    return memory;
}

/* ---- options ---- */

#define NUMBER(name, min, max, unit) {#name, min, max, unit, offsetof(options_t, name)}

static const struct {
    const char *name;
    uint64_t min, max, unit;
    size_t offset;
} numbers[] = {
    NUMBER(rank, 0, MAX_SENDERS - 1, 1),       NUMBER(count, 1, 10000000, 1),
    NUMBER(size, OC_DATAGRAM_HEADER, 4096, 1), NUMBER(batch, 1, OC_MAX_BATCH, 1),
    NUMBER(gap, 0, 10000000, 1000),            NUMBER(staging, 1, 1u << 30, 1),
    NUMBER(idle, 1, 3600, OC_SECOND),          NUMBER(limit, 1, 3600, OC_SECOND),
};

#define NUM_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static uint64_t parse_number(const char *name, const char *text, int base, uint64_t min,
                             uint64_t max)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, base);
    if ('\0' == text[0] || '\0' != *end || 0 != errno || value < min || value > max) {
        cannot("--%s '%s': a number from %" PRIu64 " to %" PRIu64 " is needed", name, text, min,
               max);
    }
    return value;
}

static uint64_t parse_senders(char *text)
{
    uint64_t senders = 0;
    char *word;

    while (NULL != (word = strsep(&text, ","))) {
        senders |= 1ull << parse_number("from", word, 10, 0, MAX_SENDERS - 1);
    }
    return senders;
}

static void parse_role(const char *role, options_t *options)
{
    options->sends = 0 == strcmp(role, "send") || 0 == strcmp(role, "both");
    options->receives = 0 == strcmp(role, "receive") || 0 == strcmp(role, "both");
    options->cycles = 0 == strcmp(role, "cycle");
    if (!options->sends && !options->receives && !options->cycles) {
        cannot("'%s' is no role; there are receive, send, both and cycle", role);
    }
    if (options->receives && 0 == options->from) {
        cannot("--from is needed to receive");
    }
}

static void set_option(int key, char *value, options_t *options)
{
    switch (key) {
    case 'i':
        options->interface = value;
        break;
    case 'g':
        if (1 != inet_pton(AF_INET, value, &options->group)) {
            cannot("--group '%s': an IPv4 address is needed", value);
        }
        break;
    case 'f':
        options->from = parse_senders(value);
        break;
    case 't':
        options->token = parse_number("token", value, 16, 0, UINT64_MAX);
        break;
    case 'h':
        options->hold = true;
        break;
    case 'p':
        options->polls = true;
        break;
    case 'j':
        if (!inject_knows(value)) {
            cannot("--inject '%s': one of these is needed: %s", value, inject_kinds);
        }
        options->injected = value;
        break;
    case '?':
        fputs(usage_text, stderr);
        exit(EXIT_CANNOT);
    default:
        *(uint64_t *) ((char *) options + numbers[key].offset) =
            parse_number(numbers[key].name, value, 10, numbers[key].min, numbers[key].max)
            * numbers[key].unit;
    }
}

static options_t parse_options(int argc, char **argv)
{
    options_t options = {.interface = "", .count = 100, .batch = 1, .staging = 4u << 20,
                         .idle = 5 * OC_SECOND, .limit = 60 * OC_SECOND};
    struct option known[NUM_NUMBERS + 8] = {
        {"interface", required_argument, NULL, 'i'}, {"group", required_argument, NULL, 'g'},
        {"from", required_argument, NULL, 'f'},      {"token", required_argument, NULL, 't'},
        {"hold", no_argument, NULL, 'h'},            {"poll", no_argument, NULL, 'p'},
        {"inject", required_argument, NULL, 'j'},
    };
    int key;

    for (size_t i = 0; i < NUM_NUMBERS; i++) {
        known[7 + i] = (struct option) {numbers[i].name, required_argument, NULL, (int) i};
    }
    while (-1 != (key = getopt_long(argc, argv, "", known, NULL))) {
        set_option(key, optarg, &options);
    }
    if (argc != optind + 1 || 0 == options.group.s_addr) {
        fputs(usage_text, stderr);
        exit(EXIT_CANNOT);
    }
    parse_role(argv[optind], &options);
    return options;
}

/* ---- datagrams ---- */

/* Different in all bytes that it may be mistaken for: of another sender, datagram or place. */
static uint8_t pattern(uint64_t rank, uint64_t index, size_t at)
{
    return (uint8_t) (rank * 101 + index * 31 + (index >> 8) * 7 + at);
}

static void prepare(const run_t *run, uint64_t index, uint8_t *payload, oc_outgoing_t *outgoing)
{
    const options_t *options = run->options;
    oc_datagram_t header = {.kind = OC_DATAGRAM_FRAGMENT, .token = options->token,
                            .rank = (uint32_t) options->rank, .index = (uint32_t) index,
                            .length = (uint16_t) (options->size - OC_DATAGRAM_HEADER)};

    for (size_t i = 0; i < header.length; i++) {
        payload[i] = pattern(options->rank, index, i);
    }
    oc_datagram_encode(&header, outgoing->header);
    outgoing->payload = payload;
    outgoing->length = header.length;
}

static bool is_expected(const run_t *run, const oc_datagram_t *header, const uint8_t *payload)
{
    if (header->rank >= MAX_SENDERS || NULL == run->ledger.seen[header->rank]
        || header->index >= run->options->count
        || header->length != run->options->size - OC_DATAGRAM_HEADER) {
        return false;
    }
    for (size_t i = 0; i < header->length; i++) {
        if (payload[i] != pattern(header->rank, header->index, i)) {
            return false;
        }
    }
    return true;
}

/* No other sender has the same origin, also if it is on the same device. */
static bool is_its_own(ledger_t *ledger, uint32_t rank, const oc_origin_t *from)
{
    ledger->origins[rank] = *from;
    for (unsigned sender = 0; sender < MAX_SENDERS; sender++) {
        if (sender != rank && 0 == memcmp(&ledger->origins[sender], from, sizeof(*from))) {
            return false;
        }
    }
    return true;
}

/* Enters one datagram; what the network brings is not trusted. */
static void arrived(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length)
{
    run_t *run = arg;
    ledger_t *ledger = &run->ledger;
    static const uint8_t nowhere[sizeof(from->address)];
    oc_datagram_t header;

    if (!oc_datagram_decode(bytes, length, &header) || header.token != run->options->token) {
        ledger->foreign++;
    } else if (0 == memcmp(from->address, run->origin.address, sizeof(from->address))
               || 0 == memcmp(from->address, &nowhere, sizeof(nowhere))) {
        ledger->wrong++; /* each host has an address */
    } else if (!is_expected(run, &header, bytes + OC_DATAGRAM_HEADER)
               || !is_its_own(ledger, header.rank, from)) {
        ledger->wrong++;
    } else if (ledger->seen[header.rank][header.index]) {
        ledger->duplicate++;
    } else {
        ledger->seen[header.rank][header.index] = 1;
        ledger->unique[header.rank]++;
        ledger->missing--;
        ledger->last = oc_clock_ns();
    }
}

/* ---- the run ---- */

static void leave(oc_verbs_source_t *source, oc_transport_t *transport)
{
    transport->ops->close(transport);
    oc_verbs_source_close(source);
}

/* Nothing comes before it has joined. */
static oc_status_t await_join(oc_transport_t *transport, char *error, size_t error_size)
{
    while (!oc_verbs_is_joined(transport)) {
        struct pollfd ready = {.fd = transport->event_fd, .events = transport->events};
        bool armed = transport->ops->arm(transport, false);

        if (NULL != transport->refused) {
            snprintf(error, error_size, "%s", transport->refused);
            return OC_ERR_REFUSED;
        }
        if (armed && !oc_verbs_is_joined(transport)) {
            (void) poll(&ready, 1, 1000);
        }
    }
    return OC_OK;
}

static oc_status_t join(const options_t *options, oc_verbs_source_t **source,
                        oc_transport_t **transport, ledger_t *ledger, char *error,
                        size_t error_size)
{
    oc_verbs_config_t config = {.interface = options->interface, .address = options->group,
                                .staging = options->staging, .own = &ledger->own,
                                .renewed = &ledger->renewed};
    oc_status_t status = oc_verbs_source_open(options->interface, source, error, error_size);

    if (OC_OK != status) {
        return status;
    }
    config.source = *source;
    status = oc_verbs_open(&config, transport, error, error_size);
    if (OC_OK != status) {
        oc_verbs_source_close(*source);
        return status;
    }
    status = await_join(*transport, error, error_size);
    if (OC_OK != status) {
        leave(*source, *transport);
    }
    return status;
}

/* Whether the next batch may go, apart from its time. */
static bool may_send(const run_t *run)
{
    return run->options->sends && !run->holding && run->sent < run->options->count;
}

/* false: there is no room for all of the batch. */
static bool send_batch(run_t *run)
{
    oc_outgoing_t batch[OC_MAX_BATCH];
    uint64_t rest = run->options->count - run->sent;
    unsigned count = (unsigned) (rest < run->options->batch ? rest : run->options->batch), taken;

    for (unsigned i = 0; i < count; i++) {
        prepare(run, run->sent + i, run->payloads + i * run->options->size, &batch[i]);
    }
    taken = run->transport->ops->send(run->transport, batch, count);
    /* a transport may read payloads during the call only */
    memset(run->payloads, 0xee, run->options->batch * run->options->size);
    run->sent += taken;
    run->refused += taken < count;
    return taken == count;
}

/* Returns whether it waits for room. */
static bool send_due(run_t *run)
{
    while (may_send(run) && oc_clock_ns() >= run->next_send) {
        if (!send_batch(run)) {
            return true;
        }
        /* a gap after this one, even if it went late: bursts are what gaps are to prevent */
        run->next_send = oc_clock_ns() + run->options->gap;
    }
    return false;
}

static bool sent_all(const run_t *run)
{
    return !run->options->sends || run->sent == run->options->count;
}

/* When to give up or to end, as things are now. */
static uint64_t deadline(const run_t *run)
{
    uint64_t limit = run->begin + run->options->limit, end = UINT64_MAX;
    const ledger_t *ledger = &run->ledger;

    if (sent_all(run) && !run->options->receives) {
        /* what was taken last has to leave, too: most devices show it to the sender */
        end = ledger->own < run->sent ? run->next_send + SEND_LINGER : 0;
    } else if (sent_all(run) && 0 != ledger->last) {
        end = ledger->last + (0 == ledger->missing ? LINGER : run->options->idle);
    }
    return end < limit ? end : limit;
}

/* Until the transport has something, a line on the standard input, or a time. */
static void doze(run_t *run, bool waits_for_room, uint64_t until)
{
    struct pollfd ready[] = {{.fd = run->holding ? -1 : run->transport->event_fd},
                             {.fd = run->holding ? STDIN_FILENO : -1, .events = POLLIN}};
    struct timespec timeout;
    uint64_t now;

    if (!run->holding && !run->transport->ops->arm(run->transport, waits_for_room)) {
        return;
    }
    ready[0].events = run->transport->events;
    if (!run->holding && 0 != run->transport->due && run->transport->due < until) {
        until = run->transport->due;
    }
    now = oc_clock_ns();
    until = until > now ? until - now : 0;
    timeout = (struct timespec) {(time_t) (until / OC_SECOND), (long) (until % OC_SECOND)};
    if (ppoll(ready, 2, &timeout, NULL) < 0 && EINTR != errno) {
        cannot("cannot wait: %s", strerror(errno));
    }
    if (0 != ready[1].revents) {
        run->holding = false;
    }
}

/* Of all that is to come or to go, half has. */
static bool is_halfway(const run_t *run)
{
    const options_t *options = run->options;
    uint64_t total = 0, done = options->sends ? run->sent : 0;

    for (unsigned sender = 0; sender < MAX_SENDERS; sender++) {
        total += NULL != run->ledger.seen[sender] ? options->count : 0;
        done += run->ledger.unique[sender];
    }
    return 2 * done >= total + (options->sends ? options->count : 0);
}

static void meddle(run_t *run)
{
    if (NULL != run->injected && is_halfway(run)) {
        inject(run->injected);
        run->injected = NULL;
    }
}

static void work(run_t *run)
{
    const oc_transport_ops_t *ops = run->transport->ops;
    bool idle, waits_for_room;
    uint64_t end;

    run->begin = oc_clock_ns();
    run->holding = run->options->hold;
    run->injected = run->options->injected;
    do {
        meddle(run);
        idle = run->holding || 0 == ops->receive(run->transport, OC_MAX_BATCH, arrived, run);
        waits_for_room = send_due(run);
        end = deadline(run);
        if (run->options->polls && !run->holding) {
            continue;
        }
        if (idle && may_send(run) && !waits_for_room && run->next_send < end) {
            doze(run, false, run->next_send);
        } else if (idle) {
            doze(run, waits_for_room, end);
        }
    } while (oc_clock_ns() < end);
}

/* ---- the report ---- */

static void report_sender(const run_t *run, unsigned sender)
{
    const uint8_t *seen = run->ledger.seen[sender];
    uint64_t count = run->options->count;
    unsigned listed = 0;

    printf("from %u: unique %" PRIu64 " of %" PRIu64 "\n", sender, run->ledger.unique[sender],
           count);
    if (run->ledger.unique[sender] == count) {
        return;
    }
    printf("missing from %u:", sender);
    for (uint64_t i = 0; i < count && listed < MAX_LISTED; i++) {
        if (!seen[i]) {
            printf(" %" PRIu64, i);
            listed++;
        }
    }
    printf("\n");
}

static void report(const run_t *run)
{
    const ledger_t *ledger = &run->ledger;

    if (run->options->sends) {
        printf("sent %" PRIu64 " of %" PRIu64 ", without room %" PRIu64 " times, %.3f s\n",
               run->sent, run->options->count, run->refused,
               (double) (oc_clock_ns() - run->begin) / (double) OC_SECOND);
    }
    for (unsigned sender = 0; sender < MAX_SENDERS; sender++) {
        if (NULL != ledger->seen[sender]) {
            report_sender(run, sender);
        }
    }
    printf("missing %" PRIu64 ", duplicate %" PRIu64 ", foreign %" PRIu64 ", wrong %" PRIu64
           ", own %llu\n", ledger->missing, ledger->duplicate, ledger->foreign, ledger->wrong,
           ledger->own);
    printf("joined again %llu times\n", ledger->renewed);
}

static void prepare_run(run_t *run, options_t *options)
{
    char name[INET_ADDRSTRLEN], error[256];

    run->options = options;
    if (OC_OK != join(options, &run->source, &run->transport, &run->ledger, error, sizeof(error))) {
        cannot("%s", error);
    }
    run->origin = oc_verbs_source_origin(run->source);
    if (0 == options->size) {
        options->size = run->transport->datagram_size;
    }
    if (options->size > run->transport->datagram_size) {
        cannot("--size %" PRIu64 ": datagrams have at most %zu bytes", options->size,
               run->transport->datagram_size);
    }
    run->payloads = allocate(options->batch * options->size);
    for (unsigned sender = 0; sender < MAX_SENDERS; sender++) {
        if (0 != (options->from >> sender & 1)) {
            run->ledger.seen[sender] = allocate(options->count);
            run->ledger.missing += options->count;
        }
    }
    inet_ntop(AF_INET, &options->group, name, sizeof(name));
    printf("ready: %s in %s, datagrams of %zu bytes\n", run->transport->ops->name, name,
           run->transport->datagram_size);
    fflush(stdout);
}

static bool probe(options_t *options)
{
    run_t run = {.holding = false};
    bool complete;

    prepare_run(&run, options);
    work(&run);
    report(&run);
    complete = sent_all(&run) && 0 == run.ledger.missing;
    leave(run.source, run.transport);
    for (unsigned sender = 0; sender < MAX_SENDERS; sender++) {
        free(run.ledger.seen[sender]);
    }
    free(run.payloads);
    return complete;
}

/* ---- joining and leaving ---- */

static unsigned open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;

    while (NULL != folder && NULL != readdir(folder)) {
        count++;
    }
    if (NULL != folder) {
        closedir(folder);
    }
    return count;
}

/* Returns whether it could be joined; if not, complaint says why. */
static bool join_and_leave(const options_t *options, const char **complaint)
{
    static char error[256];
    oc_verbs_source_t *source;
    oc_transport_t *transport;
    ledger_t unused = {.own = 0};

    if (OC_OK != join(options, &source, &transport, &unused, error, sizeof(error))) {
        *complaint = error;
        return false;
    }
    leave(source, transport);
    return true;
}

/* The libraries keep some descriptors after their first use. */
static bool cycle(const options_t *options)
{
    struct pollfd line = {.fd = STDIN_FILENO, .events = POLLIN};
    const char *complaint = "none";
    unsigned before, after;
    uint64_t joined = join_and_leave(options, &complaint);

    before = open_descriptors();
    for (uint64_t i = 1; i < options->count; i++) {
        joined += join_and_leave(options, &complaint);
    }
    after = open_descriptors();
    printf("joined %" PRIu64 " of %" PRIu64 " times, descriptors %u before and %u after, "
           "complaint: %s\n", joined, options->count, before, after, complaint);
    fflush(stdout);
    /* whoever started it looks at its resources in the kernel now */
    (void) poll(&line, 1, (int) (options->limit / OC_MILLISECOND));
    return before == after;
}

int main(int argc, char **argv)
{
    options_t options = parse_options(argc, argv);

    return (options.cycles ? cycle(&options) : probe(&options)) ? EXIT_SUCCESS : EXIT_MISSING;
}
