/* SPDX-License-Identifier: BSD-3-Clause */
/* Internet addresses as people write them: HOST, HOST:PORT, [IPv6]:PORT; and lists of servers. */
#ifndef OC_NET_ADDRESS_H
#define OC_NET_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/status.h"

#define OC_HOST_SIZE 256        /* longest host name with its final zero */
#define OC_MAX_SERVERS 256      /* in a list */
#define OC_WEIGHT_ONE  1000     /* the weight of a server as fast as a host: thousandths */

typedef struct {
    char host[OC_HOST_SIZE];
    uint16_t port;
} oc_host_port_t;

typedef struct {
    oc_host_port_t name;
    uint32_t weight;            /* how much it can do, in parts of OC_WEIGHT_ONE; not 0 */
} oc_server_t;

typedef struct {
    oc_server_t *servers;       /* freed by oc_server_list_free */
    unsigned count;
} oc_server_list_t;

typedef struct {
    struct sockaddr_storage address;
    socklen_t length;
} oc_sockaddr_t;

/*
 * Both write a sentence about what is wrong, naming the text, into error.
 * The list is HOST[:PORT],… or file:PATH, where the file has one HOST[:PORT] [weight=W] a line and
 * # starts a comment. W is a decimal number from 0.001 to 1000. Reads the file; does not resolve
 * names.
 */
oc_status_t oc_host_port_parse(const char *text, oc_host_port_t *result, char *error,
                               size_t error_size);
oc_status_t oc_server_list_parse(const char *text, oc_server_list_t *list, char *error,
                                 size_t error_size);
void oc_server_list_free(oc_server_list_t *list);

/* Of all servers together, and of the heaviest; 0: there is none. */
void oc_server_list_weigh(const oc_server_list_t *list, uint64_t *weights, uint64_t *heaviest);

/* At most max addresses of a name, in the resolver's order. May block in the resolver. */
oc_status_t oc_resolve_all(const oc_host_port_t *name, oc_sockaddr_t *addresses, unsigned max,
                           unsigned *count, char *error, size_t error_size);

/* The first of them. */
oc_status_t oc_resolve(const oc_host_port_t *name, oc_sockaddr_t *address, char *error,
                       size_t error_size);

/* "10.0.0.1:8918", "[::1]:8918" */
void oc_sockaddr_text(const oc_sockaddr_t *address, char *buffer, size_t size);

uint16_t oc_sockaddr_port(const oc_sockaddr_t *address);
/* The address alone, of IPv4 in its IPv6-mapped form; false: it is of no internet family. */
bool oc_sockaddr_mapped(const oc_sockaddr_t *address, struct in6_addr *result);

/*
 * Name of the network interface that has this address, false if none has or if the address
 * stands for all interfaces.
 */
bool oc_interface_of(const oc_sockaddr_t *address, char *name, size_t size);

/* That through which packets to an address would leave; false: no way leads there. */
bool oc_interface_toward(const oc_sockaddr_t *address, char *name, size_t size);

/* The one that is this host's alone, if it can be used. */
bool oc_loopback_interface(char *name, size_t size);

/* Addresses of this host that others can reach, at most max; loopback only if there is no other. */
unsigned oc_own_addresses(struct in6_addr *addresses, unsigned max);

/*
 * Addresses from which this host may connect to others, at most max: never loopback. First those of
 * the interfaces that a list names, such as "eth0,mlx5_0:1"; NULL: all are alike.
 */
unsigned oc_origin_addresses(const char *interfaces, struct in6_addr *addresses, unsigned max);

/* The same of those interfaces alone that the list names. */
unsigned oc_named_addresses(const char *interfaces, struct in6_addr *addresses, unsigned max);

#endif
