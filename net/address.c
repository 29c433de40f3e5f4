/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing, printing and looking up of addresses. */
#include "net/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"

#define MAX_WEIGHT (1000 * OC_WEIGHT_ONE)

static bool parse_port(const char *text, uint16_t *port)
{
    char *end;
    unsigned long value;

    if (!isdigit((unsigned char) text[0])) {
        return false;
    }
    value = strtoul(text, &end, 10);
    if ('\0' != *end || value > 65535) {
        return false;
    }
    *port = (uint16_t) value;
    return true;
}

/* Where the port begins, or NULL; *host and *length are set to the part before it. */
static const char *split_port(const char *text, const char **host, size_t *length)
{
    const char *colon = strrchr(text, ':');

    *host = text;
    if ('[' == text[0]) {
        const char *bracket = strchr(text, ']');

        if (NULL != bracket) {
            *host = text + 1;
            *length = (size_t) (bracket - text) - 1;
            /* anything but a colon is no port: the bracket itself is not one either */
            return ':' == bracket[1] ? bracket + 2 : ('\0' == bracket[1] ? NULL : bracket);
        }
    }
    /* more than one colon without brackets: an IPv6 address and no port */
    if (NULL == colon || strchr(text, ':') != colon) {
        *length = strlen(text);
        return NULL;
    }
    *length = (size_t) (colon - text);
    return colon + 1;
}

static bool is_host(const char *host)
{
    for (const char *c = host; '\0' != *c; c++) {
        if (!isalnum((unsigned char) *c) && NULL == strchr(".-_:%", *c)) {
            return false;
        }
    }
    return '\0' != host[0];
}

oc_status_t oc_host_port_parse(const char *text, oc_host_port_t *result, char *error,
                               size_t error_size)
{
    const char *host, *port;
    size_t length = 0;

    port = split_port(text, &host, &length);
    result->port = OC_DEFAULT_PORT;
    if (NULL != port && !parse_port(port, &result->port)) {
        snprintf(error, error_size, "\"%s\" has no valid port: HOST[:PORT] with a port of 0 to "
                 "65535 is needed", text);
        return OC_ERR_INVALID;
    }
    if (length >= OC_HOST_SIZE) {
        snprintf(error, error_size, "\"%.64s…\" is too long for a host name", text);
        return OC_ERR_INVALID;
    }
    memcpy(result->host, host, length);
    result->host[length] = '\0';
    if (!is_host(result->host)) {
        snprintf(error, error_size, "\"%s\" is not a host: HOST[:PORT] is needed", text);
        return OC_ERR_INVALID;
    }
    return OC_OK;
}

static oc_status_t list_add(oc_server_list_t *list, const char *text, uint32_t weight, char *error,
                            size_t error_size)
{
    oc_server_t *grown, *added;

    if (OC_MAX_SERVERS == list->count) {
        snprintf(error, error_size, "more than %d servers", OC_MAX_SERVERS);
        return OC_ERR_LIMIT;
    }
    grown = realloc(list->servers, (list->count + 1) * sizeof(*grown));
    if (NULL == grown) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    list->servers = grown;
    added = &grown[list->count];
    added->weight = weight;
    if (OC_OK != oc_host_port_parse(text, &added->name, error, error_size)) {
        return OC_ERR_INVALID;
    }
    for (unsigned i = 0; i < list->count; i++) {
        if (grown[i].name.port == added->name.port
            && 0 == strcmp(grown[i].name.host, added->name.host)) {
            snprintf(error, error_size, "the server \"%s\" is in the list twice", text);
            return OC_ERR_INVALID;
        }
    }
    list->count++;
    return OC_OK;
}

static oc_status_t parse_commas(const char *text, oc_server_list_t *list, char *error,
                                size_t error_size)
{
    char *copy = strdup(text), *rest = copy, *item;
    oc_status_t status = NULL == copy ? OC_ERR_NO_MEMORY : OC_OK;

    while (OC_OK == status && NULL != (item = strsep(&rest, ","))) {
        status = list_add(list, item, OC_WEIGHT_ONE, error, error_size);
    }
    free(copy);
    return status;
}

