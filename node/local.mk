# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libocnode.la
libocnode_la_SOURCES = \
	node/segment.h node/segment.c
