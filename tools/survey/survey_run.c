/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is the coordinator: rank 0 of the launcher; or whoever has the address that all were told; or
 * whoever was told of no other. Its own host takes part as all others do, from a second thread.
 */
#include "tools/survey/survey_run.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "net/host.h"
#include "net/socket.h"
#include "tools/info_tell.h"
#include "tools/survey/survey_control.h"
#include "tools/survey/survey_findings.h"
#include "tools/survey/survey_host.h"
#include "tools/survey/survey_launcher.h"
#include "tools/survey/survey_meeting.h"
#include "tools/survey/survey_pmix.h"
#include "tools/survey/survey_report.h"

#define MAX_ADDRESSES 16u
#define MOST_PROCESSES 65536u  /* that say they are there; OC_SURVEY_HOSTS of them take part */
#define SHARED_SIZE   1024     /* bytes of what rank 0 tells the others through the launcher */

typedef struct {
    const oc_survey_options_t *options;
    oc_survey_hello_t hello;   /* of this process */
    uint32_t expected;
    bool processes;            /* that is a number of processes, not of hosts */
    uint64_t end;
    char error[1024];
} run_t;

static int survey_fails(const run_t *run)
{
    fprintf(stderr, "optcast-info: %s: --multicast: %s\n", run->hello.name, run->error);
    return OC_SURVEY_EXIT_UNKNOWN;
}

static int misused(const char *text)
{
    fprintf(stderr, "optcast-info: --multicast: %s\nTry 'optcast-info --help'.\n", text);
    return OC_SURVEY_EXIT_USAGE;
}

static void introduce(run_t *run, const char *token)
{
    char name[256] = "";

    (void) gethostname(name, sizeof(name) - 1);
    snprintf(run->hello.name, sizeof(run->hello.name), "%.*s",
             (int) sizeof(run->hello.name) - 1, name);
    snprintf(run->hello.token, sizeof(run->hello.token), "%s", token);
    run->hello.identity = oc_host_identity();
}

static bool make_token(char token[OC_SURVEY_TOKEN])
{
    uint64_t words[2];

    if (sizeof(words) != getrandom(words, sizeof(words), 0)) {
        return false;
    }
    snprintf(token, OC_SURVEY_TOKEN, "%016llx%016llx", (unsigned long long) words[0],
             (unsigned long long) words[1]);
    return true;
}

/* ---- the coordinator ---- */

/* What the coordinator's own host does meanwhile. */
typedef struct {
    oc_survey_link_t link;
    const run_t *run;
    bool good;
    char error[512];
} own_t;

static void *live(void *arg)
{
    own_t *own = arg;

    own->good = oc_survey_host_run(&own->link, &own->run->hello, &own->run->options->settings,
                                   own->run->end + OC_SURVEY_MOST_WAIT * OC_SECOND, own->error,
                                   sizeof(own->error));
    oc_survey_link_close(&own->link);
    return NULL;
}

static int judge(run_t *run, oc_survey_guest_t *guests, uint32_t count)
{
    static const int statuses[] = {[OC_SURVEY_REMARK] = EXIT_SUCCESS,
                                   [OC_SURVEY_FLAW] = OC_SURVEY_EXIT_FLAWED,
                                   [OC_SURVEY_FAULT] = OC_SURVEY_EXIT_FAULTY};
    oc_survey_findings_t findings;
    oc_survey_plan_t plan;
    oc_survey_t survey;
    int status;

    if (oc_survey_control(guests, count, &run->options->settings, &survey, &plan, run->error,
                          sizeof(run->error))) {
        oc_survey_part(guests, count, NULL);
        oc_survey_find(&survey, &findings);
        oc_survey_report(&survey, &plan, &findings);
        status = statuses[findings.worst];
    } else {
        oc_survey_part(guests, count, run->error);
        status = survey_fails(run);
    }
    oc_survey_free(&survey);
    return status;
}

static int coordinate_with(run_t *run, int listen_fd, oc_survey_guest_t *guests)
{
    oc_survey_meeting_t meeting = {.listen_fd = listen_fd, .token = run->hello.token,
                                   .expected = run->expected, .processes = run->processes,
                                   .end = run->end, .guests = guests};

    if (!oc_survey_meet(&meeting, run->error, sizeof(run->error))) {
        oc_survey_part(guests, meeting.count, run->error);
        return survey_fails(run);
    }
    if (meeting.count > OC_SURVEY_HOSTS) {
        snprintf(run->error, sizeof(run->error), "%u hosts are more than %u: choose some of them",
                 meeting.count, OC_SURVEY_HOSTS);
        oc_survey_part(guests, meeting.count, run->error);
        return survey_fails(run);
    }
    if (meeting.count < 2) {
        snprintf(run->error, sizeof(run->error), "all processes are on one host, and it takes two "
                 "hosts: with mpirun, say --map-by ppr:1:node");
        oc_survey_part(guests, meeting.count, run->error);
        return survey_fails(run);
    }
    return judge(run, guests, meeting.count);
}

