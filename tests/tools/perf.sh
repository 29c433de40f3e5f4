#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that optcast-perf measures what it says, verifies results, and explains what is wrong.
# Test: all 600
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# Bytes of an interface are counted, so it must be nobody else's.
if [ -z "${OWN_NETWORK:-}" ] && unshare -nm true 2>/dev/null; then
    # shellcheck disable=SC2016 # for the other shell
    exec env OWN_NETWORK=1 unshare -nm bash -c 'mount -t sysfs sysfs /sys; ip link set lo up; exec "$0" "$@"' "$0" "$@"
fi
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
# shellcheck source=tests/tools/lib.sh
. "$here/lib.sh"

# shellcheck disable=SC2154 # tmp is set by begin_test, tool by begin_mpi_tool_test
begin_mpi_tool_test perf optcast-perf
# All ranks are on this host: in rank order each of them sends all that it has, which is what is counted.
mpirun_arguments+=(--mca coll_optcast_reproducible rank_order)

# measure STATUS RANKS MODE ARGUMENT...: as run, without the files of another run.
measure() {
    rm -f "$tmp/json" "$tmp/csv"
    run "$@"
}

has_no() {
    ! grep -E -q -e "$2" "$tmp/$1" || not_ok "a line with '$2' in its $1" "$tmp/$1"
}

# check_json PYTHON: a condition on the object j, its rows, and its first row.
check_json() {
    "$PYTHON" -c 'import json, sys
j = json.load(open(sys.argv[1]))
rows = j["rows"]
row = rows[0]
sys.exit(0 if eval(sys.argv[2]) else "not so: " + sys.argv[2])' "$tmp/json" "$1" 2>"$tmp/python" ||
        not_ok "the JSON file is not as expected" "$tmp/python" "$tmp/json"
}

# rows_are_right COUNT: that many, every one verified and without a wrong result.
rows_are_right() {
    check_json "len(rows) == $1 and all(r['wrong'] == 0 for r in rows)"
}

few=(-n 3 -w 1 --check --interface none --json "$tmp/json")

variants=(--nonblocking '--nonblocking --in-place' '' --in-place)
types=('int8 sum' 'uint16 sum' 'int64 prod' 'float prod' 'int16 min' 'double min' 'uint64 max' \
    'float max' 'uint32 band' 'int32 bor' 'uint8 bxor' 'int8 land' 'uint16 lor' 'int64 lxor')
if [ "${1:-}" = --few ]; then
    variants=("${variants[@]:0:2}")
    types=("${types[@]:0:4}")
fi

# Every element of every collective, in all ways that there are, with small and large types.
collectives() {
    local collective small large variant type row count=0

    for row in 'allreduce int8 double' 'allgather byte int64' 'allgatherv char uint16' \
        'bcast byte float' 'reduce uint8 double' 'reduce_scatter_block int16 float' 'reduce_scatter int8 double'; do
        read -r collective small large <<<"$row"
        for variant in "${variants[@]}"; do
            [[ "$collective $variant" != bcast*--in-place ]] || continue
            type=$small
            [[ $variant != --* ]] || type=$large
            [[ $variant != *' '* ]] || type=$small
            # shellcheck disable=SC2086 # options, split on purpose
            measure 0 4 always "$collective" "${few[@]}" -d "$type" $variant -b 64 -e 250000 -f 60
            rows_are_right 3
            [[ $collective != *reduce* ]] || check_json 'all(r["offloaded"] == 3 and r["fallbacks"] == 0 for r in rows)'
            count=$((count + 1))
        done
    done
    # blocks that are not equal, another root, one rank
    measure 0 3 always allgatherv "${few[@]}" -b 10 -e 100000 -f 100 -d int16
    rows_are_right 3
    measure 0 3 always bcast "${few[@]}" --root 2 -b 8 -e 8
    rows_are_right 1
    measure 0 3 always reduce "${few[@]}" --root 1 --in-place -b 8 -e 8
    rows_are_right 1
    measure 0 1 always allreduce "${few[@]}" -b 1K -e 1K
    rows_are_right 1
    counted=$((count + 4))
}

