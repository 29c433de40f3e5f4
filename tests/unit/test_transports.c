/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of what is read out of UCX's description of an endpoint. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "ucx_backend/ucx_transports.h"

/* As UCX prints it, around the lines that tell the lanes. */
static oc_ucx_transports_t transports_in(const char *lanes)
{
    char text[2048];

    snprintf(text, sizeof(text), "#\n# UCP endpoint \n#\n#               peer: h1:lane[0]:42\n%s#\n"
             "#                tag_send: 0..<egr/short>..8185..<egr/zcopy>..20553..<rndv>..(inf)\n"
             "#\n#                  rma_bw: mds rndv_rkey_size 9\n#\n", lanes);
    return oc_ucx_transports_in(text);
}

static bool tcp_in(const char *lanes)
{
    return transports_in(lanes).tcp;
}

static bool rdma_in(const char *lanes)
{
    return transports_in(lanes).rdma;
}

#define LINE "#                 "

static void test_tcp(void **state)
{
    (void) state;
    assert_true(tcp_in(LINE "lane[0]:  1:tcp/lo.0 md[1]  -> md[1]/tcp/sysdev[255] am wireup\n"));
    assert_true(tcp_in(LINE "lane[0]:  0:tcp/eth0.0 md[0]  -> md[0]/tcp/sysdev[255] am am_bw#0\n"
                       LINE "lane[1]: 12:tcp/eth1.0 md[0]  -> md[0]/tcp/sysdev[255] rma_bw#1\n"));
}

static void test_others(void **state)
{
    (void) state;
    assert_false(tcp_in(LINE "lane[0]:  2:rc_mlx5/mlx5_0:1.0 md[2] -> md[2]/ib/sysdev[0] am\n"));
    assert_false(tcp_in(LINE "lane[0]:  3:posix/memory.0 md[3]  -> md[3]/posix/sysdev[255] am\n"
                        LINE "lane[1]:  5:cma/memory.0 md[4]  -> md[4]/cma/sysdev[255] rma\n"));
    assert_false(tcp_in(LINE "lane[0]:  0:tcp/eth0.0 md[0]  -> md[0]/tcp/sysdev[255] am\n"
                        LINE "lane[1]:  2:rc_verbs/rx1:1.0 md[2] -> md[2]/ib/sysdev[0] rma\n"));
    assert_false(tcp_in(LINE "lane[0]:  0:tcpx/eth0.0 md[0]  -> md[0]/tcpx/sysdev[255] am\n"));
}

static void test_rdma(void **state)
{
    (void) state;
    assert_true(rdma_in(LINE "lane[0]:  2:rc_mlx5/mlx5_0:1.0 md[2] -> md[2]/ib/sysdev[0] am\n"));
    assert_true(rdma_in(LINE "lane[0]:  0:tcp/eth0.0 md[0]  -> md[0]/tcp/sysdev[255] am\n"
                        LINE "lane[1]:  2:rc_verbs/rx1:1.0 md[2] -> md[2]/ib/sysdev[0] rma\n"));
    assert_true(rdma_in(LINE "lane[0]:  2:dc_mlx5/mlx5_0:1.0 md[2] -> md[2]/ib/sysdev[0] am\n"));
    assert_true(rdma_in(LINE "lane[0]:  2:ud_verbs/mlx5_0:1.0 md[2] -> md[2]/ib/sysdev[0] am\n"));
    assert_false(rdma_in(LINE "lane[0]:  1:tcp/rc_eth.0 md[1]  -> md[1]/tcp/sysdev[255] am\n"));
    assert_false(rdma_in(LINE "lane[0]:  3:posix/memory.0 md[3]  -> md[3]/posix/sysdev[255] am\n"
                         LINE "lane[1]:  5:cma/memory.0 md[4]  -> md[4]/cma/sysdev[255] rma\n"));
    assert_false(rdma_in(""));
}

/* What is not understood is not TCP. */
static void test_nonsense(void **state)
{
    (void) state;
    assert_false(tcp_in(""));
    assert_false(tcp_in(LINE "lane[0]: tcp/eth0\n"));
    assert_false(tcp_in(LINE "lane[0] tcp\n"));
    assert_false(tcp_in(LINE "tcp/eth0.0\n"));
    assert_false(tcp_in(LINE "lane[0]:  0:tcp/eth0.0 md[0]\n" LINE "lane[1]: cm <unknown>\n"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tcp),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_rdma),
        cmocka_unit_test(test_nonsense),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
