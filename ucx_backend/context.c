/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of UCX that the offload has, and why. */
#include "ucx_backend/context.h"

#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

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
 * for the largest chunk, a byte costs half as much of the processor. The receiver's have to be as
 * large.
 */
static const char *const tcp_settings[][2] = {
    {"TCP_TX_SEG_SIZE", "33k"}, {"TCP_RX_SEG_SIZE", "64k"},
};

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

/* UCX warns about settings of transports that it does not use. */
static bool uses_tcp(const char *net_devices)
{
    const char *transports = getenv("OPTCAST_UCX_TLS");
    const char *devices = getenv("OPTCAST_UCX_NET_DEVICES");

    devices = NULL != devices ? devices : net_devices;
    return (NULL == transports || oc_list_has(transports, "all") || oc_list_has(transports, "tcp"))
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
static const char *value_of(const char *const setting[2])
{
    const char *given;
    char name[64];

    snprintf(name, sizeof(name), "OPTCAST_UCX_%s", setting[0]);
    given = getenv(name);
    return NULL != given ? given : setting[1];
}

static ucs_status_t apply_settings(ucp_config_t *config, const char *net_devices)
{
    size_t num_own = sizeof(own_settings) / sizeof(own_settings[0]);
    size_t num_tcp = sizeof(tcp_settings) / sizeof(tcp_settings[0]);
    ucs_status_t status = UCS_OK;

    for (size_t i = 0; UCS_OK == status && i < num_own; i++) {
        status = ucp_config_modify(config, own_settings[i][0], value_of(own_settings[i]));
    }
    if (UCS_OK == status && NULL != net_devices && NULL == getenv("OPTCAST_UCX_NET_DEVICES")) {
        status = ucp_config_modify(config, "NET_DEVICES", net_devices);
    }
    for (size_t i = 0; UCS_OK == status && i < num_tcp && uses_tcp(net_devices); i++) {
        status = ucp_config_modify(config, tcp_key(tcp_settings[i][0]),
                                   value_of(tcp_settings[i]));
    }
    return status;
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
    if (UCS_OK == status) {
        status = ucp_init(&params, config, context);
    }
    ucp_config_release(config);
    return status;
}
