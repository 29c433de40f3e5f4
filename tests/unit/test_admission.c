/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who can connect to guarded sockets, in a network of the test's own; and that the sockets of a UCX
 * worker are found, and no others.
 *
 * Test: quick 60
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/ipv6.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/address.h"
#include "net/admission.h"
#include "tests/unit/own_network.h"
#include "ucx_backend/listeners.h"
#include "ucx_backend/worker.h"

#define PATIENCE 400            /* ms: what is dropped is not there by then */

static char logged[1024];

static void keep_log(oc_log_level_t level, const char *line)
{
    (void) level;
    snprintf(logged + strlen(logged), sizeof(logged) - strlen(logged), "%s\n", line);
}

static oc_sockaddr_t address_of(const char *host, uint16_t port)
{
    oc_host_port_t name = {.port = port};
    oc_sockaddr_t address;
    char error[256];

    snprintf(name.host, sizeof(name.host), "%s", host);
    assert_int_equal(oc_resolve(&name, &address, error, sizeof(error)), OC_OK);
    return address;
}

static struct in6_addr mapped(const char *host)
{
    oc_sockaddr_t address = address_of(host, 0);
    struct in6_addr result;

    assert_true(oc_sockaddr_mapped(&address, &result));
    return result;
}

static int listen_on(const char *host, uint16_t *port)
{
    oc_sockaddr_t address = address_of(host, 0);
    int fd = socket(address.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *) &address.address, address.length), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *) &address.address, &address.length), 0);
    *port = ntohs(((struct sockaddr_in *) &address.address)->sin_port);
    return fd;
}

/* The connection; -1: nothing answers. */
static int connect_from(const char *source, const char *host, uint16_t port)
{
    oc_sockaddr_t from = address_of(source, 0), to = address_of(host, port);
    int fd = socket(to.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error;
    struct pollfd event = {.fd = fd, .events = POLLOUT};
    socklen_t length = sizeof(error);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *) &from.address, from.length), 0);
    if (0 != connect(fd, (struct sockaddr *) &to.address, to.length)) {
        assert_int_equal(errno, EINPROGRESS);
    }
    if (1 == poll(&event, 1, PATIENCE)) {
        assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length), 0);
        assert_int_equal(error, 0);
        return fd;
    }
    close(fd);
    return -1;
}

static bool reaches(const char *source, const char *host, uint16_t port)
{
    int fd = connect_from(source, host, port);

    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

static void admit(oc_admission_t *admission, const char *host)
{
    struct in6_addr address = mapped(host);

    oc_admission_admit(admission, &address, 1);
}

/* It can be used a moment after it is there. */
static bool add_address(const char *text)
{
    struct in6_ifreq request = {.ifr6_prefixlen = 128,
                                .ifr6_ifindex = (int) if_nametoindex("lo")};
    struct sockaddr_in6 name = {.sin6_family = AF_INET6};
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), patience = 200;
    bool done = 1 == inet_pton(AF_INET6, text, &request.ifr6_addr)
                && 0 == ioctl(fd, SIOCSIFADDR, &request);

    name.sin6_addr = request.ifr6_addr;
    while (done && 0 != bind(fd, (struct sockaddr *) &name, sizeof(name))) {
        done = --patience > 0;
        usleep(5000);
    }
    close(fd);
    return done;
}

static void test_hosts(void **state)
{
    static const struct { const char *listen, *first, *second, *third; } nets[] = {
        {"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"},
        {"fd77::1", "fd77::2", "fd77::3", "fd77::4"},
    };

    (void) state;
    for (unsigned i = 0; i < 2; i++) {
        oc_admission_t *admission = oc_admission_open();
        uint16_t port;
        int fd = listen_on(nets[i].listen, &port), accepted, client;
        char byte = 'x';

        /* after the admission has looked which addresses are this host's */
        assert_true(0 == i || (add_address(nets[i].first) && add_address(nets[i].second)
                               && add_address(nets[i].third)));
        assert_true(reaches(nets[i].first, nets[i].listen, port));
        oc_admission_guard(admission, fd);
        assert_false(reaches(nets[i].first, nets[i].listen, port));
        admit(admission, nets[i].first);
        assert_false(reaches(nets[i].second, nets[i].listen, port));
        client = connect_from(nets[i].first, nets[i].listen, port);
        assert_true(client >= 0);
        /* what is connected goes on when others are admitted */
        admit(admission, nets[i].second);
        assert_true(reaches(nets[i].second, nets[i].listen, port));
        assert_false(reaches(nets[i].third, nets[i].listen, port));
        close(accept(fd, NULL, NULL));
        accepted = accept(fd, NULL, NULL);
        assert_true(accepted >= 0);
        assert_int_equal(write(client, &byte, 1), 1);
        assert_int_equal(read(accepted, &byte, 1), 1);
        assert_int_equal(oc_admission_open_sockets(admission), 0);
        oc_admission_release(admission, fd);
        oc_admission_close(admission);
        close(client);
        close(accepted);
        close(fd);
    }
}

