/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the injection of faults between a transport and its user. */
#include "multicast/transport/shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"

/* A reordered datagram that nothing overtakes does not wait for ever. */
#define REORDER_PATIENCE OC_MILLISECOND

#define MAX_SEED 1000000000000000000ull

/* A datagram that waits. */
typedef struct {
    oc_origin_t from;
    uint8_t *bytes;
    size_t length;
    uint64_t due;
    unsigned overtakers;     /* until it is due in any case; 0: only time counts */
} held_t;

/* Losses in one direction. */
typedef struct {
    double start;            /* probability that one begins, when none goes on */
    unsigned length, left;   /* of a burst */
} losses_t;

typedef struct {
    oc_transport_t base;
    oc_transport_t *inner;
    oc_faults_t faults;
    oc_random_t random;
    losses_t arriving, leaving;
    oc_shim_clock_t *now;
    void *arg;
    held_t held[OC_SHIM_MAX_HELD];
    unsigned num_held;
    size_t held_bytes;
    /* during a call of receive */
    oc_arrival_fn_t *arrived;
    void *arrived_arg;
    unsigned handed_out;
} shim_t;

/* ---- losses ---- */

/*
 * With bursts of n, a loss that begins with probability p follows (1 - p) / p datagrams on average
 * that get through: the share n / (n + (1 - p) / p) is lost, which is solved for p.
 */
static void losses_init(losses_t *losses, double share, unsigned burst)
{
    losses->length = burst;
    losses->left = 0;
    losses->start = share > 0 ? share / (share + burst * (1 - share)) : 0;
}

static bool is_lost(losses_t *losses, oc_random_t *random)
{
    if (losses->left > 0) {
        losses->left--;
        return true;
    }
    if (!oc_random_chance(random, losses->start)) {
        return false;
    }
    losses->left = losses->length - 1;
    return true;
}

/* ---- datagrams that wait ---- */

/* false: there is no room. */
static bool hold(shim_t *shim, const oc_origin_t *from, const uint8_t *bytes, size_t length,
                 uint64_t due, unsigned overtakers)
{
    held_t *held = &shim->held[shim->num_held];

    if (OC_SHIM_MAX_HELD == shim->num_held || length > OC_SHIM_MAX_BYTES - shim->held_bytes) {
        return false;
    }
    held->bytes = malloc(length > 0 ? length : 1);
    if (NULL == held->bytes) {
        return false;
    }
    if (length > 0) {
        memcpy(held->bytes, bytes, length);
    }
    held->from = *from;
    held->length = length;
    held->due = due;
    held->overtakers = overtakers;
    shim->held_bytes += length;
    shim->num_held++;
    return true;
}

static void drop_held(shim_t *shim, unsigned number)
{
    shim->held_bytes -= shim->held[number].length;
    free(shim->held[number].bytes);
    shim->held[number] = shim->held[--shim->num_held];
}

static void hand_out(shim_t *shim, const oc_origin_t *from, const uint8_t *bytes,
                     size_t length)
{
    shim->handed_out++;
    shim->arrived(shim->arrived_arg, from, bytes, length);
}

static void release_due(shim_t *shim)
{
    uint64_t now = shim->num_held > 0 ? shim->now(shim->arg) : 0;
    unsigned i = 0;

    while (i < shim->num_held) {
        if (shim->held[i].due <= now) {
            hand_out(shim, &shim->held[i].from, shim->held[i].bytes, shim->held[i].length);
            drop_held(shim, i);
        } else {
            i++;
        }
    }
}

/* A datagram has passed those that wait. */
static void overtake(shim_t *shim)
{
    for (unsigned i = 0; i < shim->num_held; i++) {
        if (shim->held[i].overtakers > 0 && 0 == --shim->held[i].overtakers) {
            shim->held[i].due = 0;
        }
    }
}

/* ---- the transport ---- */

static unsigned some_overtakers(shim_t *shim)
{
    return 1 + (unsigned) oc_random_below(&shim->random, OC_SHIM_OVERTAKERS);
}

/* Whether a datagram that arrives waits. */
static bool is_held_back(shim_t *shim, const oc_origin_t *from, const uint8_t *bytes,
                         size_t length, uint64_t now)
{
    uint64_t longest = shim->faults.delay_ms * OC_MILLISECOND;

    if (oc_random_chance(&shim->random, shim->faults.delay)) {
        return hold(shim, from, bytes, length, now + 1 + oc_random_below(&shim->random, longest),
                    0);
    }
    return oc_random_chance(&shim->random, shim->faults.reorder)
           && hold(shim, from, bytes, length, now + REORDER_PATIENCE, some_overtakers(shim));
}

