/* SPDX-License-Identifier: BSD-3-Clause */
/* The two tables of settings and what is common to their users. */
#include "base/settings.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"

static const char *const mode_names[] = {"auto", "always", "never", NULL};
static const char *const multicast_names[] = {"auto", "verbs", "udp", "off", NULL};
static const char *const receiver_names[] = {"host", "rank", NULL};
static const char *const peer_names[] = {"auto", "off", NULL};
static const char *const reproducible_names[] = {"shape", "rank_order", NULL};
static const char *const beside_names[] = {"nothing", "allgather", NULL};
static const char *const cgroup_names[] = {"auto", "off", NULL};
static const char *const bind_names[] = {"auto", "off", NULL};
static const char *const huge_page_names[] = {"auto", "reserved", "off", NULL};
static const char *const polling_names[] = {"adaptive", "busy", NULL};
static const char *const waiting_names[] = {"adaptive", "busy", "yield", NULL};
static const char *const recovery_names[] = {"off", "on", NULL};
static const char *const progress_names[] = {"thread", "mpi", NULL};
static const char *const level_names[] = {"error", "warn", "info", "debug", NULL};

/*
 * Of chunks of 64 KiB, the contributions of eight ranks fit into 512 KiB of cache, where they are
 * read once more to be reduced; 64 chunks keep links idle for 3 % of a vector at most.
 */
#define AUTOMATIC_CHUNK  65536u
#define AUTOMATIC_CHUNKS 64u

#define JOB(field)    .name = #field, .offset = offsetof(oc_job_settings_t, field)
#define SERVER(field) .offset = offsetof(oc_server_settings_t, field)

/* Who looks for a setting, and at which level of ompi_info it is listed. */
#define USERS          .readers = OC_FOR_USERS, .level = 1
#define SOME_USERS     .readers = OC_FOR_USERS, .level = 3
#define ADMINISTRATORS .readers = OC_FOR_ADMINISTRATORS, .level = 3
#define EXPERTS        .readers = OC_FOR_EXPERTS, .level = 5

/* What both tables have: for embedded aggregators and for those of a server. */
#define BIND(values) \
    .offset = offsetof(values, local.bind), .type = OC_SETTING_CHOICE, .number = OC_BIND_AUTO, \
    .max = 1, .unit = "", .choices = bind_names, \
    .help = "auto: aggregators use the processors and the memory near the network device, as far " \
            "as the process may use these and the machine tells which they are. off: they are " \
            "not bound."
#define POLLING(values, last, names) \
    .offset = offsetof(values, local.polling), .type = OC_SETTING_CHOICE, \
    .number = OC_POLLING_ADAPTIVE, .max = last, .unit = "", .choices = names
#define HUGE_PAGES(values) \
    .offset = offsetof(values, local.huge_pages), .type = OC_SETTING_CHOICE, \
    .number = OC_HUGE_PAGES_AUTO, .max = 2, .unit = "", .choices = huge_page_names, \
    .help = "For memory of aggregators in pieces of 2 MiB and more, which hold the contributions " \
            "of all ranks to a chunk. auto: transparent huge pages, if the system allows " \
            "programs to ask for them. reserved: those of vm.nr_hugepages. off: none."