/* IPv4 clients of a socket of IPv6, and of IPv6; peers by their connection. */
static void test_both(void **state)
{
    oc_admission_t *admission = oc_admission_open();
    uint16_t port, other;
    int fd = listen_on("::", &port), door = listen_on("::", &other), client, accepted;

    (void) state;
    oc_admission_guard(admission, fd);
    assert_false(reaches("127.0.0.2", "127.0.0.1", port));
    assert_false(reaches("fd77::2", "fd77::1", port));
    client = connect_from("127.0.0.2", "127.0.0.1", other);
    accepted = accept(door, NULL, NULL);
    oc_admission_admit_peer(admission, accepted);
    assert_true(reaches("127.0.0.2", "127.0.0.1", port));
    assert_false(reaches("127.0.0.1", "127.0.0.1", port));
    assert_false(reaches("fd77::2", "fd77::1", port));
    close(client);
    close(accepted);
    client = connect_from("fd77::2", "fd77::1", other);
    accepted = accept(door, NULL, NULL);
    oc_admission_admit_peer(admission, accepted);
    /* an address of this host: all of them */
    assert_true(reaches("fd77::2", "fd77::1", port));
    assert_true(reaches("fd77::3", "fd77::1", port));
    assert_true(reaches("127.0.0.1", "127.0.0.1", port));
    assert_false(reaches("127.0.0.3", "127.0.0.1", port));
    close(client);
    close(accepted);
    close(door);
    close(fd);
    oc_admission_close(admission);
}

/* More than a program can have: whole networks, which the log says, but never too few. */
static void test_many(void **state)
{
    oc_admission_t *admission = oc_admission_open();
    struct in6_addr *hosts = calloc(20000, sizeof(*hosts));
    uint16_t port;
    int fd = listen_on("127.0.0.1", &port);

    (void) state;
    logged[0] = '\0';
    oc_admission_guard(admission, fd);
    for (unsigned i = 0; i < 20000; i++) {
        hosts[i] = mapped("127.9.0.0");
        hosts[i].s6_addr[14] = (uint8_t) (3 * i >> 8);
        hosts[i].s6_addr[15] = (uint8_t) (3 * i);
    }
    oc_admission_admit(admission, hosts, 2000);
    assert_string_equal(logged, "");
    assert_true(reaches("127.9.0.3", "127.0.0.1", port));
    assert_false(reaches("127.9.0.4", "127.0.0.1", port));
    oc_admission_admit(admission, hosts + 2000, 18000);
    assert_non_null(strstr(logged, "whole networks around them, /"));
    assert_true(reaches("127.9.0.3", "127.0.0.1", port));
    assert_true(reaches("127.9.234.93", "127.0.0.1", port));
    assert_false(reaches("127.10.0.1", "127.0.0.1", port));
    assert_int_equal(oc_admission_open_sockets(admission), 0);
    oc_admission_close(admission);
    free(hosts);
    close(fd);
}

/* Whoever says that he has ever more addresses gets networks, and no more memory. */
static void test_bound(void **state)
{
    oc_admission_t *admission = oc_admission_open();
    struct in6_addr address = mapped("10.0.0.0");
    size_t most = 0, count;

    (void) state;
    for (unsigned i = 0; i < 200000; i++) {
        address.s6_addr[13] = (uint8_t) (i >> 16);
        address.s6_addr[14] = (uint8_t) (i >> 8);
        address.s6_addr[15] = (uint8_t) i;
        (void) oc_admission_note(admission, &address, 1);
        count = oc_admission_count(admission);
        most = count > most ? count : most;
    }
    assert_in_range(most, 60000, 65536);
    oc_admission_close(admission);
}

