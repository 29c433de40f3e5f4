/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many ranks of the job are on this host, by the environment.
 * Test: quick 30
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "adapter/launcher.h"

static const char *const names[] = {"MPI_LOCALNRANKS", "SLURM_NODEID", "SLURM_PROCID",
                                    "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"};
enum { NUM_NAMES = sizeof(names) / sizeof(names[0]) };

/* Of rank 3 of 11; values in the order of names, NULL: unset. */
static int local_ranks(const char *const values[NUM_NAMES])
{
    for (int i = 0; i < NUM_NAMES; i++) {
        if (NULL == values[i]) {
            unsetenv(names[i]);
        } else {
            setenv(names[i], values[i], 1);
        }
    }
    return oc_launcher_local_ranks(3, 11);
}

#define EXPECT(number, ...) \
    assert_int_equal(number, local_ranks((const char *const[NUM_NAMES]) {__VA_ARGS__}))

static void test_nobody_says(void **state)
{
    (void) state;
    EXPECT(0, NULL);
    EXPECT(0, "");
    EXPECT(0, "0");
    EXPECT(0, "12"); /* of another job */
    EXPECT(0, "4x");
    EXPECT(0, "99999999999999999999");
}

static void test_hydra(void **state)
{
    (void) state;
    EXPECT(4, "4");
    EXPECT(11, "11");
    EXPECT(4, "4", "0", "3", "11", "7,4"); /* started by srun itself */
}

static void test_slurm(void **state)
{
    (void) state;
    EXPECT(4, NULL, "0", "3", "11", "4(x2),3");
    EXPECT(4, NULL, "1", "3", "11", "4(x2),3");
    EXPECT(3, NULL, "2", "3", "11", "4(x2),3");
    EXPECT(11, NULL, "0", "3", "11", "11");
    EXPECT(2, NULL, "3", "3", "11", "1,5,3,2");
}

/* A launcher's one process is a daemon of another launcher, or the program is started by nobody. */
static void test_another_step(void **state)
{
    (void) state;
    EXPECT(0, NULL, "0", "0", "11", "4(x2),3");
    EXPECT(0, NULL, "0", "3", "3", "1(x3)");
    EXPECT(0, NULL, NULL, "3", "11", "4(x2),3");
    EXPECT(0, NULL, "0", "3", "11", NULL);
}

static void test_malformed(void **state)
{
    static const char *const lists[] = {"", ",", "x", "4(x", "4(x2", "4(x0)", "4(x-1),5", "4;4", "-4", "4(x2)3",
                                        "0", "12", "99999999999999999999"};

    (void) state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        EXPECT(0, NULL, "2", "3", "11", lists[i]);
    }
    EXPECT(0, NULL, "-1", "3", "11", "4(x2),3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_says), cmocka_unit_test(test_hydra),
        cmocka_unit_test(test_slurm), cmocka_unit_test(test_another_step),
        cmocka_unit_test(test_malformed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
