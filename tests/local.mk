# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += tests/apps/lib.sh tests/apps/lammps.sh tests/apps/lj.in tests/apps/train.sh

EXTRA_DIST += \
	tests/fuzz/run.sh tests/fuzz/corpus \
	tests/fuzz/fuzz_control.c \
	tests/fuzz/fuzz_header.c \
	tests/fuzz/fuzz_record.c \
	tests/fuzz/fuzz_servers.c \
	tests/fuzz/fuzz_stream.c

include tests/unit/local.mk
include tests/engine/local.mk
