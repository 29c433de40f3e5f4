#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that ranks whose settings differ agree all the same: those of rank 0 count.
# Test: default 180
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test unequal
compile faults cast_loop

# unequal NAME SETTING VALUE OTHERS [SETTING=VALUE...]: rank 0 has one value of the setting, the others have
# another. $program runs, with its argument $length.
program=faults length=seconds=0.2
unequal() {
    cat >"$programs/unequal-$1" <<EOF
#!/bin/sh
value=$4
[ "\$OMPI_COMM_WORLD_RANK" != 0 ] || value=$3
OMPI_MCA_coll_optcast_$2=\$value
export OMPI_MCA_coll_optcast_$2
exec "$programs/$program" "\$@"
EOF
    chmod +x "$programs/unequal-$1"
    expect_job "$1" 3 embedded "${@:5}" "unequal-$1" "$length"
    rm "$programs/unequal-$1"
}

# offloaded NAME, nothing NAME: on all three ranks.
offloaded() {
    if [ "$(grep -c '^rank [0-2]: .* offloaded' "$tmp/$1.log")" -ne 3 ] || has_line "$tmp/$1.log" ' 0 offloaded'; then
        not_ok "$1: not all ranks have offloaded" "$tmp/$1.log"
    fi
}

nothing() {
    [ "$(grep -c '^rank [0-2]: .* 0 offloaded' "$tmp/$1.log")" -eq 3 ] ||
        not_ok "$1: something was offloaded" "$tmp/$1.log"
}

# warned NAME [SETTING]: both of the others, by the setting's name, which is the job's unless it is given.
warned() {
    [ "$(grep -c "has other values of coll_optcast_${2:-$1} than" "$tmp/$1.log")" -eq 2 ] ||
        not_ok "$1: not both of the others say so" "$tmp/$1.log"
}

TIME_LIMIT=${TIME_LIMIT:-30}
unequal mode mode always never
offloaded mode
warned mode
unequal never mode never always
nothing never
warned never mode
unequal max_ranks max_ranks 2 3
nothing max_ranks
warned max_ranks
unequal priority priority -1 60
nothing priority
warned priority
# what decides about Allgather and Bcast
program=cast_loop length=operations=12
# cast_count NAME NUMBER: so many were offloaded on each of the three ranks.
cast_count() {
    [ "$(grep -c "^rank [0-2]: $2 offloaded, " "$tmp/$1.log")" -eq 3 ] ||
        not_ok "$1: not $2 were offloaded on each rank" "$tmp/$1.log"
}
unequal multicast multicast udp off "${cast[@]}"
cast_count multicast 12
warned multicast
unequal no_multicast multicast off udp "${cast[@]}"
cast_count no_multicast 0
warned no_multicast multicast
unequal multicast_min_size multicast_min_size 1M 1 "${cast[@]}"
cast_count multicast_min_size 12
warned multicast_min_size
# what is only compared when a communicator is set up
unequal port multicast_port 8921 8922 "${cast[@]}"
cast_count port 0
has_line "$tmp/port.log" 'rank 1 has other .*settings than rank 0.*Allgather and Bcast' ||
    not_ok "port: nobody says why" "$tmp/port.log"
program=faults length=seconds=0.2
# what would not do at all is said, and the others are told
unequal invalid window 8 1000
nothing invalid
has_line "$tmp/invalid.log" 'rank 1 cannot take part' || not_ok "invalid: nobody says why" "$tmp/invalid.log"
unequal invalid0 window 1000 8
nothing invalid0
# other_version NAME RANK FROM TO BYTES [SETTING=VALUE...]: the component of that rank says TO where others say
# FROM, and what rank 0 publishes is so many bytes longer. Nothing is offloaded then.
other_version() {
    mkdir "$tmp/other-$1"
    sed "s/$3/$4/g" "$component_dir/mca_coll_optcast.so" >"$tmp/other-$1/mca_coll_optcast.so"
    ! cmp -s "$component_dir/mca_coll_optcast.so" "$tmp/other-$1/mca_coll_optcast.so" ||
        not_ok "$1: there is no other version"
    cat >"$programs/unequal-version" <<EOF
#!/bin/sh
[ "\$OMPI_COMM_WORLD_RANK" != $2 ] || export OMPI_MCA_mca_base_component_path=$tmp/other-$1:SYSTEM_DEFAULT
if [ "\$OMPI_COMM_WORLD_RANK" = 0 ]; then
    export LD_PRELOAD="\$LD_PRELOAD $tmp/record_size.so" OPTCAST_RECORD_BYTES=$5
fi
exec "$programs/faults" "\$@"
EOF
    chmod +x "$programs/unequal-version"
    expect_job "$1" 3 embedded "${@:6}" unequal-version seconds=0.2
    rm "$programs/unequal-version"
    nothing "$1"
    [ "$5" = 0 ] || has_line "$tmp/$1.log" '^the record has [0-9]+ bytes instead of' ||
        not_ok "$1: the record has its usual length" "$tmp/$1.log"
}

says() {
    has_line "$tmp/$1.log" "$2" || not_ok "$1: nobody says why" "$tmp/$1.log"
}
"${CC:-cc}" -shared -fPIC -O2 -D_GNU_SOURCE -o "$tmp/record_size.so" "$here/record_size.c" -ldl ||
    not_ok "cannot compile $here/record_size.c"
other_version version 1 OCJ04001 OCJ04999 0 mode=always
says version 'rank 1 cannot take part'
# mode auto: what begins a set-up is there for all versions; the rest may be missing, or be followed by more
printf '[allreduce one]\nhosts = 1-\noffload = always\n' >"$tmp/rules.ini"
auto=(mode=auto rules="$tmp/rules.ini")
other_version auto 1 OCJ04001 OCJ04999 0 "${auto[@]}"
says auto 'rank 1 cannot take part'
for bytes in 0 -8 -5000 800; do
    other_version "auto$bytes" 0 OCJ04001 OCJ04999 "$bytes" "${auto[@]}"
    says "auto$bytes" 'rank 1 cannot take part'
done
# the same record, but rules and model would mean something else
other_version model 1 OCMODEL4 OCMODEL9 0 "${auto[@]}"
says model 'rank 1 has other coll_optcast settings than rank 0'
# what is only compared when a communicator is set up
unequal chunk_size chunk_size 4096 8192
nothing chunk_size
has_line "$tmp/chunk_size.log" 'rank 1 has other coll_optcast settings than rank 0' ||
    not_ok "chunk_size: nobody says why" "$tmp/chunk_size.log"
echo "ok unequal: settings of rank 0 decide"
