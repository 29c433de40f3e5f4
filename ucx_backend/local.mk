# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libocucx.la
libocucx_la_SOURCES = \
	ucx_backend/worker.h ucx_backend/worker_types.h ucx_backend/worker.c \
	ucx_backend/context.h ucx_backend/context.c \
	ucx_backend/endpoint.h ucx_backend/endpoint.c \
	ucx_backend/listeners.h ucx_backend/listeners.c \
	ucx_backend/mappings.h ucx_backend/mappings.c \
	ucx_backend/ucx_status.h ucx_backend/ucx_status.c \
	ucx_backend/transfer.h ucx_backend/transfer.c ucx_backend/unexpected.c \
	ucx_backend/ucx_transports.h ucx_backend/ucx_transports.c \
	ucx_backend/wakeup.h ucx_backend/wakeup.c
libocucx_la_CFLAGS = $(AM_CFLAGS) $(UCX_CFLAGS)
libocucx_la_LIBADD = $(UCX_LIBS)
