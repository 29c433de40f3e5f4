/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rates of devices, from sysfs. What belongs to a bus has a link "device"; a bridge, a veth or
 * Soft-RoCE has none, and reports a rate that somebody made up. What stands on others has a link
 * "lower_…" for each.
 */
#include "net/link_speed.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 1024
#define MAX_RATE  10000000.0 /* Mbit/s: no device says more */

#define MAX_DEPTH 4          /* of a VLAN on a bond on … */

typedef struct {
    const char *sysfs, *names;
    unsigned depth;
    double rate; /* the highest so far */
} search_t;

static void count_cards(search_t *search, const char *folder);

/* false: there is none, or it is empty */
static bool read_attribute(const char *folder, const char *name, char *line, size_t size)
{
    char path[PATH_SIZE + NAME_MAX];
    FILE *file;
    bool good;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "re");
    if (NULL == file) {
        return false;
    }
    good = NULL != fgets(line, (int) size, file);
    fclose(file);
    return good;
}

static bool is_physical(const char *folder)
{
    char path[PATH_SIZE + NAME_MAX];

    snprintf(path, sizeof(path), "%s/device", folder);
    return 0 == access(path, F_OK);
}

/* In a list with commas; a device's name stands for all its ports. */
static bool link_speed_is_listed(const char *at, const char *device, const char *port)
{
    size_t length = strlen(device);

    while (NULL != at) {
        if (0 == strncmp(at, device, length)
            && (strchr(",", at[length])
                || (':' == at[length] && NULL != port
                    && 0 == strncmp(at + length + 1, port, strlen(port))
                    && strchr(",", at[length + 1 + strlen(port)])))) {
            return true;
        }
        at = strchr(at, ',');
        at = NULL == at ? NULL : at + 1;
    }
    return false;
}

/* As UCX takes the list: ^ before it means all others. */
static bool is_named(const search_t *search, const char *device, const char *port)
{
    const char *names = search->names;

    if (NULL == names || '\0' == names[0] || 0 == strcmp(names, "all")) {
        return true;
    }
    return '^' == names[0] ? !link_speed_is_listed(names + 1, device, port)
                           : link_speed_is_listed(names, device, port);
}

static void link_speed_count(search_t *search, double rate)
{
    if (rate > search->rate && rate <= MAX_RATE) {
        search->rate = rate;
    }
}

typedef void (*visit_t)(search_t *search, const char *folder, const char *name);

/* visit gets the folder of each entry, and its name. */
static void for_each(search_t *search, const char *folder, visit_t visit)
{
    DIR *entries = opendir(folder);
    char path[PATH_SIZE];
    struct dirent *entry;

    if (NULL == entries) {
        return;
    }
    while (NULL != (entry = readdir(entries))) {
        if ('.' != entry->d_name[0]
            && snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < (int) sizeof(path)) {
            visit(search, path, entry->d_name);
        }
    }
    closedir(entries);
}

/* "4: ACTIVE", "100 Gb/sec (4X EDR)" */
static void link_speed_visit_port(search_t *search, const char *folder, const char *port)
{
    char device[PATH_SIZE], line[64], *name;

    /* …/DEVICE/ports/PORT */
    snprintf(device, sizeof(device), "%s", folder);
    *strrchr(device, '/') = '\0';
    *strrchr(device, '/') = '\0';
    name = strrchr(device, '/') + 1;
    if (is_named(search, name, port) && read_attribute(folder, "state", line, sizeof(line))
        && 4 == atoi(line) && read_attribute(folder, "rate", line, sizeof(line))
        && NULL != strstr(line, "Gb/sec")) {
        link_speed_count(search, 1000 * strtod(line, NULL));
    }
}

static void visit_rdma(search_t *search, const char *folder, const char *name)
{
    char ports[PATH_SIZE + 8];

    (void) name;
    snprintf(ports, sizeof(ports), "%s/ports", folder);
    if (is_physical(folder)) {
        for_each(search, ports, link_speed_visit_port);
    }
}

static void count_card(search_t *search, const char *folder)
{
    char line[64];

    if (read_attribute(folder, "operstate", line, sizeof(line)) && 0 == strcmp(line, "up\n")
        && read_attribute(folder, "speed", line, sizeof(line))) {
        link_speed_count(search, strtod(line, NULL));
    }
}

static void visit_lower(search_t *search, const char *folder, const char *name)
{
    if (0 != strncmp(name, "lower_", strlen("lower_")) || MAX_DEPTH == search->depth) {
        return;
    }
    search->depth++;
    count_cards(search, folder);
    search->depth--;
}

/* Of the card itself, or of those that it stands on. */
static void count_cards(search_t *search, const char *folder)
{
    if (is_physical(folder)) {
        count_card(search, folder);
    } else {
        for_each(search, folder, visit_lower);
    }
}

static void visit_interface(search_t *search, const char *folder, const char *name)
{
    if (is_named(search, name, NULL)) {
        count_cards(search, folder);
    }
}

static void read_class(search_t *search, const char *class, visit_t visit)
{
    char folder[PATH_SIZE];

    snprintf(folder, sizeof(folder), "%s/class/%s", search->sysfs, class);
    for_each(search, folder, visit);
}

/* Of a list of transports: ib and what begins with rc, dc or ud use RDMA ports. */
static bool has_rdma(const char *transports)
{
    static const char *const rdma[] = {"all", "ib", "rc", "dc", "ud"};

    for (const char *at = transports; NULL != at; at = strchr(at, ',')) {
        at += ',' == at[0];
        for (size_t i = 0; i < sizeof(rdma) / sizeof(rdma[0]); i++) {
            if (0 == strncmp(at, rdma[i], strlen(rdma[i]))) {
                return true;
            }
        }
    }
    return false;
}

static bool may_use_rdma(const char *transports)
{
    if (NULL == transports || '\0' == transports[0]) {
        return true;
    }
    return '^' == transports[0] ? !link_speed_is_listed(transports + 1, "ib", NULL)
                                : has_rdma(transports);
}

void oc_network_read(const char *sysfs, const char *names, const char *transports,
                     oc_network_t *network)
{
    search_t search = {.sysfs = sysfs, .names = names};

    if (NULL != names && NULL != strchr(names, '[')) {
        *network = (oc_network_t) {.fabric = OC_FABRIC_UNKNOWN};
        return;
    }
    if (may_use_rdma(transports)) {
        read_class(&search, "infiniband", visit_rdma);
    }
    network->fabric = search.rate > 0 ? OC_FABRIC_RDMA : OC_FABRIC_TCP;
    if (OC_FABRIC_TCP == network->fabric) {
        read_class(&search, "net", visit_interface);
    }
    network->rate = (uint32_t) search.rate;
}