/* What an update of a filter with so many hosts costs; printed, not judged. */
static void test_cost(void **state)
{
    (void) state;
    for (unsigned count = 10; count <= 3000; count = count < 1000 ? 10 * count : count + 2000) {
        oc_admission_t *admission = oc_admission_open();
        struct in6_addr *hosts = calloc(count + 100, sizeof(*hosts));
        uint16_t port;
        int fd = listen_on("127.0.0.1", &port);
        uint64_t begin;

        oc_admission_guard(admission, fd);
        for (unsigned i = 0; i < count + 100; i++) {
            hosts[i] = mapped("10.0.0.0");
            hosts[i].s6_addr[14] = (uint8_t) (i >> 8);
            hosts[i].s6_addr[15] = (uint8_t) i;
        }
        oc_admission_admit(admission, hosts, count);
        begin = oc_clock_ns();
        for (unsigned i = 0; i < 100; i++) {
            oc_admission_admit(admission, hosts + count + i, 1);
        }
        print_message("one more host beside %u: %llu us\n", count,
                      (unsigned long long) (oc_clock_ns() - begin) / 100 / 1000);
        oc_admission_close(admission);
        free(hosts);
        close(fd);
    }
}

/* ---- UCX ---- */

typedef struct {
    oc_transfer_t transfer;
    unsigned calls;
} counted_t;

static void on_done(oc_transfer_t *transfer)
{
    ((counted_t *) transfer)->calls++;
}

static void on_failed(void *arg)
{
    (void) arg;
}

static oc_worker_t *open_worker(const char *device)
{
    oc_worker_t *worker = NULL;
    char error[256] = "";

    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    if (OC_OK != oc_worker_open(device, &worker, error, sizeof(error))) {
        fail_msg("%s", error);
    }
    return worker;
}

/* The ports of 127.0.0.1 or fd77::1 on which this process listens, but for one. */
static unsigned find_ports(int family, uint16_t *ports, unsigned max)
{
    unsigned count = 0;

    for (int fd = 0; fd < 256; fd++) {
        struct sockaddr_in6 name;
        socklen_t length = sizeof(name), size = sizeof(int);
        int listening = 0;

        if (0 == getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) && listening
            && 0 == getsockname(fd, (struct sockaddr *) &name, &length)
            && family == name.sin6_family && count < max) {
            ports[count++] = ntohs(name.sin6_port);
        }
    }
    return count;
}

static bool passes(oc_worker_t *from, oc_worker_t *to, unsigned patience)
{
    counted_t send = {.transfer.done = on_done}, receive = {.transfer.done = on_done};
    uint64_t end = oc_clock_ns() + patience * OC_MILLISECOND;
    char out[100] = "hello", in[100] = "";
    oc_endpoint_t *endpoint;
    size_t length;

    oc_receive(to, &receive.transfer, in, sizeof(in), 7, UINT64_MAX);
    assert_int_equal(oc_endpoint_open(from, oc_worker_address(to, &length), on_failed, NULL,
                                      &endpoint), OC_OK);
    oc_send(endpoint, &send.transfer, out, sizeof(out), 7);
    while (0 == receive.calls && oc_clock_ns() < end) {
        (void) oc_worker_progress(from);
        (void) oc_worker_progress(to);
    }
    oc_endpoint_close(endpoint);
    oc_receive_cancel(&receive.transfer);
    while (0 == receive.calls || 0 == send.calls) {
        (void) oc_worker_progress(from);
        (void) oc_worker_progress(to);
    }
    return OC_OK == receive.transfer.status && 0 == strcmp(in, out);
}

