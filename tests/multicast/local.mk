# SPDX-License-Identifier: BSD-3-Clause
# The multicast protocol on a simulated network, in virtual time.

tests_multicast_links = tests/multicast/events.h tests/multicast/events.c \
	tests/multicast/fabric.h tests/multicast/fabric.c \
	tests/multicast/congestion.h tests/multicast/congestion.c \
	tests/multicast/flow.h tests/multicast/flow.c \
	tests/multicast/streams.h tests/multicast/streams.c
tests_multicast_network = tests/multicast/network.h tests/multicast/network.c \
	tests/multicast/network_types.h tests/multicast/memory.h tests/multicast/fifo.h \
	tests/multicast/network_turns.h tests/multicast/network_turns.c \
	tests/multicast/network_datagrams.h tests/multicast/network_datagrams.c \
	tests/multicast/network_messages.h tests/multicast/network_messages.c \
	tests/multicast/parcel.h tests/multicast/parcel.c \
	$(tests_multicast_links)
tests_multicast_crew = tests/multicast/crew.h tests/multicast/crew.c \
	tests/multicast/score.h tests/multicast/score.c $(tests_multicast_network)
tests_multicast_fixture = tests/multicast/fixture.h tests/multicast/fixture.c \
	$(tests_multicast_crew)

if HAVE_CMOCKA
check_PROGRAMS += tests/multicast/test_network
tests_multicast_test_network_SOURCES = tests/multicast/test_network.c \
	$(tests_multicast_network)
tests_multicast_test_network_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_network_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/multicast/test_fabric
tests_multicast_test_fabric_SOURCES = tests/multicast/test_fabric.c tests/multicast/memory.h \
	tests/multicast/events.h tests/multicast/events.c \
	tests/multicast/fabric.h tests/multicast/fabric.c
tests_multicast_test_fabric_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_fabric_LDADD = $(CMOCKA_LIBS)

check_PROGRAMS += tests/multicast/test_streams
tests_multicast_test_streams_SOURCES = tests/multicast/test_streams.c tests/multicast/memory.h \
	tests/multicast/fifo.h $(tests_multicast_links)
tests_multicast_test_streams_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_streams_LDADD = $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/multicast/test_cast_blocks
tests_multicast_test_cast_blocks_SOURCES = tests/multicast/test_cast_blocks.c \
	$(tests_multicast_crew)
tests_multicast_test_cast_blocks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_blocks_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/multicast/test_cast_loss
tests_multicast_test_cast_loss_SOURCES = tests/multicast/test_cast_loss.c \
	$(tests_multicast_crew)
tests_multicast_test_cast_loss_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_loss_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/multicast/test_cast_hosts
tests_multicast_test_cast_hosts_SOURCES = tests/multicast/test_cast_hosts.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_hosts_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_hosts_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/multicast/test_cast_repair
tests_multicast_test_cast_repair_SOURCES = tests/multicast/test_cast_repair.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_repair_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_repair_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/multicast/test_cast_alternate
tests_multicast_test_cast_alternate_SOURCES = tests/multicast/test_cast_alternate.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_alternate_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_alternate_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/multicast/test_cast_unicast
tests_multicast_test_cast_unicast_SOURCES = tests/multicast/test_cast_unicast.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_unicast_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_unicast_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/multicast/test_cast_route
tests_multicast_test_cast_route_SOURCES = tests/multicast/test_cast_route.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_route_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_route_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/multicast/test_cast_life
tests_multicast_test_cast_life_SOURCES = tests/multicast/test_cast_life.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_life_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_life_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/multicast/test_cast_schedules
tests_multicast_test_cast_schedules_SOURCES = tests/multicast/test_cast_schedules.c \
	$(tests_multicast_crew)
tests_multicast_test_cast_schedules_LDADD = libocfaults.la libocclient.la -lm

check_PROGRAMS += tests/multicast/test_cast_hostile
tests_multicast_test_cast_hostile_SOURCES = tests/multicast/test_cast_hostile.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_hostile_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_hostile_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/multicast/test_cast_strangers
tests_multicast_test_cast_strangers_SOURCES = tests/multicast/test_cast_strangers.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_strangers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_strangers_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/multicast/test_cast_traffic
tests_multicast_test_cast_traffic_SOURCES = tests/multicast/test_cast_traffic.c \
	$(tests_multicast_fixture)
tests_multicast_test_cast_traffic_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_multicast_test_cast_traffic_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lm
endif
