#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes configure and the Makefile.in files out of configure.ac and Makefile.am.
set -e
cd "$(dirname "$0")"
mkdir -p build-aux
exec autoreconf --force --install --warnings=all,no-obsolete