# Every operation and every type once or more.
operations() {
    local type op row

    for row in "${types[@]}"; do
        read -r type op <<<"$row"
        measure 0 4 always allreduce "${few[@]}" -d "$type" -o "$op" -b 20K -e 20K
        rows_are_right 1
        check_json "row['op'] == '$op' and row['type'] == '$type' and row['offloaded'] == 3"
        counted=$((counted + 1))
    done
}

# As many iterations as fit a time, and all that were asked for where they do.
times() {
    measure 0 4 always allreduce -n 1000000 -t 50 -b 64 -e 4M -f 65536 --check --compare --interface none --json "$tmp/json"
    rows_are_right 2
    check_json 'all(len(r["seconds"]) == r["iterations"] == len(r["previous"]["seconds"]) for r in rows)'
    check_json 'all(1 <= r["iterations"] < 100000 and r["offloaded"] == r["iterations"] for r in rows)'
    check_json 'rows[0]["iterations"] > rows[1]["iterations"]'
    measure 0 2 always allreduce "${few[@]}" -t 60000 -b 8 -e 8
    check_json 'row["iterations"] == 3'
    counted=$((counted + 2))
}

# What was offloaded on which communicator; definitions of the numbers.
comparison() {
    measure 0 4 always allreduce -n 7 -w 2 -b 1K -e 256K -f 16 --check --compare --json "$tmp/json" --csv "$tmp/csv"
    rows_are_right 3
    check_json 'j["ranks"] == 4 and j["hosts"] == 1 and j["ranks_per_host"] == 4 and j["collective"] == "allreduce"'
    check_json 'j["settings"]["mode"] == "always" and j["settings"]["chunk_size"] == 0'
    check_json '[r["bytes"] for r in rows] == [1024, 16384, 262144]'
    check_json 'all(r["count"] * 4 == r["bytes"] and len(r["seconds"]) == 7 for r in rows)'
    check_json 'all(r["offloaded"] == 7 and r["fallbacks"] == 0 for r in rows)'
    check_json 'all(r["bytes_sent"] == 7 * r["bytes"] == r["bytes_received"] for r in rows)'
    check_json 'all(r["helper_wakes"] == 0 for r in rows)'
    check_json 'all(r["previous"]["offloaded"] == 0 == r["previous"]["bytes_sent"] for r in rows)'
    check_json 'all(r["previous"]["wrong"] == 0 and len(r["previous"]["seconds"]) == 7 for r in rows)'
    check_json 'all(sorted(s["seconds"])[3] == s["median_s"] for r in rows for s in (r, r["previous"]))'
    check_json 'all(min(r["seconds"]) == r["min_s"] and max(r["seconds"]) == r["max_s"] for r in rows)'
    check_json 'all(abs(r["previous"]["median_s"] / r["median_s"] / r["previous"]["ratio"] - 1) < 1e-6 for r in rows)'
    check_json 'all(abs(r["bytes"] / r["median_s"] / 1e9 / r["algbw_GBps"] - 1) < 1e-6 for r in rows)'
    check_json 'all(abs(r["busbw_GBps"] / r["algbw_GBps"] - 1.5) < 1e-6 for r in rows)'
    "$PYTHON" -c 'import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1]), strict=True))
wanted = json.load(open(sys.argv[2]))["rows"]
assert len(rows) == len(wanted) == 3
for row, r in zip(rows, wanted):
    assert None not in row and None not in row.values(), row
    assert int(row["bytes"]) == r["bytes"] and float(row["median_s"]) == r["median_s"]
    assert int(row["offloaded"]) == 7 and int(row["previous_offloaded"]) == 0
    assert float(row["previous_max_s"]) == r["previous"]["max_s"]' "$tmp/csv" "$tmp/json" 2>"$tmp/python" ||
        not_ok "the CSV file is not as expected" "$tmp/python" "$tmp/csv"
    [ "$(grep -c -v '^#' "$tmp/out")" -eq 3 ] || not_ok "the table does not have three rows" "$tmp/out"
    has out '^# coll/optcast: mode always, servers embedded$'
    [ "$(find "$tmp" -name 'json.*' -o -name 'csv.*')" = "" ] || not_ok "a temporary file is left"

    measure 0 4 always allreduce -n 5 -w 0 -b 64K -e 64K --nonblocking --compare --json "$tmp/json"
    check_json 'row["offloaded"] == 5 and row["previous"]["offloaded"] == 0 and row["wrong"] is None'

    # what is not offloaded is seen to be so
    printf '[allreduce large]\nhosts = 1-\noffload = 64K-\n' >"$tmp/rules.ini"
    OMPI_MCA_coll_optcast_rules=$tmp/rules.ini measure 0 4 auto allreduce -n 5 -w 0 -b 32K -e 64K --json "$tmp/json" --csv "$tmp/csv"
    check_json '[r["offloaded"] for r in rows] == [0, 5] and [r["fallbacks"] for r in rows] == [5, 0]'
    check_json 'row["previous"] is None'
    [ "$(awk -F, '{ print NF }' "$tmp/csv" | sort -u | wc -l)" -eq 1 ] || not_ok "rows differ in columns" "$tmp/csv"
    measure 0 2 never allreduce -n 5 -w 0 -b 1K -e 1K --json "$tmp/json"
    check_json 'row["offloaded"] == 0 and row["fallbacks"] == 0'
    measure 0 2 none allreduce -n 5 -w 0 -b 1K -e 1K --json "$tmp/json"
    check_json 'row["offloaded"] is None and j["settings"] == {}'
    has out '^# coll/optcast is not loaded$'
    measure 0 2 none barrier -n 5 --json "$tmp/json"
    check_json 'len(rows) == 1 and row["bytes"] == 0 and row["type"] is None'
    measure 2 2 none allreduce --compare
    has err '^optcast-perf: --compare: coll/optcast is not loaded'
    measure 2 2 never allreduce --compare
    has err '^optcast-perf: --compare: the mode \(coll_optcast_mode; with MPICH OPTCAST_MODE\) is never'
}