static const oc_setting_t job_settings[] = {
    {JOB(priority), EXPERTS, .scope = OC_SCOPE_FIRST, .type = OC_SETTING_INT, .number = 60,
     .min = -1, .max = 100, .unit = "",
     .help = "Priority among the coll components. Below that of tuned (30) Optcast gets no "
             "collectives; -1 disables it."},
    {JOB(mode), USERS, .scope = OC_SCOPE_FIRST, .type = OC_SETTING_CHOICE, .number = OC_MODE_AUTO,
     .max = 2, .unit = "", .choices = mode_names, .changeable = true,
     .help = "auto: offload what is expected to be faster, by rules and a model of the network. "
             "always: offload all that can be offloaded. never: offload nothing."},
    {JOB(verbose), USERS, .type = OC_SETTING_INT, .number = 0, .min = 0, .max = 2, .unit = "",
     .help = "0: warnings only. 1: one line for each communicator, and a summary. 2: also a line "
             "for each operation."},
    {JOB(servers), USERS, .scope = OC_SCOPE_MEANING, .type = OC_SETTING_TEXT, .text = "embedded",
     .argument = "LIST", .unit = "",
     .help = "Where vectors are reduced. embedded: by one aggregator thread in the job on each "
             "host. embedded:N: by N threads, spread over the ranks. HOST[:PORT],...: by "
             "optcast-server processes. file:PATH: by those of a file that all ranks can read, "
             "with HOST[:PORT] [weight=W] on each line and comments after #. W is from 0.001 to "
             "1000, and 1 for a server whose link is as fast as that of a host."},
    {JOB(peer_aggregation), EXPERTS, .scope = OC_SCOPE_SERVERS, .type = OC_SETTING_CHOICE,
     .number = OC_PEERS_AUTO, .max = 1, .unit = "", .choices = peer_names,
     .help = "auto: if the weights of the servers add up to less than the number of hosts, a "
             "thread on each host of the job aggregates a part of large vectors, on up to 64 "
             "hosts. off: only servers aggregate."},
    {JOB(rules), USERS, .scope = OC_SCOPE_MEANING, .type = OC_SETTING_TEXT, .text = OPTCAST_RULES,
     .argument = "FILE", .unit = "",
     .help = "File with rules and network constants for mode auto, as optcast-tune writes it. The "
             "default file is read if it exists. If empty, the built-in model decides."},
    {JOB(max_ranks), EXPERTS, .scope = OC_SCOPE_FIRST, .type = OC_SETTING_INT,
     .number = OC_MAX_RANKS, .min = 1, .max = OC_MAX_RANKS, .unit = "ranks",
     .help = "Largest communicator that is offloaded."},
    {JOB(reproducible), SOME_USERS, .scope = OC_SCOPE_SERVERS, .type = OC_SETTING_CHOICE,
     .number = OC_REPRODUCIBLE_SHAPE, .max = 1, .unit = "", .choices = reproducible_names,
     .help = "The order of reduction. shape: first inside each host, so that its link carries each "
             "byte once, and inside each leaf of a tree of servers; results depend on which ranks "
             "share a host, and on the number of leaves. rank_order: in rank order, wherever the "
             "ranks are; each rank sends its whole vector, and trees are declined."},
    {JOB(recovery), SOME_USERS, .scope = OC_SCOPE_SERVERS, .type = OC_SETTING_CHOICE, .number = 1,
     .max = 1, .unit = "", .choices = recovery_names,
     .help = "What becomes of a job when a server is lost. off: an error. on: reductions "
             "and Barriers of host memory end as if nothing had happened, but in trees of servers; results in place are copied "
             "once where ranks do not share the memory of a host, and a thread of each process sleeps until a "
             "server is lost."},
    {JOB(reduce_scatter_beside), SOME_USERS, .scope = OC_SCOPE_SERVERS,
     .type = OC_SETTING_CHOICE, .number = OC_BESIDE_NOTHING, .max = 1, .unit = "",
     .choices = beside_names,
     .help = "What runs at the same time as Reduce_scatters, as in sharded training: allgather means "
             "Allgathers of as many bytes by multicast, which need the links towards hosts, so servers "
             "get a larger part of each vector. It matters where there are fewer servers than hosts. "
             "The info key optcast_reduce_scatter_beside says it for one communicator."},
    {JOB(small_size), EXPERTS, .scope = OC_SCOPE_SERVERS, .type = OC_SETTING_SIZE, .number = 8192,
     .max = OC_MAX_SMALL, .unit = "bytes",
     .help = "Largest vector of an Allreduce that is sent as one message, copied. Larger vectors "
             "are sent in chunks from and to user memory."},
    {JOB(chunk_size), EXPERTS, .scope = OC_SCOPE_SERVERS, .type = OC_SETTING_SIZE, .number = 0,
     .min = OC_MIN_CHUNK, .max = OC_MAX_CHUNK, .automatic = true, .unit = "bytes",
     .help = "Largest chunk of a vector. Chunks are reduced independently. They are smaller if an "
             "aggregator gets less than one of a vector, or has no memory for one of each rank. "
             "0: 64 KiB, and for vectors below 4 MiB for each aggregator down to 16 KiB, because "
             "links are idle for one chunk at both ends of a vector."},
    {JOB(window), EXPERTS, .scope = OC_SCOPE_SERVERS, .type = OC_SETTING_INT, .number = 4, .min = 1,
     .max = OC_MAX_WINDOW, .unit = "chunks",
     .help = "Chunks that a rank has in flight to one aggregator, over all vectors of a "
             "communicator."},
    {JOB(eager_window), EXPERTS, .type = OC_SETTING_SIZE, .number = OC_EAGER_WINDOW,
     .max = INT64_MAX, .unit = "bytes",
     .help = "How much of large vectors a process may send to an aggregator over TCP without "
             "announcing it first. The aggregator holds what it cannot receive yet, in addition to "
             "its memory limit: at most a quarter of the limit, divided by the processes of the "
             "job; the rest is announced."},
    {JOB(connect_timeout), ADMINISTRATORS, .type = OC_SETTING_INT,
     .number = OC_CONNECT_SECONDS, .min = 1, .max = 600, .unit = "seconds",
     .help = "How long the set-up of a communicator waits for a server before it falls back to "
             "Open MPI."},
    {JOB(heartbeat_timeout), ADMINISTRATORS, .type = OC_SETTING_INT, .number = 6, .min = 1,
     .max = 3600, .unit = "seconds",
     .help = "How long a server may leave a heartbeat unanswered during a collective before it is "
             "considered dead. Ranks, and aggregators embedded in ranks, are waited for."},
    {JOB(multicast), USERS, .scope = OC_SCOPE_FIRST, .type = OC_SETTING_CHOICE,
     .number = OC_MULTICAST_AUTO, .max = 3, .unit = "", .choices = multicast_names,
     .help = "The transport of Allgather and Bcast. verbs: InfiniBand or RoCE. udp: IP multicast. "
             "auto: verbs if all ranks can use it, else udp; but not over an Ethernet that "
             "delivers multicast also to hosts that have not joined, or where no host of a "
             "communicator can tell: with verbs or udp it is used there, too. off: they are left "
             "to Open MPI."},
    {JOB(multicast_min_size), SOME_USERS, .scope = OC_SCOPE_FIRST, .type = OC_SETTING_SIZE,
     .number = 0, .max = INT64_MAX, .unit = "bytes",
     .help = "Smallest vector, over all ranks, that mode auto sends by multicast. 0: what a link "
             "carries in 0.5 ms, but at least 64 KiB and at most 256 KiB, by the rate in the rules "
             "file or of the network devices of rank 0; and no Allgather whose blocks are below "
             "8 KiB on average, or below 4 KiB on links slower than 650 Mbit/s."},
    {JOB(multicast_interface), ADMINISTRATORS, .type = OC_SETTING_TEXT, .text = "",
     .argument = "NAME", .unit = "",
     .help = "Network interface for multicast, by name or address. If empty, the one with the "
             "route for multicast."},
    {JOB(multicast_address), ADMINISTRATORS, .scope = OC_SCOPE_MULTICAST, .type = OC_SETTING_TEXT,
     .text = "", .argument = "ADDR", .unit = "",
     .help = "First of the multicast_groups IPv4 multicast addresses that a job uses, or as "
             "ADDR/BITS, with 9 to 27 bits, a block of addresses. In a block each job and each set "
             "of processes has other ones, but for chance. If empty, it is the block "
             "239.192.0.0/14."},
    {JOB(multicast_port), ADMINISTRATORS, .scope = OC_SCOPE_MULTICAST, .type = OC_SETTING_INT,
     .number = 8919, .min = 1, .max = 65535, .unit = "",
     .help = "UDP port for multicast."},
    {JOB(multicast_receiver), EXPERTS, .scope = OC_SCOPE_MULTICAST, .type = OC_SETTING_CHOICE,
     .number = OC_RECEIVER_HOST, .max = 1, .unit = "", .choices = receiver_names,
     .help = "Who sends and receives by multicast, if a communicator has several ranks on a host. "
             "host: the lowest of them for all, which share memory. rank: each for itself."},
    {JOB(multicast_groups), EXPERTS, .scope = OC_SCOPE_MULTICAST, .type = OC_SETTING_INT,
     .number = 16, .min = 1, .max = 16, .unit = "addresses",
     .help = "Multicast addresses that a process joins at the same time, at most. Communicators "
             "of the same processes share one. One of them is common to all communicators that "
             "have a rank without room for another one. With verbs they are also at most as many "
             "as 32 MiB have room for, by multicast_staging."},
    {JOB(multicast_senders), EXPERTS, .scope = OC_SCOPE_MULTICAST, .type = OC_SETTING_INT,
     .number = 0, .max = OC_MAX_RANKS, .unit = "ranks",
     .help = "Ranks of a communicator that send at the same time, paced by what they receive; the "
             "others follow in turns. 1: one after the other. 0: all at once, as long as the share "
             "of each rank in the window is large enough, otherwise fewer."},
    {JOB(multicast_window), EXPERTS, .scope = OC_SCOPE_MULTICAST, .type = OC_SETTING_SIZE,
     .number = 524288, .min = 16384, .max = 1u << 30, .unit = "bytes",
     .help = "Bytes that may be in flight to a rank. The buffers of switches have to hold them; "
             "they are fewer if a rank has less room (multicast_staging), or its link is slow."},
    {JOB(multicast_staging), EXPERTS, .type = OC_SETTING_SIZE, .number = 4u << 20, .min = 65536,
     .max = 1u << 30, .unit = "bytes",
     .help = "Memory for datagrams that have arrived, for each multicast address in use. UDP gets "
             "no more of it than net.core.rmem_max without CAP_NET_ADMIN."},
    {JOB(multicast_rate), EXPERTS, .type = OC_SETTING_INT, .number = 0, .max = 1000000,
     .unit = "Mbit/s",
     .help = "Limit for the UDP multicast of a rank, on each address. 0: no limit."},
    {JOB(device_staging), SOME_USERS, .type = OC_SETTING_SIZE, .number = 32u << 20,
     .min = 1u << 20, .max = 1ull << 40, .unit = "bytes",
     .help = "Pinned host memory through which vectors in accelerator memory are copied. It is "
             "allocated once, when a process offloads the first such vector."},
    {JOB(progress), SOME_USERS, .type = OC_SETTING_CHOICE, .number = OC_PROGRESS_THREAD, .max = 1,
     .unit = "", .choices = progress_names,
     .help = "Who moves nonblocking and persistent operations on. thread: the program's calls of "
             "MPI, and a thread of each process while it makes none, unless buffers are in the memory "
             "of accelerators. mpi: only its calls of MPI."},
    {JOB(timeline), SOME_USERS, .type = OC_SETTING_TEXT, .text = "", .argument = "PREFIX",
     .unit = "",
     .help = "Prefix of the files into which each rank writes, when it ends, the time of each "
             "event of each chunk (see optcast-timeline). If empty, no files are written."},
    {.name = "bind", EXPERTS, BIND(oc_job_settings_t)},
    {.name = "huge_pages", EXPERTS, HUGE_PAGES(oc_job_settings_t)},
    {.name = "polling", SOME_USERS, POLLING(oc_job_settings_t, OC_POLLING_YIELD, waiting_names),
     .help = "How ranks wait in a blocking operation, and embedded aggregators for messages. "
             "adaptive: they poll, and sleep if processors are scarce or nothing arrives. busy: "
             "they only poll, and each uses a whole processor; aggregators do so only where the "
             "ranks leave a processor free. yield: as if processors were scarce, for ranks that share "
             "theirs with other programs."},
};

