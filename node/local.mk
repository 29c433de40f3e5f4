# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libocnode.la
libocnode_la_SOURCES = \
	node/doorbell.h node/doorbell.c \
	node/offer.h node/offer.c \
	node/ring.h node/ring.c \
	node/segment.h node/segment.c
