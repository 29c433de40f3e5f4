# SPDX-License-Identifier: BSD-3-Clause
# Folders in which nothing is ever built go into releases as they are.
EXTRA_DIST += run-tests tools/build.sh tests/lib.sh \
	tests/apps tests/cluster tests/fuzz tests/model tests/mpi tests/mpich_coll tests/neon tests/newer_mpich tests/openmpi5 \
	tests/runner tests/tools \
	tests/topologies \
	tests/rdma/allgather.sh tests/rdma/allgather_verbs.c \
	tests/rdma/allreduce.sh tests/rdma/boot.sh tests/rdma/cast_stranger.c tests/rdma/cgroup.sh \
	tests/rdma/devices.sh tests/rdma/floods.sh tests/rdma/guest tests/rdma/guest-init tests/rdma/guest-lib.sh \
	tests/rdma/guest-rsh tests/rdma/guest-stage2 tests/rdma/image.sh tests/rdma/inside tests/rdma/lib.sh \
	tests/rdma/multicast.sh tests/rdma/registrations.c tests/rdma/registrations.sh \
	tests/rdma/strangers.sh

# built when its test needs it
if HAVE_VERBS
EXTRA_PROGRAMS += tests/rdma/transport_probe
tests_rdma_transport_probe_SOURCES = tests/rdma/transport_probe.c tests/rdma/inject.h tests/rdma/inject.c
tests_rdma_transport_probe_LDFLAGS = \
	-Wl,--wrap=rdma_create_qp,--wrap=epoll_ctl,--wrap=epoll_wait,--wrap=rdma_get_cm_event \
	-Wl,--wrap=rdma_ack_cm_event,--wrap=ibv_get_async_event,--wrap=ibv_ack_async_event
tests_rdma_transport_probe_LDADD = libocmulticast.la libocflood.la libocprotocol.la libocbase.la
endif
CLEANFILES += $(EXTRA_PROGRAMS)

include tests/faults/local.mk
include tests/unit/local.mk
include tests/engine/local.mk
include tests/multicast/local.mk
include tests/simulation/local.mk