# Over TCP each of two ranks sends its vector once; virtual interfaces count hardly any headers.
wires() {
    local tcp=(--mca pml ob1 --mca btl "tcp,self" --mca btl_tcp_if_include lo)

    ends 0 run_mpi 2 none "${mpirun_arguments[@]}" "${tcp[@]}" "$tool" allreduce -n 2 -w 1 -b 1M -e 1M \
        --interface lo --json "$tmp/json"
    check_json 'row["wire"]["hosts"] == 1 and row["wire"]["tx_max"] == row["wire"]["tx_sum"]'
    check_json '2 * 1048576 <= row["wire"]["tx_max"] < 2.2 * 1048576'
    check_json '2 * 1048576 <= row["wire"]["rx_max"] < 2.2 * 1048576'
    ends 0 run_mpi 2 none "${mpirun_arguments[@]}" "${tcp[@]}" "$tool" allreduce --stream 4 -n 2 -w 1 -b 1M -e 1M \
        --interface lo --json "$tmp/json"
    check_json '2 * 1048576 <= row["wire"]["tx_max"] < 2.2 * 1048576'
    measure 0 2 none allreduce -n 2 -b 1K -e 1K --interface none --json "$tmp/json"
    check_json 'row["wire"] is None'
}

# A library between program and MPI: it changes one element of one rank's float, all of int64 that is
# not in place, and makes one rank late with double.
fault() {
    local before=("${mpirun_arguments[@]}")

    cat >"$tmp/fault.c" <<'END'
#include <mpi.h>
#include <stdint.h>
#include <unistd.h>
int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static int calls;
    int rank, rc = PMPI_Allreduce(send, receive, count, type, op, comm);

    PMPI_Comm_rank(comm, &rank);
    if (MPI_FLOAT == type && 2 == rank && 4 == ++calls) {
        ((float *) receive)[17] += 0.25f;
    } else if (MPI_INT64_T == type && MPI_IN_PLACE != send) {
        ((int64_t *) receive)[count - 1]++;
    } else if (MPI_DOUBLE == type && 2 == rank) {
        usleep(20000);
    }
    return rc;
}
END
    put_between fault
    # the fourth call is the third iteration
    measure 1 4 always allreduce -n 5 -w 1 -b 1K -e 2K --check --json "$tmp/json"
    has err '^optcast-perf: wrong result of allreduce, 1024 bytes, iteration 2: rank 2, element 17: got [-0-9]+\.[27]5, expected [-0-9]+$'
    [ "$(grep -c 'wrong result' "$tmp/err")" -eq 1 ] || not_ok "one element was wrong, once" "$tmp/err"
    check_json '[r["wrong"] for r in rows] == [1, 0]'
    # the warm-up of both sides, then ours, then the other one first: the fault hits without coll/optcast
    measure 1 4 always allreduce -n 5 -w 1 -b 1K -e 1K --check --compare --json "$tmp/json"
    has err '^optcast-perf: wrong result of allreduce without coll/optcast, 1024 bytes, iteration 0: rank 2, '
    check_json 'row["wrong"] == 0 and row["previous"]["wrong"] == 1'
    # no warm-up: ours, the other, then the other first, and the fault hits ours
    measure 1 4 always allreduce -n 5 -w 0 -b 1K -e 1K --check --compare --json "$tmp/json"
    has err '^optcast-perf: wrong result of allreduce, 1024 bytes, iteration 1: rank 2, '
    check_json 'row["wrong"] == 1 and row["previous"]["wrong"] == 0'
    # with 4 ranks, 5 iterations
    measure 1 4 always allreduce -n 5 -w 1 -b 1K -e 1K -d int64 --check --json "$tmp/json"
    check_json 'row["wrong"] == 20'
    measure 0 4 always allreduce -n 5 -w 1 -b 1K -e 1K -d int64 --check --in-place
    measure 0 4 always allreduce -n 5 -w 1 -b 1K -e 1K -d int64 --check --nonblocking
    # the slowest rank counts
    measure 0 4 always allreduce -n 5 -w 1 -b 1K -e 1K -d double --check --json "$tmp/json"
    check_json 'all(0.02 <= s < 2 for s in row["seconds"])'
    # nobody looks
    measure 0 4 always allreduce -n 5 -w 1 -b 1K -e 2K
    mpirun_arguments=("${before[@]}")
}

