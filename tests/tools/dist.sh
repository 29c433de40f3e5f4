#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that a release has all that the repository has, builds, installs and uninstalls.
# Test: all 600
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
# shellcheck source=tests/apps/lib.sh
. "$REPO/tests/apps/lib.sh"
# shellcheck source=tools/build.sh
. "$REPO/tools/build.sh"

# What a release does not have, and what only a release has.
not_released=(.gitignore)
generated='^(Makefile\.in|aclocal\.m4|config\.h\.in|configure|build-aux/.*|m4/(libtool|lt.*)\.m4)$'

# distcheck makes the source tree read-only
clean_up() {
    chmod -R u+w "$BUILD/$name" 2>/dev/null || :
    rm -rf "${BUILD:?}/$name" "$BUILD/$name.tar.gz" "$tmp"
}

# complain FILE WHAT: for each name in FILE.
complain() {
    [ -s "$1" ] || return 0
    sed "s|^|$2: |" "$1" >&2
    wrong=$((wrong + $(wc -l <"$1")))
}

# Of the repository.
list_executables() {
    git -C "$REPO" ls-files --stage | sed -n 's/^100755 [^\t]*\t//p'
}

begin_job_test dist
[ "$(git -C "$REPO" rev-parse --show-toplevel 2>"$tmp/git")" = "$REPO" ] ||
    skip "no git repository to compare with: $(head -n 1 "$tmp/git")"
name=$(sed -n 's/^#define PACKAGE_TARNAME "\(.*\)"/\1/p' "$BUILD/config.h")-$(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"/\1/p' "$BUILD/config.h")
trap clean_up EXIT

# Tests are built, but run elsewhere; their speed does not matter.
make -C "$BUILD" -j"$(build_jobs)" distcheck TESTS= DISTCHECK_CONFIGURE_FLAGS='--enable-werror CFLAGS=-O0' >"$tmp/log" 2>&1 ||
    not_ok "make distcheck fails" "$tmp/log"
tar -xzf "$BUILD/$name.tar.gz" -C "$tmp"
(cd "$tmp/$name" && find . -type f | sed 's|^\./||') | LC_ALL=C sort >"$tmp/released"
git -C "$REPO" ls-files | grep -v -x -F "$(printf '%s\n' "${not_released[@]}")" | LC_ALL=C sort >"$tmp/wanted"

wrong=0
comm -13 "$tmp/released" "$tmp/wanted" >"$tmp/missing"
complain "$tmp/missing" "not in the release (EXTRA_DIST in the local.mk of its folder)"
comm -23 "$tmp/released" "$tmp/wanted" | grep -v -E "$generated" >"$tmp/surplus" || :
complain "$tmp/surplus" "in the release, and not in git"
list_executables | while read -r file; do
    [ ! -e "$tmp/$name/$file" ] || [ -x "$tmp/$name/$file" ] || echo "$file"
done >"$tmp/lame"
complain "$tmp/lame" "not executable in the release"
[ "$wrong" -eq 0 ] || not_ok "$wrong files are not as they should be"

echo "ok dist: $(wc -l <"$tmp/wanted") files of the repository are in the release, which builds, installs and uninstalls"
