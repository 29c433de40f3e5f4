# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns what the tests in guests share: whether guests can run here, running them, and the prober.
# To be sourced by bash at the beginning of a test. Sets here (the folder of the test), and unless they are set REPO (the
# source tree) and BUILD (the build tree).
# shellcheck disable=SC2154 # tmp is set by begin_test

here=$(cd "$(dirname "$0")" && pwd)
REPO=${REPO:-$(cd "$here/../.." && pwd)}
BUILD=${BUILD:-$REPO/build}

# shellcheck source=tests/mpi/lib.sh
. "$REPO/tests/mpi/lib.sh"

guest=$REPO/tests/rdma/guest
# shellcheck disable=SC2034 # for the tests
probe=$BUILD/tests/rdma/transport_probe

# begin_rdma_test NAME: as begin_mpi_test, and make sure that guests run here.
begin_rdma_test() {
    local status=0

    begin_mpi_test "$1"
    "$guest" --prepare --no-install 2>"$tmp/prepare" || status=$?
    case $status in
    0) ;;
    2) skip "$(sed -n 's/^guest: //p' "$tmp/prepare" | tail -n 1)" ;;
    *) not_ok "guests cannot be prepared" "$tmp/prepare" ;;
    esac
}

needs_verbs() {
    grep -q '^VERBS_LIBS = .*-libverbs' "$BUILD/Makefile" || skip "it is built without libibverbs"
}

compile_probe() {
    needs_verbs
    make -C "$BUILD" -s tests/rdma/transport_probe >"$tmp/compile.log" 2>&1 ||
        not_ok "transport_probe.c does not compile" "$tmp/compile.log"
}

# in_guest NAME OPTION... -- COMMAND...: that has to succeed. Its output is $tmp/NAME.log, and what it writes to
# its shared directory is in $tmp/NAME.
in_guest() {
    local name=$1 status=0

    shift
    mkdir "$tmp/$name"
    "$guest" --no-install --verbose --share "$tmp/$name" "$@" >"$tmp/$name.log" 2>"$tmp/$name.err" || status=$?
    [ "$status" -eq 0 ] || not_ok "$name: status $status of: guest $*" "$tmp/$name".log "$tmp/$name.err"
}
