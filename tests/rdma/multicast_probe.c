/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns a prober of IP multicast by RDMA: joins a group with a UD queue pair, sends or receives
 * datagrams, and counts what came. It sleeps when there is nothing to do.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_SENDERS    64
#define RECEIVE_SLOTS  1024
#define SEND_SLOTS     16
#define GRH_BYTES      40 /* what a UD receive buffer has before the datagram */
#define SECOND         1000000000ull
#define EVENT_LIMIT    (10 * SECOND)
#define LINGER         (SECOND / 4) /* duplicates come soon or never */
#define NEVER          UINT64_MAX
#define MAX_LISTED     1000 /* missing datagrams of a sender */

enum { EXIT_MISSING = 1, EXIT_CANNOT = 2 };

static const char usage_text[] =
    "usage: multicast_probe receive|send|both --address A --group G [OPTION...]\n"
    "  --address A  own IPv4 address, of an interface with an RDMA device\n"
    "  --group G    IPv4 multicast group\n"
    "  --id I       own number as a sender: 0 to 63\n"
    "  --from LIST  senders to hear from: 1,2\n"
    "  --count N    datagrams of each sender (default 100)\n"
    "  --size B     bytes of a datagram, at least 16 (default 1024)\n"
    "  --gap US     microseconds between two datagrams (default 0)\n"
    "  --token HEX  64 random bits of this run; datagrams with others are foreign (default 0)\n"
    "  --send-only  join as a member that only sends\n"
    "  --hold       begin to send when standard input has a line, or ends\n"
    "  --idle S     seconds without a datagram, after the first, to give up (default 5)\n"
    "  --limit S    seconds to give up altogether (default 60)\n"
    "Says \"ready\" when it has joined, and in the end what it sent and received.\n"
    "The exit status is 0 if all of it came, 1 if not, and 2 if it cannot be tried.\n";

typedef struct {
    bool sends, receives, send_only, hold;
    struct sockaddr_in address, group;
    unsigned id, count, size;
    uint64_t from;  /* a bit for each sender */
    uint64_t token, gap, idle, limit;
} options_t;

/* What is at the beginning of a datagram, big endian. The rest is a pattern. */
typedef struct {
    uint64_t token;
    uint32_t sender, sequence;
} header_t;

typedef struct {
    struct rdma_event_channel *events;
    struct rdma_cm_id *id;
    struct ibv_pd *pd;
    struct ibv_comp_channel *wakeups;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    unsigned char *memory; /* slots to receive into, then slots to send from */
    size_t slot_size;
    struct ibv_ah *ah;
    uint32_t qp_number, qkey;
    bool joined;
} member_t;

typedef struct {
    unsigned char *seen[MAX_SENDERS]; /* by sequence; NULL for those that are not expected */
    unsigned unique[MAX_SENDERS];
    unsigned missing, duplicate, foreign, bad_length, corrupt, own;
    uint64_t last; /* when the last that belongs here came; 0: none yet */
} ledger_t;

typedef struct {
    const options_t *options;
    member_t *member;
    ledger_t ledger;
    unsigned posted, sent, send_errors;
    bool holding;
    uint64_t begin, next_send;
} run_t;

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t) time.tv_sec * SECOND + (uint64_t) time.tv_nsec;
}

static void cannot(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void cannot(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "multicast_probe: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(EXIT_CANNOT);
}

/* Returns value if it is not NULL. */
static void *need(void *value, const char *what)
{
    if (NULL == value) {
        cannot("cannot make %s: %s", what, strerror(errno));
    }
    return value;
}

/* status: what librdmacm returns (-1 and errno), or an errno as libibverbs returns it */
static void check(int status, const char *what)
{
    if (0 != status) {
        cannot("cannot %s: %s", what, strerror(status > 0 ? status : errno));
    }
}

/* Options */

static uint64_t parse_number(const char *name, const char *text, uint64_t least, uint64_t most)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || '\0' != *end || 0 != errno || value < least
        || value > most) {
        cannot("--%s '%s': a number from %llu to %llu is needed", name, text,
               (unsigned long long) least, (unsigned long long) most);
    }
    return value;
}

static uint64_t parse_token(const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 16);

    if ('\0' != *end || strlen(text) > 16 || strspn(text, "0123456789abcdefABCDEF") < 1) {
        cannot("--token '%s': up to 16 hexadecimal digits are needed", text);
    }
    return value;
}

static struct sockaddr_in parse_address(const char *name, const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET};

    if (1 != inet_pton(AF_INET, text, &address.sin_addr)) {
        cannot("--%s '%s': an IPv4 address is needed", name, text);
    }
    return address;
}

