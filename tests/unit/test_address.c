/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of addresses as text, lists of servers, and sockets on this host. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "net/address.h"
#include "net/socket.h"

static void expect_host(const char *text, const char *host, unsigned port)
{
    oc_host_port_t got;
    char error[256] = "";

    if (OC_OK != oc_host_port_parse(text, &got, error, sizeof(error))) {
        fail_msg("\"%s\" was refused: %s", text, error);
    }
    assert_string_equal(got.host, host);
    assert_int_equal(got.port, port);
}

static void expect_no_host(const char *text)
{
    oc_host_port_t got;
    char error[256] = "", quoted[80];

    if (OC_OK == oc_host_port_parse(text, &got, error, sizeof(error))) {
        fail_msg("\"%s\" was taken for host \"%s\", port %u", text, got.host, got.port);
    }
    snprintf(quoted, sizeof(quoted), "\"%.50s", text);
    assert_non_null(strstr(error, quoted));
}

static void test_hosts(void **state)
{
    (void) state;
    expect_host("node1", "node1", OC_DEFAULT_PORT);
    expect_host("node1.cluster-2.example_x", "node1.cluster-2.example_x", OC_DEFAULT_PORT);
    expect_host("node1:1", "node1", 1);
    expect_host("node1:65535", "node1", 65535);
    expect_host("127.0.0.1:0", "127.0.0.1", 0);
    expect_host("10.0.0.1", "10.0.0.1", OC_DEFAULT_PORT);
    expect_host("::1", "::1", OC_DEFAULT_PORT);
    expect_host("::", "::", OC_DEFAULT_PORT);
    expect_host("fe80::1%eth0", "fe80::1%eth0", OC_DEFAULT_PORT);
    expect_host("[::1]", "::1", OC_DEFAULT_PORT);
    expect_host("[::1]:77", "::1", 77);
    expect_host("[fe80::1%eth0]:8918", "fe80::1%eth0", 8918);
    expect_host("[10.0.0.1]:5", "10.0.0.1", 5);
}

static void test_bad_hosts(void **state)
{
    static const char *const bad[] = {
        "", ":", ":80", "host:", "host:x", "host:-1", "host:+1", "host: 1", "host:1 ", "host:65536",
        "host:99999999999999999999999", "host:80x", "[::1", "[::1]:", "[::1]:x", "[::1]x",
        "[]", "[]:80", "ho st", "host/8", "a,b", "host\n", "[::1]:1:2", "]:1"};

    (void) state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        expect_no_host(bad[i]);
    }
}

/* A port needs its colon behind the bracket too. */
static void test_bracket_without_colon(void **state)
{
    (void) state;
    expect_no_host("[::1]80");
}

static void test_long_host(void **state)
{
    char text[OC_HOST_SIZE + 16];

    (void) state;
    memset(text, 'h', sizeof(text));
    text[OC_HOST_SIZE - 1] = '\0';
    expect_host(text, text, OC_DEFAULT_PORT);
    text[OC_HOST_SIZE - 1] = 'h';
    text[OC_HOST_SIZE] = '\0';
    expect_no_host(text);
}

/* A sentence that does not fit is cut, never written beyond its room. */
static void test_short_error(void **state)
{
    oc_host_port_t got;
    char error[16];

    (void) state;
    memset(error, '#', sizeof(error));
    assert_int_equal(oc_host_port_parse("what a host", &got, error, 8), OC_ERR_INVALID);
    assert_int_equal(error[7], '\0');
    assert_int_equal(error[8], '#');
}

static void test_list(void **state)
{
    oc_server_list_t list;
    char error[256];

    (void) state;
    assert_int_equal(oc_server_list_parse("a,b:7,[::1]:8,::2", &list, error, sizeof(error)), OC_OK);
    assert_int_equal(list.count, 4);
    assert_string_equal(list.servers[0].name.host, "a");
    assert_int_equal(list.servers[1].name.port, 7);
    assert_string_equal(list.servers[2].name.host, "::1");
    assert_string_equal(list.servers[3].name.host, "::2");
    assert_int_equal(list.servers[3].name.port, OC_DEFAULT_PORT);
    assert_int_equal(list.servers[3].weight, OC_WEIGHT_ONE);
    oc_server_list_free(&list);
    assert_int_equal(list.count, 0);
    assert_null(list.servers);
    oc_server_list_free(&list);
}

