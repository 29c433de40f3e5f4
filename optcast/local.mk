# SPDX-License-Identifier: BSD-3-Clause
# What programs may use themselves. Never unloaded: MPI calls back into it.
lib_LTLIBRARIES += liboptcast-mpi.la
liboptcast_mpi_la_SOURCES = optcast/convert.h optcast/datatypes.h \
	optcast/datatypes.c optcast/mpi_handles.c optcast/operations.h \
	optcast/operations.c optcast/signature.h
liboptcast_mpi_la_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_APP_CPPFLAGS)
liboptcast_mpi_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined -Wl,-z,nodelete
liboptcast_mpi_la_LIBADD = $(OMPI_APP_LIBS) -lpthread

# The same for programs of MPICH.
if HAVE_MPICH
lib_LTLIBRARIES += liboptcast-mpi-mpich.la
liboptcast_mpi_mpich_la_SOURCES = $(liboptcast_mpi_la_SOURCES)
liboptcast_mpi_mpich_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPICH_CPPFLAGS)
liboptcast_mpi_mpich_la_LDFLAGS = $(liboptcast_mpi_la_LDFLAGS)
liboptcast_mpi_mpich_la_LIBADD = $(MPICH_LIBS) -lpthread
endif

optcastincludedir = $(includedir)/optcast
optcastinclude_HEADERS = optcast/mpi.h

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = optcast/optcast-mpi.pc
if HAVE_MPICH
pkgconfig_DATA += optcast/optcast-mpi-mpich.pc
endif
