# SPDX-License-Identifier: BSD-3-Clause
# Faults of networks, which are no part of the product.
noinst_LTLIBRARIES += libocfaults.la
libocfaults_la_SOURCES = \
	tests/faults/cast_faults.h tests/faults/cast_faults.c \
	tests/faults/door.h tests/faults/door.c \
	tests/faults/shim.h tests/faults/shim.c \
	tests/random.h

# The component for tests of MPI programs: the objects of the product's, and these. -rpath makes it a module,
# though it is not installed.
noinst_LTLIBRARIES += tests/faults/mca_coll_optcast.la
tests_faults_mca_coll_optcast_la_SOURCES = tests/faults/load_faults.c
tests_faults_mca_coll_optcast_la_LDFLAGS = $(ompi_mca_coll_optcast_mca_coll_optcast_la_LDFLAGS) -rpath /nowhere
tests_faults_mca_coll_optcast_la_LIBADD = $(ompi_mca_coll_optcast_mca_coll_optcast_la_OBJECTS) \
	libocfaults.la $(ompi_mca_coll_optcast_mca_coll_optcast_la_LIBADD)

# The library for tests of MPICH's programs, in the same way.
if HAVE_MPICH
noinst_LTLIBRARIES += tests/faults/liboptcast-mpich.la
tests_faults_liboptcast_mpich_la_SOURCES = tests/faults/load_faults.c
tests_faults_liboptcast_mpich_la_LDFLAGS = $(liboptcast_mpich_la_LDFLAGS) -rpath /nowhere
tests_faults_liboptcast_mpich_la_LIBADD = $(liboptcast_mpich_la_OBJECTS) libocfaults.la \
	$(liboptcast_mpich_la_LIBADD)
endif
