/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA ports of an interface, from sysfs. RoCE ports name their interface in the attributes of
 * their addresses (GIDs); IPoIB interfaces name their device and port themselves.
 */
#include "net/devices.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *interface, *sysfs;
    char *buffer;
    size_t size;
} search_t;

static bool read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    bool good;

    if (NULL == file) {
        return false;
    }
    good = NULL != fgets(line, (int) size, file);
    fclose(file);
    if (good) {
        line[strcspn(line, "\n")] = '\0';
    }
    return good;
}

static void devices_add(const search_t *search, const char *device, const char *port)
{
    char entry[NAME_MAX + 16];
    size_t used = strlen(search->buffer);

    snprintf(entry, sizeof(entry), ",%.200s:%.8s", device, port);
    if (NULL == strstr(search->buffer, entry) && used + strlen(entry) < search->size) {
        memcpy(search->buffer + used, entry, strlen(entry) + 1);
    }
}

typedef void (*visit_t)(const search_t *search, const char *path, const char *name);

/* visit gets the folder's path and the entry's name. */
static void for_each_entry(const search_t *search, const char *path, visit_t visit)
{
    DIR *folder = opendir(path);
    struct dirent *entry;

    if (NULL == folder) {
        return;
    }
    while (NULL != (entry = readdir(folder))) {
        if ('.' != entry->d_name[0]) {
            visit(search, path, entry->d_name);
        }
    }
    closedir(folder);
}

/* path: …/DEVICE/ports */
static void add_port(const search_t *search, const char *path, const char *port)
{
    const char *end = path + strlen(path) - strlen("/ports"), *begin = end;
    char device[NAME_MAX + 1];

    while (begin > path && '/' != begin[-1]) {
        begin--;
    }
    snprintf(device, sizeof(device), "%.*s", (int) (end - begin), begin);
    devices_add(search, device, port);
}

/* path: …/DEVICE/ports; name: the port */
static void devices_visit_port(const search_t *search, const char *path, const char *name)
{
    char attribute[PATH_MAX], interface[64];

    for (int gid = 0; gid < 256; gid++) {
        snprintf(attribute, sizeof(attribute), "%s/%s/gid_attrs/ndevs/%d", path, name, gid);
        if (!read_line(attribute, interface, sizeof(interface))) {
            continue;
        }
        if (0 == strcmp(interface, search->interface)) {
            add_port(search, path, name);
            return;
        }
    }
}

static void visit_device(const search_t *search, const char *path, const char *name)
{
    char ports[PATH_MAX];

    snprintf(ports, sizeof(ports), "%s/%s/ports", path, name);
    for_each_entry(search, ports, devices_visit_port);
}

/* name: an RDMA device below an IPoIB interface; dev_port counts from 0, RDMA ports from 1 */
static void visit_parent(const search_t *search, const char *path, const char *name)
{
    char attribute[PATH_MAX], line[16], port[16];

    (void) path;
    snprintf(attribute, sizeof(attribute), "%s/class/net/%s/dev_port", search->sysfs,
             search->interface);
    if (read_line(attribute, line, sizeof(line))) {
        snprintf(port, sizeof(port), "%ld", strtol(line, NULL, 10) + 1);
        devices_add(search, name, port);
    }
}

void oc_devices_of(const char *interface, const char *sysfs, char *buffer, size_t size)
{
    search_t search = {interface, sysfs, buffer, size};
    char path[PATH_MAX];

    snprintf(buffer, size, "%s", interface);
    snprintf(path, sizeof(path), "%s/class/infiniband", sysfs);
    for_each_entry(&search, path, visit_device);
    snprintf(path, sizeof(path), "%s/class/net/%s/device/infiniband", sysfs, interface);
    for_each_entry(&search, path, visit_parent);
}

/* With the port, if the name has one. */
static bool has_device(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = list; NULL != at && '\0' != *at; at = strchr(at, ',')) {
        at += ',' == *at;
        if (0 == strncmp(at, name, length) && (',' == at[length] || '\0' == at[length])) {
            return true;
        }
    }
    return false;
}

bool oc_devices_add(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);

    if (has_device(list, name)) {
        return true;
    }
    return snprintf(list + used, size - used, "%s%s", 0 == used ? "" : ",", name)
           < (int) (size - used);
}

/* path: …/DEVICE/ports; UCX warns of ports that are named and not there */
static void visit_active_port(const search_t *search, const char *path, const char *name)
{
    char attribute[PATH_MAX], state[32];

    snprintf(attribute, sizeof(attribute), "%s/%s/state", path, name);
    if (read_line(attribute, state, sizeof(state)) && NULL != strstr(state, "ACTIVE")) {
        add_port(search, path, name);
    }
}

static void visit_any_device(const search_t *search, const char *path, const char *name)
{
    char ports[PATH_MAX];

    snprintf(ports, sizeof(ports), "%s/%s/ports", path, name);
    for_each_entry(search, ports, visit_active_port);
}

bool oc_devices_add_rdma(char *list, size_t size, const char *sysfs)
{
    char path[PATH_MAX], ports[1024] = "";
    search_t search = {"", sysfs, ports, sizeof(ports)};
    char *rest, *port;
    bool fits = true;

    snprintf(path, sizeof(path), "%s/class/infiniband", sysfs);
    for_each_entry(&search, path, visit_any_device);
    for (port = strtok_r(ports, ",", &rest); fits && NULL != port;
         port = strtok_r(NULL, ",", &rest)) {
        fits = oc_devices_add(list, size, port);
    }
    return fits;
}