static uint64_t parse_senders(const char *text)
{
    char *copy = need(strdup(text), "a copy"), *rest = copy, *word;
    uint64_t senders = 0;

    while (NULL != (word = strsep(&rest, ","))) {
        senders |= 1ull << parse_number("from", word, 0, MAX_SENDERS - 1);
    }
    free(copy);
    return senders;
}

static void parse_role(const char *role, options_t *options)
{
    options->sends = 0 == strcmp(role, "send") || 0 == strcmp(role, "both");
    options->receives = 0 == strcmp(role, "receive") || 0 == strcmp(role, "both");
    if (!options->sends && !options->receives) {
        cannot("'%s' is no role; there are receive, send and both", role);
    }
}

static void check_options(const options_t *options)
{
    if (0 == options->address.sin_addr.s_addr) {
        cannot("--address is needed");
    }
    if (!IN_MULTICAST(ntohl(options->group.sin_addr.s_addr))) {
        cannot("--group is needed, an address from 224.0.0.0 to 239.255.255.255");
    }
    if (options->receives && 0 == options->from) {
        cannot("--from is needed to receive");
    }
    if (options->send_only && options->receives) {
        cannot("--send-only is for the role send");
    }
    if (options->sends && 0 != (options->from >> options->id & 1)) {
        cannot("--from has the own number %u", options->id);
    }
}

