/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding an RDMA port by its network interface, joining and leaving. librdmacm waits in
 * rdma_leave_multicast and rdma_destroy_id for events that were got and not acknowledged, so each
 * is acknowledged where it is got.
 */
#include "multicast/transport/verbs_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the datagrams that a port takes. */
static size_t mtu_bytes(enum ibv_mtu mtu)
{
    return (size_t) 128 << mtu;
}

/* The device that librdmacm has found for the address is one that can do it, now. */
static oc_status_t check_port(oc_verbs_port_t *port, char *error, size_t error_size)
{
    struct ibv_context *verbs = port->id->verbs;
    const char *name = ibv_get_device_name(verbs->device);
    struct ibv_port_attr attributes;

    if (IBV_TRANSPORT_IB != verbs->device->transport_type) {
        snprintf(error, error_size, "%s (interface %s) is not InfiniBand or RoCE: it has no "
                 "multicast", name, port->interface);
        return OC_ERR_UNREACHABLE;
    }
    if (0 != ibv_query_port(verbs, port->id->port_num, &attributes)
        || IBV_PORT_ACTIVE != attributes.state) {
        snprintf(error, error_size, "port %u of %s (interface %s) is not active: see ibstat",
                 port->id->port_num, name, port->interface);
        return OC_ERR_UNREACHABLE;
    }
    port->mtu = mtu_bytes(attributes.active_mtu);
    port->ethernet = IBV_LINK_LAYER_ETHERNET == attributes.link_layer;
    return OC_OK;
}

static oc_status_t bind_to(oc_verbs_port_t *port, const struct ifaddrs *own, char *error,
                           size_t error_size)
{
    oc_status_t status = OC_ERR_UNREACHABLE;

    snprintf(port->interface, sizeof(port->interface), "%s", own->ifa_name);
    if (0 != rdma_create_id(port->events, &port->id, NULL, RDMA_PS_UDP)) {
        snprintf(error, error_size, "librdmacm makes no identifier (%s)", strerror(errno));
        return OC_ERR_SYSTEM;
    }
    if (0 != rdma_bind_addr(port->id, own->ifa_addr) || NULL == port->id->verbs) {
        snprintf(error, error_size, "interface %s has no RDMA device: see rdma link",
                 port->interface);
    } else {
        status = check_port(port, error, error_size);
    }
    if (OC_OK != status) {
        (void) rdma_destroy_id(port->id);
        port->id = NULL;
    }
    return status;
}

/* The loopback interface would be bound to just any device. */
static bool is_candidate(const struct ifaddrs *own, const char *interface)
{
    char text[INET_ADDRSTRLEN];

    if (NULL == own->ifa_addr || AF_INET != own->ifa_addr->sa_family
        || 0 == (own->ifa_flags & IFF_UP) || 0 != (own->ifa_flags & IFF_LOOPBACK)) {
        return false;
    }
    inet_ntop(AF_INET, &((struct sockaddr_in *) own->ifa_addr)->sin_addr, text, sizeof(text));
    return '\0' == interface[0] || 0 == strcmp(interface, own->ifa_name)
           || 0 == strcmp(interface, text);
}

static oc_status_t bind_any(oc_verbs_port_t *port, const char *interface, char *error,
                            size_t error_size)
{
    oc_status_t status = OC_ERR_UNREACHABLE;
    bool found = false;
    struct ifaddrs *all;

    if (0 != getifaddrs(&all)) {
        snprintf(error, error_size, "network interfaces cannot be listed (%s)", strerror(errno));
        return OC_ERR_SYSTEM;
    }
    for (struct ifaddrs *own = all; OC_OK != status && NULL != own; own = own->ifa_next) {
        if (is_candidate(own, interface)) {
            found = true;
            status = bind_to(port, own, error, error_size);
        }
    }
    freeifaddrs(all);
    if (OC_OK != status && '\0' == interface[0]) {
        snprintf(error, error_size, "no network interface with an IPv4 address has an active RDMA "
                 "port: see rdma link and ip address");
    } else if (!found) {
        snprintf(error, error_size, "no network interface '%s' is up and has an IPv4 address: "
                 "check coll_optcast_multicast_interface", interface);
    }
    return status;
}

oc_status_t oc_verbs_port_open(const char *interface, oc_verbs_port_t *port, char *error,
                               size_t error_size)
{
    oc_status_t status;

    memset(port, 0, sizeof(*port));
    port->events = rdma_create_event_channel();
    if (NULL == port->events) {
        snprintf(error, error_size, "librdmacm finds no RDMA device (%s)", strerror(errno));
        return OC_ERR_UNREACHABLE;
    }
    if (0 != fcntl(port->events->fd, F_SETFL, O_NONBLOCK)) {
        snprintf(error, error_size, "fcntl: %s", strerror(errno));
        status = OC_ERR_SYSTEM;
    } else {
        status = bind_any(port, NULL != interface ? interface : "", error, error_size);
    }
    if (OC_OK != status) {
        oc_verbs_port_close(port);
    }
    return status;
}

