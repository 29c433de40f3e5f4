# SPDX-License-Identifier: BSD-3-Clause
# The engine against real servers, without MPI; OPTCAST_SERVER names the daemon if it is not
# ./optcast-server.

engine_harness = tests/engine/harness.h tests/engine/harness.c \
	tests/engine/process.h tests/engine/process.c
engine_farm = tests/engine/farm.h tests/engine/farm.c
engine_hand = tests/engine/hand.h tests/engine/hand.c
engine_stranger = tests/engine/stranger.h tests/engine/stranger.c
engine_grove = tests/engine/grove.h tests/engine/grove.c
engine_member = tests/engine/member.h tests/engine/member.c
engine_visitor = tests/engine/visitor.h tests/engine/visitor.c \
	tests/engine/traffic.h tests/engine/traffic.c tests/random.h
engine_casting = tests/engine/casting.h tests/engine/casting.c
engine_owners = tests/engine/owners.h tests/engine/owners.c
engine_reductions = tests/engine/reductions.h tests/engine/reductions.c \
	tests/unit/reduction_reference.h tests/unit/reduction_reference.c

if HAVE_CMOCKA
check_PROGRAMS += tests/engine/test_engine_allreduce
tests_engine_test_engine_allreduce_SOURCES = tests/engine/test_engine_allreduce.c $(engine_harness)
tests_engine_test_engine_allreduce_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_allreduce_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_hybrid
tests_engine_test_engine_hybrid_SOURCES = tests/engine/test_engine_hybrid.c \
	$(engine_harness) $(engine_farm)
tests_engine_test_engine_hybrid_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_hybrid_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_flow
tests_engine_test_engine_flow_SOURCES = tests/engine/test_engine_flow.c \
	$(engine_harness) $(engine_farm)
tests_engine_test_engine_flow_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_flow_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_binding
tests_engine_test_engine_binding_SOURCES = tests/engine/test_engine_binding.c $(engine_harness)
tests_engine_test_engine_binding_CPPFLAGS = $(AM_CPPFLAGS) -DTOPOLOGIES=\"$(abs_srcdir)/tests/topologies\"
tests_engine_test_engine_binding_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_binding_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_cast
tests_engine_test_engine_cast_SOURCES = tests/engine/test_engine_cast.c \
	tests/engine/late.h tests/engine/late.c tests/engine/lies.h tests/engine/lies.c $(engine_casting) \
	$(engine_harness)
tests_engine_test_engine_cast_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_cast_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lpthread -ldl

check_PROGRAMS += tests/engine/test_engine_alternate
tests_engine_test_engine_alternate_SOURCES = tests/engine/test_engine_alternate.c \
	tests/engine/late.h tests/engine/late.c $(engine_casting) $(engine_harness)
tests_engine_test_engine_alternate_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_alternate_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lpthread -ldl

check_PROGRAMS += tests/engine/test_engine_ahead
tests_engine_test_engine_ahead_SOURCES = tests/engine/test_engine_ahead.c $(engine_casting) $(engine_harness)
tests_engine_test_engine_ahead_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_ahead_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lpthread -ldl

check_PROGRAMS += tests/engine/test_engine_relay
tests_engine_test_engine_relay_SOURCES = tests/engine/test_engine_relay.c $(engine_casting) $(engine_harness)
tests_engine_test_engine_relay_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_relay_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lpthread -ldl

check_PROGRAMS += tests/engine/test_engine_idle
tests_engine_test_engine_idle_SOURCES = tests/engine/test_engine_idle.c $(engine_harness)
tests_engine_test_engine_idle_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_idle_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread -ldl

check_PROGRAMS += tests/engine/test_engine_helper
tests_engine_test_engine_helper_SOURCES = tests/engine/test_engine_helper.c $(engine_casting) $(engine_harness)
tests_engine_test_engine_helper_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_helper_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_polling
tests_engine_test_engine_polling_SOURCES = tests/engine/test_engine_polling.c $(engine_harness)
tests_engine_test_engine_polling_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_polling_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_wakeup
tests_engine_test_engine_wakeup_SOURCES = tests/engine/test_engine_wakeup.c $(engine_harness)
tests_engine_test_engine_wakeup_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_wakeup_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_node
tests_engine_test_engine_node_SOURCES = tests/engine/test_engine_node.c \
	$(engine_harness) $(engine_farm) $(engine_reductions)
