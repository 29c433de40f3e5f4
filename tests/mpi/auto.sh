#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of mode auto on one host: rules decide, rank 0's on all ranks, and what they leave goes to Open MPI
# however ranks learn of it, on all communicators and in all threads; without a rule nothing is offloaded within a
# host, and no server is opened.
# Test: default 300
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test auto
compile auto auto_owners auto_threads fallback
TIME_LIMIT=${TIME_LIMIT:-60}
rules=$tmp/rules.ini
borders=1024-2047,65536-
three=2048-20000

# says NAME PATTERN
says() {
    has_line "$tmp/$1.log" "$2" || not_ok "$1: no line says: $2" "$tmp/$1.log"
}

says_not() {
    ! has_line "$tmp/$1.log" "$2" || not_ok "$1: a line says: $2" "$tmp/$1.log"
}

cat >"$rules" <<END
[allreduce other]
hosts = 1
ranks_per_host = 9
offload = always
[allreduce split]
hosts = 1-
offload = $borders
END
cat >"$tmp/three.ini" <<END
[allreduce three]
hosts = 1
ranks_per_host = 3
offload = $three
[allreduce all]
hosts = 1
offload = $borders
END
start_server --aggregators 2
expect_job split 4 embedded mode=auto rules="$rules" auto "$borders"
says split "4 ranks, 1 peer, flat reduction shape"
says split "communicator \".*\": Allreduce offloads 1 KiB to 2047 bytes, 64 KiB and more \(rule \"split\" of $rules"
expect_job node 4 embedded mode=auto reproducible=shape rules="$rules" auto "$borders"
says node 'node reduction shape: 1 host with 4 ranks'
expect_job server 3 "$server_address" mode=auto rules="$rules" auto "$borders"
# on communicators without rank 0, whose rules these are
expect_job others 4 embedded mode=auto rules="$tmp/three.ini" auto "$borders" "$three"
says others 'Allreduce offloads 2 KiB to 20000 bytes \(rule "three" of '
expect_job others-server 4 "$server_address" mode=auto rules="$tmp/three.ini" auto "$borders" "$three"
# in several threads
expect_job threads 3 embedded:2 mode=auto rules="$rules" auto_threads 20 "$borders"
expect_job threads-server 4 "$server_address" mode=auto rules="$rules" chunk_size=16384 auto_threads 20 "$borders"

# each kind of reduction by its own rules; what no rule is for is left within a host
cat >"$tmp/owners.ini" <<END
[reduce r]
hosts = 1-
offload = 1024-2047,65536-
[reduce_scatter s]
hosts = 1-
offload = 2048-20000
[barrier b]
hosts = 1
offload = always
END
owners=(never 1024-2047,65536- 2048-20000 never 0-)
expect_job owners 4 embedded mode=auto rules="$tmp/owners.ini" auto_owners "${owners[@]}"
says owners 'Allreduce offloads nothing \(model of '
says owners 'Reduce offloads 1 KiB to 2047 bytes, 64 KiB and more \(rule "r" of '
says owners 'Reduce_scatter offloads 2 KiB to 20000 bytes \(rule "s" of '
says owners 'Barrier offloads everything \(rule "b" of '
expect_job owners-shape 3 embedded mode=auto reproducible=shape rules="$tmp/owners.ini" auto_owners "${owners[@]}"
cat >"$tmp/blocks.ini" <<END
[reduce_scatter_block s]
hosts = 1
offload = 1024-30000
[allreduce a]
hosts = 1
offload = 2048-
END
expect_job owners-blocks 4 "$server_address" mode=auto rules="$tmp/blocks.ini" auto_owners 2048- never never 1024-30000 never
expect_job owners-never 3 embedded mode=auto auto_owners
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"

# why, for each operation
wrapper=(env OMPI_MCA_coll_optcast_verbose=2)
expect_job why 2 embedded mode=auto rules="$rules" auto "$borders"
wrapper=()
says why 'Allreduce on .*: 200 x MPI_.*, MPI_SUM: is offloaded; offloads 1 KiB to'
says why 'Iallreduce on .*: 2000 x MPI_.*: falls back: size; offloads 1 KiB to .* \(rule "split"'
says why 'Iallreduce on .*: 1 x MPI_.*: falls back: size; at best offloads 1 KiB and more'