static const oc_setting_t server_settings[] = {
    {.name = "listen", SERVER(listen), ADMINISTRATORS, .type = OC_SETTING_TEXT,
     .text = "127.0.0.1:8918", .argument = "ADDR[:PORT]", .unit = "",
     .help = "Address, or name of this host, and port to listen on. Port 0 takes a free one. Data "
             "goes through the network interface that has this address. The default serves jobs on "
             "this host only."},
    {.name = "aggregators", SERVER(aggregators), ADMINISTRATORS, .type = OC_SETTING_INT,
     .number = 1, .min = 1, .max = OC_MAX_AGGREGATORS, .unit = "threads",
     .help = "Threads that reduce, for each job."},
    {.name = "memory-limit", SERVER(memory_limit), ADMINISTRATORS, .type = OC_SETTING_SIZE,
     .number = 1ull << 30, .min = 1u << 20, .max = INT64_MAX, .unit = "bytes",
     .help = "Memory for vectors in flight and for the state of communicators, for each job, "
             "shared evenly by its aggregators. A communicator is refused if one chunk or one "
             "small vector from each of its ranks does not fit into the share of an aggregator."},
    {.name = "log-level", SERVER(log_level), ADMINISTRATORS, .type = OC_SETTING_CHOICE,
     .number = OC_LOG_INFO, .max = 3, .unit = "", .choices = level_names,
     .help = "What is written to the standard error output: error, warn, info or debug."},
    {.name = "drain-timeout", SERVER(drain_timeout), ADMINISTRATORS, .type = OC_SETTING_INT,
     .number = 30, .min = 0, .max = 86400, .unit = "seconds",
     .help = "How long running jobs may go on after SIGTERM."},
    {.name = "max-jobs", SERVER(max_jobs), ADMINISTRATORS, .type = OC_SETTING_INT, .number = 64,
     .min = 1, .max = 65536, .unit = "jobs",
     .help = "Jobs served at a time, with one process for each. Further jobs are refused."},
    {.name = "cgroup", SERVER(cgroup), ADMINISTRATORS, .type = OC_SETTING_CHOICE,
     .number = OC_CGROUP_AUTO, .max = 1, .unit = "", .choices = cgroup_names,
     .help = "auto: the process of each job gets a cgroup of its own, which also bounds its "
             "memory, if a cgroup of version 2 with the memory controller is delegated to the "
             "server. off: RLIMIT_DATA alone bounds the process."},
    {.name = "parent", SERVER(parent), ADMINISTRATORS, .type = OC_SETTING_TEXT, .text = "",
     .argument = "HOST[:PORT]", .unit = "",
     .help = "Makes this server a leaf of a tree of two levels, and the server at HOST its parent: "
             "the leaf adds up what its own clients send, and forwards the sum. If empty, there is "
             "no tree."},
    {.name = "timeline", SERVER(timeline), ADMINISTRATORS, .type = OC_SETTING_TEXT, .text = "",
     .argument = "PREFIX", .unit = "",
     .help = "Prefix of the files into which each aggregator writes, at the end of a job, the time "
             "of each event of each chunk (see optcast-timeline). If empty, no files are written."},
    {.name = "bind", ADMINISTRATORS, BIND(oc_server_settings_t)},
    {.name = "huge-pages", ADMINISTRATORS, HUGE_PAGES(oc_server_settings_t)},
    {.name = "polling", ADMINISTRATORS, POLLING(oc_server_settings_t, OC_POLLING_BUSY, polling_names),
     .help = "How aggregators wait for messages. adaptive: they poll for 50 microseconds, then "
             "sleep until something comes. busy: they only poll as long as their job has a "
             "communicator on this server, and each uses a whole processor."},
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
                 "\"%s\" is not a value of %s: a number from %lld to %lld %s%s is needed", text,
                 setting->name, (long long) setting->min, (long long) setting->max, setting->unit,
                 setting->automatic ? ", or 0," : "");
    }
}