static void arrive(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length)
{
    shim_t *shim = arg;
    uint64_t now = shim->now(shim->arg);

    if (is_lost(&shim->arriving, &shim->random)) {
        return;
    }
    if (!is_held_back(shim, from, bytes, length, now)) {
        hand_out(shim, from, bytes, length);
        overtake(shim);
    }
    if (oc_random_chance(&shim->random, shim->faults.duplicate)) {
        (void) hold(shim, from, bytes, length, now + REORDER_PATIENCE, some_overtakers(shim));
    }
    release_due(shim);
}

static unsigned shim_receive(oc_transport_t *transport, unsigned max, oc_arrival_fn_t *arrived,
                             void *arg)
{
    shim_t *shim = (shim_t *) transport;

    shim->arrived = arrived;
    shim->arrived_arg = arg;
    shim->handed_out = 0;
    (void) shim->inner->ops->receive(shim->inner, max, arrive, shim);
    release_due(shim);
    return shim->handed_out;
}

/* What lies between two losses goes on together: as large a batch as can be. */
static unsigned shim_send(oc_transport_t *transport, const oc_outgoing_t *datagrams,
                          unsigned count)
{
    shim_t *shim = (shim_t *) transport;
    unsigned done = 0;

    while (done < count) {
        unsigned run = 0, taken = 0;
        bool lost = false;

        while (done + run < count && !lost) {
            lost = is_lost(&shim->leaving, &shim->random);
            run += !lost;
        }
        if (run > 0) {
            taken = shim->inner->ops->send(shim->inner, datagrams + done, run);
        }
        done += taken;
        if (taken < run) {
            return done;
        }
        done += lost;
    }
    return done;
}

static bool shim_arm(oc_transport_t *transport, bool sending)
{
    shim_t *shim = (shim_t *) transport;
    bool armed;

    if (oc_shim_due(transport) <= shim->now(shim->arg)) {
        return false;
    }
    armed = shim->inner->ops->arm(shim->inner, sending);
    shim->base.event_fd = shim->inner->event_fd;
    shim->base.events = shim->inner->events;
    return armed;
}

static void shim_close(oc_transport_t *transport)
{
    shim_t *shim = (shim_t *) transport;

    while (shim->num_held > 0) {
        drop_held(shim, shim->num_held - 1);
    }
    shim->inner->ops->close(shim->inner);
    free(shim);
}

uint64_t oc_shim_due(const oc_transport_t *transport)
{
    const shim_t *shim = (const shim_t *) transport;
    uint64_t due = UINT64_MAX;

    for (unsigned i = 0; i < shim->num_held; i++) {
        due = shim->held[i].due < due ? shim->held[i].due : due;
    }
    return due;
}

bool oc_faults_any(const oc_faults_t *faults)
{
    return faults->drop > 0 || faults->drop_sent > 0 || faults->duplicate > 0
           || faults->reorder > 0 || faults->delay > 0;
}

oc_transport_t *oc_shim_new(oc_transport_t *inner, const oc_faults_t *faults, uint64_t salt,
                            oc_shim_clock_t *now, void *arg)
{
    static const oc_transport_ops_t ops = {.name = "shim",
                                           .send = shim_send,
                                           .receive = shim_receive,
                                           .arm = shim_arm,
                                           .close = shim_close};
    oc_random_t mixer = {.state = salt};
    shim_t *shim = calloc(1, sizeof(*shim));

    if (NULL == shim) {
        return NULL;
    }
    shim->base = *inner;
    shim->base.ops = &ops;
    shim->inner = inner;
    shim->faults = *faults;
    if (0 == faults->delay_ms) {
        shim->faults.delay_ms = OC_FAULTS_DELAY_MS;
    }
    /* mixed, or seed 1 with salt 2 would be as seed 2 with salt 1 */
    shim->random.state = faults->seed ^ oc_random(&mixer);
    losses_init(&shim->arriving, faults->drop, faults->burst > 0 ? faults->burst : 1);
    losses_init(&shim->leaving, faults->drop_sent, faults->burst > 0 ? faults->burst : 1);
    shim->now = now;
    shim->arg = arg;
    return &shim->base;
}

/* ---- settings ---- */