void oc_verbs_port_close(oc_verbs_port_t *port)
{
    if (NULL != port->id) {
        (void) rdma_destroy_id(port->id);
    }
    if (NULL != port->events) {
        rdma_destroy_event_channel(port->events);
    }
    memset(port, 0, sizeof(*port));
}

bool oc_verbs_port_is_active(const oc_verbs_port_t *port)
{
    struct ibv_port_attr attributes;

    return 0 == ibv_query_port(port->id->verbs, port->id->port_num, &attributes)
           && IBV_PORT_ACTIVE == attributes.state;
}

oc_origin_t oc_verbs_port_origin(const oc_verbs_port_t *port)
{
    oc_origin_t origin = {.port = 0};

    memcpy(origin.address, port->id->route.addr.addr.ibaddr.sgid.raw, sizeof(origin.address));
    return origin;
}

void oc_verbs_port_text(const oc_verbs_port_t *port, char *text, size_t text_size)
{
    snprintf(text, text_size, "%s port %u on %s", ibv_get_device_name(port->id->verbs->device),
             port->id->port_num, port->interface);
}

void oc_verbs_port_group_text(const oc_verbs_port_t *port, char *text, size_t text_size)
{
    char address[INET_ADDRSTRLEN];

    inet_ntop(AF_INET, &port->group.sin_addr, address, sizeof(address));
    snprintf(text, text_size, "multicast group %s on %s", address, port->interface);
}

bool oc_verbs_port_ask(oc_verbs_port_t *port, struct in_addr address, char *error,
                       size_t error_size)
{
    char group[64];

    port->group = (struct sockaddr_in) {.sin_family = AF_INET, .sin_addr = address};
    if (0 != rdma_join_multicast(port->id, (struct sockaddr *) &port->group, NULL)) {
        int failed = errno;

        oc_verbs_port_group_text(port, group, sizeof(group));
        snprintf(error, error_size, "%s cannot be joined: %s", group, strerror(failed));
        return false;
    }
    port->joined = true;
    return true;
}

void oc_verbs_port_leave(oc_verbs_port_t *port)
{
    if (port->joined) {
        (void) rdma_leave_multicast(port->id, (struct sockaddr *) &port->group);
        port->joined = false;
    }
}

/* ---- events ---- */

/* librdmacm says -1 where the network agreed and the device did not. */
static const char *refusal_of(const struct rdma_cm_event *event)
{
    return -1 == event->status ? "the device does not attach to it"
                               : strerror(abs(event->status));
}

static oc_port_news_t judge_event(const struct rdma_cm_event *event,
                                  struct rdma_ud_param *destination, char *text, size_t text_size)
{
    snprintf(text, text_size, "%s", rdma_event_str(event->event));
    switch (event->event) {
    case RDMA_CM_EVENT_MULTICAST_JOIN:
        *destination = event->param.ud;
        /* these point into the event */
        destination->private_data = NULL;
        destination->private_data_len = 0;
        return OC_PORT_JOINED;
    case RDMA_CM_EVENT_MULTICAST_ERROR:
        snprintf(text, text_size, "%s", refusal_of(event));
        return OC_PORT_REFUSED;
    case RDMA_CM_EVENT_ADDR_CHANGE:
        return OC_PORT_CHANGED;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
        return OC_PORT_GONE;
    default:
        return OC_PORT_NOTHING;
    }
}

oc_port_news_t oc_verbs_port_next(oc_verbs_port_t *port, struct rdma_ud_param *destination,
                                  char *text, size_t text_size)
{
    oc_port_news_t news = OC_PORT_NOTHING;
    struct rdma_cm_event *event;

    while (OC_PORT_NOTHING == news && 0 == rdma_get_cm_event(port->events, &event)) {
        news = judge_event(event, destination, text, text_size);
        (void) rdma_ack_cm_event(event);
    }
    return news;
}

static bool has_moved(const oc_verbs_port_t *port, int gid_index)
{
    union ibv_gid gid;

    return gid_index >= 0
           && (0 != ibv_query_gid(port->id->verbs, port->id->port_num, gid_index, &gid)
               || 0 != memcmp(&gid, &port->id->route.addr.addr.ibaddr.sgid, sizeof(gid)));
}

oc_port_news_t oc_verbs_port_happened(const oc_verbs_port_t *port,
                                      const struct ibv_async_event *event, int gid_index)
{
    if (IBV_EVENT_DEVICE_FATAL == event->event_type) {
        return OC_PORT_GONE;
    }
    switch (event->event_type) {
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
        break;
    default:
        return OC_PORT_NOTHING;
    }
    if (port->id->port_num != event->element.port_num) {
        return OC_PORT_NOTHING;
    }
    if (IBV_EVENT_PORT_ERR == event->event_type) {
        return OC_PORT_DOWN;
    }
    /* an interface that gets another address, too, has the old one as it was */
    return IBV_EVENT_GID_CHANGE != event->event_type || has_moved(port, gid_index)
               ? OC_PORT_CHANGED : OC_PORT_NOTHING;
}