static int coordinate(run_t *run, int listen_fd)
{
    oc_survey_guest_t *guests;
    own_t own = {.run = run, .link = {.fd = -1}};
    int status = OC_SURVEY_EXIT_UNKNOWN, ends[2], failed;
    pthread_t thread;

    if (run->expected > MOST_PROCESSES) {
        snprintf(run->error, sizeof(run->error), "%u processes are too many: start one on each "
                 "host", run->expected);
        return survey_fails(run);
    }
    guests = calloc(run->expected, sizeof(*guests));
    if (NULL == guests || 0 != socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        snprintf(run->error, sizeof(run->error), "out of memory");
        free(guests);
        return survey_fails(run);
    }
    oc_survey_link_init(&guests[0].link, ends[0]);
    oc_survey_link_init(&own.link, ends[1]);
    failed = pthread_create(&thread, NULL, live, &own);
    if (0 == failed) {
        status = coordinate_with(run, listen_fd, guests);
        (void) pthread_join(thread, NULL);
    } else {
        snprintf(run->error, sizeof(run->error), "no thread: %s", strerror(failed));
        status = survey_fails(run);
        oc_survey_link_close(&guests[0].link);
        oc_survey_link_close(&own.link);
    }
    free(guests);
    return status;
}

/* On all addresses: a host may know its own name as another one than others do. */
static int listen_at(uint16_t *port, char *error, size_t error_size)
{
    oc_sockaddr_t any = {.length = sizeof(struct sockaddr_in6)};
    struct sockaddr_in6 *six = (struct sockaddr_in6 *) &any.address;
    struct sockaddr_in *four = (struct sockaddr_in *) &any.address;
    int fd;

    *six = (struct sockaddr_in6) {.sin6_family = AF_INET6, .sin6_port = htons(*port)};
    fd = oc_listen(&any, error, error_size);
    if (fd < 0) { /* a host without IPv6 */
        memset(&any, 0, sizeof(any));
        any.length = sizeof(*four);
        *four = (struct sockaddr_in) {.sin_family = AF_INET, .sin_port = htons(*port)};
        fd = oc_listen(&any, error, error_size);
    }
    *port = oc_sockaddr_port(&any);
    return fd;
}

static int coordinate_at(run_t *run, uint16_t port)
{
    int fd = listen_at(&port, run->error, sizeof(run->error)), status;

    if (fd < 0) {
        return survey_fails(run);
    }
    status = coordinate(run, fd);
    oc_fd_close(fd);
    return status;
}

/* ---- the others ---- */

static int take_part(run_t *run, const oc_sockaddr_t *addresses, unsigned count)
{
    int fd = oc_survey_reach(addresses, count, run->end, run->error, sizeof(run->error));
    oc_survey_link_t link;
    bool good;

    if (fd < 0) {
        return survey_fails(run);
    }
    oc_socket_prepare(fd);
    oc_survey_link_init(&link, fd);
    /* the coordinator waits as long as this process, and then says that not all have come */
    good = oc_survey_host_run(&link, &run->hello, &run->options->settings,
                              run->end + 10 * OC_SECOND, run->error, sizeof(run->error));
    oc_survey_link_close(&link);
    return good ? EXIT_SUCCESS : survey_fails(run);
}

/* ---- who is who ---- */

/* Also 127.0.1.1, which some systems have for their own name. */
static bool is_own(const oc_sockaddr_t *address)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *) &address->address;
    char name[64];

    return (AF_INET == four->sin_family && 127 == ntohl(four->sin_addr.s_addr) >> 24)
           || oc_interface_of(address, name, sizeof(name));
}

static int meet_at(run_t *run, const char *text)
{
    oc_sockaddr_t addresses[MAX_ADDRESSES];
    oc_host_port_t name;
    unsigned count = 0;
    bool has_port = NULL != ('[' == text[0] ? strstr(text, "]:") : strchr(text, ':'));
    char whole[OC_HOST_SIZE + 8];

    /* without one it would be that of optcast-server */
    snprintf(whole, sizeof(whole), has_port ? "%s" : "%s:%d", text, OC_SURVEY_PORT);
    if (OC_OK != oc_host_port_parse(whole, &name, run->error, sizeof(run->error))
        || OC_OK != oc_resolve_all(&name, addresses, MAX_ADDRESSES, &count, run->error,
                                   sizeof(run->error))) {
        return survey_fails(run);
    }
    for (unsigned i = 0; i < count; i++) {
        if (is_own(&addresses[i])) {
            if (0 == run->expected) {
                return misused("how many hosts take part? Say --hosts N");
            }
            return coordinate_at(run, name.port);
        }
    }
    return take_part(run, addresses, count);
}

