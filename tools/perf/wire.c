/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding interfaces and RDMA ports in sysfs, and adding up their counters. */
#include "tools/perf/wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TYPE_INFINIBAND 32 /* ARPHRD_INFINIBAND */
#define FLAG_UP         1  /* IFF_UP */
#define RDMA_UNIT       4  /* port_xmit_data and port_rcv_data count 32 bits */

/* ---- files of one value ---- */

static int open_file(const char *folder, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool read_number(int fd, uint64_t *number)
{
    char text[64], *end;
    ssize_t got = pread(fd, text, sizeof(text) - 1, 0);

    if (got <= 0) {
        return false;
    }
    text[got] = '\0';
    *number = strtoull(text, &end, 0);
    return end != text;
}

/* 0 if there is no such number. */
static uint64_t number_in(const char *folder, const char *name)
{
    int fd = open_file(folder, name);
    uint64_t number = 0;

    if (fd >= 0) {
        (void) read_number(fd, &number);
        close(fd);
    }
    return number;
}

static bool exists(const char *folder, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return 0 == access(path, F_OK);
}

/* ---- adding ---- */

/* false if there are no such counters, or too many of them. */
static bool add(oc_perf_wire_t *wire, const char *folder, const char *sent, const char *received,
                unsigned unit)
{
    oc_perf_interface_t interface = {open_file(folder, sent), open_file(folder, received), unit};

    if (interface.send >= 0 && interface.receive >= 0 && wire->count < OC_PERF_MAX_INTERFACES) {
        wire->interfaces[wire->count++] = interface;
        return true;
    }
    if (interface.send >= 0) {
        close(interface.send);
    }
    if (interface.receive >= 0) {
        close(interface.receive);
    }
    return false;
}

static bool add_network(oc_perf_wire_t *wire, const char *sysfs, const char *name)
{
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s/class/net/%s/statistics", sysfs, name);
    return add(wire, folder, "tx_bytes", "rx_bytes", 1);
}

static bool add_rdma(oc_perf_wire_t *wire, const char *sysfs, const char *device, const char *port)
{
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s/class/infiniband/%s/ports/%s/counters", sysfs, device,
             port);
    return add(wire, folder, "port_xmit_data", "port_rcv_data", RDMA_UNIT);
}

/* ---- all ---- */

static bool lies_upon_another(const char *folder)
{
    static const char prefix[] = "lower_";
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    bool found = false;

    while (NULL != directory && !found && NULL != (entry = readdir(directory))) {
        found = 0 == strncmp(entry->d_name, prefix, strlen(prefix));
    }
    if (NULL != directory) {
        closedir(directory);
    }
    return found;
}

static bool counts(const char *sysfs, const char *name)
{
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s/class/net/%s", sysfs, name);
    return 0 != strcmp(name, "lo") && 0 != (number_in(folder, "flags") & FLAG_UP)
           && TYPE_INFINIBAND != number_in(folder, "type") && !exists(folder, "bridge")
           && !exists(folder, "brport") && !lies_upon_another(folder);
}

/* Calls each with the name of every entry of a folder, in any order. */
static void for_each(const char *folder, void (*each)(void *arg, const char *name), void *arg)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;

    while (NULL != directory && NULL != (entry = readdir(directory))) {
        if ('.' != entry->d_name[0]) {
            each(arg, entry->d_name);
        }
    }
    if (NULL != directory) {
        closedir(directory);
    }
}

typedef struct {
    oc_perf_wire_t *wire;
    const char *sysfs;
    const char *device;
} finder_t;

static void found_network(void *arg, const char *name)
{
    finder_t *finder = arg;

    if (counts(finder->sysfs, name)) {
        (void) add_network(finder->wire, finder->sysfs, name);
    }
}

static void found_port(void *arg, const char *name)
{
    finder_t *finder = arg;

    (void) add_rdma(finder->wire, finder->sysfs, finder->device, name);
}

static void found_device(void *arg, const char *name)
{
    finder_t *finder = arg;
    char folder[PATH_MAX];

    finder->device = name;
    snprintf(folder, sizeof(folder), "%s/class/infiniband/%s/ports", finder->sysfs, name);
    for_each(folder, found_port, finder);
}

static void add_all(oc_perf_wire_t *wire, const char *sysfs)
{
    finder_t finder = {.wire = wire, .sysfs = sysfs};
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s/class/net", sysfs);
    for_each(folder, found_network, &finder);
    snprintf(folder, sizeof(folder), "%s/class/infiniband", sysfs);
    for_each(folder, found_device, &finder);
}

/* ---- those that are named ---- */

static bool add_named(oc_perf_wire_t *wire, const char *sysfs, char *name)
{
    char *port = strchr(name, ':');

    if ('\0' == name[0] || NULL != strchr(name, '/')) {
        return false;
    }
    if (add_network(wire, sysfs, name)) {
        return true;
    }
    if (NULL == port) {
        return false;
    }
    *port = '\0';
    if (add_rdma(wire, sysfs, name, port + 1)) {
        return true;
    }
    *port = ':';
    return false;
}

bool oc_perf_wire_open(oc_perf_wire_t *wire, const char *sysfs, const char *list, char *error,
                       size_t size)
{
    char name[128];

    wire->count = 0;
    if (NULL == list) {
        add_all(wire, sysfs);
        return true;
    }
    if (0 == strcmp(list, "none")) {
        return true;
    }
    for (const char *at = list; NULL != at; at = '\0' != at[strcspn(at, ",")]
                                                 ? at + strcspn(at, ",") + 1 : NULL) {
        snprintf(name, sizeof(name), "%.*s", (int) strcspn(at, ","), at);
        if (!add_named(wire, sysfs, name)) {
            snprintf(error, size, "\"%s\" has no counters here: give --interface names in "
                     "%s/class/net, DEVICE:PORT in %s/class/infiniband, or none", name, sysfs,
                     sysfs);
            oc_perf_wire_close(wire);
            return false;
        }
    }
    return true;
}

void oc_perf_wire_close(oc_perf_wire_t *wire)
{
    for (unsigned i = 0; i < wire->count; i++) {
        close(wire->interfaces[i].send);
        close(wire->interfaces[i].receive);
    }
    wire->count = 0;
}

bool oc_perf_wire_read(const oc_perf_wire_t *wire, oc_perf_traffic_t *traffic)
{
    *traffic = (oc_perf_traffic_t) {0, 0};
    for (unsigned i = 0; i < wire->count; i++) {
        const oc_perf_interface_t *interface = &wire->interfaces[i];
        uint64_t sent, received;

        if (!read_number(interface->send, &sent) || !read_number(interface->receive, &received)) {
            return false;
        }
        traffic->sent += sent * interface->unit;
        traffic->received += received * interface->unit;
    }
    return true;
}