static void expect_no_list(const char *text, const char *part, oc_status_t expected)
{
    oc_server_list_t list;
    char error[512] = "";

    assert_int_equal(oc_server_list_parse(text, &list, error, sizeof(error)), expected);
    assert_non_null(strstr(error, part));
    assert_int_equal(list.count, 0);
    assert_null(list.servers);
}

static void test_bad_lists(void **state)
{
    (void) state;
    expect_no_list("", "\"\"", OC_ERR_INVALID);
    expect_no_list(",", "\"\"", OC_ERR_INVALID);
    expect_no_list("a,", "\"\"", OC_ERR_INVALID);
    expect_no_list("a,,b", "\"\"", OC_ERR_INVALID);
    expect_no_list("a,b:x", "\"b:x\"", OC_ERR_INVALID);
    expect_no_list("file:", "\"\"", OC_ERR_INVALID);
    expect_no_list("file:/no/such/file", "/no/such/file", OC_ERR_INVALID);
}

/* "h:1,h:2,…" */
static void make_list(char *text, size_t size, int count)
{
    size_t used = 0;

    for (int i = 1; i <= count; i++) {
        used += (size_t) snprintf(text + used, size - used, "%sh:%d", i > 1 ? "," : "", i);
    }
}

static void test_list_limit(void **state)
{
    char text[8 * (OC_MAX_SERVERS + 1)], error[256];
    oc_server_list_t list;

    (void) state;
    make_list(text, sizeof(text), OC_MAX_SERVERS);
    assert_int_equal(oc_server_list_parse(text, &list, error, sizeof(error)), OC_OK);
    assert_int_equal(list.count, OC_MAX_SERVERS);
    oc_server_list_free(&list);
    make_list(text, sizeof(text), OC_MAX_SERVERS + 1);
    expect_no_list(text, "256", OC_ERR_LIMIT);
}

static void test_list_twice(void **state)
{
    (void) state;
    expect_no_list("a,b,a", "\"a\" is in the list twice", OC_ERR_INVALID);
    expect_no_list("a,a:8918", "twice", OC_ERR_INVALID);
}

static char file_path[64];

