# SPDX-License-Identifier: BSD-3-Clause
# Open MPI looks for mca_<framework>_<name>.so and for one symbol in it.

component_LTLIBRARIES = ompi/mca/coll/optcast/mca_coll_optcast.la
ompi_mca_coll_optcast_mca_coll_optcast_la_SOURCES = \
	adapter/mpi_map.h adapter/mpi_map.c \
	ompi/mca/coll/optcast/coll_optcast_allgather.h \
	ompi/mca/coll/optcast/coll_optcast_allgather.c \
	ompi/mca/coll/optcast/coll_optcast_allreduce.h \
	ompi/mca/coll/optcast/coll_optcast_allreduce.c \
	ompi/mca/coll/optcast/coll_optcast_barrier.h \
	ompi/mca/coll/optcast/coll_optcast_barrier.c \
	ompi/mca/coll/optcast/coll_optcast_bcast.h \
	ompi/mca/coll/optcast/coll_optcast_bcast.c \
	ompi/mca/coll/optcast/coll_optcast_bootstrap.h \
	ompi/mca/coll/optcast/coll_optcast_bootstrap.c \
	ompi/mca/coll/optcast/coll_optcast_call.h \
	ompi/mca/coll/optcast/coll_optcast_compat.h \
	ompi/mca/coll/optcast/coll_optcast_component.c \
	ompi/mca/coll/optcast/coll_optcast_decide.h \
	ompi/mca/coll/optcast/coll_optcast_decide.c \
	ompi/mca/coll/optcast/coll_optcast_device.h \
	ompi/mca/coll/optcast/coll_optcast_device.c \
	ompi/mca/coll/optcast/coll_optcast_exchange.h \
	ompi/mca/coll/optcast/coll_optcast_exchange.c \
	ompi/mca/coll/optcast/coll_optcast_functions.h \
	ompi/mca/coll/optcast/coll_optcast_group.h \
	ompi/mca/coll/optcast/coll_optcast_group.c \
	ompi/mca/coll/optcast/coll_optcast_half.h \
	ompi/mca/coll/optcast/coll_optcast_half.c \
	ompi/mca/coll/optcast/coll_optcast_han.h \
	ompi/mca/coll/optcast/coll_optcast_han.c \
	ompi/mca/coll/optcast/coll_optcast_hints.h \
	ompi/mca/coll/optcast/coll_optcast_hints.c \
	ompi/mca/coll/optcast/coll_optcast_hosted.h \
	ompi/mca/coll/optcast/coll_optcast_hosted.c \
	ompi/mca/coll/optcast/coll_optcast_job.h \
	ompi/mca/coll/optcast/coll_optcast_job.c \
	ompi/mca/coll/optcast/coll_optcast_layout.h \
	ompi/mca/coll/optcast/coll_optcast_layout.c \
	ompi/mca/coll/optcast/coll_optcast_memory.h \
	ompi/mca/coll/optcast/coll_optcast_memory.c \
	ompi/mca/coll/optcast/coll_optcast_module.h \
	ompi/mca/coll/optcast/coll_optcast_module.c \
	ompi/mca/coll/optcast/coll_optcast_operate.h \
	ompi/mca/coll/optcast/coll_optcast_operate.c \
	ompi/mca/coll/optcast/coll_optcast_operation.h \
	ompi/mca/coll/optcast/coll_optcast_opponent.h \
	ompi/mca/coll/optcast/coll_optcast_opponent.c \
	ompi/mca/coll/optcast/coll_optcast_pass.h \
	ompi/mca/coll/optcast/coll_optcast_pass.c \
	ompi/mca/coll/optcast/coll_optcast_persistent.h \
	ompi/mca/coll/optcast/coll_optcast_persistent.c \
	ompi/mca/coll/optcast/coll_optcast_previous.h \
	ompi/mca/coll/optcast/coll_optcast_previous.c \
	ompi/mca/coll/optcast/coll_optcast_pvars.h \
	ompi/mca/coll/optcast/coll_optcast_pvars.c \
	ompi/mca/coll/optcast/coll_optcast_reduce.h \
	ompi/mca/coll/optcast/coll_optcast_reduce.c \
	ompi/mca/coll/optcast/coll_optcast_reduce_scatter.h \
	ompi/mca/coll/optcast/coll_optcast_reduce_scatter.c \
	ompi/mca/coll/optcast/coll_optcast_reductions.h \
	ompi/mca/coll/optcast/coll_optcast_reductions.c \
	ompi/mca/coll/optcast/coll_optcast_report.h \
	ompi/mca/coll/optcast/coll_optcast_report.c \
	ompi/mca/coll/optcast/coll_optcast_request.h \
	ompi/mca/coll/optcast/coll_optcast_request.c \
	ompi/mca/coll/optcast/coll_optcast_state.h \
	ompi/mca/coll/optcast/coll_optcast_state.c \
	ompi/mca/coll/optcast/coll_optcast_types.h \
	ompi/mca/coll/optcast/coll_optcast_types.c
# NDEBUG as Open MPI itself is built with it: its inline functions assert on what it leaves out
ompi_mca_coll_optcast_mca_coll_optcast_la_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS) $(RULES_CPPFLAGS) -DNDEBUG
# short object names: Open MPI takes every mca_coll_* file beside the component for one, too
ompi_mca_coll_optcast_mca_coll_optcast_la_SHORTNAME = component
ompi_mca_coll_optcast_mca_coll_optcast_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)
ompi_mca_coll_optcast_mca_coll_optcast_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version \
	-export-symbols-regex '^mca_coll_optcast_component$$'
ompi_mca_coll_optcast_mca_coll_optcast_la_LIBADD = libocadapter.la $(OMPI_LIBS)

install-data-hook:
	rm -f $(DESTDIR)$(componentdir)/mca_coll_optcast.la
uninstall-hook:
	rm -f $(DESTDIR)$(componentdir)/mca_coll_optcast.so