static void address_trim(char *line)
{
    size_t length, skip = strspn(line, " \t");

    line[strcspn(line, "#\r\n")] = '\0';
    skip = strspn(line, " \t");
    memmove(line, line + skip, strlen(line + skip) + 1);
    length = strlen(line);
    while (length > 0 && isspace((unsigned char) line[length - 1])) {
        line[--length] = '\0';
    }
}

/*
 * A decimal number in thousandths. Digit by digit: the same on all ranks, whatever their locale
 * and their floating point.
 */
static bool parse_weight(const char *text, uint32_t *weight)
{
    uint32_t value = 0, unit = OC_WEIGHT_ONE;
    bool point = false, digits = false;

    for (; '\0' != *text; text++) {
        if ('.' == *text && !point) {
            point = true;
        } else if (isdigit((unsigned char) *text) && value <= MAX_WEIGHT && unit > 1) {
            unit /= point ? 10 : 1;
            value = point ? value + (uint32_t) (*text - '0') * unit
                          : value * 10 + (uint32_t) (*text - '0') * OC_WEIGHT_ONE;
            digits = true;
        } else {
            return false;
        }
    }
    *weight = value;
    return digits && value > 0 && value <= MAX_WEIGHT;
}

/* "HOST[:PORT] [weight=W]"; cuts the line after the first word. */
static oc_status_t parse_line(char *line, oc_server_list_t *list, char *error, size_t error_size)
{
    char *word = line + strcspn(line, " \t");
    uint32_t weight = OC_WEIGHT_ONE;

    if ('\0' != *word) {
        *word++ = '\0';
        word += strspn(word, " \t");
        if (0 != strncmp(word, "weight=", 7)) {
            snprintf(error, error_size, "\"%s\" is not known: HOST[:PORT] [weight=W] is needed",
                     word);
            return OC_ERR_INVALID;
        }
        if (!parse_weight(word + 7, &weight)) {
            snprintf(error, error_size, "\"%s\" is no weight: a number from 0.001 to 1000 with at "
                     "most three decimals is needed, 1 for a server as fast as a host", word);
            return OC_ERR_INVALID;
        }
    }
    return list_add(list, line, weight, error, error_size);
}

static oc_status_t parse_lines(FILE *file, const char *path, oc_server_list_t *list, char *error,
                               size_t error_size)
{
    char reason[512], *line = NULL;
    unsigned number = 0;
    size_t capacity = 0;
    oc_status_t status = OC_OK;

    while (OC_OK == status && getline(&line, &capacity, file) >= 0) {
        number++;
        address_trim(line);
        if ('\0' == line[0]) {
            continue;
        }
        status = parse_line(line, list, reason, sizeof(reason));
        if (OC_OK != status) {
            snprintf(error, error_size, "line %u of the server file \"%s\": %s", number, path,
                     reason);
        }
    }
    free(line);
    return status;
}

static oc_status_t address_parse_file(const char *path, oc_server_list_t *list, char *error,
                                      size_t error_size)
{
    FILE *file = fopen(path, "re");
    oc_status_t status;

    if (NULL == file) {
        snprintf(error, error_size, "cannot read the server file \"%s\": %s", path,
                 strerror(errno));
        return OC_ERR_INVALID;
    }
    status = parse_lines(file, path, list, error, error_size);
    fclose(file);
    if (OC_OK == status && 0 == list->count) {
        snprintf(error, error_size, "the server file \"%s\" names no server", path);
        status = OC_ERR_INVALID;
    }
    return status;
}