/* A number of digits only, as in any locale. Returns what follows it; NULL: there is none. */
static const char *read_digits(const char *text, uint64_t *value, double *scale)
{
    const char *at = text;

    while (*at >= '0' && *at <= '9') {
        if (*value > (UINT64_MAX - 9) / 10) {
            return NULL;
        }
        *value = *value * 10 + (uint64_t) (*at++ - '0');
        *scale *= 10;
    }
    return at > text ? at : NULL;
}

static bool read_share(const char *text, double *share)
{
    uint64_t digits = 0;
    double scale = 1, unused = 1;
    const char *end = read_digits(text, &digits, &unused);

    if (NULL != end && '.' == *end) {
        end = read_digits(end + 1, &digits, &scale);
    }
    if (NULL == end || '\0' != *end || (double) digits > scale) {
        return false;
    }
    *share = (double) digits / scale;
    return true;
}

static bool read_number(const char *text, uint64_t limit, uint64_t *number)
{
    uint64_t digits = 0;
    double unused = 1;
    const char *end = read_digits(text, &digits, &unused);

    if (NULL == end || '\0' != *end || digits > limit) {
        return false;
    }
    *number = digits;
    return true;
}

static double *share_named(oc_faults_t *faults, const char *name)
{
    const struct {
        const char *name;
        double *share;
    } shares[] = {{"drop", &faults->drop},
                  {"drop_sent", &faults->drop_sent},
                  {"duplicate", &faults->duplicate},
                  {"reorder", &faults->reorder},
                  {"delay", &faults->delay}};

    for (unsigned i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        if (0 == strcmp(shares[i].name, name)) {
            return shares[i].share;
        }
    }
    return NULL;
}

static oc_status_t complain(char *error, size_t error_size, const char *name, const char *value,
                            const char *expected)
{
    snprintf(error, error_size, "%s=%s: %s is %s", name, value, name, expected);
    return OC_ERR_INVALID;
}

static oc_status_t set_number(oc_faults_t *faults, const char *name, const char *value,
                              char *error, size_t error_size)
{
    uint64_t number;

    if (0 == strcmp(name, "burst")) {
        if (!read_number(value, OC_FAULTS_MAX_BURST, &number) || 0 == number) {
            return complain(error, error_size, name, value, "a number from 1 to 1000000");
        }
        faults->burst = (unsigned) number;
    } else if (0 == strcmp(name, "delay_ms")) {
        if (!read_number(value, OC_FAULTS_MAX_DELAY_MS, &number) || 0 == number) {
            return complain(error, error_size, name, value,
                            "a number of milliseconds from 1 to 3600000");
        }
        faults->delay_ms = (unsigned) number;
    } else if (0 == strcmp(name, "seed")) {
        if (!read_number(value, MAX_SEED, &faults->seed)) {
            return complain(error, error_size, name, value, "a number up to 10^18");
        }
    } else {
        snprintf(error, error_size,
                 "there is no fault '%s'; there are: drop, drop_sent, duplicate, reorder, delay, "
                 "burst, delay_ms, seed",
                 name);
        return OC_ERR_INVALID;
    }
    return OC_OK;
}

/* item is changed. */
static oc_status_t set_fault(oc_faults_t *faults, char *item, char *error, size_t error_size)
{
    char *value = strchr(item, '=');
    double *share;

    if (NULL == value) {
        snprintf(error, error_size, "'%s' is not NAME=VALUE", item);
        return OC_ERR_INVALID;
    }
    *value++ = '\0';
    share = share_named(faults, item);
    if (NULL == share) {
        return set_number(faults, item, value, error, error_size);
    }
    if (!read_share(value, share)) {
        return complain(error, error_size, item, value,
                        "a share from 0 to 1 with up to 18 digits");
    }
    return OC_OK;
}

oc_status_t oc_faults_parse(const char *text, oc_faults_t *faults, char *error, size_t error_size)
{
    char item[64];

    memset(faults, 0, sizeof(*faults));
    while ('\0' != *text) {
        size_t length = strcspn(text, ",");
        oc_status_t status;

        if (length >= sizeof(item)) {
            snprintf(error, error_size, "'%.60s...' is too long", text);
            return OC_ERR_INVALID;
        }
        memcpy(item, text, length);
        item[length] = '\0';
        status = set_fault(faults, item, error, error_size);
        if (OC_OK != status) {
            return status;
        }
        text += length;
        if (',' == *text && '\0' == *++text) {
            snprintf(error, error_size, "nothing follows the last comma");
            return OC_ERR_INVALID;
        }
    }
    return OC_OK;
}
