# SPDX-License-Identifier: BSD-3-Clause
# The service is a library: the daemon, the embedded mode and the tests link it.
noinst_LTLIBRARIES += libocservice.la
libocservice_la_SOURCES = \
	server/above.h server/above.c server/above_large.c server/above_small.c \
	server/aggregator.h server/aggregator_types.h server/aggregator.c \
	server/binding.h server/binding.c \
	server/budget.h server/budget.c \
	server/chunks.c \
	server/codes.c \
	server/eager.c server/early.c \
	server/embedded.h server/embedded.c \
	server/gate.h server/gate.c \
	server/groups.c \
	server/heartbeat.c server/hosts.c \
	server/idle.c \
	server/job.h server/job_types.h server/job.c \
	server/key.h \
	server/leftovers.c \
	server/mailbox.h server/mailbox.c \
	server/pages.h server/pages.c \
	server/placement.h server/placement.c \
	server/parent.c \
	server/peers.c \
	server/pool.h server/pool.c \
	server/pulse.h server/pulse.c \
	server/queue.c \
	server/reduction.c \
	server/replies.c \
	server/reserve.c \
	server/small.c \
	server/registry.c \
	server/requests.c \
	server/session.c \
	server/tag_table.h server/tag_table.c \
	server/threads.h server/threads.c
libocservice_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS)
libocservice_la_LIBADD = liboccontrol.la libocnet.la libocucx.la libocreduction.la libocprotocol.la libocbase.la \
	$(HWLOC_LIBS) -lpthread -lm

# All of the daemon but its beginning.
server_supervisor = \
	server/bound.h server/bound.c \
	server/cgroup.h server/cgroup.c server/cgroup_text.h server/cgroup_text.c \
	server/channel.h server/channel.c \
	server/data_process.h server/data_process.c \
	server/hang.h server/hang.c \
	server/job_cgroup.h server/job_cgroup.c \
	server/job_process.h server/job_process.c \
	server/probe.h server/probe.c \
	server/spawn.h server/spawn.c \
	server/supervisor.h server/supervisor.c \
	server/waiting.h server/waiting.c

sbin_PROGRAMS += optcast-server
optcast_server_SOURCES = $(server_supervisor) \
	server/configuration.h server/configuration.c \
	server/main.c
optcast_server_CFLAGS = $(AM_CFLAGS) $(INIH_CFLAGS)
optcast_server_LDADD = libocservice.la $(INIH_LIBS)
