# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the search of a model by spin. To be sourced.

models=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib.sh
. "$models/../lib.sh"

CC=${CC:-cc}

# begin_model NAME: of NAME.pml
begin_model() {
    model=$models/$1.pml
    begin_test "$1"
    command -v spin >"$tmp/spin" || skip "there is no spin; install it"
}

# search MACRO[=VALUE]...: what the search says, in $tmp/out. With checker=(OPTION...) of the compiler beside those of all, and
# optimize=-O0 for a short one, which costs less than to optimize it.
optimize=-O2
checker=(-DSAFETY -DCOLLAPSE -DMEMLIM=1024)
search() {
    cd "$tmp" || return
    spin "${@/#/-D}" -a "$model" >out 2>&1
    # shellcheck disable=SC2086 # a command with arguments
    $CC "$optimize" -w "${checker[@]}" -o pan pan.c >out 2>&1
    ./pan -m200000 >out 2>&1
}

# expect_error WHAT: of the last search: it has found that this may happen.
expect_error() {
    grep -Eq 'errors: [1-9]' "$tmp/out" || not_ok "the search does not find that $1" "$tmp/out"
}

# expect_end: of the last search: nobody waits for ever. Sets states.
expect_end() {
    grep -q 'errors: 0' "$tmp/out" || not_ok "somebody waits for ever" "$tmp/out"
    ! grep -q 'Search not completed' "$tmp/out" || not_ok "the search did not end" "$tmp/out"
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$tmp/out")
}
