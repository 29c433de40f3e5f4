#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that error texts are written on failure only, by whoever detects it.
# Test: quick 60
set -eu

# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# put FILE LINE...: a function with these lines.
put() {
    mkdir -p "$tmp/tree/${1%/*}"
    {
        echo "bool $(basename "$1" .c)(char *error, size_t size)"
        echo '{'
        printf '    %s\n' "${@:2}"
        echo '}'
    } >"$tmp/tree/$1"
}

begin_test errors
"$PYTHON" "$here/errors.py" "$REPO" >"$tmp/log" 2>&1 || not_ok "error texts" "$tmp/log"
# it finds nothing where nothing is wrong
put base/at_the_end.c 'snprintf(error, size, "it %d", 1);' 'return false;'
put base/nothing_else.c 'snprintf(error, size, "it");'
put base/tidies_up.c 'snprintf(error, size, "it");' 'close(fd);' 'it->fd = -1;' 'return OC_ERR_SYSTEM;'
put base/if.c 'if (!good()) {' '    snprintf(error, size, "it");' '}' 'return good();'
put tools/other.c 'char error[10] = "";'
"$PYTHON" "$here/errors.py" "$tmp/tree" >"$tmp/wrong" 2>&1 || not_ok "it finds what is not there" "$tmp/wrong"
# it finds what is wrong
put base/early.c 'snprintf(error, size, "it");' 'if (good()) {' '    return true;' '}' 'return false;'
put base/asks.c 'snprintf(error, size, "it");' 'return make(thing);'
put base/asks_if.c 'snprintf(error, size, "it");' 'return good() ? OC_OK : OC_ERR_SYSTEM;'
put base/asks_first.c 'snprintf(error, size, "it");' 'status = make(thing);' 'return status;'
put base/asks_later.c 'snprintf(error, size, "it");' 'prepare(x);' 'if (good()) {' '    return true;' '}' 'tidy(x);' \
    'return false;'
put base/success.c 'snprintf(error, size, "it");' 'return OC_OK;'
put base/prepared.c 'char error[10] = "";' 'return good(error);'
put base/emptied.c "error[0] = '\\0';" 'return good(error);'
! "$PYTHON" "$here/errors.py" "$tmp/tree" >"$tmp/wrong" 2>&1 || not_ok "it finds nothing" "$tmp/wrong"
for what in 'base/asks.c:3: the error text is written' 'base/asks_if.c:3: the error text is written' \
    'base/asks_first.c:3: the error text is written' 'base/asks_later.c:3: the error text is written' 'base/early.c:3: the error text is written' 'base/success.c:3: the error text is written' \
    'base/prepared.c:3: the error text is prepared' 'base/emptied.c:3: the error text is prepared'; do
    grep -q -F "$what" "$tmp/wrong" || not_ok "it does not say: $what" "$tmp/wrong"
done
[ "$(wc -l <"$tmp/wrong")" -eq 8 ] || not_ok "it finds more" "$tmp/wrong"
echo "ok errors: $(tail -n 1 "$tmp/log")"
