# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libocprotocol.la
libocprotocol_la_SOURCES = \
	protocol/control.h protocol/control.c \
	protocol/lost.h protocol/lost.c \
	protocol/message.h protocol/message.c \
	protocol/seal.h protocol/seal.c \
	protocol/tag.h
