# SPDX-License-Identifier: BSD-3-Clause
# Device memory by way of the host's. Whoever links it links libocbase too.
noinst_LTLIBRARIES += libocstaging.la
libocstaging_la_SOURCES = \
	staging/arena.h staging/arena.c \
	staging/cuda.h staging/cuda.c \
	staging/device.h \
	staging/stage.h staging/stage.c
