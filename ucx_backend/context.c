/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of UCX that the offload has, and why. */
#include "ucx_backend/context.h"

#include <ctype.h>
#include <net/if.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "ucx_backend/worker.h"

/*
 * UCX takes UCX_X for the default of OPTCAST_UCX_X. What describes the fabric may come in that
 * way; what chooses transports, devices and thresholds for the MPI library must not.
 *
 * Of large messages the caller says which ones are announced. UCX must not have another opinion:
 * RNDV_PERF_DIFF 100 lets rendezvous win its estimates, or makes it give up and take the fallback;
 * RNDV_SEND_NBR_THRESH holds for sends that ask for early completion (oc_send_eager). If UCX
 * chose ZCOPY_THRESH, it would never announce what fits into one segment.
 *
 * Keepalive is left to the control connections. For it UCX would add a UD lane to RC endpoints,
 * and UCX 1.13 aborts when such an endpoint fails or is closed before the peer has answered.
 */
static const char *const own_settings[][2] = {
    {"TLS", "all"},          {"NET_DEVICES", "all"},  {"SHM_DEVICES", "all"},
    {"ACC_DEVICES", "all"},  {"SELF_DEVICES", "all"}, {"RNDV_THRESH", "auto"},
    {"ZCOPY_THRESH", "8k"},  {"BCOPY_THRESH", "auto"}, {"KEEPALIVE_INTERVAL", "inf"},
    {"RNDV_PERF_DIFF", "100"}, {"RNDV_THRESH_FALLBACK", "8k"}, {"RNDV_SEND_NBR_THRESH", "inf"},
};

/*
 * Of transports UCX 1.13 reads only UCX_*, so what is meant for the offload has to be said here.
 * What goes eagerly over TCP is copied and sent in segments, of 8 KiB by default: with 33 KiB, two
 * for the largest chunk, a byte costs half as much of the processor.
 *
 * UCX believes what a segment says about its length, and writes on behind a buffer that is smaller.
 * A sender's segments may be as long as its own receive buffers. So these have the same length
 * everywhere, whatever an environment says, and no sender is set to more.
 */
#define SEGMENT_KEY "TCP_TX_SEG_SIZE"
#define BUFFER_KEY  "TCP_RX_SEG_SIZE"
#define SEGMENT     "33k"
#define BUFFER      "64k"

/*
 * Otherwise an endpoint is made by a connect that waits for the peer's host: two minutes, if that
 * is gone or drops what comes from here. Heartbeats and other peers cannot wait for it.
 */
#define CONNECT_KEY "TCP_CONN_NB"

_Static_assert(OC_TCP_SEGMENT == 64u << 10, "the text says something else");

static bool names_interface(const char *list)
{
    char interface[IF_NAMESIZE];
    const char *name;
    size_t length;

    while (oc_list_next(&list, &name, &length)) {
        snprintf(interface, sizeof(interface), "%.*s", (int) length, name);
        if (length < sizeof(interface) && 0 != if_nametoindex(interface)) {
            return true;
        }
    }
    return false;
}

static bool names_tcp(const char *transports)
{
    return oc_list_has(transports, "tcp") || oc_list_has(transports, "\\tcp");
}

/* "^sm,ib" is everything else. */
static bool allows_tcp(const char *transports)
{
    return '^' == transports[0] ? !names_tcp(transports + 1)
                                : oc_list_has(transports, "all") || names_tcp(transports);
}

/* UCX warns about settings of transports that it does not use, but they hurt nobody. */
static bool may_use_tcp(const char *net_devices)
{
    const char *transports = getenv("OPTCAST_UCX_TLS");
    const char *devices = getenv("OPTCAST_UCX_NET_DEVICES");

    devices = NULL != devices ? devices : net_devices;
    return (NULL == transports || allows_tcp(transports))
           && (NULL == devices || oc_list_has(devices, "all") || names_interface(devices));
}

/* Before 1.17, UCX knows settings of transports by what follows the transport's name. */
static const char *tcp_key(const char *name)
{
    unsigned major, minor, release;

    ucp_get_version(&major, &minor, &release);
    return 1 == major && minor < 17 ? name + strlen("TCP_") : name;
}