# The second of two Iallreduces sends what the first one does: the results of both are looked at, and told apart.
pair_fault() {
    local before=("${mpirun_arguments[@]}")

    cat >"$tmp/pair.c" <<'END'
#include <mpi.h>
#include <stddef.h>
int MPI_Iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    static const void *first;
    const void *mine = NULL == first ? send : first;

    first = NULL == first ? send : NULL;
    return PMPI_Iallreduce(mine, receive, count, type, op, comm, request);
}
END
    put_between pair
    measure 1 3 always allreduce+allreduce -n 2 -w 1 -b 400 -e 400 --check --json "$tmp/json"
    has err '^optcast-perf: wrong result of allreduce, 400 bytes, iteration 0: rank 0, element 0: '
    # no element of the second is right
    check_json 'row["wrong"] == 2 * 3 * 100'
    # every second one of a stream
    measure 1 3 always allreduce --stream 6 -n 2 -w 1 -d int64 -b 800 -e 800 --check --json "$tmp/json"
    has err '^optcast-perf: wrong result of allreduce, 800 bytes, iteration 0, operation 2 of 6: rank 0, element 0: '
    check_json 'row["wrong"] == 2 * 3 * 3 * 100'
    mpirun_arguments=("${before[@]}")
}

# What a program hides that is not in MPI for longer than the operation takes; on a busy machine, for longest. Also in
# place, where the operations that are waited for at once need their own input.
overlap() {
    local collective

    for collective in allreduce 'reduce_scatter_block --in-place'; do
        # shellcheck disable=SC2086 # options, split on purpose
        measure 0 3 always $collective -n 5 -w 1 -b 8M -e 8M --check --compare --overlap 300 --json "$tmp/json" \
            --csv "$tmp/csv"
        check_json 'j["overlap_ms"] == 300 and j["nonblocking"]'
        check_json 'row["offloaded"] == 5 and row["wrong"] == 0 == row["previous"]["wrong"]'
        check_json 'all(len(s["own"]) == 5 and s["min_s"] >= 0.3 for s in (row, row["previous"]))'
        check_json 'all(sorted(s["own"])[2] == s["own_median_s"] for s in (row, row["previous"]))'
        check_json 'all(abs(max(0, 1 - (s["median_s"] - 0.3) / s["own_median_s"]) - s["hidden"]) < 1e-6
            for s in (row, row["previous"]))'
        "$PYTHON" -c 'import csv, json, sys
