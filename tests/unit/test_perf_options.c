/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of optcast-perf's command line and of what sizes mean for collectives. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tools/perf/layout.h"
#include "tools/perf/perf_options.h"

static char error[512];

/* Words separated by spaces. */
static oc_perf_command_t parse(const char *line, oc_perf_options_t *options)
{
    static char words[512];
    char *argv[32] = {"optcast-perf"}, *rest = words;
    int argc = 1;

    strcpy(words, line);
    error[0] = '\0';
    while (NULL != (argv[argc] = strsep(&rest, " "))) {
        argc += '\0' != argv[argc][0];
    }
    argv[argc] = NULL;
    return oc_perf_options_parse(argc, argv, options, error, sizeof(error));
}

static void test_defaults(void **state)
{
    oc_perf_options_t o;

    (void) state;
    assert_int_equal(parse("allreduce", &o), OC_PERF_RUN);
    assert_int_equal(o.collective, OC_PERF_ALLREDUCE);
    assert_int_equal(o.min, 1024);
    assert_int_equal(o.max, 16777216);
    assert_int_equal(o.factor, 2);
    assert_int_equal(o.iterations, 20);
    assert_int_equal(o.warmup, 5);
    assert_int_equal(o.type, OC_PERF_FLOAT);
    assert_int_equal(o.op, OC_PERF_SUM);
    assert_false(o.in_place || o.nonblocking || o.check || o.compare);
    assert_null(o.json);
    assert_null(o.csv);
    assert_null(o.interfaces);
}

static void test_everything(void **state)
{
    oc_perf_options_t o;

    (void) state;
    assert_int_equal(parse("-b 2K --max=3G -f 10 reduce -n 7 --warmup 0 -d uint16 -o lxor --root 3 "
                           "--in-place --nonblocking --check --compare --interface a,b:1 "
                           "--json J --csv C", &o), OC_PERF_RUN);
    assert_int_equal(o.collective, OC_PERF_REDUCE);
    assert_int_equal(o.min, 2048);
    assert_true(o.max == 3ull << 30);
    assert_int_equal(o.factor, 10);
    assert_int_equal(o.iterations, 7);
    assert_int_equal(o.warmup, 0);
    assert_int_equal(o.type, OC_PERF_UINT16);
    assert_int_equal(o.op, OC_PERF_LXOR);
    assert_int_equal(o.root, 3);
    assert_true(o.in_place && o.nonblocking && o.check && o.compare);
    assert_string_equal(o.interfaces, "a,b:1");
    assert_string_equal(o.json, "J");
    assert_string_equal(o.csv, "C");
    /* nothing stays from one time to the next */
    test_defaults(state);
}

/* One end moves the other, if that was not given. */
static void test_ends(void **state)
{
    oc_perf_options_t o;

    (void) state;
    assert_int_equal(parse("allreduce -b 64M", &o), OC_PERF_RUN);
    assert_int_equal(o.max, 64 << 20);
    assert_int_equal(parse("allreduce -e 4", &o), OC_PERF_RUN);
    assert_int_equal(o.min, 4);
    assert_int_equal(parse("barrier", &o), OC_PERF_RUN);
    assert_int_equal(o.max, 0);
    assert_int_equal(parse("bcast -d byte", &o), OC_PERF_RUN);
    assert_int_equal(o.op, OC_PERF_OP_END);
}

static void expect_name(const oc_perf_options_t *o, const char *expected)
{
    char name[64];

    oc_perf_options_name(o, name, sizeof(name));
    assert_string_equal(name, expected);
}

