/* SPDX-License-Identifier: BSD-3-Clause */
/* The two tables of settings and what is common to their users. */
#include "base/settings.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"

static const char *const mode_names[] = {"auto", "always", "never", NULL};
static const char *const multicast_names[] = {"auto", "verbs", "udp", "off", NULL};
static const char *const schedule_names[] = {"auto", "together", "chain", NULL};
static const char *const peer_names[] = {"auto", "off", NULL};
static const char *const reproducible_names[] = {"shape", "rank_order", NULL};
static const char *const cgroup_names[] = {"auto", "off", NULL};
static const char *const bind_names[] = {"auto", "off", NULL};
static const char *const huge_page_names[] = {"auto", "reserved", "off", NULL};
static const char *const polling_names[] = {"adaptive", "busy", NULL};
static const char *const level_names[] = {"error", "warn", "info", "debug", NULL};

#define JOB(field)    .name = #field, .offset = offsetof(oc_job_settings_t, field)
#define SERVER(field) .offset = offsetof(oc_server_settings_t, field)

/* What both tables have: for embedded aggregators and for those of a server. */
#define BIND(values) \
    .offset = offsetof(values, local.bind), .type = OC_SETTING_CHOICE, .number = OC_BIND_AUTO, \
    .max = 1, .unit = "", .choices = bind_names, \
    .help = "auto: aggregators use the processors and the memory that are near the network " \
            "device, as far as the process may and the machine tells. off: whatever the system " \
            "gives them."
#define POLLING(values) \
    .offset = offsetof(values, local.polling), .type = OC_SETTING_CHOICE, \
    .number = OC_POLLING_ADAPTIVE, .max = 1, .unit = "", .choices = polling_names
#define HUGE_PAGES(values) \
    .offset = offsetof(values, local.huge_pages), .type = OC_SETTING_CHOICE, \
    .number = OC_HUGE_PAGES_AUTO, .max = 2, .unit = "", .choices = huge_page_names, \
    .help = "For memory of aggregators in pieces of 2 MiB and more, which are the contributions " \
            "of all ranks to a chunk. auto: transparent huge pages, where the system lets " \
            "programs ask. reserved: those of vm.nr_hugepages. off: none."