static void expect_guarded_worker(const char *device, int family, const char *host)
{
    oc_admission_t *admission = oc_admission_open();
    uint16_t own, ports[4];
    int fd = listen_on(host, &own);
    oc_worker_t *worker = open_worker(device), *peer;

    assert_int_equal(find_ports(family, ports, 4), 2);
    ports[0] = own == ports[0] ? ports[1] : ports[0];
    assert_true(reaches(host, host, ports[0]));
    oc_worker_guard(worker, admission);
    assert_int_equal(oc_admission_open_sockets(admission), 0);
    assert_false(reaches(host, host, ports[0]));
    /* a socket of the program itself */
    assert_true(reaches(host, host, own));
    peer = open_worker(device);
    assert_false(passes(peer, worker, PATIENCE));
    oc_worker_close(peer);
    admit(admission, host);
    peer = open_worker(device);
    assert_true(passes(peer, worker, 5000));
    oc_worker_close(peer);
    oc_worker_close(worker);
    oc_admission_close(admission);
    close(fd);
}

static void test_worker(void **state)
{
    (void) state;
    expect_guarded_worker("lo", AF_INET, "127.0.0.1");
}

static void test_worker_v6(void **state)
{
    (void) state;
    setenv("UCX_TCP_AF_PRIO", "inet6", 1);
    expect_guarded_worker("lo", AF_INET6, "fd77::1");
    unsetenv("UCX_TCP_AF_PRIO");
}

/* Other sockets come and go while workers are made: they are left alone. */
static void test_others(void **state)
{
    oc_admission_t *admission = oc_admission_open();
    uint16_t before, after;
    int first = listen_on("127.0.0.1", &before), second;
    oc_worker_t *other = open_worker("lo"), *worker = open_worker("lo");

    (void) state;
    second = listen_on("127.0.0.1", &after);
    oc_worker_guard(worker, admission);
    assert_true(reaches("127.0.0.1", "127.0.0.1", before));
    assert_true(reaches("127.0.0.1", "127.0.0.1", after));
    /* as Open MPI's own worker */
    assert_true(passes(worker, other, 5000));
    oc_worker_close(worker);
    oc_worker_close(other);
    oc_admission_close(admission);
    close(first);
    close(second);
}

/* Another thread makes a socket at the same moment as UCX. */
static void test_same_moment(void **state)
{
    oc_sockets_t before;
    oc_listeners_t listeners;
    oc_worker_t *worker;
    const void *address;
    size_t length;
    uint16_t port;
    int fd;

    (void) state;
    oc_sockets_remember(&before);
    worker = open_worker("lo");
    fd = listen_on("127.0.0.1", &port);
    address = oc_worker_address(worker, &length);
    oc_listeners_find(&before, address, length, &listeners);
    assert_int_equal(listeners.error, 0);
    assert_int_equal(listeners.count, 1);
    assert_int_equal(listeners.unknown, 1);
    assert_int_not_equal(listeners.fds[0], fd);
    free(listeners.fds);
    oc_sockets_forget(&before);
    /* what was there before is of another worker, whatever its port is */
    oc_sockets_remember(&before);
    oc_listeners_find(&before, address, length, &listeners);
    assert_int_equal(listeners.count, 0);
    assert_int_equal(listeners.unknown, 0);
    oc_sockets_forget(&before);
    oc_worker_close(worker);
    close(fd);
}

static int unrecognised, local;
static bool adds_socket;

ucs_status_t __real_ucp_worker_create(ucp_context_h context, const ucp_worker_params_t *params,
                                      ucp_worker_h *worker);
ucs_status_t __wrap_ucp_worker_create(ucp_context_h context, const ucp_worker_params_t *params,
                                      ucp_worker_h *worker);