static const struct option long_options[] = {
    {"address", required_argument, NULL, 'a'}, {"group", required_argument, NULL, 'g'},
    {"id", required_argument, NULL, 'i'},      {"from", required_argument, NULL, 'f'},
    {"count", required_argument, NULL, 'c'},   {"size", required_argument, NULL, 's'},
    {"gap", required_argument, NULL, 'p'},     {"token", required_argument, NULL, 't'},
    {"send-only", no_argument, NULL, 'o'},     {"hold", no_argument, NULL, 'w'},
    {"idle", required_argument, NULL, 'q'},    {"limit", required_argument, NULL, 'l'},
    {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
};

static void set_option(int key, const char *value, options_t *options)
{
    switch (key) {
    case 'a':
        options->address = parse_address("address", value);
        break;
    case 'g':
        options->group = parse_address("group", value);
        break;
    case 'i':
        options->id = (unsigned) parse_number("id", value, 0, MAX_SENDERS - 1);
        break;
    case 'f':
        options->from = parse_senders(value);
        break;
    case 'c':
        options->count = (unsigned) parse_number("count", value, 1, 10000000);
        break;
    case 's':
        options->size = (unsigned) parse_number("size", value, sizeof(header_t), 4096);
        break;
    case 'p':
        options->gap = parse_number("gap", value, 0, 10000000) * 1000;
        break;
    case 't':
        options->token = parse_token(value);
        break;
    case 'o':
        options->send_only = true;
        break;
    case 'w':
        options->hold = true;
        break;
    case 'q':
        options->idle = parse_number("idle", value, 1, 3600) * SECOND;
        break;
    case 'l':
        options->limit = parse_number("limit", value, 1, 3600) * SECOND;
        break;
    default:
        break;
    }
}

static options_t parse_options(int argc, char **argv)
{
    options_t options = {.count = 100, .size = 1024, .idle = 5 * SECOND, .limit = 60 * SECOND};
    int key;

    opterr = 0;
    while (-1 != (key = getopt_long(argc, argv, "", long_options, NULL))) {
        if ('h' == key) {
            fputs(usage_text, stdout);
            exit(EXIT_SUCCESS);
        }
        if ('?' == key) {
            cannot("'%s' is unknown, or lacks its value; --help lists the options",
                   argv[optind - 1]);
        }
        set_option(key, optarg, &options);
    }
    if (argc != optind + 1) {
        cannot("one role is needed: receive, send or both; --help tells more");
    }
    parse_role(argv[optind], &options);
    check_options(&options);
    return options;
}

/* Membership */

/* Waits for an event of the connection manager; the caller acknowledges it. */
static struct rdma_cm_event *await_event(member_t *member, enum rdma_cm_event_type wanted)
{
    struct pollfd ready = {.fd = member->events->fd, .events = POLLIN};
    struct rdma_cm_event *event;

    if (1 != poll(&ready, 1, (int) (EVENT_LIMIT / 1000000))) {
        cannot("no event %s within %llu s", rdma_event_str(wanted), EVENT_LIMIT / SECOND);
    }
    check(rdma_get_cm_event(member->events, &event), "get an event");
    if (wanted != event->event) {
        cannot("%s (%s) instead of %s", rdma_event_str(event->event),
               strerror(abs(event->status)), rdma_event_str(wanted));
    }
    return event;
}

static void check_size(const member_t *member, unsigned size)
{
    struct ibv_port_attr port;
    unsigned mtu;

    check(ibv_query_port(member->id->verbs, member->id->port_num, &port), "query the port");
    mtu = 128u << port.active_mtu;
    if (size > mtu) {
        cannot("--size %u is more than the MTU of %s, %u", size, member->id->verbs->device->name,
               mtu);
    }
}

static void make_queue_pair(member_t *member)
{
    struct ibv_qp_init_attr attributes = {
        .cap = {.max_send_wr = SEND_SLOTS, .max_recv_wr = RECEIVE_SLOTS, .max_send_sge = 1,
                .max_recv_sge = 1},
        .qp_type = IBV_QPT_UD,
        .sq_sig_all = 1,
    };

    member->pd = need(ibv_alloc_pd(member->id->verbs), "a protection domain");
    member->wakeups = need(ibv_create_comp_channel(member->id->verbs), "a completion channel");
    member->cq = need(ibv_create_cq(member->id->verbs, RECEIVE_SLOTS + SEND_SLOTS, NULL,
                                    member->wakeups, 0), "a completion queue");
    attributes.send_cq = member->cq;
    attributes.recv_cq = member->cq;
    check(rdma_create_qp(member->id, member->pd, &attributes), "make a queue pair");
}

static void make_slots(member_t *member, unsigned size)
{
    size_t bytes;

    /* one byte more, so that datagrams that are too long are seen as such */
    member->slot_size = (GRH_BYTES + size + 1 + 63) / 64 * 64;
    bytes = (RECEIVE_SLOTS + SEND_SLOTS) * member->slot_size;
    member->memory = need(calloc(1, bytes), "memory");
    member->mr = need(ibv_reg_mr(member->pd, member->memory, bytes, IBV_ACCESS_LOCAL_WRITE),
                      "a memory region");
}

static unsigned char *slot(const member_t *member, unsigned index)
{
    return member->memory + index * member->slot_size;
}

static void post_receive(const member_t *member, unsigned index)
{
    struct ibv_sge piece = {(uintptr_t) slot(member, index), (uint32_t) member->slot_size,
                            member->mr->lkey};
    struct ibv_recv_wr request = {.wr_id = index, .sg_list = &piece, .num_sge = 1}, *bad;

    check(ibv_post_recv(member->id->qp, &request, &bad), "post a receive");
}

static void join(member_t *member, const options_t *options)
{
    struct sockaddr_in group = options->group;
    struct rdma_cm_join_mc_attr_ex attributes = {
        .comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
        .join_flags = options->send_only ? RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER
                                         : RDMA_MC_JOIN_FLAG_FULLMEMBER,
        .addr = (struct sockaddr *) &group,
    };
    struct rdma_cm_event *event;

    check(rdma_join_multicast_ex(member->id, &attributes, NULL), "join the group");
    event = await_event(member, RDMA_CM_EVENT_MULTICAST_JOIN);
    member->joined = true;
    member->qp_number = event->param.ud.qp_num;
    member->qkey = event->param.ud.qkey;
    member->ah = need(ibv_create_ah(member->pd, &event->param.ud.ah_attr), "an address handle");
    check(rdma_ack_cm_event(event), "acknowledge an event");
}

static void member_open(member_t *member, const options_t *options)
{
    struct sockaddr_in own = options->address;
    char text[INET_ADDRSTRLEN];

    member->events = need(rdma_create_event_channel(), "an event channel");
    check(rdma_create_id(member->events, &member->id, NULL, RDMA_PS_UDP), "make an id");
    inet_ntop(AF_INET, &own.sin_addr, text, sizeof(text));
    if (0 != rdma_bind_addr(member->id, (struct sockaddr *) &own) || NULL == member->id->verbs) {
        cannot("no RDMA device has the address %s", text);
    }
    check_size(member, options->size);
    make_queue_pair(member);
    make_slots(member, options->size);
    for (unsigned i = 0; options->receives && i < RECEIVE_SLOTS; i++) {
        post_receive(member, i);
    }
    join(member, options);
    check(ibv_req_notify_cq(member->cq, 0), "ask for wakeups");
}

static void member_close(member_t *member, const options_t *options)
{
    struct sockaddr_in group = options->group;

    if (member->joined) {
        (void) rdma_leave_multicast(member->id, (struct sockaddr *) &group);
    }
    (void) ibv_destroy_ah(member->ah);
    rdma_destroy_qp(member->id);
    (void) ibv_dereg_mr(member->mr);
    free(member->memory);
    (void) ibv_destroy_cq(member->cq);
    (void) ibv_destroy_comp_channel(member->wakeups);
    (void) ibv_dealloc_pd(member->pd);
    (void) rdma_destroy_id(member->id);
    rdma_destroy_event_channel(member->events);
}

/* Datagrams */

/* Different in all bytes that it may be mistaken for: of another sender, datagram or place. */
static unsigned char pattern(unsigned sender, unsigned sequence, unsigned at)
{
    return (unsigned char) (sender * 101 + sequence * 31 + (sequence >> 8) * 7 + at);
}

static void fill(unsigned char *data, const options_t *options, unsigned sequence)
{
    header_t header = {htobe64(options->token), htobe32(options->id), htobe32(sequence)};

    memcpy(data, &header, sizeof(header));
    for (unsigned i = sizeof(header); i < options->size; i++) {
        data[i] = pattern(options->id, sequence, i);
    }
}

static bool is_intact(const unsigned char *data, unsigned size, unsigned sender, unsigned sequence)
{
    for (unsigned i = sizeof(header_t); i < size; i++) {
        if (data[i] != pattern(sender, sequence, i)) {
            return false;
        }
    }
    return true;
}

static void ledger_init(ledger_t *ledger, const options_t *options)
{
    for (unsigned sender = 0; sender < MAX_SENDERS; sender++) {
        if (options->from >> sender & 1) {
            ledger->seen[sender] = need(calloc(options->count, 1), "memory");
            ledger->missing += options->count;
        }
    }
}

static void ledger_free(ledger_t *ledger)
{
    for (unsigned sender = 0; sender < MAX_SENDERS; sender++) {
        free(ledger->seen[sender]);
    }
}

/* Enters one datagram of length bytes; what the group brings is not trusted. */
static void enter(ledger_t *ledger, const options_t *options, const unsigned char *data,
                  unsigned length)
{
    header_t header;
    unsigned sender, sequence;

    if (length < sizeof(header)) {
        ledger->bad_length++;
        return;
    }
    memcpy(&header, data, sizeof(header));
    sender = be32toh(header.sender);
    sequence = be32toh(header.sequence);
    if (be64toh(header.token) != options->token) {
        ledger->foreign++;
    } else if (options->sends && sender == options->id) {
        ledger->own++;
    } else if (length != options->size) {
        ledger->bad_length++;
    } else if (sender >= MAX_SENDERS || NULL == ledger->seen[sender] || sequence >= options->count
               || !is_intact(data, length, sender, sequence)) {
        ledger->corrupt++;
    } else if (ledger->seen[sender][sequence]) {
        ledger->duplicate++;
    } else {
        ledger->seen[sender][sequence] = 1;
        ledger->unique[sender]++;
        ledger->missing--;
        ledger->last = now();
    }
}

/* The run */

static void on_completion(run_t *run, const struct ibv_wc *completion)
{
    unsigned index = (unsigned) completion->wr_id;

    if (index >= RECEIVE_SLOTS) {
        run->sent++;
        run->send_errors += IBV_WC_SUCCESS != completion->status;
        return;
    }
    if (IBV_WC_SUCCESS != completion->status) {
        cannot("a receive failed: %s", ibv_wc_status_str(completion->status));
    }
    if (completion->byte_len < GRH_BYTES || 0 == (completion->wc_flags & IBV_WC_GRH)) {
        run->ledger.bad_length++;
    } else {
        enter(&run->ledger, run->options, slot(run->member, index) + GRH_BYTES,
              completion->byte_len - GRH_BYTES);
    }
    post_receive(run->member, index);
}

static void drain(run_t *run)
{
    struct ibv_wc completions[32];
    int count;

    do {
        count = ibv_poll_cq(run->member->cq, 32, completions);
        if (count < 0) {
            cannot("cannot poll the completion queue");
        }
        for (int i = 0; i < count; i++) {
            on_completion(run, &completions[i]);
        }
    } while (count > 0);
}

static void post_send(run_t *run)
{
    const member_t *member = run->member;
    unsigned index = RECEIVE_SLOTS + run->posted % SEND_SLOTS;
    struct ibv_sge piece = {(uintptr_t) slot(member, index), run->options->size, member->mr->lkey};
    struct ibv_send_wr request = {
        .wr_id = index, .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND,
        .wr.ud = {member->ah, member->qp_number, member->qkey},
    }, *bad;

    fill(slot(member, index), run->options, run->posted);
    check(ibv_post_send(member->id->qp, &request, &bad), "post a send");
    run->posted++;
}

/* Whether the next datagram may go, apart from its time. */
static bool may_send(const run_t *run)
{
    return run->options->sends && !run->holding && run->posted < run->options->count
           && run->posted - run->sent < SEND_SLOTS;
}

static void send_due(run_t *run)
{
    while (may_send(run) && now() >= run->next_send) {
        post_send(run);
        /* a gap after this one, even if it went late: bursts are what gaps are to prevent */
        run->next_send = now() + run->options->gap;
    }
}

static bool sent_all(const run_t *run)
{
    return !run->options->sends || run->sent == run->options->count;
}

/* When to give up or to end, as things are now. */
static uint64_t deadline(const run_t *run)
{
    uint64_t limit = run->begin + run->options->limit, end = NEVER;
    const ledger_t *ledger = &run->ledger;

    if (sent_all(run)) {
        if (!run->options->receives) {
            end = 0;
        } else if (0 != ledger->last) {
            end = ledger->last + (0 == ledger->missing ? LINGER : run->options->idle);
        }
    }
    return end < limit ? end : limit;
}

/* Until a completion, a line on the standard input, or a time. */
static void doze(run_t *run, uint64_t until)
{
    struct pollfd ready[] = {{.fd = run->member->wakeups->fd, .events = POLLIN},
                             {.fd = run->holding ? STDIN_FILENO : -1, .events = POLLIN}};
    uint64_t current = now(), rest = until > current ? until - current : 0;
    struct timespec timeout = {(time_t) (rest / SECOND), (long) (rest % SECOND)};
    struct ibv_cq *cq;
    void *context;

    if (ppoll(ready, 2, &timeout, NULL) < 0 && EINTR != errno) {
        cannot("cannot wait: %s", strerror(errno));
    }
    if (0 != (ready[0].revents & POLLIN)) {
        check(ibv_get_cq_event(run->member->wakeups, &cq, &context), "get a wakeup");
        ibv_ack_cq_events(cq, 1);
        check(ibv_req_notify_cq(run->member->cq, 0), "ask for wakeups");
    }
    if (0 != ready[1].revents) {
        run->holding = false;
    }
}

static void work(run_t *run)
{
    run->begin = now();
    run->holding = run->options->hold;
    while (true) {
        uint64_t end;

        drain(run);
        send_due(run);
        end = deadline(run);
        if (now() >= end) {
            return;
        }
        /* armed before the last drain: what came since then wakes it up */
        doze(run, may_send(run) && run->next_send < end ? run->next_send : end);
    }
}

static void report_sender(const run_t *run, unsigned sender)
{
    const unsigned char *seen = run->ledger.seen[sender];
    unsigned count = run->options->count, listed = 0;

    printf("from %u: unique %u of %u\n", sender, run->ledger.unique[sender], count);
    if (run->ledger.unique[sender] == count) {
        return;
    }
    printf("missing from %u:", sender);
    for (unsigned i = 0; i < count && listed < MAX_LISTED; i++) {
        if (!seen[i]) {
            printf(" %u", i);
            listed++;
        }
    }
    printf("\n");
}

static void report(const run_t *run)
{
    const options_t *options = run->options;
    const ledger_t *ledger = &run->ledger;

    if (options->sends) {
        printf("sent %u of %u, errors %u, seconds %.3f\n", run->sent, options->count,
               run->send_errors, (double) (now() - run->begin) / (double) SECOND);
    }
    for (unsigned sender = 0; sender < MAX_SENDERS; sender++) {
        if (NULL != ledger->seen[sender]) {
            report_sender(run, sender);
        }
    }
    if (options->receives) {
        printf("missing %u, duplicate %u, foreign %u, bad-length %u, corrupt %u, own %u\n",
               ledger->missing, ledger->duplicate, ledger->foreign, ledger->bad_length,
               ledger->corrupt, ledger->own);
    }
}

int main(int argc, char **argv)
{
    options_t options = parse_options(argc, argv);
    member_t member = {.joined = false};
    run_t run = {.options = &options, .member = &member};
    bool complete;

    ledger_init(&run.ledger, &options);
    member_open(&member, &options);
    printf("ready: %s on %s\n", argv[optind], member.id->verbs->device->name);
    fflush(stdout);
    work(&run);
    report(&run);
    complete = sent_all(&run) && 0 == run.send_errors && 0 == run.ledger.missing;
    member_close(&member, &options);
    ledger_free(&run.ledger);
    return complete ? EXIT_SUCCESS : EXIT_MISSING;
}