oc_status_t oc_server_list_parse(const char *text, oc_server_list_t *list, char *error,
                                 size_t error_size)
{
    oc_status_t status;

    *list = (oc_server_list_t) {0};
    if (0 == strncmp(text, "file:", 5)) {
        status = address_parse_file(text + 5, list, error, error_size);
    } else {
        status = parse_commas(text, list, error, error_size);
    }
    if (OC_OK != status) {
        oc_server_list_free(list);
    }
    return status;
}

void oc_server_list_free(oc_server_list_t *list)
{
    free(list->servers);
    *list = (oc_server_list_t) {0};
}

void oc_server_list_weigh(const oc_server_list_t *list, uint64_t *weights, uint64_t *heaviest)
{
    *weights = *heaviest = 0;
    for (unsigned i = 0; i < list->count; i++) {
        uint64_t weight = list->servers[i].weight;

        *weights += weight;
        *heaviest = weight > *heaviest ? weight : *heaviest;
    }
}

oc_status_t oc_resolve_all(const oc_host_port_t *name, oc_sockaddr_t *addresses, unsigned max,
                           unsigned *count, char *error, size_t error_size)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found, *one;
    char port[8];
    int rc;

    snprintf(port, sizeof(port), "%u", name->port);
    rc = getaddrinfo(name->host, port, &hints, &found);
    if (0 != rc) {
        snprintf(error, error_size, "the host \"%s\" cannot be resolved: %s", name->host,
                 gai_strerror(rc));
        return OC_ERR_UNREACHABLE;
    }
    *count = 0;
    for (one = found; NULL != one && *count < max; one = one->ai_next) {
        memcpy(&addresses[*count].address, one->ai_addr, one->ai_addrlen);
        addresses[(*count)++].length = one->ai_addrlen;
    }
    freeaddrinfo(found);
    return OC_OK;
}

oc_status_t oc_resolve(const oc_host_port_t *name, oc_sockaddr_t *address, char *error,
                       size_t error_size)
{
    unsigned count;

    return oc_resolve_all(name, address, 1, &count, error, error_size);
}

/* It is at the same place in both structures. */
uint16_t oc_sockaddr_port(const oc_sockaddr_t *address)
{
    return ntohs(((const struct sockaddr_in *) &address->address)->sin_port);
}

void oc_sockaddr_text(const oc_sockaddr_t *address, char *buffer, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "?";
    const struct sockaddr *any = (const struct sockaddr *) &address->address;

    if (AF_INET6 == any->sa_family) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *) any;

        inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
        snprintf(buffer, size, "[%s]:%u", host, ntohs(in6->sin6_port));
    } else {
        const struct sockaddr_in *in = (const struct sockaddr_in *) any;

        inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
        snprintf(buffer, size, "%s:%u", host, ntohs(in->sin_port));
    }
}

static bool same_address(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family) {
        return false;
    }
    if (AF_INET == a->sa_family) {
        return ((const struct sockaddr_in *) a)->sin_addr.s_addr
               == ((const struct sockaddr_in *) b)->sin_addr.s_addr;
    }
    return AF_INET6 == a->sa_family
           && 0 == memcmp(&((const struct sockaddr_in6 *) a)->sin6_addr,
                          &((const struct sockaddr_in6 *) b)->sin6_addr, sizeof(struct in6_addr));
}

bool oc_interface_of(const oc_sockaddr_t *address, char *name, size_t size)
{
    struct ifaddrs *all, *one;
    bool found = false;

    if (0 != getifaddrs(&all)) {
        return false;
    }
    for (one = all; NULL != one && !found; one = one->ifa_next) {
        if (NULL != one->ifa_addr
            && same_address(one->ifa_addr, (const struct sockaddr *) &address->address)) {
            snprintf(name, size, "%s", one->ifa_name);
            found = true;
        }
    }
    freeifaddrs(all);
    return found;
}