static const oc_setting_t job_settings[] = {
    {JOB(priority), .type = OC_SETTING_INT, .number = 60, .min = -1, .max = 100, .unit = "",
     .scope = OC_SCOPE_FIRST,
     .help = "Priority of the component among the coll components; below that of tuned (30) it "
             "gets no Allreduce, and -1 turns it off."},
    {JOB(mode), .type = OC_SETTING_CHOICE, .number = OC_MODE_AUTO, .max = 2, .unit = "",
     .choices = mode_names, .changeable = true,
     .level = OC_FOR_ALL,
     .scope = OC_SCOPE_FIRST,
     .help = "auto: offload what is expected to be faster, by rules and a model of the network. "
             "always: offload whatever can be. never: leave everything to the component that was "
             "there before."},
    {JOB(verbose), .type = OC_SETTING_INT, .number = 0, .min = 0, .max = 2, .unit = "",
     .level = OC_FOR_ALL,
     .help = "0: warnings only. 1: one line a communicator and a summary. 2: one line an "
             "operation."},
    {JOB(servers), .type = OC_SETTING_TEXT, .text = "embedded", .unit = "",
     .level = OC_FOR_ALL,
     .scope = OC_SCOPE_MEANING,
     .help = "Where vectors are reduced. embedded: by threads inside the job, one on each host. "
             "embedded:N: by N of them, spread over the ranks. HOST[:PORT],…: by optcast-server "
             "processes. file:PATH: the same, one HOST[:PORT] [weight=W] a line; a server of "
             "weight 2 is as fast as two hosts."},
    {JOB(peer_aggregation), .type = OC_SETTING_CHOICE, .number = OC_PEERS_AUTO, .max = 1,
     .unit = "", .choices = peer_names,
     .scope = OC_SCOPE_SERVERS,
     .help = "auto: where the weights of the servers add up to less than there are hosts, a thread "
             "on each host of the job reduces a part of large vectors, if these are no more than "
             "64 hosts. off: servers reduce all."},
    {JOB(min_size), .type = OC_SETTING_SIZE, .number = 0, .max = INT64_MAX, .unit = "bytes",
     .level = OC_FOR_SOME,
     .scope = OC_SCOPE_FIRST,
     .help = "Smallest vector that mode auto offloads, whatever the rules and the model say; 0: "
             "they decide."},
    {JOB(rules), .type = OC_SETTING_TEXT, .text = OPTCAST_RULES, .unit = "",
     .level = OC_FOR_ALL,
     .scope = OC_SCOPE_MEANING,
     .help = "File that tells mode auto about the network and what to offload (see optcast-tune); "
             "the default is read if it is there. If empty, the built-in model decides."},
    {JOB(max_ranks), .type = OC_SETTING_INT, .number = OC_MAX_RANKS, .min = 1,
     .max = OC_MAX_RANKS, .unit = "ranks",
     .scope = OC_SCOPE_FIRST,
     .help = "Largest communicator that is offloaded."},
    {JOB(reproducible), .type = OC_SETTING_CHOICE, .number = OC_REPRODUCIBLE_SHAPE, .max = 1,
     .unit = "", .choices = reproducible_names,
     .level = OC_FOR_SOME,
     .scope = OC_SCOPE_SERVERS,
     .help = "In which order vectors are reduced. shape: inside each host first, so that its link "
             "carries each byte once, and inside each leaf of a tree of servers; results depend on "
             "which ranks share a host, and on the leaves. rank_order: by rank, wherever ranks "
             "are; each rank sends all that it has, and trees are declined."},
    {JOB(small_size), .type = OC_SETTING_SIZE, .number = 8192, .max = OC_MAX_SMALL, .unit = "bytes",
     .scope = OC_SCOPE_SERVERS,
     .help = "Largest vector that goes in one message, copied; larger ones are sent in chunks "
             "from and into user memory."},
    {JOB(chunk_size), .type = OC_SETTING_SIZE, .number = 65536, .min = OC_MIN_CHUNK,
     .max = OC_MAX_CHUNK, .unit = "bytes",
     .scope = OC_SCOPE_SERVERS,
     .help = "Largest chunk of a vector; chunks are reduced independently. They are smaller where a "
             "server has no room for one of each rank."},
    {JOB(min_chunks), .type = OC_SETTING_INT, .number = 64, .min = 1, .max = 1 << 20,
     .unit = "chunks",
     .scope = OC_SCOPE_SERVERS,
     .help = "How many chunks each aggregator gets of a vector at least, as long as they are no "
             "smaller than 16 KiB: links idle for one chunk at both ends of a vector."},
    {JOB(window), .type = OC_SETTING_INT, .number = 4, .min = 1, .max = OC_MAX_WINDOW,
     .unit = "chunks",
     .scope = OC_SCOPE_SERVERS,
     .help = "Chunks that a rank has in flight to one aggregator, from all vectors of a "
             "communicator."},
    {JOB(eager_window), .type = OC_SETTING_SIZE, .number = OC_EAGER_WINDOW, .max = INT64_MAX,
     .unit = "bytes",
     .help = "How much of large vectors a process may have on its way to an aggregator over TCP "
             "without announcing it first; an aggregator that cannot receive it yet holds it, "
             "beside its memory limit, and may say that it takes less."},
    {JOB(connect_timeout), .type = OC_SETTING_INT, .number = OC_CONNECT_SECONDS, .min = 1,
     .max = 600, .unit = "seconds",
     .level = OC_FOR_SOME,
     .help = "How long the set-up of a communicator waits for a server before the component "
             "that was there before takes over."},
    {JOB(heartbeat_timeout), .type = OC_SETTING_INT, .number = 6, .min = 1, .max = 3600,
     .unit = "seconds",
     .level = OC_FOR_SOME,
     .help = "How long a server may leave a heartbeat unanswered in a collective before it counts "
             "as dead. A rank, and the server embedded in one, is waited for."},
    {JOB(multicast), .type = OC_SETTING_CHOICE, .number = OC_MULTICAST_AUTO, .max = 3, .unit = "",
     .choices = multicast_names,
     .level = OC_FOR_ALL,
     .scope = OC_SCOPE_FIRST,
     .help = "What carries Allgather and Bcast. verbs: InfiniBand or RoCE. udp: IP multicast. "
             "auto: verbs if all ranks can, else udp. off: the component that was there before."},
    {JOB(multicast_min_size), .type = OC_SETTING_SIZE, .number = 0, .max = INT64_MAX,
     .unit = "bytes",
     .level = OC_FOR_SOME,
     .scope = OC_SCOPE_FIRST,
     .help = "Smallest vector, of all ranks together, that mode auto sends by multicast. 0: what "
             "a link carries in 0.5 ms, but from 64 to 256 KiB, and no Allgather of small blocks."},
    {JOB(multicast_interface), .type = OC_SETTING_TEXT, .text = "", .unit = "",
     .level = OC_FOR_SOME,
     .help = "Network interface for multicast, by name or address; the one of the default route "
             "for multicast if empty."},
    {JOB(multicast_address), .type = OC_SETTING_TEXT, .text = "", .unit = "",
     .level = OC_FOR_SOME,
     .scope = OC_SCOPE_MULTICAST,
     .help = "First IPv4 multicast address; made from the job's identity, in 239.192.0.0/14, if "
             "empty."},
    {JOB(multicast_port), .type = OC_SETTING_INT, .number = 8919, .min = 1, .max = 65535,
     .unit = "", .level = OC_FOR_SOME, .scope = OC_SCOPE_MULTICAST,
     .help = "UDP port for multicast."},
    {JOB(multicast_groups), .type = OC_SETTING_INT, .number = 4, .min = 1, .max = 16,
     .unit = "addresses",
     .scope = OC_SCOPE_MULTICAST,
     .help = "Multicast addresses, from the first one on, that the communicators of a job share."},
    {JOB(multicast_channels), .type = OC_SETTING_INT, .number = 1, .min = 1, .max = 16,
     .unit = "addresses",
     .scope = OC_SCOPE_MULTICAST,
     .help = "How many of these addresses a communicator uses at once."},
    {JOB(multicast_schedule), .type = OC_SETTING_CHOICE, .number = 0, .max = 2, .unit = "",
     .choices = schedule_names,
     .scope = OC_SCOPE_MULTICAST,
     .help = "together: all ranks send at once, in step with what they receive. chain: in turn. "
             "auto: together, as long as each rank's share of the window is large enough."},
    {JOB(multicast_chains), .type = OC_SETTING_INT, .number = 1, .min = 1, .max = 1024,
     .unit = "ranks", .scope = OC_SCOPE_MULTICAST,
     .help = "Ranks that send at the same time in the schedule chain."},
    {JOB(multicast_window), .type = OC_SETTING_SIZE, .number = 524288, .min = 16384,
     .max = 1u << 30, .unit = "bytes",
     .scope = OC_SCOPE_MULTICAST,
     .help = "How much may be under way to a rank; buffers of switches and ranks have to hold it."},
    {JOB(multicast_staging), .type = OC_SETTING_SIZE, .number = 4u << 20, .min = 65536,
     .max = 1u << 30, .unit = "bytes",
     .help = "Memory for datagrams that have arrived, for each multicast address in use."},
    {JOB(multicast_rate), .type = OC_SETTING_INT, .number = 0, .max = 1000000, .unit = "Mbit/s",
     .help = "Limit of what a rank sends by UDP multicast, on each address; 0: none but the "
             "network's."},
    {JOB(device_staging), .type = OC_SETTING_SIZE, .number = 32u << 20, .min = 1u << 20,
     .max = 1ull << 40, .unit = "bytes",
     .level = OC_FOR_SOME,
     .help = "Pinned host memory by way of which vectors in the memory of accelerators go; taken "
             "once, when a process offloads the first of them."},
    {JOB(timeline), .type = OC_SETTING_TEXT, .text = "", .unit = "",
     .level = OC_FOR_SOME,
     .help = "What the names of files begin with into which each rank writes, at its end, when "
             "what happened to each chunk (see optcast-timeline); no files if empty."},
    {.name = "bind", BIND(oc_job_settings_t)},
    {.name = "huge_pages", HUGE_PAGES(oc_job_settings_t)},
    {.name = "polling", POLLING(oc_job_settings_t), .level = OC_FOR_SOME,
     .help = "How ranks wait in a blocking operation, and embedded aggregators for messages. "
             "adaptive: they look, and sleep where processors are short or nothing comes. busy: "
             "they only look, and each takes a processor; aggregators do where ranks leave one."},
};

