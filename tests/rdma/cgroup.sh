#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of cgroups of jobs' processes, in a guest: its kernel has the memory controller in version 2.
# Test: all 600 alone
set -eu

# shellcheck source=tests/rdma/lib.sh
. "$(dirname "$0")/lib.sh"

begin_rdma_test cgroup
program=$BUILD/tests/engine/test_engine_cgroup
[ -x "$program" ] || not_ok "no $program: run make check TESTS= in $BUILD"
# read in the guest, for the first time
head -c 48M /dev/zero >"$tmp/file"
in_guest guest --devices 1 --memory 1024 --timeout 550 -- env "BUILD=$BUILD" "$here/inside/cgroup" "$tmp/file"
log=$tmp/guest.log
for name in bounds high files max leftovers off; do
    grep -q "^\[       OK \] test_$name\$" "$log" || not_ok "test_$name did not pass" "$log"
done
# as root, the right to write says nothing
grep -q 'without a cgroup: /sys/fs/cgroup/optcast/server has no attribute user.delegate or trusted.delegate' "$log" ||
    not_ok "root takes a cgroup that is not marked as delegated" "$log"
grep -q 'a cgroup below /sys/fs/cgroup/optcast/server$' "$log" ||
    not_ok "root does not take a cgroup that is marked as delegated" "$log"
grep -q 'without a cgroup: /sys/fs/cgroup/foreign is not delegated to the server: ' "$log" ||
    not_ok "a user does not say whose cgroup it is in" "$log"
echo "ok cgroup: bounds, what happens at them, what others leave, and whose cgroup it is"