static void write_file(const char *content)
{
    int fd;

    snprintf(file_path, sizeof(file_path), "/tmp/optcast_test_XXXXXX");
    fd = mkstemp(file_path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    close(fd);
}

static oc_status_t parse_file(oc_server_list_t *list, char *error, size_t size)
{
    char text[128];
    oc_status_t status;

    snprintf(text, sizeof(text), "file:%s", file_path);
    status = oc_server_list_parse(text, list, error, size);
    unlink(file_path);
    return status;
}

static void test_file(void **state)
{
    oc_server_list_t list;
    char error[256] = "";

    (void) state;
    write_file("# the servers\n\n  node1  \n\tnode2:7\t# with a comment\r\n#node3\n\r\n"
               "[::1]:9#\nlast");
    assert_int_equal(parse_file(&list, error, sizeof(error)), OC_OK);
    assert_int_equal(list.count, 4);
    assert_string_equal(list.servers[0].name.host, "node1");
    assert_string_equal(list.servers[1].name.host, "node2");
    assert_int_equal(list.servers[1].name.port, 7);
    assert_string_equal(list.servers[2].name.host, "::1");
    assert_int_equal(list.servers[2].name.port, 9);
    assert_string_equal(list.servers[3].name.host, "last");
    oc_server_list_free(&list);
}

static void test_bad_files(void **state)
{
    oc_server_list_t list;
    char error[256] = "";

    (void) state;
    write_file("# nobody\n\n");
    assert_int_equal(parse_file(&list, error, sizeof(error)), OC_ERR_INVALID);
    assert_non_null(strstr(error, file_path));
    write_file("node1\nnode2 slots=4\n");
    assert_int_equal(parse_file(&list, error, sizeof(error)), OC_ERR_INVALID);
    assert_non_null(strstr(error, "line 2"));
    assert_non_null(strstr(error, "\"slots=4\""));
    assert_null(list.servers);
}

static void test_weights(void **state)
{
    static const uint32_t expected[] = {OC_WEIGHT_ONE, 2 * OC_WEIGHT_ONE, 500, 1, 1000000, 1250,
                                        2500, 3000};
    oc_server_list_t list;
    char error[256] = "";

    (void) state;
    write_file("a\nb weight=2\nc:7 \t weight=0.5  # slow\nd weight=0.001\ne weight=1000\n"
               "f weight=1.25\ng weight=02.50\nh\tweight=3.\n");
    assert_int_equal(parse_file(&list, error, sizeof(error)), OC_OK);
    assert_int_equal(list.count, 8);
    for (unsigned i = 0; i < list.count; i++) {
        assert_int_equal(list.servers[i].weight, expected[i]);
    }
    assert_string_equal(list.servers[2].name.host, "c");
    assert_int_equal(list.servers[2].name.port, 7);
    oc_server_list_free(&list);
}

/* The error names the line, the value and what is needed. */
static void test_bad_weights(void **state)
{
    static const char *const bad[] = {
        "weight=", "weight=0", "weight=-1", "weight=abc", "weight=1000.001", "weight=0.0005",
        "weight=1e3", "weight=1.2.3", "weight=.", "weight=2 3", "weight=99999999999999999999",
        "weight=nan", "Weight=1", "weight 2", "weight=1.0000"};
    char content[128], error[512];
    oc_server_list_t list;

    (void) state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(content, sizeof(content), "# weights\nnode1\nnode2 %s\n", bad[i]);
        write_file(content);
        error[0] = '\0';
        assert_int_equal(parse_file(&list, error, sizeof(error)), OC_ERR_INVALID);
        snprintf(content, sizeof(content), "\"%s\"", bad[i]);
        assert_non_null(strstr(error, content));
        assert_non_null(strstr(error, "line 3 of the server file"));
        assert_non_null(strstr(error, "is needed"));
    }
    /* only files have weights */
    expect_no_list("a weight=2", "\"a weight=2\"", OC_ERR_INVALID);
}

/* However long a comment is, nothing of it is a server. */
static void test_file_with_long_comment(void **state)
{
    oc_server_list_t list;
    char content[2048] = "# ", error[256] = "";

    (void) state;
    memset(content + 2, 'x', 1000);
    strcpy(content + 1002, "\nnode1\n");
    write_file(content);
    assert_int_equal(parse_file(&list, error, sizeof(error)), OC_OK);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.servers[0].name.host, "node1");
    oc_server_list_free(&list);
}

/* A line is one server or an error, never two servers. */
static void test_file_with_long_line(void **state)
{
    oc_server_list_t list;
    char content[2048], error[256] = "";
    oc_status_t status;

    (void) state;
    memset(content, ' ', 400);
    strcpy(content, "node1");
    content[5] = ' ';
    strcpy(content + 400, "node2\n");
    write_file(content);
    status = parse_file(&list, error, sizeof(error));
    oc_server_list_free(&list);
    assert_int_equal(status, OC_ERR_INVALID);
}

static oc_sockaddr_t resolved(const char *host, uint16_t port)
{
    oc_host_port_t name = {.port = port};
    oc_sockaddr_t address;
    char error[256] = "";

    snprintf(name.host, sizeof(name.host), "%s", host);
    assert_int_equal(oc_resolve(&name, &address, error, sizeof(error)), OC_OK);
    return address;
}

static void test_resolve_and_text(void **state)
{
    oc_sockaddr_t address = resolved("127.0.0.1", 8918);
    oc_host_port_t name = {.host = "no such host", .port = 1};
    char text[80], error[256] = "";

    (void) state;
    oc_sockaddr_text(&address, text, sizeof(text));
    assert_string_equal(text, "127.0.0.1:8918");
    address = resolved("::1", 65535);
    oc_sockaddr_text(&address, text, sizeof(text));
    assert_string_equal(text, "[::1]:65535");
    assert_int_equal(oc_resolve(&name, &address, error, sizeof(error)), OC_ERR_UNREACHABLE);
    assert_non_null(strstr(error, "no such host"));
}

