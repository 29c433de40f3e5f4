#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of the component on top of each of Open MPI's own: what is left to that one it does by itself, if need be with
# communicators of its own, which open no groups and offload nothing. Nobody says which components there are.
# Test: all 300; openmpi5: all 300
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

begin_cluster_test below
compile below
make_cluster --hosts 3 --rate 0
printf '[%s large]\noffload = 512K-\n' allreduce reduce reduce_scatter_block >"$tmp/rules.ini"

# below NAME MODE HOSTS PER_HOST [RANKS]: with that one before all others but ours; RANKS: the last hosts have fewer
below() {
    local job=$1-$2-$3x$4${5:+-$5} log

    log=$tmp/$job.log
    wrapper=(${5:+-np "$5"} env "OMPI_MCA_coll_$1_priority=50" OMPI_MCA_coll_base_verbose=10)
    # HAN of Open MPI 4.1.4 crashes now and then with shared memory, with and without the component
    MODE=$2 expect_cluster_job "$job" embedded multicast=udp rules="$tmp/rules.ini" \
        --hosts "1-$3" --per-host "$4" --btl tcp,self -- below "$2"
    has_line "$log" "selecting +$1, priority +50, Enabled" || not_ok "$1 is not there" "$log"
    has_line "$log" '^ok below' || not_ok "$1, mode $2: results or counters are wrong" "$log"
}

tried=()
for component in han tuned basic adapt acoll; do
    "$OMPI_INFO" | grep -q "MCA coll: $component " || continue
    for mode in always auto; do
        below "$component" "$mode" 2 2
    done
    tried+=("$component")
done
# what HAN cannot do, it leaves to what is below it
for mode in always auto; do
    below han "$mode" 3 1
    below han "$mode" 3 2 5
done
echo "ok below: Open MPI $OMPI_VERSION, ${tried[*]}"