/* Two at once, of which each has options of its own. */
static void test_pairs(void **state)
{
    oc_perf_options_t o, of;

    (void) state;
    assert_int_equal(parse("allreduce", &o), OC_PERF_RUN);
    assert_false(o.pair || o.nonblocking);
    expect_name(&o, "allreduce");
    assert_int_equal(parse("pair", &o), OC_PERF_RUN);
    assert_true(o.pair && o.nonblocking && !o.same_communicator);
    expect_name(&o, "allgather+reduce_scatter_block");
    of = oc_perf_options_of(&o, 0);
    assert_int_equal(of.collective, OC_PERF_ALLGATHER);
    assert_int_equal(of.op, OC_PERF_OP_END);
    of = oc_perf_options_of(&o, 1);
    assert_int_equal(of.collective, OC_PERF_REDUCE_SCATTER_BLOCK);
    assert_int_equal(of.op, OC_PERF_SUM);
    assert_int_equal(parse("reduce_scatter_block+reduce_scatter_block --same-communicator", &o),
                     OC_PERF_RUN);
    assert_true(o.pair && o.same_communicator);
    expect_name(&o, "reduce_scatter_block+reduce_scatter_block");
    /* what one of them has, both may be given */
    assert_int_equal(parse("reduce_scatter+bcast --root 1 --first 30 -o max", &o), OC_PERF_RUN);
    assert_int_equal(parse("allgather+reduce_scatter --first 30", &o), OC_PERF_RUN);
    assert_int_equal(oc_perf_options_of(&o, 0).first, -1);
    assert_int_equal(oc_perf_options_of(&o, 1).first, 30);
    assert_int_equal(parse("allgather+bcast -d byte", &o), OC_PERF_RUN);
    assert_int_equal(o.op, OC_PERF_OP_END);
}

/* Several of one, all of which have the same options. */
static void test_streams(void **state)
{
    oc_perf_options_t o;

    (void) state;
    assert_int_equal(parse("allgather", &o), OC_PERF_RUN);
    assert_int_equal(o.stream, 1);
    assert_int_equal(parse("pair", &o), OC_PERF_RUN);
    assert_int_equal(o.stream, 1);
    assert_int_equal(parse("allgather --stream 2", &o), OC_PERF_RUN);
    assert_int_equal(o.stream, 2);
    assert_int_equal(parse("reduce_scatter --first 30 --stream=64 --in-place --check --compare --overlap 3", &o),
                     OC_PERF_RUN);
    assert_int_equal(o.stream, OC_PERF_MAX_STREAM);
    assert_true(o.nonblocking && !o.pair && !o.same_communicator);
    expect_name(&o, "reduce_scatter");
    for (int i = 0; i < OC_PERF_MAX_STREAM; i++) {
        assert_int_equal(oc_perf_options_of(&o, i).collective, OC_PERF_REDUCE_SCATTER);
        assert_int_equal(oc_perf_options_of(&o, i).first, 30);
    }
}

static void refused(const char *line, const char *part)
{
    oc_perf_options_t o;

    if (OC_PERF_WRONG != parse(line, &o)) {
        fail_msg("\"%s\" is accepted", line);
    }
    if (NULL == strstr(error, part) || NULL != strchr(error, '\n')) {
        fail_msg("\"%s\" gives \"%s\", without \"%s\"", line, error, part);
    }
}