/* This process was told of no coordinator: it is one, and says what to tell the others. */
static int invite(run_t *run)
{
    printf("Waiting for %u more host%s. Run on each of them, and within %u seconds:\n"
           "  optcast-info --multicast --coordinator %s --token %s\n",
           run->expected - 1, 2 == run->expected ? "" : "s", run->options->wait, run->hello.name,
           run->hello.token);
    fflush(stdout);
    return coordinate_at(run, OC_SURVEY_PORT);
}

/* "TOKEN PORT ADDRESS ADDRESS …" */
static void write_shared(const run_t *run, uint16_t port, char text[SHARED_SIZE])
{
    struct in6_addr own[MAX_ADDRESSES];
    unsigned count = oc_own_addresses(own, MAX_ADDRESSES);
    size_t used = (size_t) snprintf(text, SHARED_SIZE, "%s %u", run->hello.token, port);

    for (unsigned i = 0; i < count && used < SHARED_SIZE; i++) {
        char address[INET6_ADDRSTRLEN] = "";

        inet_ntop(AF_INET6, &own[i], address, sizeof(address));
        used += (size_t) snprintf(text + used, SHARED_SIZE - used, " %s", address);
    }
}

static bool read_address(const char *text, uint16_t port, oc_sockaddr_t *address)
{
    struct sockaddr_in6 *six = (struct sockaddr_in6 *) &address->address;
    struct sockaddr_in *four = (struct sockaddr_in *) &address->address;
    struct in6_addr mapped;

    memset(address, 0, sizeof(*address));
    if (1 != inet_pton(AF_INET6, text, &mapped)) {
        return false;
    }
    if (IN6_IS_ADDR_V4MAPPED(&mapped)) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        memcpy(&four->sin_addr, mapped.s6_addr + 12, sizeof(four->sin_addr));
        address->length = sizeof(*four);
    } else {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(port);
        six->sin6_addr = mapped;
        address->length = sizeof(*six);
    }
    return true;
}

static int follow_shared(run_t *run, char text[SHARED_SIZE])
{
    oc_sockaddr_t addresses[MAX_ADDRESSES];
    char *rest = text, *word = strsep(&rest, " ");
    unsigned count = 0;
    uint16_t port;

    introduce(run, NULL == word ? "" : word);
    word = strsep(&rest, " ");
    port = (uint16_t) strtoul(NULL == word ? "" : word, NULL, 10);
    while (count < MAX_ADDRESSES && NULL != (word = strsep(&rest, " "))) {
        count += read_address(word, port, &addresses[count]);
    }
    return take_part(run, addresses, count);
}

/* All know the launcher, and through it rank 0. */
static int meet_by_launcher(run_t *run)
{
    oc_survey_place_t place;
    char text[SHARED_SIZE] = "";
    uint16_t port = 0;
    int fd = -1, status;
    bool good;

    if (!oc_survey_pmix_enter(&place, run->error, sizeof(run->error))) {
        return survey_fails(run);
    }
    run->expected = place.processes;
    run->processes = true;
    if (0 == place.rank) {
        fd = listen_at(&port, run->error, sizeof(run->error));
        write_shared(run, port, text);
    }
    good = (0 != place.rank || fd >= 0)
           && oc_survey_pmix_share(&place, text, sizeof(text), run->options->wait, run->error,
                                   sizeof(run->error));
    oc_survey_pmix_leave();
    if (!good) {
        status = survey_fails(run);
    } else {
        status = 0 == place.rank ? coordinate(run, fd) : follow_shared(run, text);
    }
    if (fd >= 0) {
        oc_fd_close(fd);
    }
    return status;
}

int oc_survey_run(const oc_survey_options_t *options)
{
    uint32_t launched = oc_survey_launched();
    run_t run = {.options = options, .end = oc_clock_ns() + options->wait * OC_SECOND,
                 .expected = 0 != options->hosts ? options->hosts : launched,
                 .processes = 0 == options->hosts};
    char token[OC_SURVEY_TOKEN];

    if (NULL != options->token) {
        snprintf(token, sizeof(token), "%s", options->token);
    } else if (!make_token(token)) {
        return misused("the system has no random numbers: say --token WORD");
    }
    introduce(&run, token);
    if (NULL != options->coordinator) {
        return NULL == options->token
                   ? misused("--coordinator needs a --token, the same word for all processes")
                   : meet_at(&run, options->coordinator);
    }
    if (oc_survey_has_pmix()) {
        return meet_by_launcher(&run);
    }
    if (launched > 1) {
        return misused("this launcher has no PMIx: say --coordinator HOST and --token WORD, where "
                       "HOST is one of those that take part");
    }
    if (options->hosts < 2) {
        return misused("start it on several hosts at once, as with mpirun --map-by ppr:1:node, or "
                       "say how many by --hosts N");
    }
    return invite(&run);
}