tests_engine_test_engine_node_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_node_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread -lm

check_PROGRAMS += tests/engine/test_engine_auto
tests_engine_test_engine_auto_SOURCES = tests/engine/test_engine_auto.c \
	$(engine_harness) $(engine_farm)
tests_engine_test_engine_auto_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_auto_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread -lm
check_PROGRAMS += tests/engine/test_engine_owners
tests_engine_test_engine_owners_SOURCES = tests/engine/test_engine_owners.c \
	$(engine_harness) $(engine_farm) $(engine_grove) $(engine_reductions) $(engine_owners)
tests_engine_test_engine_owners_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_owners_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread -lm

check_PROGRAMS += tests/engine/test_engine_owners_faults
tests_engine_test_engine_owners_faults_SOURCES = tests/engine/test_engine_owners_faults.c \
	$(engine_harness) $(engine_grove) $(engine_owners) $(engine_reductions)
tests_engine_test_engine_owners_faults_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_owners_faults_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread -lm

check_PROGRAMS += tests/engine/test_engine_tree
tests_engine_test_engine_tree_SOURCES = tests/engine/test_engine_tree.c \
	$(engine_harness) $(engine_grove) $(engine_reductions)
tests_engine_test_engine_tree_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_tree_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread -lm

check_PROGRAMS += tests/engine/test_engine_tree_setup
tests_engine_test_engine_tree_setup_SOURCES = tests/engine/test_engine_tree_setup.c \
	$(engine_harness) $(engine_grove)
tests_engine_test_engine_tree_setup_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_tree_setup_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_leaves
tests_engine_test_engine_leaves_SOURCES = tests/engine/test_engine_leaves.c \
	$(engine_harness) $(server_supervisor)
tests_engine_test_engine_leaves_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_leaves_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_faults
tests_engine_test_engine_faults_SOURCES = tests/engine/test_engine_faults.c $(engine_harness)
tests_engine_test_engine_faults_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_faults_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_recovery
tests_engine_test_engine_recovery_SOURCES = tests/engine/test_engine_recovery.c $(engine_harness)
tests_engine_test_engine_recovery_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_recovery_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_reach
tests_engine_test_engine_reach_SOURCES = tests/engine/test_engine_reach.c \
	tests/engine/doorman.h tests/engine/doorman.c tests/engine/fake_server.h tests/engine/fake_server.c \
	$(engine_harness) $(engine_member) $(engine_visitor)
tests_engine_test_engine_reach_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_reach_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_votes
tests_engine_test_engine_votes_SOURCES = tests/engine/test_engine_votes.c $(engine_harness)
tests_engine_test_engine_votes_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_votes_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_epochs
tests_engine_test_engine_epochs_SOURCES = tests/engine/test_engine_epochs.c $(engine_harness) $(engine_member)
tests_engine_test_engine_epochs_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_epochs_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_returns
tests_engine_test_engine_returns_SOURCES = tests/engine/test_engine_returns.c $(engine_harness) $(engine_visitor)
tests_engine_test_engine_returns_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_returns_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=oc_membership_most
tests_engine_test_engine_returns_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_comebacks
tests_engine_test_engine_comebacks_SOURCES = tests/engine/test_engine_comebacks.c \
	$(engine_harness) $(engine_visitor)
tests_engine_test_engine_comebacks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_comebacks_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_claims
tests_engine_test_engine_claims_SOURCES = tests/engine/test_engine_claims.c \
	tests/engine/traffic.h tests/engine/traffic.c tests/random.h $(engine_harness) $(engine_member)
tests_engine_test_engine_claims_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_claims_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_limits
tests_engine_test_engine_limits_SOURCES = tests/engine/test_engine_limits.c $(engine_harness)
tests_engine_test_engine_limits_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_limits_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_floods
tests_engine_test_engine_floods_SOURCES = tests/engine/test_engine_floods.c \
	$(engine_harness) $(engine_member)
tests_engine_test_engine_floods_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_floods_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_vigil
tests_engine_test_engine_vigil_SOURCES = tests/engine/test_engine_vigil.c tests/unit/own_network.h \
	$(engine_harness) $(engine_member)