row, r = next(csv.DictReader(open(sys.argv[1]))), json.load(open(sys.argv[2]))["rows"][0]
assert float(row["hidden"]) == r["hidden"] and float(row["previous_own_median_s"]) == r["previous"]["own_median_s"]' \
            "$tmp/csv" "$tmp/json" 2>"$tmp/python" || not_ok "the CSV file is not as expected" "$tmp/python" "$tmp/csv"
    done
    check_json 'row["hidden"] > 0.5 and row["helper_wakes"] >= 5'
    OMPI_MCA_coll_optcast_progress=mpi measure 0 3 always reduce -n 3 -w 1 -b 8M -e 8M --overlap 300 --json "$tmp/json"
    check_json 'row["hidden"] < 0.5 and row["helper_wakes"] == 0'
    measure 0 2 always barrier -n 3 --overlap 20 --json "$tmp/json"
    check_json 'row["min_s"] >= 0.02'
    measure 0 2 always allreduce -n 3 -b 1K -e 1K --json "$tmp/json"
    check_json 'j["overlap_ms"] is None and row["own"] is None and row["hidden"] is None and row["alone"] is None'
    computing
}

# What programs that compute lose; how long that takes is theirs to say. With tests all is over before the wait.
computing() {
    measure 0 2 always allreduce -n 3 -w 1 -b 1M -e 1M --check --overlap 100 --compute --compare --interface none \
        --json "$tmp/json" --csv "$tmp/csv"
    check_json 'j["compute"] and j["test_us"] is None and row["wrong"] == 0 and row["offloaded"] == 3'
    check_json 'all(len(s["alone"]) == len(s["beside"]) == 3 for s in (row, row["previous"]))'
    check_json 'all(b < s for s, b in zip(row["seconds"], row["beside"]))'
    check_json 'all(abs(sorted(s["beside"])[1] / sorted(s["alone"])[1] - 1 - s["slowdown"]) < 1e-6 for s in (row, row["previous"]))'
    check_json '0.02 < row["alone_median_s"] < 5 and 0 < row["threads_s"] < row["processor_s"]'
    [ "$(awk -F, '{ print NF }' "$tmp/csv" | sort -u | wc -l)" -eq 1 ] || not_ok "rows differ in columns" "$tmp/csv"
    for how in '' --compute; do
        # shellcheck disable=SC2086 # one option or none
        OMPI_MCA_coll_optcast_progress=mpi measure 0 2 always allreduce -n 3 -w 1 -b 8M -e 8M --overlap 300 $how \
            --test 500 --json "$tmp/json"
        check_json 'j["test_us"] == 500 and row["offloaded"] == 3'
        # who computes may have no processor to spare
        [ "$how" ] || check_json 'row["hidden"] > 0.5'
    done
}

