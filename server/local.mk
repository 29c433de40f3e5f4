# SPDX-License-Identifier: BSD-3-Clause
# The service is a library: the daemon, the embedded mode and the tests link it.
noinst_LTLIBRARIES += libocservice.la
libocservice_la_SOURCES = \
	server/aggregator/above_inside.h server/aggregator/above.h server/aggregator/above.c server/aggregator/above_large.c server/aggregator/above_small.c \
	server/aggregator/aggregator.h server/aggregator/aggregator_types.h server/aggregator/aggregator.c \
	server/aggregator/aggregator_check.h server/aggregator/aggregator_check.c \
	server/aggregator/aggregator_state.h server/aggregator/aggregator_state.c \
	server/aggregator/server_arrival.h server/aggregator/server_arrival.c \
	server/aggregator/budget.h server/aggregator/budget.c \
	server/aggregator/cache.h server/aggregator/cache.c \
	server/aggregator/chunks.h server/aggregator/chunks.c \
	server/aggregator/server_codes.h server/aggregator/server_codes.c \
	server/aggregator/commands.h server/aggregator/commands.c \
	server/aggregator/server_group.h server/aggregator/server_group.c \
	server/aggregator/server_groups.h server/aggregator/server_groups.c \
	server/aggregator/server_leftovers.h server/aggregator/server_leftovers.c \
	server/aggregator/server_lookup.h server/aggregator/server_lookup.c \
	server/aggregator/mailbox.h server/aggregator/mailbox.c \
	server/aggregator/outlets.h server/aggregator/outlets.c \
	server/aggregator/server_peers.h server/aggregator/server_peers.c \
	server/aggregator/pieces.h server/aggregator/pieces.c \
	server/aggregator/pool.h server/aggregator/pool.c \
	server/aggregator/queue.h server/aggregator/queue.c \
	server/aggregator/ready.h server/aggregator/ready.c \
	server/aggregator/server_reduction.h server/aggregator/server_reduction.c \
	server/aggregator/receivers.h server/aggregator/receivers.c \
	server/aggregator/replies.h server/aggregator/replies.c \
	server/aggregator/requests.h server/aggregator/requests.c \
	server/aggregator/reserve.h server/aggregator/reserve.c \
	server/aggregator/server_small.h server/aggregator/server_small.c \
	server/aggregator/starving.h server/aggregator/starving.c \
	server/aggregator/early_sweep.h server/aggregator/early_sweep.c \
	server/aggregator/tag_table.h server/aggregator/tag_table.c \
	server/host/binding.h server/host/binding.c \
	server/host/pages.h server/host/pages.c \
	server/host/placement.h server/host/placement.c \
	server/host/turns.h server/host/turns.c \
	server/job/aggregators.h server/job/aggregators.c \
	server/job/eager.h server/job/eager.c server/aggregator/early.h server/aggregator/early.c \
	server/job/embedded.h server/job/embedded.c \
	server/job/failure.h server/job/failure.c \
	server/job/gate.h server/job/gate.c \
	server/job/heartbeat.h server/job/heartbeat.c server/job/hosts.h server/job/hosts.c \
	server/job/idle.h server/job/idle.c \
	server/job/job.h server/job/job_types.h server/job/job.c \
	server/job/key.h \
	server/job/losses.h server/job/losses.c \
	server/job/notice.h server/job/notice.c server/job/parent.h server/job/parent.c \
	server/job/registry.h server/job/registry.c \
	server/job/session.h server/job/session.c \
	server/job/vigil.h server/job/vigil.c
libocservice_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS)
libocservice_la_LIBADD = liboccontrol.la libocflood.la libocnet.la libocucx.la libocreduction.la libocprotocol.la libocbase.la \
	$(HWLOC_LIBS) -lpthread -lm

# All of the daemon but its beginning.
server_supervisor = \
	server/host/bound.h server/host/bound.c \
	server/daemon/cgroup.h server/daemon/cgroup.c server/daemon/cgroup_text.h server/daemon/cgroup_text.c \
	server/daemon/channel.h server/daemon/channel.c \
	server/daemon/data_process.h server/daemon/data_process.c \
	server/daemon/hang.h server/daemon/hang.c \
	server/daemon/job_cgroup.h server/daemon/job_cgroup.c \
	server/daemon/job_process.h server/daemon/job_process.c \
	server/job/probe.h server/job/probe.c \
	server/daemon/spawn.h server/daemon/spawn.c \
	server/daemon/supervisor.h server/daemon/supervisor.c \
	server/daemon/waiting.h server/daemon/waiting.c

sbin_PROGRAMS += optcast-server
optcast_server_SOURCES = $(server_supervisor) \
	server/daemon/configuration.h server/daemon/configuration.c \
	server/daemon/main.c
optcast_server_CFLAGS = $(AM_CFLAGS) $(INIH_CFLAGS)
optcast_server_LDADD = libocservice.la $(INIH_LIBS)
