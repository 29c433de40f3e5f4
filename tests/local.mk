# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += tests/apps/lib.sh tests/apps/lammps.sh tests/apps/lj.in tests/apps/train.sh

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_reduction
tests_unit_test_reduction_SOURCES = tests/unit/test_reduction.c
tests_unit_test_reduction_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_reduction_LDADD = libocreduction.la $(CMOCKA_LIBS)
endif