/* Without a name it gets one. */
static int listen_locally(void)
{
    struct sockaddr name = {.sa_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, &name, sizeof(name.sa_family)), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

/* As if UCX listened at one more place than its address has; and one that no host reaches. */
ucs_status_t __wrap_ucp_worker_create(ucp_context_h context, const ucp_worker_params_t *params,
                                      ucp_worker_h *worker)
{
    uint16_t port;

    if (adds_socket) {
        unrecognised = listen_on("127.0.0.1", &port);
        local = listen_locally();
    }
    return __real_ucp_worker_create(context, params, worker);
}

/* Nobody knows whether strangers reach it: it counts as open. */
static void test_unrecognised(void **state)
{
    oc_admission_t *admission = oc_admission_open();
    oc_worker_t *worker;

    (void) state;
    logged[0] = '\0';
    adds_socket = true;
    worker = open_worker("lo");
    adds_socket = false;
    oc_worker_guard(worker, admission);
    assert_int_equal(oc_admission_open_sockets(admission), 1);
    assert_non_null(strstr(logged, "is not part of its address"));
    oc_worker_close(worker);
    oc_admission_close(admission);
    close(unrecognised);
    close(local);
}

/* ---- a kernel that has no memory ---- */

static bool set_memory(unsigned bytes)
{
    FILE *file = fopen("/proc/sys/net/core/optmem_max", "we");
    bool done = NULL != file && fprintf(file, "%u", bytes) > 0;

    return NULL != file && 0 == fclose(file) && done;
}

/* A socket has little memory for its filter: a shorter program, and in the end none. */
static void test_little_memory(void **state)
{
    oc_admission_t *admission = oc_admission_open();
    struct in6_addr *hosts = calloc(3000, sizeof(*hosts));
    uint16_t port;
    int fd = listen_on("127.0.0.1", &port);

    (void) state;
    if (!set_memory(20480)) {
        print_message("this kernel has one optmem_max for all networks\n");
        skip();
    }
    logged[0] = '\0';
    for (unsigned i = 0; i < 3000; i++) {
        hosts[i] = mapped("127.9.0.0");
        hosts[i].s6_addr[14] = (uint8_t) (3 * i >> 8);
        hosts[i].s6_addr[15] = (uint8_t) (3 * i);
    }
    oc_admission_guard(admission, fd);
    oc_admission_admit(admission, hosts, 2000);
    assert_non_null(strstr(logged, "whole networks around them, /"));
    assert_true(reaches("127.9.0.3", "127.0.0.1", port));
    assert_false(reaches("127.9.200.1", "127.0.0.1", port));
    assert_int_equal(oc_admission_open_sockets(admission), 0);
    assert_true(set_memory(64));
    oc_admission_admit(admission, hosts + 2000, 1000);
    /* who is new now is shut out by the last filter that there was, and so are strangers */
    assert_int_equal(oc_admission_open_sockets(admission), 0);
    assert_non_null(strstr(logged, "those that came last cannot connect"));
    assert_true(reaches("127.9.0.3", "127.0.0.1", port));
    assert_false(reaches("127.9.33.0", "127.0.0.1", port));
    assert_false(reaches("127.9.200.1", "127.0.0.1", port));
    assert_false(oc_admission_is_complete(admission));
    assert_true(set_memory(20480));
    admit(admission, "127.9.0.3");
    assert_true(oc_admission_is_complete(admission));
    assert_true(reaches("127.9.33.0", "127.0.0.1", port));
    assert_false(reaches("127.9.200.1", "127.0.0.1", port));
    assert_true(set_memory(131072));
    oc_admission_close(admission);
    free(hosts);
    close(fd);
}

/* ---- a process that has no memory ---- */

static unsigned allocations, failing;

void *__real_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *memory, size_t size);

/* Of the next ones, that number fails; 0: none. */
static void fail_allocation(unsigned number)
{
    allocations = 0;
    failing = number;
}