static void test_refused(void **state)
{
    (void) state;
    refused("", "no collective");
    refused("Allreduce", "\"Allreduce\"");
    refused("allreduce 3", "\"3\"");
    refused("allreduce -q", "-q");
    refused("allreduce --quick", "--quick");
    refused("allreduce --check=yes", "--check=yes");
    refused("allreduce -b", "-b needs");
    refused("allreduce --csv", "--csv needs");
    refused("allreduce --csv=", "--csv");
    refused("allreduce -b 0", "\"0\"");
    refused("allreduce -b -1", "\"-1\"");
    refused("allreduce -e 1T", "\"1T\"");
    refused("allreduce -e 2000000000G", "\"2000000000G\"");
    refused("allreduce -b 2 -e 1", "--min 2 ");
    refused("allreduce -f 1", "from 2");
    refused("allreduce -n 0", "from 1");
    refused("allreduce -n 1000001", "1000000");
    refused("allreduce -w x", "\"x\"");
    refused("allreduce -d double_int", "\"double_int\"");
    refused("allreduce -o maxloc", "\"maxloc\"");
    refused("allreduce -o bxor", "bxor is not");
    refused("allreduce -o lor -d double", "lor is not");
    refused("allreduce -d char", "char has no operations");
    refused("bcast -o sum", "leave out --op");
    refused("bcast --in-place", "leave out --in-place");
    refused("allgather --root 0", "leave out --root");
    refused("bcast --root -1", "\"-1\"");
    refused("reduce_scatter_block --first 50", "no unequal blocks: leave out --first");
    refused("reduce_scatter --first 101", "\"101\"");
    refused("reduce_scatter --first x", "\"x\"");
    refused("allreduce --overlap 3600001", "3600000");
    refused("allreduce --compute", "--compute is of the time outside MPI");
    refused("allreduce --test 100", "give --overlap");
    refused("allreduce --overlap 3 --test 0", "\"0\"");
    refused("barrier -e 8", "leave out --min");
    refused("barrier --check", "leave out --check");
    refused("barrier --in-place", "leave out --in-place");
    refused("bcast --json a --csv a", "same file");
    refused("allreduce+", "\"\"");
    refused("+bcast", "\"\"");
    refused("allreduce+bcast+reduce", "\"bcast+reduce\"");
    refused("a_name_longer_than_that_of_any_collective+bcast", "\"a_name_longer");
    refused("allreduce+barrier", "barrier has no data");
    refused("allreduce+bcast --in-place", "leave out --in-place");
    refused("allgather+bcast -o sum", "allgather+bcast has no operation");
    refused("allgather+reduce -d char", "char has no operations");
    refused("bcast --same-communicator", "--same-communicator: bcast is only one");
    refused("bcast --same-communicator --stream 3", "--same-communicator: bcast is only one");
    refused("allgather --stream 1", "\"1\" is not a value of --stream: give a number from 2 to 64");
    refused("allgather --stream 65", "\"65\"");
    refused("allgather --stream 0", "\"0\"");
    refused("allgather --stream -2", "\"-2\"");
    refused("allgather --stream many", "\"many\"");
    refused("allgather --stream", "--stream needs");
    refused("pair --stream 20", "--stream 20: allgather+reduce_scatter_block are two collectives");
    refused("bcast+reduce --same-communicator --stream 2", "--stream 2: bcast+reduce are two");
    refused("barrier --stream 3", "--stream 3: barrier has no data");
}

static void test_answers(void **state)
{
    oc_perf_options_t o;

    (void) state;
    assert_int_equal(parse("--help", &o), OC_PERF_HELP);
    assert_int_equal(parse("allreduce --version", &o), OC_PERF_VERSION);
}

static oc_perf_layout_t layout(const char *line, uint64_t size, unsigned rank, unsigned ranks)
{
    oc_perf_options_t o;

    assert_int_equal(parse(line, &o), OC_PERF_RUN);
    return oc_perf_layout(&o, size, rank, ranks);
}

static void check(oc_perf_layout_t l, uint64_t total, uint64_t count, uint64_t send,
                  uint64_t receive, uint64_t input, uint64_t output)
{
    assert_int_equal(l.total, total);
    assert_int_equal(l.count, count);
    assert_int_equal(l.send, send);
    assert_int_equal(l.receive, receive);
    assert_int_equal(l.input, input);
    assert_int_equal(l.output, output);
    assert_true(l.input_in_receive ? 0 == l.send && l.input_at + l.input <= l.receive
                                   : l.input_at + l.input <= l.send);
    assert_true(l.output <= l.receive);
}

