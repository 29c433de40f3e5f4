/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rank 0 of the MPI job makes for all, given to the others by the launcher: the identity of
 * the job, and the settings that decide what is offloaded.
 */
#include "coll_optcast_job.h"

#include <sys/random.h>

#include "ompi/proc/proc.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"

#include "net/link_speed.h"

#include "coll_optcast_opponent.h"
#include "coll_optcast_state.h"

/*
 * In the host's byte order: Open MPI's launcher does not promise more for opaque bytes. The first
 * letters, and all up to the rules, stay as they are in all versions from the first release on, and
 * decide what begins a set-up: a rank with another version decides like rank 0, and says in the
 * exchange that it cannot take part. What comes then belongs to one format, and may have any
 * length.
 */
#define FORMAT      "OCJ04001"
#define NUM_LETTERS 5

/*
 * Multicast carries what takes a link so long, within these bounds, in mode auto (bench/run
 * regret). Each block of an Allgather is announced, received and credited by itself: small ones
 * cost more than Open MPI's algorithms, which put them together.
 */
#define CAST_TIME_US    500
#define MIN_CAST_LEAST  65536u
#define MAX_CAST_LEAST  262144u
#define BLOCK_TIME_US   50
#define MIN_BLOCK_LEAST 4096u
#define MAX_BLOCK_LEAST 8192u

typedef struct {
    char format[8];
    uint64_t multicast_min_size;
    uint64_t cast_least, block_least, pair_least; /* what comes of it */
    int32_t mode, max_ranks, priority, multicast;
    oc_job_t job;
    oc_least_t least[OC_NUM_RULED]; /* mode auto: no smaller vector is offloaded */
    oc_rules_t rules;
} published_t;

_Static_assert(offsetof(published_t, rules)
                   == 56 + sizeof(oc_job_t)
                          + OC_NUM_RULED * 2 * OC_LEAST_CLASSES * sizeof(uint64_t),
               "other versions would misunderstand it");

/* What rank 0 of the job published, if it is known. */
static bool has_identity;
static oc_job_t identity;

/* The settings whose scope is OC_SCOPE_FIRST, and their types in the structure of settings. */
#define FOREACH_FIRST(X)          \
    X(multicast_min_size, size_t) \
    X(mode, int)                  \
    X(max_ranks, int)             \
    X(priority, int)              \
    X(multicast, int)

/*
 * Where the launcher does not say, each rank that is elsewhere may have a host of its own. Others
 * may get another answer.
 */
uint32_t mca_coll_optcast_job_max_hosts(void)
{
    opal_process_name_t job = {.jobid = OPAL_PROC_MY_NAME.jobid, .vpid = OPAL_VPID_WILDCARD};
    int local = (int) opal_process_info.num_local_peers + 1;
    uint32_t most = (uint32_t) (ompi_proc_world_size() - local + 1), hosts = 0, *at = &hosts;
    int rc;

    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, OC_KEY_NUM_NODES, &job, &at, OC_MODEX_UINT32);
    return OPAL_SUCCESS == rc && hosts > 0 && hosts < most ? hosts : most;
}

/* UCX in ranks has a name of its own for what is set for it alone. */
static const char *ucx_setting(const char *name)
{
    const char *value = getenv(name);

    return NULL != value ? value : getenv(name + strlen("OPTCAST_"));
}

static void read_network(oc_network_t *network)
{
    oc_network_read("/sys", ucx_setting("OPTCAST_UCX_NET_DEVICES"), ucx_setting("OPTCAST_UCX_TLS"),
                    network);
}

/* A mistake in the rules must not stop a job, nor change silently how fast it is. */
static void read_rules(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    const oc_job_settings_t *settings = &st->settings;
    const char *path = NULL == settings->rules ? "" : settings->rules;
    char error[1024];
    oc_status_t status;

    if ('\0' == path[0] || OC_MODE_NEVER == settings->mode) {
        return;
    }
    status = oc_rules_read(path, &st->rules, error, sizeof(error));
    if (OC_ERR_UNREACHABLE == status && 0 == strcmp(path, OPTCAST_RULES)) {
        return;
    }
    if (OC_OK != status) {
        opal_output(0, "optcast: %s; set coll_optcast_rules to a file of rules, or to nothing. The "
                    "built-in model decides what mode auto offloads", error);
    }
}

static void prepare_auto(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    oc_outlook_t outlook;

    read_rules();
    mca_coll_optcast_opponent(st->rules.previous);
    oc_outlook_make(&st->settings, mca_coll_optcast_job_max_hosts(), &st->network, &outlook);
    for (int ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        oc_least_make(&st->rules, &outlook, (oc_ruled_t) ruled, (uint32_t) ompi_proc_world_size(),
                      &st->least[ruled]);
    }
}

/*
 * Where links are slow, less is worth it: a power of two, within bounds, that takes a link so long.
 */
