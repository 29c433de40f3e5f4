#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that a build uses all processors, also where OpenMP programs may use one only, and says what it lacks.
# Test: quick 30
set -eu

# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

begin_test build
tree=$tmp/tree
mkdir "$tree"
# what it is that build_tree builds: a configure that makes config.status and a Makefile that prints its options
cat >"$tree/configure" <<'END'
#!/bin/sh
echo "configured with $*"
: >config.status
printf 'all:\n\t@echo "options $(MAKEFLAGS)"\n' >Makefile
END
chmod +x "$tree/configure"
# what follows is read as a user's shell would read it
# shellcheck source=tools/build.sh disable=SC2030,SC2031
built=$(REPO=$tree; unset MAKEFLAGS; OMP_NUM_THREADS=1 OMP_THREAD_LIMIT=1; export OMP_NUM_THREADS OMP_THREAD_LIMIT
    . "$here/../../tools/build.sh"; build_tree "$tmp/build" --enable-something 2>&1) || not_ok "it fails: $built"
processors=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
case "$built " in
"configured with --enable-something"*"options "*-j"$processors "*) ;;
*) not_ok "on $processors processors: $built" ;;
esac

# a source tree that was configured in place is not built elsewhere
: >"$tree/config.status"
# shellcheck source=tools/build.sh disable=SC2030,SC2031
! built=$(REPO=$tree; . "$here/../../tools/build.sh"; build_tree "$tmp/build" 2>&1) || not_ok "it builds in a second place"
case $built in
*"run make distclean first"*) ;;
*) not_ok "it does not say what to do: $built" ;;
esac
echo "ok build: $processors jobs"