# Two operations at once, on two communicators and on one: every element of both, and both are offloaded.
pairs() {
    local pair

    for pair in pair pair\ --same-communicator 'reduce+allreduce --root 1 -d int8 -o bor' \
        'allreduce+allreduce --in-place' 'bcast+reduce_scatter --first 60'; do
        # shellcheck disable=SC2086 # options, split on purpose
        OMPI_MCA_coll_optcast_multicast=udp measure 0 3 always $pair -n 3 -w 1 -b 30 -e 3M -f 3000 --check --compare \
            --interface none --json "$tmp/json" --csv "$tmp/csv"
        rows_are_right 2
        check_json 'all(r["offloaded"] == 6 and r["fallbacks"] == 0 for r in rows)'
        check_json 'all(r["previous"]["offloaded"] == 0 == r["previous"]["wrong"] for r in rows)'
        [[ $pair != pair* ]] || check_json 'j["collective"] == "allgather+reduce_scatter_block"'
        check_json "j['nonblocking'] and j['same_communicator'] == ('same' in '$pair')"
        [ "$(cut -d, -f1 "$tmp/csv" | sort -u | wc -l)" -eq 2 ] || not_ok "other names" "$tmp/csv"
        counted=$((counted + 1))
    done
    measure 0 2 always pair -n 3 -b 1M -e 1M --overlap 100 --interface none --json "$tmp/json"
    check_json 'row["min_s"] >= 0.1 and abs(row["busbw_GBps"] / row["algbw_GBps"] - 1) < 1e-6'
}

# Several operations under way on one communicator: every element of each, all offloaded and counted.
streams() {
    local stream

    for stream in allgather 'allreduce -d int16 --in-place' 'bcast --root 1' 'reduce_scatter --first 60'; do
        # shellcheck disable=SC2086 # options, split on purpose
        OMPI_MCA_coll_optcast_multicast=udp measure 0 3 always $stream --stream 5 -n 3 -w 1 -b 30 -e 3M -f 3000 \
            --check --compare --interface none --json "$tmp/json" --csv "$tmp/csv"
        rows_are_right 2
        check_json 'j["stream"] == 5 and j["nonblocking"] and not j["same_communicator"]'
        check_json 'all(r["offloaded"] == 15 and r["fallbacks"] == 0 and len(r["seconds"]) == 3 for r in rows)'
        check_json 'all(r["previous"]["offloaded"] == 0 == r["previous"]["wrong"] for r in rows)'
        check_json 'all(abs(5 * r["bytes"] / r["median_s"] / 1e9 / r["algbw_GBps"] - 1) < 1e-6 for r in rows)'
        has out "^# ${stream%% *}, a stream of 5, nonblocking"
        has out '^# +size +count +type +op +stream +time '
        has out '^ +[0-9]+ +[0-9]+ +[a-z0-9]+ +[-a-z]+ +5 +[0-9.]+ '
        [ "$(awk -F, '{ print $NF }' "$tmp/csv" | tr '\n' ' ')" = 'stream 5 5 ' ] || not_ok "no stream" "$tmp/csv"
        [ "$(awk -F, '{ print NF }' "$tmp/csv" | sort -u | wc -l)" -eq 1 ] || not_ok "rows differ in columns" "$tmp/csv"
        counted=$((counted + 1))
    done
    OMPI_MCA_coll_optcast_multicast=udp measure 0 2 always allgather --stream 64 -n 2 -w 1 --check --overlap 100 -b 64K -e 64K \
        --interface none --json "$tmp/json"
    rows_are_right 1
    check_json 'row["min_s"] >= 0.1 and len(row["own"]) == 2 and row["offloaded"] == 128'
    measure 0 2 none allreduce -n 2 -b 1K -e 1K --json "$tmp/json"
    check_json 'j["stream"] == 1'
    has_no out 'stream'
}

# refused MESSAGE ARGUMENT...: one line from one rank, and nothing measured.
refused() {
    local message=$1

    shift
    measure 2 2 none "$@"
    has err "^optcast-perf: $message"
    [ "$(grep -c '^optcast-perf: ' "$tmp/err")" -eq 1 ] || not_ok "more than one line of errors" "$tmp/err"
    has_no err 'MPI_ABORT'
    has_no out '^ '
}