/* Ours, or what the environment has for the offload. */
static const char *value_of(const char *key, const char *ours)
{
    const char *given;
    char name[64];

    snprintf(name, sizeof(name), "OPTCAST_UCX_%s", key);
    given = getenv(name);
    return NULL != given ? given : ours;
}

/* In bytes, as UCX reads it ("33k", "33kb"); what it is not sure about is too much. */
static uint64_t context_size_of(const char *text)
{
    uint64_t size = UINT64_MAX;
    char digits[32];
    int length = snprintf(digits, sizeof(digits), "%s", text);

    if (length >= 2 && length < (int) sizeof(digits) && 'b' == (digits[length - 1] | 0x20)
        && isalpha((unsigned char) digits[length - 2])) {
        digits[length - 1] = '\0';
    }
    (void) oc_parse_size(digits, &size);
    return size;
}

/* Aggregators and clients of a process have the same environment: once is enough. */
static void warn_of_sizes(const char *segment, const char *buffer)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    bool wrong_segment = context_size_of(segment) > OC_TCP_SEGMENT;
    bool wrong_buffer = OC_TCP_SEGMENT != context_size_of(buffer);

    if ((!wrong_segment && !wrong_buffer) || atomic_flag_test_and_set(&warned)) {
        return;
    }
    if (wrong_segment) {
        oc_warn("OPTCAST_UCX_" SEGMENT_KEY "=%s is not used, but " BUFFER ": ranks and servers "
                "receive no longer segments; set it to " BUFFER " or less", segment);
    }
    if (wrong_buffer) {
        oc_warn("OPTCAST_UCX_" BUFFER_KEY "=%s is not used, but " BUFFER ": it has to be the same "
                "for all ranks and servers; do not set it", buffer);
    }
}

static ucs_status_t apply_tcp_settings(ucp_config_t *config)
{
    const char *segment = value_of(SEGMENT_KEY, SEGMENT);
    ucs_status_t status;

    warn_of_sizes(segment, value_of(BUFFER_KEY, BUFFER));
    if (context_size_of(segment) > OC_TCP_SEGMENT) {
        segment = BUFFER;
    }
    status = ucp_config_modify(config, tcp_key(BUFFER_KEY), BUFFER);
    if (UCS_OK == status) {
        status = ucp_config_modify(config, tcp_key(SEGMENT_KEY), segment);
    }
    return UCS_OK == status ? ucp_config_modify(config, tcp_key(CONNECT_KEY), "y") : status;
}

static ucs_status_t apply_settings(ucp_config_t *config, const char *net_devices)
{
    size_t num_own = sizeof(own_settings) / sizeof(own_settings[0]);
    ucs_status_t status = UCS_OK;

    for (size_t i = 0; UCS_OK == status && i < num_own; i++) {
        status = ucp_config_modify(config, own_settings[i][0],
                                   value_of(own_settings[i][0], own_settings[i][1]));
    }
    if (UCS_OK == status && NULL != net_devices && NULL == getenv("OPTCAST_UCX_NET_DEVICES")) {
        status = ucp_config_modify(config, "NET_DEVICES", net_devices);
    }
    return UCS_OK == status && may_use_tcp(net_devices) ? apply_tcp_settings(config) : status;
}

/*
 * Buffers of messages that come before they are received. By default a message of more than 1 KiB
 * has one of the largest, 64 KiB. Versions of UCX that do not know the setting do without.
 */
static void apply_pools(ucp_config_t *config)
{
    (void) ucp_config_modify(config, "RX_MPOOL_SIZES", value_of("RX_MPOOL_SIZES", "64,1kb,8kb,32kb"));
}

ucs_status_t oc_context_open(const char *net_devices, ucp_context_h *context)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME,
        .features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP,
        .name = "optcast",
    };
    ucp_config_t *config;
    ucs_status_t status;

    status = ucp_config_read("OPTCAST", NULL, &config);
    if (UCS_OK != status) {
        return status;
    }
    status = apply_settings(config, net_devices);
    apply_pools(config);
    if (UCS_OK == status) {
        status = ucp_init(&params, config, context);
    }
    ucp_config_release(config);
    return status;
}
