# SPDX-License-Identifier: BSD-3-Clause
# The multicast protocol on a simulated network, in virtual time.

tests_multicast_crew = tests/multicast/crew.h tests/multicast/crew.c \
	tests/multicast/network.h tests/multicast/network.c \
	tests/multicast/score.h tests/multicast/score.c
tests_multicast_fixture = tests/multicast/fixture.h tests/multicast/fixture.c \
	$(tests_multicast_crew)

if HAVE_CMOCKA
check_PROGRAMS += tests/multicast/test_network
tests_multicast_test_network_SOURCES = tests/multicast/test_network.c \
	tests/multicast/network.h tests/multicast/network.c
tests_multicast_test_network_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_network_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/multicast/test_cast_blocks
tests_multicast_test_cast_blocks_SOURCES = tests/multicast/test_cast_blocks.c \
	$(tests_multicast_crew)
tests_multicast_test_cast_blocks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_blocks_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/multicast/test_cast_loss
tests_multicast_test_cast_loss_SOURCES = tests/multicast/test_cast_loss.c \
	$(tests_multicast_crew)
tests_multicast_test_cast_loss_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_loss_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/multicast/test_cast_hosts
tests_multicast_test_cast_hosts_SOURCES = tests/multicast/test_cast_hosts.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_hosts_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_hosts_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/multicast/test_cast_route
tests_multicast_test_cast_route_SOURCES = tests/multicast/test_cast_route.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_route_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_route_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/multicast/test_cast_life
tests_multicast_test_cast_life_SOURCES = tests/multicast/test_cast_life.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_life_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_life_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/multicast/test_cast_schedules
tests_multicast_test_cast_schedules_SOURCES = tests/multicast/test_cast_schedules.c \
	$(tests_multicast_crew)
tests_multicast_test_cast_schedules_LDADD = libocfaults.la libocclient.la

check_PROGRAMS += tests/multicast/test_cast_hostile
tests_multicast_test_cast_hostile_SOURCES = tests/multicast/test_cast_hostile.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_hostile_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_hostile_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/multicast/test_cast_strangers
tests_multicast_test_cast_strangers_SOURCES = tests/multicast/test_cast_strangers.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_strangers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_strangers_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/multicast/test_cast_traffic
tests_multicast_test_cast_traffic_SOURCES = tests/multicast/test_cast_traffic.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_traffic_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_traffic_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS)
endif
