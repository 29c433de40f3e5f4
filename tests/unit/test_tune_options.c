/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of optcast-tune's command line. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tools/tune/tune_options.h"

static oc_tune_options_t options;
static char error[512];

/* Words separated by spaces. */
static oc_perf_command_t parse(const char *line)
{
    static char words[512];
    char *argv[32] = {"optcast-tune"}, *rest = words;
    int argc = 1;

    strcpy(words, line);
    error[0] = '\0';
    while (NULL != (argv[argc] = strsep(&rest, " "))) {
        argc += '\0' != argv[argc][0];
    }
    argv[argc] = NULL;
    return oc_tune_options_parse(argc, argv, &options, error, sizeof(error));
}

static void test_defaults(void **state)
{
    (void) state;
    assert_int_equal(parse(""), OC_PERF_RUN);
    assert_null(options.output);
    assert_false(options.add);
    assert_int_equal(options.min, 8);
    assert_int_equal(options.max, 64 << 20);
    assert_int_equal(options.rounds, 5);
    assert_int_equal(options.type, OC_PERF_FLOAT);
    assert_int_equal(options.collective, OC_PERF_ALLREDUCE);
    assert_int_equal(options.ruled, OC_RULED_ALLREDUCE);
}

static void test_collectives(void **state)
{
    (void) state;
    assert_int_equal(parse("-c reduce"), OC_PERF_RUN);
    assert_int_equal(options.collective, OC_PERF_REDUCE);
    assert_int_equal(options.ruled, OC_RULED_REDUCE);
    assert_int_equal(parse("--collective reduce_scatter"), OC_PERF_RUN);
    assert_int_equal(options.collective, OC_PERF_REDUCE_SCATTER);
    assert_int_equal(options.ruled, OC_RULED_REDUCE_SCATTER);
    assert_int_equal(parse("--collective=reduce_scatter_block -b 1M"), OC_PERF_RUN);
    assert_int_equal(options.collective, OC_PERF_REDUCE_SCATTER_BLOCK);
    assert_int_equal(options.ruled, OC_RULED_REDUCE_SCATTER_BLOCK);
    assert_int_equal(parse("-c barrier -r 7"), OC_PERF_RUN);
    assert_int_equal(options.collective, OC_PERF_BARRIER);
    assert_int_equal(options.ruled, OC_RULED_BARRIER);
}

static void test_everything(void **state)
{
    (void) state;
    assert_int_equal(parse("-o F -a -b 1K -e 2K -r 7 -d uint16"), OC_PERF_RUN);
    assert_string_equal(options.output, "F");
    assert_true(options.add);
    assert_int_equal(options.min, 1024);
    assert_int_equal(options.max, 2048);
    assert_int_equal(options.rounds, 7);
    assert_int_equal(options.type, OC_PERF_UINT16);
    assert_int_equal(parse("--add --output=G --min 1 --max 1G --rounds 99 --type double"),
                     OC_PERF_RUN);
    assert_string_equal(options.output, "G");
    assert_int_equal(options.type, OC_PERF_DOUBLE);
    assert_int_equal(parse("--rounds 5 --help"), OC_PERF_HELP);
    assert_int_equal(parse("--version"), OC_PERF_VERSION);
}

static void refused(const char *line, const char *message)
{
    assert_int_equal(parse(line), OC_PERF_WRONG);
    if (0 != strncmp(error, message, strlen(message))) {
        fail_msg("%s: \"%s\" instead of \"%s\"", line, error, message);
    }
}

static void test_mistakes(void **state)
{
    (void) state;
    refused("--bogus", "there is no option --bogus, or it takes no value: see optcast-tune --help");
    refused("-x", "there is no option -x: see optcast-tune --help");
    refused("--min", "--min needs a value: see optcast-tune --help");
    refused("allreduce", "unexpected argument \"allreduce\"");
    refused("--min 0", "\"0\" is not a size for --min");
    refused("--max 4KB", "\"4KB\" is not a size for --max");
    refused("--min 4K --max 4K", "--min 4096 and --max 4096: one size proves nothing");
    refused("--min 4K --max 8191", "--min 4096 and --max 8191: one size proves nothing");
    refused("--rounds 4", "\"4\" is not a value of --rounds: give a number from 5 to 99");
    refused("--rounds 100", "\"100\" is not a value of --rounds");
    refused("--type byte", "\"byte\" is not a type that can be added up");
    refused("--type int", "\"int\" is not a type that can be added up");
    refused("--output=", "\"\" is not a file for --output");
    refused("-c bcast", "\"bcast\" is not a collective that rules speak of: give allreduce, ");
    refused("-c barrier -b 8", "--min is not for barrier, which has no elements: leave it out");
    refused("-e 8M -c barrier", "--max is not for barrier");
    refused("-c barrier -d float", "--type is not for barrier");
    refused("--add", "--add is for a file: name it with --output");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_collectives),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_mistakes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
