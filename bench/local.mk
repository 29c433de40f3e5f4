# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += bench/README.md bench/preface.md bench/run bench/loss bench/results \
	bench/lib/__init__.py bench/lib/build.py bench/lib/cluster.py bench/lib/contestants.py \
	bench/lib/experiments.py bench/lib/facts.py bench/lib/headline.py bench/lib/interrupt.py \
	bench/lib/launch.py bench/lib/limits.py \
	bench/lib/measure.py bench/lib/paths.py bench/lib/places.py bench/lib/plot.py \
	bench/lib/program.py bench/lib/publish.py \
	bench/lib/reduction.py bench/lib/regret.py bench/lib/report.py bench/lib/results.py \
	bench/lib/scale.py \
	bench/lib/settings.py bench/lib/simulate.py bench/lib/size.py bench/lib/tell.py bench/lib/text.py bench/lib/training.py \
	doc/measuring.md doc/performance doc/performance.md

noinst_PROGRAMS += optcast-bench-reduction
optcast_bench_reduction_SOURCES = \
	bench/bench_arguments.c \
	bench/bench_arguments.h \
	bench/reduction/main.c \
	bench/reduction/streams.c \
	bench/reduction/streams.h \
	bench/reduction/reduction_sweep.c \
	bench/reduction/reduction_sweep.h
optcast_bench_reduction_LDADD = libocreduction.la

noinst_PROGRAMS += optcast-bench-scale
optcast_bench_scale_SOURCES = \
	bench/bench_arguments.c \
	bench/bench_arguments.h \
	bench/scale/main.c \
	bench/scale/usage.c \
	bench/scale/usage.h \
	$(engine_harness)
optcast_bench_scale_LDADD = libocclient.la -lpthread

noinst_PROGRAMS += optcast-bench-multicast
optcast_bench_multicast_SOURCES = \
	bench/bench_arguments.c \
	bench/bench_arguments.h \
	bench/multicast/main.c \
	bench/multicast/trial.c \
	bench/multicast/trial.h \
	$(tests_multicast_crew)
optcast_bench_multicast_LDADD = libocfaults.la libocclient.la -lm

noinst_PROGRAMS += optcast-bench-size
optcast_bench_size_SOURCES = \
	bench/bench_arguments.c \
	bench/bench_arguments.h \
	bench/size/crowd.c \
	bench/size/crowd.h \
	bench/size/main.c \
	bench/size/members.c \
	bench/size/members.h \
	bench/size/footprint.c \
	bench/size/footprint.h \
	bench/size/reduce.c \
	bench/size/reduce.h \
	bench/size/server.c \
	bench/size/server.h \
	$(engine_harness)
optcast_bench_size_LDADD = libocclient.la -lpthread

noinst_PROGRAMS += optcast-bench-pages
optcast_bench_pages_SOURCES = \
	bench/bench_arguments.c \
	bench/bench_arguments.h \
	bench/pages/main.c
optcast_bench_pages_LDADD = libocservice.la libocreduction.la libocbase.la

noinst_PROGRAMS += optcast-bench-codes
optcast_bench_codes_SOURCES = \
	bench/bench_arguments.c \
	bench/bench_arguments.h \
	bench/codes/main.c
optcast_bench_codes_LDADD = libocclient.la
