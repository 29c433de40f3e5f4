/* SPDX-License-Identifier: BSD-3-Clause */
/* When this process aggregates, and how it can be reached. */
#include "client/servers/own_server.h"

#include <poll.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/log.h"
#include "client/servers/interfaces.h"

/* What finds no processor of its own must not keep a rank from one. */
static oc_local_settings_t local_settings(const oc_client_t *client)
{
    oc_local_settings_t local = client->config.settings->local;

    if (OC_POLLING_BUSY == local.polling && client->config.full_host) {
        oc_warn("polling is adaptive, not busy, for the aggregator in process %u: the ranks of "
                "this host leave it no processor; use adaptive for them, too, or fewer of them",
                client->config.process);
        local.polling = OC_POLLING_ADAPTIVE;
    }
    return local;
}

/* After a collapse it is about to fail, or has: others may not have noticed yet. */
static bool has_good_one(oc_client_t *client)
{
    if (NULL != client->embedded
        && (oc_embedded_failed(client->embedded) || client->collapsed > client->embedded_opened)) {
        oc_embedded_close(client->embedded);
        client->embedded = NULL;
        atomic_store(&client->embeds, false);
    }
    return NULL != client->embedded;
}

oc_status_t oc_own_server_start(oc_client_t *client, char *error, size_t error_size)
{
    oc_server_settings_t server_settings;
    oc_listening_t listening;
    char list[OC_DEVICES_SIZE];
    oc_embedded_config_t config = {
        .job_id = client->job.id,
        .job_key = client->job.key,
        .all_interfaces = client->config.spans_hosts,
        .net_devices = client->config.spans_hosts ? NULL
                                                  : oc_loopback_devices(list, sizeof(list)),
        .timeline = client->config.settings->timeline,
    };

    if (has_good_one(client)) {
        return OC_OK;
    }
    oc_settings_default(&oc_server_settings_table, &server_settings);
    config.memory_limit = server_settings.memory_limit;
    config.local = local_settings(client);
    client->embedded_opened = oc_clock_ns();
    if (client->listening.fd >= 0) {
        oc_own_server_watch(client, false);
        listening = client->listening;
        config.listening = &listening;
        client->listening.fd = -1;
    }
    if (OC_OK != oc_embedded_open(&config, &client->embedded, error, error_size)) {
        return OC_ERR_SYSTEM;
    }
    client->config.counters->open_sockets += oc_embedded_open_sockets(client->embedded);
    oc_info("process %u aggregates for its job", client->config.process);
    return OC_OK;
}

oc_status_t oc_own_server_offer(oc_client_t *client, uint16_t *port, char *error, size_t error_size)
{
    oc_status_t status = OC_OK;

    if (has_good_one(client)) {
        *port = oc_embedded_port(client->embedded);
        return OC_OK;
    }
    if (client->listening.fd < 0) {
        status = oc_embedded_listen(client->config.spans_hosts, &client->listening, error, error_size);
        oc_own_server_watch(client, true);
    }
    *port = client->listening.port;
    return status;
}

void oc_own_server_watch(const oc_client_t *client, bool watch)
{
    struct epoll_event event = {.events = EPOLLIN};

    if (client->control_fd >= 0 && client->listening.fd >= 0) {
        (void) epoll_ctl(client->control_fd, watch ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, client->listening.fd, &event);
    }
}

bool oc_own_server_is_called(const oc_client_t *client)
{
    struct pollfd event = {.fd = client->listening.fd, .events = POLLIN};

    if (NULL != client->embedded) {
        return oc_embedded_is_used(client->embedded);
    }
    return client->listening.fd >= 0 && 1 == poll(&event, 1, 0);
}