static bool fails(void)
{
    return failing > 0 && ++allocations == failing;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

static oc_admission_t *admission_of(int fd, unsigned failing_guard, unsigned failing_admit)
{
    oc_admission_t *admission = oc_admission_open();

    assert_non_null(admission);
    logged[0] = '\0';
    fail_allocation(failing_guard);
    oc_admission_guard(admission, fd);
    fail_allocation(failing_admit);
    admit(admission, "127.7.0.1");
    fail_allocation(0);
    return admission;
}

/* Whatever fails, nobody gets in who should not; and who should does with the next attempt. */
static void expect_shut(unsigned failing_guard, unsigned failing_admit)
{
    uint16_t port;
    int fd = listen_on("127.0.0.1", &port);
    oc_admission_t *admission = admission_of(fd, failing_guard, failing_admit);

    assert_int_equal(oc_admission_open_sockets(admission), 0);
    /* what the kernel did not take at first was made good for by admitting somebody */
    assert_int_equal(oc_admission_is_complete(admission), 2 == failing_guard);
    assert_false(reaches("127.0.0.1", "127.0.0.1", port));
    assert_non_null(strstr(logged, "those that came last cannot connect"));
    admit(admission, "127.7.0.2");
    admit(admission, "127.7.0.1");
    if (1 != failing_guard) {
        assert_true(reaches("127.7.0.1", "127.0.0.1", port));
        assert_true(reaches("127.7.0.2", "127.0.0.1", port));
    }
    assert_int_equal(oc_admission_is_complete(admission), 1 != failing_guard);
    assert_false(reaches("127.0.0.1", "127.0.0.1", port));
    oc_admission_close(admission);
    close(fd);
}

/* Whoever there was no memory for is tried again with the next one. */
static void test_no_memory_for_host(void **state)
{
    oc_admission_t *admission = oc_admission_open();
    uint16_t port;
    int fd = listen_on("127.0.0.1", &port);

    (void) state;
    oc_admission_guard(admission, fd);
    fail_allocation(1);
    admit(admission, "127.7.0.1");
    fail_allocation(0);
    assert_false(oc_admission_is_complete(admission));
    assert_false(reaches("127.7.0.1", "127.0.0.1", port));
    admit(admission, "127.7.0.2");
    assert_true(oc_admission_is_complete(admission));
    assert_true(reaches("127.7.0.1", "127.0.0.1", port));
    oc_admission_close(admission);
    close(fd);
}

static void test_no_memory(void **state)
{
    (void) state;
    for (unsigned number = 1; number <= 2; number++) {
        expect_shut(number, 0);
    }
    for (unsigned number = 1; number <= 3; number++) {
        expect_shut(0, number);
    }
}

/* ---- a kernel that refuses ---- */

static void drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}, {0}};

    assert_int_equal(syscall(SYS_capset, &header, none), 0);
}

static void check_refusal(void)
{
    oc_admission_t *admission = oc_admission_open();
    uint16_t port;
    int fd = listen_on("127.0.0.1", &port), error = oc_admission_try();

    if (0 == error) {
        /* most kernels let everybody filter his own sockets */
        oc_admission_guard(admission, fd);
        assert_false(reaches("127.0.0.1", "127.0.0.1", port));
        return;
    }
    logged[0] = '\0';
    oc_admission_guard(admission, fd);
    oc_admission_guard(admission, listen_on("127.0.0.1", &port));
    assert_true(reaches("127.0.0.1", "127.0.0.1", port));
    assert_int_equal(oc_admission_open_sockets(admission), 2);
    admit(admission, "127.0.0.1");
    assert_true(reaches("127.0.0.1", "127.0.0.1", port));
    assert_non_null(strstr(logged, "open to every host that reaches it"));
    assert_non_null(strstr(logged, strerror(error)));
    assert_null(strstr(strchr(logged, '\n') + 1, "open to"));
}

/* Whoever was filtered once stays so: who counts open sockets can do so when they are guarded. */
static void check_late_refusal(void)
{
    oc_admission_t *admission = oc_admission_open();
    uint16_t port;
    int fd = listen_on("127.0.0.1", &port);

    oc_admission_guard(admission, fd);
    drop_capabilities();
    admit(admission, "127.8.0.1");
    assert_int_equal(oc_admission_open_sockets(admission), 0);
    assert_int_equal(oc_admission_is_complete(admission), 0 == oc_admission_try());
    assert_false(reaches("127.8.0.2", "127.0.0.1", port));
    assert_int_equal(reaches("127.8.0.1", "127.0.0.1", port), 0 == oc_admission_try());
}

static void test_refused(void **state)
{
    int status;
    pid_t pid = fork();

    (void) state;
    if (0 == pid) {
        check_late_refusal();
        check_refusal();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* first: UCX takes any address of an interface, and there is one so far */
        cmocka_unit_test(test_worker_v6),
        cmocka_unit_test(test_worker),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_same_moment),
        cmocka_unit_test(test_unrecognised),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_no_memory_for_host),
        cmocka_unit_test(test_refused),
    };

    if (!own_network_enter()) {
        return OWN_NETWORK_SKIPPED;
    }
    if (!add_address("fd77::1")) {
        printf("SKIP: cannot add IPv6 addresses: %s\n", strerror(errno));
        return OWN_NETWORK_SKIPPED;
    }
    if (0 != oc_admission_try()) {
        printf("SKIP: the kernel refuses to filter TCP%s\n", oc_admission_hint(EPERM));
        return OWN_NETWORK_SKIPPED;
    }
    oc_log_set_sink(keep_log);
    oc_log_set_level(OC_LOG_INFO);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