tests_engine_test_engine_vigil_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_vigil_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_retire
tests_engine_test_engine_retire_SOURCES = tests/engine/test_engine_retire.c \
	$(engine_harness) $(engine_member)
tests_engine_test_engine_retire_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_retire_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_cgroup
tests_engine_test_engine_cgroup_SOURCES = tests/engine/test_engine_cgroup.c \
	$(engine_harness) $(engine_member)
tests_engine_test_engine_cgroup_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_cgroup_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_jobs
tests_engine_test_engine_jobs_SOURCES = tests/engine/test_engine_jobs.c \
	$(engine_harness) $(engine_member)
tests_engine_test_engine_jobs_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_jobs_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_setup
tests_engine_test_engine_setup_SOURCES = tests/engine/test_engine_setup.c \
	tests/engine/fake_server.h tests/engine/fake_server.c \
	$(engine_harness) tests/engine/party.h tests/engine/party.c
tests_engine_test_engine_setup_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_setup_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread -ldl

check_PROGRAMS += tests/engine/test_engine_schedules
tests_engine_test_engine_schedules_SOURCES = tests/engine/test_engine_schedules.c \
	$(engine_harness) tests/engine/party.h tests/engine/party.c \
	tests/engine/player.h tests/engine/player.c tests/engine/proxy.h tests/engine/proxy.c \
	tests/engine/schedule.h tests/engine/schedule.c
tests_engine_test_engine_schedules_LDADD = libocclient.la -lpthread

check_PROGRAMS += tests/engine/test_engine_conversations
tests_engine_test_engine_conversations_SOURCES = tests/engine/test_engine_conversations.c \
	tests/engine/caller.h tests/engine/caller.c $(engine_harness)
tests_engine_test_engine_conversations_LDADD = libocclient.la -lpthread

check_PROGRAMS += tests/engine/test_engine_orders
tests_engine_test_engine_orders_SOURCES = tests/engine/test_engine_orders.c $(engine_harness)
tests_engine_test_engine_orders_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_orders_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_scale
tests_engine_test_engine_scale_SOURCES = tests/engine/test_engine_scale.c $(engine_harness)
tests_engine_test_engine_scale_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_scale_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_small
tests_engine_test_engine_small_SOURCES = tests/engine/test_engine_small.c $(engine_harness)
tests_engine_test_engine_small_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_small_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
	-Wl,--wrap=realloc -Wl,--wrap=aligned_alloc -Wl,--wrap=posix_memalign -Wl,--wrap=free
tests_engine_test_engine_small_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_strangers
tests_engine_test_engine_strangers_SOURCES = tests/engine/test_engine_strangers.c \
	$(engine_harness) $(engine_grove) $(engine_hand) $(engine_stranger)
tests_engine_test_engine_strangers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_strangers_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_tags
tests_engine_test_engine_tags_SOURCES = tests/engine/test_engine_tags.c $(engine_harness) \
	$(engine_hand)
tests_engine_test_engine_tags_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_tags_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_threads
tests_engine_test_engine_threads_SOURCES = tests/engine/test_engine_threads.c \
	$(engine_harness) tests/engine/party.h tests/engine/party.c
tests_engine_test_engine_threads_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_threads_LDADD = libocfaults.la libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_crowd
tests_engine_test_engine_crowd_SOURCES = tests/engine/test_engine_crowd.c $(engine_harness)
tests_engine_test_engine_crowd_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_crowd_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_forks
tests_engine_test_engine_forks_SOURCES = tests/engine/test_engine_forks.c $(engine_harness)
tests_engine_test_engine_forks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_forks_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_unadmitted
tests_engine_test_engine_unadmitted_SOURCES = tests/engine/test_engine_unadmitted.c $(engine_harness)
tests_engine_test_engine_unadmitted_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_unadmitted_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=oc_guarded_filter
tests_engine_test_engine_unadmitted_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_log
tests_engine_test_engine_log_SOURCES = tests/engine/test_engine_log.c $(engine_harness)
tests_engine_test_engine_log_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_log_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_engine_signals
tests_engine_test_engine_signals_SOURCES = tests/engine/test_engine_signals.c $(engine_harness)
tests_engine_test_engine_signals_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_engine_signals_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/engine/test_gate
tests_engine_test_gate_SOURCES = tests/engine/test_gate.c $(engine_harness)
tests_engine_test_gate_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_engine_test_gate_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread
endif
