/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two sources: what the kernel counts for every interface, packets and among them multicast; and
 * what the card counts by names of its own, which often has what its filter has dropped as well.
 * Those that are of another interface, because a container sees files of its host, move at other
 * times, and so tell nothing.
 */
#include "multicast/transport/watch_counters.h"

#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptors.h"

#define OF_KERNEL 2u           /* counters: packets, and multicast */
#define MOST_OF_CARD 65536u    /* counters that a card may have: more make no sense */
#define LIST_SIZE 65536        /* bytes of the kernel's list */

struct oc_watch_counters {
    char name[IF_NAMESIZE];
    int list_fd;               /* the kernel's list of interfaces and what they count */
    int socket_fd;             /* to ask for the card's */
    unsigned count;
    uint32_t total;            /* of the card, wanted or not: what there is room for */
    struct ethtool_stats *card;/* NULL: it has none that are wanted */
    uint32_t wanted[OC_WATCH_COUNTERS]; /* their numbers */
};

/* Of what is sent, and bytes: these are no packets that arrive. */
static const char *const others[] = {"tx", "xmt", "xmit", "sent", "out", "byte", "octet"};

bool oc_watch_counters_wants(const char *name)
{
    if (NULL == strcasestr(name, "multicast") && NULL == strcasestr(name, "mcast")) {
        return false;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (NULL != strcasestr(name, others[i])) {
            return false;
        }
    }
    return true;
}

static bool ask_card(const oc_watch_counters_t *counters, void *request)
{
    struct ifreq carrier = {.ifr_data = request};

    memcpy(carrier.ifr_name, counters->name, sizeof(carrier.ifr_name));
    return 0 == ioctl(counters->socket_fd, SIOCETHTOOL, &carrier);
}

/* How many counters the card has; 0: none, or more than makes sense. */
static uint32_t count_of_card(const oc_watch_counters_t *counters)
{
    union {
        struct ethtool_sset_info info;
        uint64_t room[3];      /* with one length behind it */
    } request = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << ETH_SS_STATS}};
    bool known = ask_card(counters, &request) && 0 != request.info.sset_mask;

    return known && request.info.data[0] <= MOST_OF_CARD ? request.info.data[0] : 0;
}

static void choose_of_card(oc_watch_counters_t *counters, const struct ethtool_gstrings *names,
                           uint32_t total)
{
    char name[ETH_GSTRING_LEN + 1] = "";

    for (uint32_t i = 0; i < total && counters->count < OC_WATCH_COUNTERS; i++) {
        memcpy(name, names->data + (size_t) i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
        if (oc_watch_counters_wants(name)) {
            counters->wanted[counters->count++] = i;
        }
    }
}

/*
 * Kernels may write as many as the card has when it is asked, whatever it was told there is room for, and a card may
 * have more by then: so there is room for all that a card may have.
 */
static void survey_card(oc_watch_counters_t *counters)
{
    uint32_t total = count_of_card(counters);
    struct ethtool_gstrings *names;

    if (0 == total) {
        return;
    }
    names = calloc(1, sizeof(*names) + (size_t) MOST_OF_CARD * ETH_GSTRING_LEN);
    counters->card = calloc(1, sizeof(*counters->card) + MOST_OF_CARD * sizeof(uint64_t));
    if (NULL != names && NULL != counters->card) {
        names->cmd = ETHTOOL_GSTRINGS;
        names->string_set = ETH_SS_STATS;
        names->len = total;
        counters->total = total;
        if (ask_card(counters, names)) {
            choose_of_card(counters, names, total);
        }
    }
    free(names);
}

/* All of it: the system gives a page at a time. false: it cannot be read, or is longer. */
static bool read_list(int fd, char text[LIST_SIZE])
{
    size_t used = 0;
    ssize_t length;

    while ((length = pread(fd, text + used, LIST_SIZE - 1 - used, (off_t) used)) > 0) {
        used += (size_t) length;
    }
    text[used] = '\0';
    return 0 == length && used < LIST_SIZE - 1;
}

/* Of an interface there is a line: its name, bytes, packets, and, as the eighth, multicast. */
static bool read_kernel(const oc_watch_counters_t *counters, uint64_t values[OF_KERNEL])
{
    char text[LIST_SIZE], name[IF_NAMESIZE], *rest = text, *line;
    unsigned long long packets, multicast;

    if (!read_list(counters->list_fd, text)) {
        return false;
    }
    while (NULL != (line = strsep(&rest, "\n"))) {
        if (3 == sscanf(line, " %15[^:]: %*u %llu %*u %*u %*u %*u %*u %llu", name, &packets,
                        &multicast)
            && 0 == strcmp(name, counters->name)) {
            values[0] = packets;
            values[1] = multicast;
            return true;
        }
    }
    return false;
}

bool oc_watch_counters_read(oc_watch_counters_t *counters, uint64_t values[OC_WATCH_COUNTERS])
{
    if (!read_kernel(counters, values)) {
        return false;
    }
    if (counters->count == OF_KERNEL) {
        return true;
    }
    /* a card that is configured anew has others, and drivers write as many as they have */
    if (count_of_card(counters) != counters->total) {
        return false;
    }
    counters->card->cmd = ETHTOOL_GSTATS;
    counters->card->n_stats = counters->total;
    if (!ask_card(counters, counters->card) || counters->card->n_stats != counters->total) {
        return false;
    }
    for (unsigned i = OF_KERNEL; i < counters->count; i++) {
        values[i] = counters->card->data[counters->wanted[i]];
    }
    return true;
}

oc_watch_counters_t *oc_watch_counters_open(const oc_interface_t *interface)
{
    oc_watch_counters_t *counters = calloc(1, sizeof(*counters));
    uint64_t values[OC_WATCH_COUNTERS];

    if (NULL == counters) {
        return NULL;
    }
    /* its own name: that of an address may be an alias */
    (void) if_indextoname(interface->index, counters->name);
    counters->list_fd = oc_fd_make(open("/proc/self/net/dev", O_RDONLY | O_CLOEXEC));
    counters->socket_fd = oc_fd_make(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    counters->count = OF_KERNEL;
    survey_card(counters);
    if (!oc_watch_counters_read(counters, values)) {
        oc_watch_counters_close(counters);
        return NULL;
    }
    return counters;
}

void oc_watch_counters_close(oc_watch_counters_t *counters)
{
    if (NULL == counters) {
        return;
    }
    if (counters->list_fd >= 0) {
        oc_fd_close(counters->list_fd);
    }
    if (counters->socket_fd >= 0) {
        oc_fd_close(counters->socket_fd);
    }
    free(counters->card);
    free(counters);
}

unsigned oc_watch_counters_count(const oc_watch_counters_t *counters)
{
    return counters->count;
}
