# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns what all tests in shell share: their name, their temporary directory, and how they end.

# begin_test NAME: give it the temporary directory $tmp, for as long as it runs.
begin_test() {
    test_name=$1
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/optcast-$test_name.XXXXXX")
    trap 'rm -rf "$tmp"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

skip() {
    echo "skipped $test_name: $*"
    exit 77
}

# available_memory: in kB.
available_memory() {
    sed -n -E 's/^MemAvailable: *([0-9]+) kB$/\1/p' /proc/meminfo
}

# need_memory KB: the test is skipped where less is available.
need_memory() {
    set -- "$1" "$(available_memory)"
    [ "${2:-0}" -ge "$1" ] || skip "it needs $1 kB of memory, and ${2:-0} kB are available"
}

# not_ok REASON [FILE...]: the end of each file is shown first.
not_ok() {
    reason=$1
    shift
    for file in "$@"; do
        [ ! -s "$file" ] || tail -n 20 "$file" >&2
    done
    echo "not ok $test_name: $reason"
    exit 1
}
