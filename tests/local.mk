# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += run-tests tests/lib.sh \
	tests/apps/lib.sh tests/apps/lammps.sh tests/apps/lj.in tests/apps/train.sh \
	tests/cluster/cluster tests/cluster/check.py tests/cluster/datagrams.py tests/cluster/hosts.sh \
	tests/cluster/init tests/cluster/launch.sh tests/cluster/lib.sh tests/cluster/links.sh \
	tests/cluster/nap.c tests/cluster/plain_udp.c tests/cluster/state.sh tests/cluster/test_allgather.sh tests/cluster/test_auto.sh \
	tests/cluster/test_allreduce.sh tests/cluster/test_cost.sh tests/cluster/test_hybrid.sh tests/cluster/test_node.sh \
	tests/cluster/test_tree.sh \
	tests/cluster/test_isolation.sh tests/cluster/test_life.sh tests/cluster/test_links.sh \
	tests/cluster/test_power.sh \
	tests/cluster/test_tune.sh \
	tests/topologies \
	tests/fuzz/run.sh tests/fuzz/corpus \
	tests/fuzz/fuzz_cast_message.c \
	tests/fuzz/fuzz_cast_record.c \
	tests/fuzz/fuzz_control.c \
	tests/fuzz/fuzz_datagram.c \
	tests/fuzz/fuzz_header.c \
	tests/fuzz/fuzz_record.c \
	tests/fuzz/fuzz_rules.c \
	tests/fuzz/fuzz_servers.c \
	tests/fuzz/fuzz_stream.c \
	tests/mpi/allgather.c tests/mpi/allgather.sh \
	tests/mpi/allreduce_matrix.c \
	tests/mpi/auto.c tests/mpi/auto.sh tests/mpi/auto_threads.c \
	tests/mpi/big_cast.c tests/mpi/big_cast.sh \
	tests/mpi/cast_comms.c tests/mpi/cast_comms.sh \
	tests/mpi/cast_faults.sh tests/mpi/cast_loop.c \
	tests/mpi/cast_threads.c tests/mpi/cast_threads.sh \
	tests/mpi/cast_ways.c tests/mpi/cast_ways.sh \
	tests/mpi/check.h \
	tests/mpi/collectives.h \
	tests/mpi/comms.c \
	tests/mpi/comms.sh \
	tests/mpi/cost.c tests/mpi/cost.sh \
	tests/mpi/counters.h \
	tests/mpi/crowd.h \
	tests/mpi/dynamic.c \
	tests/mpi/dynamic.sh \
	tests/mpi/fallback.c \
	tests/mpi/fallback.sh \
	tests/mpi/faults.c \
	tests/mpi/faults.sh \
	tests/mpi/gather.c \
	tests/mpi/inflight.c \
	tests/mpi/inflight.sh \
	tests/mpi/layouts.c tests/mpi/layouts.h \
	tests/mpi/limits.c \
	tests/mpi/limits.sh \
	tests/mpi/late_rank.c \
	tests/mpi/late_rank.sh \
	tests/mpi/lib.sh \
	tests/mpi/matrix.sh \
	tests/mpi/many_comms.c \
	tests/mpi/many_comms.sh \
	tests/mpi/mode.c \
	tests/mpi/mode.sh \
	tests/mpi/options.h \
	tests/mpi/persistent.c \
	tests/mpi/persistent.h \
	tests/mpi/persistent.sh \
	tests/mpi/overlap.c \
	tests/mpi/overlap.sh \
	tests/mpi/big.c \
	tests/mpi/big.sh \
	tests/mpi/half.c \
	tests/mpi/half.sh tests/mpi/heap.c tests/mpi/heap.sh tests/mpi/node.sh \
	tests/mpi/matrix_types.c \
	tests/mpi/matrix_types.h \
	tests/mpi/plan.py tests/mpi/polite.c tests/mpi/pvars.h tests/mpi/same_bits.c tests/mpi/same_bits.sh \
	tests/mpi/stranger.py \
	tests/mpi/other_numbers.c tests/mpi/record_size.c tests/mpi/unequal.sh \
	tests/mpi/sums.h \
	tests/mpi/placed.c \
	tests/mpi/polling.sh \
	tests/mpi/slow_setup.c \
	tests/mpi/tell.h \
	tests/mpi/threads.c \
	tests/mpi/threads.sh \
	tests/mpi/two_jobs.c \
	tests/mpi/two_jobs.sh \
	tests/mpi/valgrind.sh \
	tests/mpi/valgrind.supp \
	tests/mpi/volume.c tests/mpi/volume.h \
	tests/mpi/workers.h \
	tests/neon/digest.c \
	tests/neon/lib.sh \
	tests/neon/same_bits.sh \
	tests/neon/unit.sh \
	tests/mpi/sessions.c \
	tests/mpi/sizes.h \
	tests/mpi/sessions.sh \
	tests/openmpi5/build \
	tests/openmpi5/run \
	tests/rdma/allgather.sh tests/rdma/allgather_verbs.c \
	tests/rdma/allreduce.sh tests/rdma/boot.sh tests/rdma/devices.sh tests/rdma/guest \
	tests/rdma/guest-init tests/rdma/guest-lib.sh tests/rdma/guest-rsh tests/rdma/guest-stage2 \
	tests/rdma/image.sh tests/rdma/inside tests/rdma/lib.sh tests/rdma/multicast.sh \
	tests/rdma/registrations.c tests/rdma/registrations.sh \
	tests/tools/bench.sh tests/tools/bench-result.json tests/tools/bench_reduction.sh \
	tests/tools/bench_scale.sh tests/tools/bench_smoke.sh \
	tests/tools/bench_test.py tests/tools/dist.sh tests/tools/info.sh tests/tools/lib.sh tests/tools/perf.sh \
	tests/tools/timeline.sh tests/tools/tune.sh \
	tools/build.sh

# built when its test needs it
if HAVE_VERBS
EXTRA_PROGRAMS += tests/rdma/transport_probe
tests_rdma_transport_probe_SOURCES = tests/rdma/transport_probe.c
tests_rdma_transport_probe_LDADD = libocmulticast.la libocprotocol.la libocbase.la
endif
CLEANFILES += $(EXTRA_PROGRAMS)

include tests/unit/local.mk
include tests/engine/local.mk
include tests/multicast/local.mk
