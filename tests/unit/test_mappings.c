/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of mappings: who shares one, and what is tried after one has failed. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "base/log.h"
#include "ucx_backend/mappings.h"

#define LIMIT 1000u      /* what is longer cannot be registered */

static oc_mappings_t mappings;
static char memory[4 * LIMIT];
static const char *read_only;    /* cannot be registered, however short */
static unsigned maps, failures, unmaps, warnings;

/* The registry calls these in place of UCX's: whether UCX was told so, and nothing else. */
__attribute__((visibility("default"))) ucs_status_t
ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t *params, ucp_mem_h *handle);
__attribute__((visibility("default"))) ucs_status_t
ucp_mem_unmap(ucp_context_h context, ucp_mem_h handle);

ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t *params,
                         ucp_mem_h *handle)
{
    (void) context;
    if (params->length > LIMIT || params->address == read_only) {
        failures++;
        return UCS_ERR_IO_ERROR;
    }
    maps++;
    *handle = params->address;
    return UCS_OK;
}

ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h handle)
{
    (void) context;
    (void) handle;
    unmaps++;
    return UCS_OK;
}

static void count_warnings(oc_log_level_t level, const char *line)
{
    warnings += OC_LOG_WARN == level && NULL != strstr(line, "2000 bytes at once");
}

static int setup(void **state)
{
    (void) state;
    oc_mappings_open(&mappings, NULL, true);
    maps = failures = unmaps = warnings = 0;
    read_only = NULL;
    return 0;
}

/* As an operation does, that is over at once; whether there was one. */
static bool use(const char *address, size_t length)
{
    oc_mapping_t *mapping = oc_mappings_take(&mappings, address, length);

    oc_mappings_give(&mappings, mapping);
    return NULL != mapping;
}

/* Who shares memory shares its mapping, until the last has done with it. */
static void test_shared(void **state)
{
    oc_mapping_t *first, *other;

    (void) state;
    first = oc_mappings_take(&mappings, memory, 1000);
    assert_non_null(first);
    assert_ptr_equal(oc_mappings_take(&mappings, memory, 1000), first);
    assert_ptr_equal(oc_mappings_take(&mappings, memory + 500, 500), first);
    assert_int_equal(maps, 1);
    other = oc_mappings_take(&mappings, memory + 500, 501);
    assert_non_null(other);
    assert_ptr_not_equal(other, first);
    assert_int_equal(maps, 2);
    oc_mappings_give(&mappings, other);
    assert_int_equal(unmaps, 1);
    oc_mappings_give(&mappings, first);
    oc_mappings_give(&mappings, first);
    assert_int_equal(unmaps, 1);
    oc_mappings_give(&mappings, first);
    assert_int_equal(unmaps, 2);
    /* what has ended is mapped anew */
    assert_true(use(memory, 1000));
    assert_int_equal(maps, 3);
    oc_mappings_give(&mappings, NULL);
}

static void test_disabled(void **state)
{
    (void) state;
    oc_mappings_open(&mappings, NULL, false);
    assert_false(use(memory, 10));
    assert_int_equal(maps + failures, 0);
}

/* One that fails goes without, and shorter ones are mapped as before. */
static void test_too_long(void **state)
{
    oc_mapping_t *there = oc_mappings_take(&mappings, memory, 1000);

    (void) state;
    assert_non_null(there);
    assert_false(use(memory, 2000));
    assert_int_equal(failures, 1);
    assert_true(use(memory + 3000, 1000));
    assert_int_equal(maps, 2);
    /* not what is as long or longer; a shorter one may fail itself */
    assert_false(use(memory, 2000));
    assert_false(use(memory, 3000));
    assert_int_equal(failures, 1);
    assert_false(use(memory, 1500));
    assert_int_equal(failures, 2);
    assert_false(use(memory, 1500));
    assert_int_equal(failures, 2);
    /* what is there is found all the time */
    assert_ptr_equal(oc_mappings_take(&mappings, memory, 10), there);
    oc_mappings_give(&mappings, there);
    oc_mappings_give(&mappings, there);
    assert_int_equal(unmaps, maps);
}

/* The same vectors in each operation: what fails is tried less and less. */
static void test_bounded(void **state)
{
    unsigned left_out = 0, pause = 0, expected = 0;

    (void) state;
    for (unsigned i = 0; i < 100000; i++) {
        if (left_out++ == pause) {
            expected++;
            left_out = 0;
            pause = 0 == pause ? OC_MAPPINGS_PAUSE
                               : pause < OC_MAPPINGS_LONGEST_PAUSE ? 2 * pause : pause;
        }
        assert_false(use(memory, 2000));
        assert_int_equal(failures, expected);
        assert_true(use(memory, 500));
    }
    assert_int_equal(maps, 100000);
    assert_int_equal(unmaps, 100000);
    assert_in_range(failures, 10, 10 + 100000 / OC_MAPPINGS_LONGEST_PAUSE);
    assert_int_equal(warnings, 1);
}

/* Whether a length fails or a piece of memory is found out: others as long are mapped again. */
static void test_recovers(void **state)
{
    unsigned mapped = 0;

    (void) state;
    read_only = memory;
    assert_false(use(memory, 800));
    for (unsigned i = 0; i < OC_MAPPINGS_PAUSE; i++) {
        assert_false(use(memory + 1000, 800));
    }
    assert_int_equal(maps, 0);
    assert_true(use(memory + 1000, 800));
    assert_true(use(memory + 1000, 1000));
    assert_int_equal(failures, 1);
    /* it goes on failing beside them, which costs less and less */
    for (unsigned i = 0; i < 100000; i++) {
        assert_false(use(memory, 800));
        mapped += use(memory + 1000, 800);
    }
    assert_in_range(mapped, 20, 100000);
    assert_in_range(failures, 10, 10 + 200000 / OC_MAPPINGS_LONGEST_PAUSE);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_shared, setup),
        cmocka_unit_test_setup(test_disabled, setup),
        cmocka_unit_test_setup(test_too_long, setup),
        cmocka_unit_test_setup(test_bounded, setup),
        cmocka_unit_test_setup(test_recovers, setup),
    };

    oc_log_set_sink(count_warnings);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
