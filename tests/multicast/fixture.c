/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the configuration and the crew of the test that runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "tests/multicast/fixture.h"

crew_config_t config;
crew_t *crew;

int set_up_crew(void **state)
{
    (void) state;
    crew_defaults(&config, 2);
    return 0;
}

int tear_down_crew(void **state)
{
    (void) state;
    crew_free(crew);
    crew = NULL;
    return 0;
}

void begin_crew(unsigned num_ranks)
{
    crew_free(crew);
    config.network.num_nodes = num_ranks;
    crew = crew_new(&config);
}

uint64_t now(void)
{
    return network_now(crew_network(crew));
}

void expect_probed(void)
{
    assert_true(crew_probe(crew, 5 * OC_SECOND));
    for (unsigned i = 0; i < config.network.num_nodes; i++) {
        assert_int_equal(oc_cast_group_ready(crew_group(crew, i)), OC_OK);
    }
}

void expect_success(uint64_t patience)
{
    (void) crew_play(crew, patience);
    (void) crew_succeeded(crew);
    assert_string_equal(network_complaint(crew_network(crew)), "");
}