# where nonblocking Allreduces may have other numbers than persistent ones, all are made of these
if grep -q 'define OMPI_MAJOR_VERSION 4$' "$(sed -n -E 's/^OMPI_CPPFLAGS = *-isystem ([^ ]*).*/\1/p' "$BUILD/Makefile")/mpi.h"; then
    mkdir "$tmp/numbers"
    read -r -a flags < <(sed -n 's/^OMPI_CPPFLAGS = //p' "$BUILD/Makefile" | sed "s|\$(top_srcdir)|$REPO|g")
    "${CC:-cc}" -shared -fPIC -O2 -DNDEBUG -D_GNU_SOURCE -I"$REPO" -I"$BUILD" -I"$REPO/ompi/mca/coll/optcast" "${flags[@]}" \
        -o "$tmp/numbers/mca_coll_numbers.so" "$here/other_numbers.c" || not_ok "cannot compile $here/other_numbers.c"
    wrapper=(env "OMPI_MCA_coll=optcast,numbers,tuned,basic,libnbc,self,inter"
        "OMPI_MCA_mca_base_component_path=$tmp/numbers:$component_dir:SYSTEM_DEFAULT")
    expect_job numbers 4 embedded mode=auto rules="$rules" auto "$borders"
    wrapper=()
fi

# without rules for one host: the same, without asking any server
sed -i 's/hosts = 1$/hosts = 2/; s/hosts = 1-/hosts = 2-/' "$rules"
for servers in embedded 192.0.2.1; do
    expect_job "none-$servers" 4 "$servers" mode=auto rules="$rules" auto never
    says_not "none-$servers" 'aggregates for its job|communicator "'
done
# as far as known before ranks meet
says none-192.0.2.1 'MPI_COMM_WORLD at best offloads nothing \(all ranks are on one host\), so servers are not asked'
says_not none-embedded 'servers are not asked'
# the default; this machine may have rules of its own there
if ! grep -a -o '/[ -~]*/optcast/rules\.ini' "$component_dir/mca_coll_optcast.so" | xargs -r ls >/dev/null 2>&1; then
    expect_job default 4 embedded mode=auto auto never
    says_not default 'aggregates for its job|communicator "'
fi
expect_job no-file 2 embedded mode=auto rules= auto never
says_not no-file 'rules'

# what cannot be read is told once, by rank 0, and changes nothing else
printf '[allreduce four]\nhosts = 1-\nofload = 64K-\n' >"$rules"
expect_job wrong 3 embedded mode=auto rules="$rules" auto never
[ "$(grep -c 'rules.ini, line 3: "ofload" is not known in a rule.* built-in model decides' "$tmp/wrong.log")" -eq 1 ] ||
    not_ok "wrong: the mistake is not told once" "$tmp/wrong.log"
expect_job missing 3 embedded mode=auto rules="$tmp/nowhere" auto never
[ "$(grep -c "cannot read the rules in \"$tmp/nowhere\": No such file" "$tmp/missing.log")" -eq 1 ] ||
    not_ok "missing: it is not told once" "$tmp/missing.log"

# ranks with other files, or with none, are like rank 0, also without it
printf '[allreduce never]\nhosts = 1-\noffload = never\n' >"$tmp/other.ini"
cat >"$programs/auto-unequal" <<END
#!/bin/sh
case \$OMPI_COMM_WORLD_RANK in
0) file=$tmp/three.ini ;;
1) file=$tmp/other.ini ;;
*) file=$tmp/nowhere ;;
esac
OMPI_MCA_coll_optcast_rules=\$file
export OMPI_MCA_coll_optcast_rules
exec "$programs/auto" "\$@"
END
chmod +x "$programs/auto-unequal"
expect_job unequal 4 embedded mode=auto auto-unequal "$borders" "$three"
rm "$programs/auto-unequal"
says_not unequal 'cannot read'
echo "ok auto: rules decide, and nothing is offloaded within a host without one"