static const oc_setting_t server_settings[] = {
    {.name = "listen",
     SERVER(listen),
     .type = OC_SETTING_TEXT,
     .text = "127.0.0.1:8918",
     .unit = "",
     .help = "ADDR[:PORT] to listen on; port 0 takes a free one. The network interface that has "
             "this address is also the one that data goes through."},
    {.name = "aggregators",
     SERVER(aggregators),
     .type = OC_SETTING_INT,
     .number = 1,
     .min = 1,
     .max = OC_MAX_AGGREGATORS,
     .unit = "threads",
     .help = "Threads that reduce, for each job."},
    {.name = "memory-limit",
     SERVER(memory_limit),
     .type = OC_SETTING_SIZE,
     .number = 1ull << 30,
     .min = 1u << 20,
     .max = INT64_MAX,
     .unit = "bytes",
     .help = "Memory for vectors in flight, for each job, shared evenly by its aggregators; "
             "communicators that cannot do with it are refused."},
    {.name = "log-level",
     SERVER(log_level),
     .type = OC_SETTING_CHOICE,
     .number = OC_LOG_INFO,
     .max = 3,
     .unit = "",
     .choices = level_names,
     .help = "error, warn, info or debug."},
    {.name = "drain-timeout",
     SERVER(drain_timeout),
     .type = OC_SETTING_INT,
     .number = 30,
     .min = 0,
     .max = 86400,
     .unit = "seconds",
     .help = "How long running jobs may go on after SIGTERM."},
    {.name = "max-jobs",
     SERVER(max_jobs),
     .type = OC_SETTING_INT,
     .number = 64,
     .min = 1,
     .max = 65536,
     .unit = "jobs",
     .help = "Jobs served at a time, a process for each; more are refused."},
    {.name = "cgroup",
     SERVER(cgroup),
     .type = OC_SETTING_CHOICE,
     .number = OC_CGROUP_AUTO,
     .max = 1,
     .unit = "",
     .choices = cgroup_names,
     .help = "auto: the memory of each job's process is bounded by a cgroup of its own, too, where "
             "one of version 2 is delegated to the server. off: by RLIMIT_DATA alone."},
    {.name = "parent",
     SERVER(parent),
     .type = OC_SETTING_TEXT,
     .text = "",
     .unit = "",
     .help = "HOST[:PORT] of the server above: this one is a leaf of a tree of two levels then, "
             "which adds up what its own clients send and leaves the rest to its parent. No tree "
             "if empty."},
    {.name = "timeline",
     SERVER(timeline),
     .type = OC_SETTING_TEXT,
     .text = "",
     .unit = "",
     .help = "What the names of files begin with into which each aggregator writes, at the end of "
             "a job, when what happened to each chunk (see optcast-timeline); no files if empty."},
    {.name = "bind", BIND(oc_server_settings_t)},
    {.name = "huge-pages", HUGE_PAGES(oc_server_settings_t)},
    {.name = "polling", POLLING(oc_server_settings_t),
     .help = "How aggregators wait for messages. adaptive: they look for a moment, then sleep. "
             "busy: they only look as long as their job has communicators, and each takes a "
             "processor."},
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

const oc_settings_table_t oc_job_settings_table = {job_settings, LENGTH(job_settings)};
const oc_settings_table_t oc_server_settings_table = {server_settings, LENGTH(server_settings)};

static void store_number(const oc_setting_t *setting, void *values, uint64_t number)
{
    char *at = (char *) values + setting->offset;

    if (OC_SETTING_SIZE == setting->type) {
        *(size_t *) at = (size_t) number;
    } else {
        *(int *) at = (int) number;
    }
}

void oc_settings_default(const oc_settings_table_t *table, void *values)
{
    for (unsigned i = 0; i < table->count; i++) {
        const oc_setting_t *setting = &table->settings[i];

        if (OC_SETTING_TEXT == setting->type) {
            *(const char **) ((char *) values + setting->offset) = setting->text;
        } else {
            store_number(setting, values, setting->number);
        }
    }
}

const oc_setting_t *oc_setting_find(const oc_settings_table_t *table, const char *name)
{
    for (unsigned i = 0; i < table->count; i++) {
        if (0 == strcmp(name, table->settings[i].name)) {
            return &table->settings[i];
        }
    }
    return NULL;
}

static oc_status_t parse_choice(const oc_setting_t *setting, const char *text, uint64_t *number)
{
    for (unsigned i = 0; NULL != setting->choices[i]; i++) {
        if (0 == strcmp(text, setting->choices[i])) {
            *number = i;
            return OC_OK;
        }
    }
    return OC_ERR_INVALID;
}

static void range_error(const oc_setting_t *setting, const char *text, char *error, size_t size)
{
    if (OC_SETTING_CHOICE == setting->type) {
        snprintf(error, size, "\"%s\" is not a value of %s: %s", text, setting->name,
                 setting->help);
    } else if (INT64_MAX == setting->max) {
        snprintf(error, size, "\"%s\" is not a value of %s: a number of at least %lld %s is needed",
                 text, setting->name, (long long) setting->min, setting->unit);
    } else {
        snprintf(error, size,
                 "\"%s\" is not a value of %s: a number from %lld to %lld %s is needed", text,
                 setting->name, (long long) setting->min, (long long) setting->max, setting->unit);
    }
}

static oc_status_t parse_number(const oc_setting_t *setting, const char *text, int64_t *number)
{
    bool negative = OC_SETTING_INT == setting->type && '-' == text[0];
    uint64_t value = 0;
    oc_status_t status = OC_SETTING_CHOICE == setting->type
                             ? parse_choice(setting, text, &value)
                             : oc_parse_size(text + negative, &value);

    if (OC_OK != status || value > INT64_MAX) {
        return OC_ERR_INVALID;
    }
    *number = negative ? -(int64_t) value : (int64_t) value;
    return *number < setting->min || *number > setting->max ? OC_ERR_INVALID : OC_OK;
}

oc_status_t oc_setting_parse(const oc_setting_t *setting, void *values, const char *text,
                             char *error, size_t error_size)
{
    int64_t number;

    if (OC_SETTING_TEXT == setting->type) {
        *(const char **) ((char *) values + setting->offset) = text;
        return OC_OK;
    }
    if (OC_OK != parse_number(setting, text, &number)) {
        range_error(setting, text, error, error_size);
        return OC_ERR_INVALID;
    }
    store_number(setting, values, (uint64_t) number);
    return OC_OK;
}

static int64_t load_number(const oc_setting_t *setting, const void *values)
{
    const char *at = (const char *) values + setting->offset;
    size_t size;

    if (OC_SETTING_SIZE == setting->type) {
        size = *(const size_t *) at;
        return size > INT64_MAX ? INT64_MAX : (int64_t) size;
    }
    return *(const int *) at;
}

oc_status_t oc_settings_check(const oc_settings_table_t *table, const void *values, char *error,
                              size_t error_size)
{
    for (unsigned i = 0; i < table->count; i++) {
        const oc_setting_t *setting = &table->settings[i];
        int64_t number;
        char text[32];

        if (OC_SETTING_TEXT == setting->type) {
            continue;
        }
        number = load_number(setting, values);
        if (number < setting->min || number > setting->max) {
            snprintf(text, sizeof(text), "%lld", (long long) number);
            range_error(setting, text, error, error_size);
            return OC_ERR_INVALID;
        }
    }
    return OC_OK;
}

static void print_default(const oc_setting_t *setting, FILE *out)
{
    if (OC_SETTING_TEXT == setting->type) {
        fprintf(out, " (default %s)", setting->text);
    } else if (OC_SETTING_CHOICE == setting->type) {
        fprintf(out, " (default %s)", setting->choices[setting->number]);
    } else {
        fprintf(out, " (default %llu%s%s)", (unsigned long long) setting->number,
                '\0' != setting->unit[0] ? " " : "", setting->unit);
    }
}

static uint64_t hash_value(uint64_t hash, const oc_setting_t *setting, const void *values)
{
    const char *at = (const char *) values + setting->offset, *text;
    uint64_t number;

    if (OC_SETTING_TEXT == setting->type) {
        text = *(const char *const *) at;
        text = NULL == text ? "" : text;
        return oc_hash(hash, text, strlen(text) + 1);
    }
    number = OC_SETTING_SIZE == setting->type ? *(const size_t *) at : (uint64_t) *(const int *) at;
    return oc_hash(hash, &number, sizeof(number));
}

uint64_t oc_settings_hash(uint64_t hash, const oc_settings_table_t *table, const void *values,
                          oc_setting_scope_t scope)
{
    for (unsigned i = 0; i < table->count; i++) {
        const oc_setting_t *setting = &table->settings[i];

        if (scope == setting->scope && !setting->changeable) {
            hash = hash_value(hash, setting, values);
        }
    }
    return hash;
}

void oc_settings_print(const oc_settings_table_t *table, const char *prefix, FILE *out)
{
    for (unsigned i = 0; i < table->count; i++) {
        fprintf(out, "  %s%s\n      %s", prefix, table->settings[i].name, table->settings[i].help);
        print_default(&table->settings[i], out);
        fprintf(out, "\n");
    }
}