static void test_interface(void **state)
{
    oc_sockaddr_t address = resolved("127.0.0.1", 1);
    char name[IF_NAMESIZE] = "";

    (void) state;
    assert_true(oc_interface_of(&address, name, sizeof(name)));
    assert_string_equal(name, "lo");
    address = resolved("0.0.0.0", 1);
    assert_false(oc_interface_of(&address, name, sizeof(name)));
    address = resolved("::", 1);
    assert_false(oc_interface_of(&address, name, sizeof(name)));
    address = resolved("192.0.2.1", 1);
    assert_false(oc_interface_of(&address, name, sizeof(name)));
}

static void test_toward(void **state)
{
    oc_sockaddr_t address = resolved("127.9.8.7", 1);
    char name[64] = "";

    (void) state;
    assert_true(oc_interface_toward(&address, name, sizeof(name)));
    assert_string_equal(name, "lo");
    assert_true(oc_loopback_interface(name, sizeof(name)));
    assert_string_equal(name, "lo");
    address = resolved("::1", 1);
    assert_true(oc_interface_toward(&address, name, sizeof(name)));
    assert_string_equal(name, "lo");
    address = resolved("ff00::", 1);
    address.address.ss_family = AF_UNIX;
    assert_false(oc_interface_toward(&address, name, sizeof(name)));
}

/* Loopback leads nowhere; interfaces that are named come first. */
static void test_origins(void **state)
{
    struct in6_addr addresses[8], again[8];
    unsigned count = oc_origin_addresses(NULL, addresses, 8);

    (void) state;
    assert_in_range(count, 0, 8);
    for (unsigned i = 0; i < count; i++) {
        assert_false(IN6_IS_ADDR_LINKLOCAL(&addresses[i]));
        assert_false(IN6_IS_ADDR_LOOPBACK(&addresses[i]));
        assert_false(IN6_IS_ADDR_V4MAPPED(&addresses[i]) && 127 == addresses[i].s6_addr[12]);
    }
    assert_int_equal(oc_origin_addresses("lo,mlx5_0:1", again, 8), count);
    assert_memory_equal(addresses, again, count * sizeof(again[0]));
    assert_int_equal(oc_origin_addresses(NULL, addresses, 0), 0);
}

static void test_own_addresses(void **state)
{
    struct in6_addr addresses[8];
    unsigned count = oc_own_addresses(addresses, 8);

    (void) state;
    assert_in_range(count, 1, 8);
    for (unsigned i = 0; i < count; i++) {
        assert_false(IN6_IS_ADDR_UNSPECIFIED(&addresses[i]));
        assert_false(IN6_IS_ADDR_LINKLOCAL(&addresses[i]));
    }
    assert_int_equal(oc_own_addresses(addresses, 0), 0);
    assert_int_equal(oc_own_addresses(addresses, 1), 1);
}

static void test_listen_and_connect(void **state)
{
    oc_sockaddr_t address = resolved("127.0.0.1", 0), second;
    struct pollfd event = {.events = POLLIN};
    char error[256] = "";
    int client;

    (void) state;
    event.fd = oc_listen(&address, error, sizeof(error));
    assert_true(event.fd >= 0);
    assert_int_not_equal(((struct sockaddr_in *) &address.address)->sin_port, 0);
    second = address;
    assert_int_equal(oc_listen(&second, error, sizeof(error)), -1);
    assert_non_null(strstr(error, "127.0.0.1:"));
    client = oc_connect_start(&address);
    assert_true(client >= 0);
    assert_int_equal(poll(&event, 1, 2000), 1);
    close(client);
    close(event.fd);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_bad_hosts),
        cmocka_unit_test(test_bracket_without_colon),
        cmocka_unit_test(test_long_host),
        cmocka_unit_test(test_short_error),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_bad_lists),
        cmocka_unit_test(test_list_limit),
        cmocka_unit_test(test_list_twice),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_bad_weights),
        cmocka_unit_test(test_file_with_long_comment),
        cmocka_unit_test(test_file_with_long_line),
        cmocka_unit_test(test_resolve_and_text),
        cmocka_unit_test(test_interface),
        cmocka_unit_test(test_toward),
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_own_addresses),
        cmocka_unit_test(test_listen_and_connect),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