static void test_layouts(void **state)
{
    oc_perf_layout_t l;

    (void) state;
    check(layout("allreduce", 403, 1, 4), 100, 100, 100, 100, 100, 100);
    check(layout("allreduce --in-place", 403, 1, 4), 100, 100, 0, 100, 100, 100);
    check(layout("allreduce", 1, 1, 4), 1, 1, 1, 1, 1, 1);
    check(layout("allgather", 412, 1, 4), 100, 25, 25, 100, 25, 100);
    check(layout("allgather", 1, 1, 4), 4, 1, 1, 4, 1, 4);
    l = layout("allgather --in-place", 400, 3, 4);
    check(l, 100, 25, 0, 100, 25, 100);
    assert_int_equal(l.input_at, 75);
    l = layout("allgatherv", 412, 2, 4);
    check(l, 103, 26, 26, 103, 26, 103);
    assert_int_equal(l.input_first, 52);
    check(layout("allgatherv", 412, 3, 4), 103, 26, 25, 103, 25, 103);
    check(layout("bcast --root 2", 400, 2, 4), 100, 100, 0, 100, 100, 100);
    check(layout("bcast --root 2", 400, 1, 4), 100, 100, 0, 100, 0, 100);
    check(layout("reduce", 400, 0, 4), 100, 100, 100, 100, 100, 100);
    check(layout("reduce --in-place", 400, 0, 4), 100, 100, 0, 100, 100, 100);
    check(layout("reduce --in-place", 400, 1, 4), 100, 100, 100, 0, 100, 0);
    l = layout("reduce_scatter_block", 412, 2, 4);
    check(l, 100, 25, 100, 25, 100, 25);
    assert_int_equal(l.output_first, 50);
    check(layout("reduce_scatter_block --in-place", 412, 2, 4), 100, 25, 0, 100, 100, 25);
    l = layout("reduce_scatter", 412, 2, 4);
    check(l, 103, 26, 103, 26, 103, 26);
    assert_int_equal(l.output_first, 52);
    l = layout("reduce_scatter --first 50", 412, 0, 4);
    check(l, 103, 51, 103, 51, 103, 51);
    l = layout("reduce_scatter --first 50 --in-place", 412, 1, 4);
    check(l, 103, 51, 0, 103, 103, 18);
    assert_int_equal(l.output_first, 51);
    /* a rank that gets nothing, and one that gets all */
    check(layout("reduce_scatter --first 0", 400, 0, 4), 100, 34, 100, 0, 100, 0);
    check(layout("reduce_scatter --first 100", 400, 3, 4), 100, 100, 100, 0, 100, 0);
    check(layout("allgatherv --first 10", 400, 0, 1), 100, 100, 100, 100, 100, 100);
    check(layout("barrier", 0, 2, 4), 0, 0, 0, 0, 0, 0);
    /* both of a pair have the same size */
    check(layout("allreduce+allgather", 412, 1, 4), 100, 100, 100, 100, 100, 100);
    check(layout("allgather+allreduce", 412, 1, 4), 100, 25, 25, 100, 25, 100);
}

static void expect_blocks(const oc_perf_options_t *o, uint64_t total, unsigned ranks)
{
    uint64_t next = 0;

    for (unsigned rank = 0; rank < ranks; rank++) {
        assert_int_equal(oc_perf_block_first(o, total, rank, ranks), next);
        next += oc_perf_block_count(o, total, rank, ranks);
    }
    assert_int_equal(next, total);
}

static void test_blocks(void **state)
{
    oc_perf_options_t o;

    (void) state;
    assert_int_equal(parse("reduce_scatter", &o), OC_PERF_RUN);
    for (int percent = -1; percent <= 100; percent++) {
        o.first = percent;
        for (unsigned ranks = 1; ranks < 12; ranks++) {
            for (uint64_t total = 0; total < 40; total++) {
                expect_blocks(&o, total, ranks);
            }
            expect_blocks(&o, UINT64_MAX / 101, ranks);
        }
    }
}

static void test_bus_factors(void **state)
{
    (void) state;
    assert_true(1.5 == oc_perf_bus_factor(OC_PERF_ALLREDUCE, 4));
    assert_true(0.75 == oc_perf_bus_factor(OC_PERF_ALLGATHER, 4));
    assert_true(0.75 == oc_perf_bus_factor(OC_PERF_ALLGATHERV, 4));
    assert_true(0.75 == oc_perf_bus_factor(OC_PERF_REDUCE_SCATTER, 4));
    assert_true(0.75 == oc_perf_bus_factor(OC_PERF_REDUCE_SCATTER_BLOCK, 4));
    assert_true(1 == oc_perf_bus_factor(OC_PERF_BCAST, 4));
    assert_true(1 == oc_perf_bus_factor(OC_PERF_REDUCE, 4));
    assert_true(0 == oc_perf_bus_factor(OC_PERF_BARRIER, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_everything),
        cmocka_unit_test(test_ends),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_answers),  cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_blocks),   cmocka_unit_test(test_bus_factors),
        cmocka_unit_test(test_pairs),    cmocka_unit_test(test_streams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