static uint64_t find_least(uint64_t time_us, uint64_t most, uint64_t fewest)
{
    const mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    uint64_t least = most;
    oc_constants_t constants;

    oc_rules_constants(&st->rules, &st->network, &constants);
    while (0 != constants.link_rate && least > fewest
           && least / 2 * 8 >= constants.link_rate * time_us) {
        least /= 2;
    }
    return least;
}

/*
 * Two ranks exchange by one connection of TCP, whose two directions hinder each other:
 * client/plan/previous.c.
 */
static uint64_t find_pair_least(void)
{
    const mca_coll_optcast_state_t *st = &mca_coll_optcast_state;

    if (OC_FABRIC_TCP != st->network.fabric) {
        return UINT64_MAX;
    }
    return st->cast_least > MAX_CAST_LEAST ? st->cast_least : MAX_CAST_LEAST;
}

static void find_casts(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    uint64_t given = st->settings.multicast_min_size;

    st->cast_least = 0 != given ? given : find_least(CAST_TIME_US, MAX_CAST_LEAST, MIN_CAST_LEAST);
    st->block_least = 0 != given ? 0 : find_least(BLOCK_TIME_US, MAX_BLOCK_LEAST, MIN_BLOCK_LEAST);
    st->pair_least = find_pair_least();
}

void mca_coll_optcast_job_publish(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    published_t published;
    int rc = OMPI_SUCCESS;

    has_identity = false; /* each session has its own */
    oc_rules_default(&st->rules);
    read_network(&st->network);
    if (0 != OPAL_PROC_MY_NAME.vpid || !st->settings_valid
        || sizeof(identity) != getrandom(&identity, sizeof(identity), 0)) {
        return;
    }
    prepare_auto();
    find_casts();
    memset(&published, 0, sizeof(published));
    memcpy(published.format, FORMAT, sizeof(published.format));
    published.job = identity;
    memcpy(published.least, st->least, sizeof(published.least));
    memcpy(&published.rules, &st->rules, sizeof(published.rules));
#define X(name, type) published.name = st->settings.name;
    FOREACH_FIRST(X)
#undef X
    published.cast_least = st->cast_least;
    published.block_least = st->block_least;
    published.pair_least = st->pair_least;
    OPAL_MODEX_SEND(rc, OC_MODEX_SCOPE, st->component, &published, sizeof(published));
    has_identity = OMPI_SUCCESS == rc;
}

static bool job_receive(published_t *published)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    opal_process_name_t first = OPAL_PROC_MY_NAME;
    void *data = NULL;
    size_t size = 0;
    int rc = OMPI_SUCCESS;

    first.vpid = 0;
    OPAL_MODEX_RECV(rc, st->component, &first, &data, &size);
    if (OMPI_SUCCESS != rc || NULL == data || size < offsetof(published_t, rules)
        || 0 != memcmp(data, FORMAT, NUM_LETTERS)) {
        free(data);
        return false;
    }
    memset(published, 0, sizeof(*published));
    memcpy(published, data, size < sizeof(*published) ? size : sizeof(*published));
    free(data);
    has_identity = sizeof(*published) == size
                   && 0 == memcmp(published->format, FORMAT, sizeof(published->format));
    return true;
}

/* Ranks that decide differently about the same operation wait for each other for ever. */
static void job_adopt(const published_t *published)
{
    oc_job_settings_t *settings = &mca_coll_optcast_state.settings;
    char names[256] = "";

#define X(name, type)                                                                   \
    if (settings->name != (type) published->name) {                                     \
        settings->name = (type) published->name;                                        \
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%scoll_optcast_%s", \
                 '\0' == names[0] ? "" : ", ", #name);                                  \
    }
    FOREACH_FIRST(X)
#undef X
    if ('\0' != names[0] && mca_coll_optcast_state.settings_valid) {
        opal_output(0, "optcast: this process (%d of the job) has other values of %s than process "
                    "0; those of process 0 are used", (int) OPAL_PROC_MY_NAME.vpid, names);
    }
}

bool mca_coll_optcast_job_adopt(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    published_t published;

    if (0 == OPAL_PROC_MY_NAME.vpid) {
        return has_identity;
    }
    if (!job_receive(&published)) {
        return false;
    }
    identity = published.job;
    memcpy(st->least, published.least, sizeof(st->least));
    st->cast_least = published.cast_least;
    st->block_least = published.block_least;
    st->pair_least = published.pair_least;
    if (has_identity) {
        memcpy(&st->rules, &published.rules, sizeof(st->rules));
    }
    job_adopt(&published);
    return true;
}

oc_status_t mca_coll_optcast_job_lookup(oc_job_t *job)
{
    const mca_coll_optcast_state_t *st = &mca_coll_optcast_state;

    *job = identity;
    return has_identity && st->settings_valid ? OC_OK : OC_ERR_INVALID;
}