/* To connect a datagram socket sends nothing, but finds the way, and so the own address. */
bool oc_interface_toward(const oc_sockaddr_t *address, char *name, size_t size)
{
    oc_sockaddr_t own = {.length = sizeof(own.address)};
    int fd = socket(address->address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found = fd >= 0
                 && 0 == connect(fd, (const struct sockaddr *) &address->address, address->length)
                 && 0 == getsockname(fd, (struct sockaddr *) &own.address, &own.length)
                 && oc_interface_of(&own, name, size);

    if (fd >= 0) {
        close(fd);
    }
    return found;
}

bool oc_loopback_interface(char *name, size_t size)
{
    struct sockaddr_in *in;
    oc_sockaddr_t address = {.length = sizeof(*in)};

    in = (struct sockaddr_in *) &address.address;
    in->sin_family = AF_INET;
    in->sin_port = htons(OC_DEFAULT_PORT);
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return oc_interface_toward(&address, name, size);
}

/* IPv4 addresses are kept in their IPv6-mapped form: one type for both. */
static bool mapped_form(const struct sockaddr *address, struct in6_addr *result)
{
    if (AF_INET == address->sa_family) {
        memset(result, 0, 10);
        memset(&result->s6_addr[10], 0xff, 2);
        memcpy(&result->s6_addr[12], &((const struct sockaddr_in *) address)->sin_addr, 4);
        return true;
    }
    if (AF_INET6 == address->sa_family) {
        *result = ((const struct sockaddr_in6 *) address)->sin6_addr;
        return true;
    }
    return false;
}

bool oc_sockaddr_mapped(const oc_sockaddr_t *address, struct in6_addr *result)
{
    return mapped_form((const struct sockaddr *) &address->address, result);
}

static bool reachable_form(const struct ifaddrs *one, struct in6_addr *result)
{
    return NULL != one->ifa_addr && (one->ifa_flags & IFF_UP)
           && mapped_form(one->ifa_addr, result) && !IN6_IS_ADDR_LINKLOCAL(result);
}

unsigned oc_own_addresses(struct in6_addr *addresses, unsigned max)
{
    struct ifaddrs *all, *one;
    unsigned count = 0;

    if (0 != getifaddrs(&all)) {
        return 0;
    }
    for (int loopback = 0; loopback <= 1 && 0 == count; loopback++) {
        for (one = all; NULL != one && count < max; one = one->ifa_next) {
            if (loopback == !!(one->ifa_flags & IFF_LOOPBACK)
                && reachable_form(one, &addresses[count])) {
                count++;
            }
        }
    }
    freeifaddrs(all);
    return count;
}

/* Adds those of interfaces that the list names, or does not name. */
static unsigned add_origins(const struct ifaddrs *all, const char *interfaces, bool named,
                            struct in6_addr *addresses, unsigned count, unsigned max)
{
    for (const struct ifaddrs *one = all; NULL != one && count < max; one = one->ifa_next) {
        if (!(one->ifa_flags & IFF_LOOPBACK)
            && named == (NULL != interfaces && oc_list_has(interfaces, one->ifa_name))
            && reachable_form(one, &addresses[count])) {
            count++;
        }
    }
    return count;
}

/* Those of interfaces that the list names, and behind them, if wanted, of all others. */
static unsigned find_origins(const char *interfaces, bool others, struct in6_addr *addresses,
                             unsigned max)
{
    struct ifaddrs *all;
    unsigned count;

    if (0 != getifaddrs(&all)) {
        return 0;
    }
    count = add_origins(all, interfaces, true, addresses, 0, max);
    if (others) {
        count = add_origins(all, interfaces, false, addresses, count, max);
    }
    freeifaddrs(all);
    return count;
}

unsigned oc_origin_addresses(const char *interfaces, struct in6_addr *addresses, unsigned max)
{
    return find_origins(interfaces, true, addresses, max);
}

unsigned oc_named_addresses(const char *interfaces, struct in6_addr *addresses, unsigned max)
{
    return find_origins(interfaces, false, addresses, max);
}