arguments() {
    refused 'no collective is named: give allreduce'
    refused '"alltoall" is not a collective: give allreduce' alltoall
    refused 'unexpected argument "bcast"' allreduce bcast
    refused 'there is no option --bogus' allreduce --bogus
    refused 'there is no option -x' allreduce -x
    refused '--json needs a value' allreduce --json
    refused '"0" is not a size for --min' allreduce -b 0
    refused '"4KB" is not a size for --max' allreduce -e 4KB
    refused '--min 2048 is larger than --max 1024: exchange' allreduce -b 2K -e 1K
    refused '"1" is not a value of --factor: give a number from 2' allreduce -f 1
    refused '"0" is not a value of --iterations' allreduce -n 0
    refused '"-1" is not a value of --warmup' allreduce -w -1
    refused '"0" is not a value of --time' allreduce -t 0
    refused '"0" is not a value of --overlap' allreduce --overlap 0
    refused '"int" is not a type: give int8' allreduce -d int
    refused '"avg" is not an operation: give sum' allreduce -o avg
    refused 'band is not an operation on float: ' allreduce -o band
    refused 'byte has no operations, and reduce needs one' reduce -d byte
    refused 'allgather has no operation: leave out --op' allgather -o sum
    refused 'bcast has no variant in place' bcast --in-place
    refused 'allreduce has no root' allreduce --root 1
    refused '--root 2: there are 2 ranks: give a number from 0 to 1' bcast --root 2
    refused 'barrier has no data' barrier -b 8
    refused 'barrier has no result' barrier --check
    refused '--max 8589934592: that are 8589934592 elements of int8, and counts' allreduce -d int8 -b 8G -e 8G
    refused '"nosuch0" has no counters here' allreduce --interface lo,nosuch0
    refused '"alltoall" is not a collective: give allreduce' allreduce+alltoall
    refused 'allreduce\+barrier: barrier has no data' allreduce+barrier
    refused '--same-communicator: allreduce is only one' allreduce --same-communicator
    refused '"65" is not a value of --stream: give a number from 2 to 64' allgather --stream 65
    refused '--stream 20: allgather\+reduce_scatter_block are two collectives' pair --stream 20
    refused '--stream 20: barrier has no data' barrier --stream 20
    refused '--json and --csv name the same file' allreduce --json "$tmp/x" --csv "$tmp/x"
    refused "/nonexistent/x cannot be written: No such file" allreduce --json /nonexistent/x
    refused "$tmp cannot be written: Is a directory" allreduce --csv "$tmp"
    measure 0 2 none --help
    has out '^Usage: mpirun \.\.\. optcast-perf '
    [ "$(grep -c '^Usage' "$tmp/out")" -eq 1 ] || not_ok "more than one rank helps" "$tmp/out"
    measure 0 2 none --version
    has out '^optcast-perf [0-9]+\.[0-9]+\.[0-9]+$'
}

# No memory on one rank only: all end, and say whose it is.
memory() {
    # shellcheck disable=SC2016 # for the other shell
    local limited='[ "$OMPI_COMM_WORLD_RANK" != 1 ] || ulimit -v 3000000; exec "$@"'

    # a sanitizer needs more than all address space that can be had here
    ! grep -q fsanitize=address "$BUILD/tests/environment" || return 0
    ends 2 run_mpi 2 none "${mpirun_arguments[@]}" bash -c "$limited" bash "$tool" allreduce -d double -b 4G -e 4G
    has err '^optcast-perf: rank 1 has no memory for --max 4294967296 '
    ends 2 run_mpi 2 none "${mpirun_arguments[@]}" bash -c "$limited" bash "$tool" allreduce --stream 64 -b 32M -e 32M
    has err '^optcast-perf: rank 1 has no memory for --max 33554432 with --stream 64 \(.* by each operation\): '
}

# Progress is for terminals: mpirun gives its ranks none, so this is a job of one rank without it.
progress() {
    shows 0 allreduce -n 1 -b 1K -e 1K </dev/null
    has out '^ +1024 '
    [ ! -s "$tmp/err" ] || not_ok "something was written to stderr, which is no terminal" "$tmp/err"
    "$PYTHON" -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$tool" allreduce -n 1 -b 1K -e 1K \
        >"$tmp/out" 2>&1 </dev/null
    has out 'measuring 1024 bytes'
}

counted=0
collectives
operations
times
comparison
overlap
pairs
streams
wires
fault
pair_fault
arguments
memory
progress
echo "ok perf: $counted runs verified, comparison, files, faults and errors are as described"