static bool in_range(const oc_setting_t *setting, int64_t number)
{
    return (setting->automatic && 0 == number)
           || (number >= setting->min && number <= setting->max);
}

static oc_status_t settings_parse_number(const oc_setting_t *setting, const char *text,
                                         int64_t *number)
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
    return in_range(setting, *number) ? OC_OK : OC_ERR_INVALID;
}

oc_status_t oc_setting_parse(const oc_setting_t *setting, void *values, const char *text,
                             char *error, size_t error_size)
{
    int64_t number;

    if (OC_SETTING_TEXT == setting->type) {
        *(const char **) ((char *) values + setting->offset) = text;
        return OC_OK;
    }
    if (OC_OK != settings_parse_number(setting, text, &number)) {
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
        if (!in_range(setting, number)) {
            snprintf(text, sizeof(text), "%lld", (long long) number);
            range_error(setting, text, error, error_size);
            return OC_ERR_INVALID;
        }
    }
    return OC_OK;
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

size_t oc_settings_largest_chunk(const oc_job_settings_t *settings)
{
    return 0 == settings->chunk_size ? AUTOMATIC_CHUNK : settings->chunk_size;
}

unsigned oc_settings_fewest_chunks(const oc_job_settings_t *settings)
{
    return 0 == settings->chunk_size ? AUTOMATIC_CHUNKS : 1;
}
