#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that no name of the product's files of C, types and functions (static ones, too) means two things, that
# headers declare what their own file defines, and that files say what they own. names.py names the exceptions.
# Test: quick 60
set -eu

# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# put FILE: what comes in, behind the licence.
put() {
    mkdir -p "$tmp/tree/${1%/*}"
    { echo '/* SPDX-License-Identifier: BSD-3-Clause */' && cat; } >"$tmp/tree/$1"
}

begin_test names
"$PYTHON" "$here/names.py" "$REPO" >"$tmp/log" 2>&1 || not_ok "names" "$tmp/log"
# it finds nothing where nothing is wrong
put base/good.h <<<$'/* Good things. */\ntypedef struct oc_good oc_good_t;\nvoid oc_good(oc_good_t *good);'
put base/good.c <<<$'/* Good things. */\nstruct oc_good {\n    int a;\n};\nvoid oc_good(oc_good_t *good)\n{\n    puts("{");\n}'
put base/main.c <<<'/* A program. */'
put net/main.c <<<'/* Another program. */'
put tests/good.c <<<'int test;'
"$PYTHON" "$here/names.py" "$tmp/tree" >"$tmp/wrong" 2>&1 || not_ok "it finds what is not there" "$tmp/wrong"
# it finds what is wrong
put net/good.c <<<$'/* The same name. */\nvoid oc_good(oc_good_t *good)\n{\n}'
put net/twin.h <<<$'/* The same type. */\nstruct oc_good {\n    int b;\n};\nint oc_nowhere(int a,\n               int b);'
put net/stranger.h <<<$'/* What good.c defines. */\nvoid oc_good(oc_good_t *good);'
put net/silent.c <<<'int x;'
put net/one.c <<<$'/* One thing. */\nstatic int same(int a);\nstatic int same(int a)\n{\n    return a;\n}'
put net/other.c <<<$'/* Another thing. */\nstatic __attribute__((noinline)) void *same(int a)\n{\n    return a;\n}'
echo '/* Whose is it? */' >"$tmp/tree/net/licence.c"
! "$PYTHON" "$here/names.py" "$tmp/tree" >"$tmp/wrong" 2>&1 || not_ok "it finds nothing" "$tmp/wrong"
for what in 'the file name good.c is in base/good.c and net/good.c' 'the type oc_good is in base/good.c and net/twin.h' \
    'the function oc_good is in base/good.c and net/good.c' 'net/twin.h declares oc_nowhere, which no file defines' \
    'net/stranger.h declares oc_good, which net/good.c defines' 'net/silent.c does not say what it owns' \
    'net/licence.c does not begin with' \
    'the static function same is in net/one.c and net/other.c'; do
    grep -q -F "$what" "$tmp/wrong" || not_ok "it does not say: $what" "$tmp/wrong"
done
echo "ok names: $(tail -n 1 "$tmp/log")"
