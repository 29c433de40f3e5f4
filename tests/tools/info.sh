#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that optcast-info tells the truth about this build and about whether it will load.
# Test: default 60; openmpi5: all 60
set -eu

# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2154 # tmp is set by begin_test, tool by begin_mpi_tool_test
begin_mpi_tool_test info optcast-info

# check STATUS PATTERN ARGUMENT...: the exit status, and a line of the output that matches.
check() {
    expected=$1
    pattern=$2
    shift 2
    status=0
    "$tool" "$@" >"$tmp/out" 2>&1 || status=$?
    [ "$status" -eq "$expected" ] ||
        not_ok "'optcast-info $*' ended with status $status, not with $expected" "$tmp/out"
    has_line "$pattern" "$*"
}

# has_line PATTERN WHAT: in the output of the last run.
has_line() {
    grep -E -q -e "$1" "$tmp/out" || not_ok "'optcast-info $2' printed no line with '$1'" "$tmp/out"
}

# limit NAME: its value in the header.
limit() {
    awk -v name="$1" '$2 == name { print $3 }' "$REPO/base/limits.h"
}

# fake_ompi_info FILE VERSION: a program that says that it is another Open MPI, and lists nothing.
fake_ompi_info() {
    cat >"$1" <<END
#!/bin/sh
[ "\$1" != --version ] || echo "Open MPI v$2"
END
    chmod +x "$1"
}

# It loads, and the facts are there.
check 0 '^  result +the component loads$' --component "$component_dir" --ompi-info "$OMPI_INFO"
has_line "^  Open MPI +built for $OMPI_VERSION\$" --component
if [ -e "$BUILD/.libs/liboptcast-mpich.so" ]; then
    has_line '^  MPICH +liboptcast-mpich.so, with the headers of 4\.[0-9.]+$' --component
else
    has_line '^  MPICH +not built for it$' --component
fi
has_line '^  UCX +built with [0-9.]+, [0-9.]+ is loaded$' --component
has_line '^  verbs +([^ ]+ port [0-9]+ on [^ ]+, datagrams of [0-9]+ bytes|not here: .+)$' --component
has_line "^  versions +$(limit OC_PROTOCOL_VERSION_MIN) to $(limit OC_PROTOCOL_VERSION_MAX)\$" --component
has_line '^  in use +(baseline|neon|avx2|avx512)$' --component
has_line '^  available +(baseline|neon)' --component
has_line '^ +sum +prod +min +max +band .* minloc +maxloc$' --component
has_line '^  uint8( +x){10}( +-){2}$' --component
has_line '^  bfloat16( +x){4}( +-){8}$' --component
has_line '^  double-int32( +-){10}( +x){2}$' --component
awk '/^Operations/ { table = 1 } /^$/ { table = 0 } table && length > 100 { exit 1 }' "$tmp/out" ||
    not_ok "the table of operations is wider than 100 columns" "$tmp/out"
has_line '^  coll_optcast_servers LIST$' --component
has_line '\(default embedded\)$' --component
has_line '\(default 4; 1 to 64 chunks\)$' --component
has_line 'need servers \(optcast-server\) on other' --component
check 0 '^  result +the component loads$' "--component=$component_dir/mca_coll_optcast.so" \
    "--ompi-info=$OMPI_INFO"

has_line '^  filter +(on: they admit hosts of the job only|off: .+)$' --component

# A selection in the environment does not keep it from loading, but is worth a word.
export OMPI_MCA_coll=tuned,basic
check 0 'OMPI_MCA_coll=tuned,basic is set' --component "$component_dir" --ompi-info "$OMPI_INFO"
unset OMPI_MCA_coll

# The settings of a job that is started here, and where they come from.
cat >"$tmp/params.conf" <<END
coll_optcast_verbose = 1
END
export OMPI_MCA_mca_param_files="$tmp/params.conf" OMPI_MCA_coll_optcast_mode=never
check 0 '^  coll_optcast_mode +never +environment' --component "$component_dir" --ompi-info "$OMPI_INFO"
has_line '^  coll_optcast_verbose +1 +file \(.*params\.conf' settings
has_line '^  coll_optcast_chunk_size +0 +default$' settings
check 0 '^optcast:setting:coll_optcast_mode:value:never$' --parsable --component "$component_dir" --ompi-info "$OMPI_INFO"
has_line '^optcast:setting:coll_optcast_mode:source:environment' --parsable
has_line '^optcast:setting:coll_optcast_servers:value:embedded$' --parsable
has_line '^optcast:component:loads:yes$' --parsable
has_line '^optcast:version:[0-9]' --parsable
has_line '^optcast:isa:used:(baseline|neon|avx2|avx512)$' --parsable
has_line '^optcast:type:uint8:operations:sum,prod,' --parsable
! grep -v '^optcast:[a-z][^ ]*:' "$tmp/out" || not_ok "--parsable prints lines that are not optcast:KEY:VALUE" "$tmp/out"
unset OMPI_MCA_mca_param_files OMPI_MCA_coll_optcast_mode
check 1 '^optcast:component:loads:no: /nonexistent/.*No such file' --parsable --component /nonexistent

# It does not load, and it says why.
check 1 'will not load: /nonexistent/.*No such file' --component /nonexistent
mkdir "$tmp/broken"
echo "not a library" >"$tmp/broken/mca_coll_optcast.so"
check 1 'will not load: Open MPI does not list it' --component "$tmp/broken" --ompi-info "$OMPI_INFO"

fake_ompi_info "$tmp/other" 3.9.7
check 1 'will not load: it was built for Open MPI [^ ]+, and this is 3\.9\.7$' \
    --component "$component_dir" --ompi-info "$tmp/other"
fake_ompi_info "$tmp/sibling" "$(echo "$OMPI_VERSION" | sed -E 's/^([0-9]+\.[0-9]+).*/\1.99/')"
check 1 'another release of the same series' --component "$component_dir" --ompi-info "$tmp/sibling"
has_line 'will not load: Open MPI does not list it' --ompi-info
# 4.10 is not 4.1, although it begins like it
fake_ompi_info "$tmp/longer" "$(echo "$OMPI_VERSION" | sed -E 's/^([0-9]+\.[0-9]+).*/\10.4/')"
check 1 'will not load: it was built for' --component "$component_dir" --ompi-info "$tmp/longer"
# a component of another build counts by what it was built for, not by what this optcast-info was
mkdir "$tmp/elsewhere"
LC_ALL=C sed "s/\(optcast-info: built for Open MPI \)[0-9]/\19/" "$component_dir/mca_coll_optcast.so" \
    >"$tmp/elsewhere/mca_coll_optcast.so"
check 1 "will not load: it was built for Open MPI 9[^ ]*, and this is $OMPI_VERSION\$" \
    --component "$tmp/elsewhere" --ompi-info "$OMPI_INFO"
printf '#!/bin/sh\necho something else\n' >"$tmp/alien"
chmod +x "$tmp/alien"
check 1 'does not tell an Open MPI version' --component "$component_dir" --ompi-info "$tmp/alien"

check 1 'will not load: /nonexistent/ompi_info: No such file' --component "$component_dir" \
    --ompi-info /nonexistent/ompi_info
echo "text" >"$tmp/plain"
check 1 "will not load: $tmp/plain is not executable" --component "$component_dir" \
    --ompi-info "$tmp/plain"
check 1 "will not load: $tmp is not executable" --component "$component_dir" --ompi-info "$tmp"
# nothing in a name is ever given to a shell
check 1 'No such file' --component "\$(touch $tmp/injected)"
[ ! -e "$tmp/injected" ] || not_ok "a name was run by a shell"

# Without --ompi-info it is the one in PATH. grep is still needed, outside of it.
mkdir "$tmp/bin"
status=0
PATH=$tmp/bin "$tool" --component "$component_dir" >"$tmp/out" 2>&1 || status=$?
[ "$status" -eq 1 ] || not_ok "without ompi_info in PATH the status is $status" "$tmp/out"
has_line 'will not load: ompi_info was not found in PATH' "(no ompi_info)"
fake_ompi_info "$tmp/bin/ompi_info" 3.9.7
status=0
PATH=$tmp/bin:$PATH "$tool" --component "$component_dir" >"$tmp/out" 2>&1 || status=$?
[ "$status" -eq 1 ] || not_ok "with another ompi_info in PATH the status is $status" "$tmp/out"
has_line "^  Open MPI +3\.9\.7, $tmp/bin/ompi_info\$" "(ompi_info in PATH)"

# Servers, one that serves, and what may be wrong with others.
"$BUILD/optcast-server" --listen 127.0.0.1:0 --max-jobs 3 --aggregators 2 --memory-limit 64M >"$tmp/server" 2>"$tmp/server.log" &
server=$!
trap 'kill "$server" 2>/dev/null || :; rm -rf "$tmp"' EXIT
for _ in $(seq 100); do
    address=$(sed -n 's/^optcast-server: ready on //p' "$tmp/server")
    [ -z "$address" ] || break
    sleep 0.1
done
check 0 "^  $address +yes: 0 of 3 jobs, 2 aggregators and 67108864 bytes for each\$" --servers "$address"
check 0 "^optcast:server:$address:serves:yes\$" --parsable --servers "$address"
has_line "^optcast:server:$address:round_trip_us:[0-9.]+\$" --parsable
check 0 "^  $address +yes: 0 of 3 jobs" --servers "$address"
has_line '^ +release [0-9.]+, protocol [0-9]+ to [0-9]+, round trip [0-9]+ us \([0-9]+ to [0-9]+\)$' --servers
check 1 '^  127\.0\.0\.1:9 +no: Connection refused: start optcast-server there$' --servers "$address,127.0.0.1:9"
has_line "^  $address +yes:" --servers
check 1 'no: the host "nosuchhost\.invalid" cannot be resolved' --servers nosuchhost.invalid
check 1 '^optcast-info: --servers: ' --servers 'host:port'
check 0 'embedded: servers inside a job' --servers embedded
kill "$server"
wait "$server" || not_ok "the server does not end in order" "$tmp/server.log"
! grep -q 'was refused' "$tmp/server.log" || not_ok "questions are complained about" "$tmp/server.log"

# Options.
check 0 '^Usage: optcast-info ' --help
check 0 '^optcast-info [0-9]+\.[0-9]+\.[0-9]+$' --version
check 2 "unrecognized option '--bogus'" --bogus
check 2 'requires an argument' --component
check 2 "unexpected argument 'word'" word

# --multicast: what cannot be meant, and what cannot be found out. tests/cluster/test_survey.sh has the networks.
check 2 "^optcast-info: --hosts goes with --multicast only\$" --hosts 3
check 2 "^optcast-info: --multicast and --servers are two questions: ask one\$" --multicast --servers "$address"
check 2 "^optcast-info: --hosts: \"1\" is not a number from 2 to 1024\$" --multicast --hosts 1
check 2 "^optcast-info: --hosts: \"1025\" is not a number" --multicast --hosts 1025
check 2 "^optcast-info: --wait: \"soon\" is not a number from 1 to 3600\$" --multicast --wait soon
check 2 "^optcast-info: --token: \"\" does not have 1 to 63 characters\$" --multicast --token ''
check 2 '^optcast-info: --token: .* does not have 1 to 63 characters' --multicast --token "$(printf '%064d' 0)"
check 2 "^optcast-info: --set: \"mode\" is not one of the settings of multicast" --multicast --set mode=always
check 2 "^optcast-info: --set: \"multicast_port\" is not NAME=VALUE\$" --multicast --set multicast_port
check 2 '^optcast-info: --set: .*multicast_port' --multicast --set multicast_port=65536
check 2 '^optcast-info: --multicast: start it on several hosts at once' --multicast
check 2 '^optcast-info: --multicast: --coordinator needs a --token' --multicast --coordinator localhost
check 2 '^optcast-info: --multicast: how many hosts take part\? Say --hosts N' --multicast --coordinator localhost --token t
OMPI_COMM_WORLD_SIZE=4 check 2 '^optcast-info: --multicast: this launcher has no PMIx: say --coordinator' --multicast
OMPI_MCA_coll_optcast_multicast_port=0 check 2 '^optcast-info: --multicast: .*multicast_port' --multicast --hosts 2
OMPI_MCA_coll_optcast_multicast_port=0 check 0 '^Usage: ' --help
check 4 '--multicast: the host "nosuchhost\.invalid" cannot be resolved' --multicast --coordinator nosuchhost.invalid --token t
run 4 2 always --multicast
has err '--multicast: (all processes are on one host, and it takes two hosts: with mpirun, say --map-by ppr:1:node|.*built without PMIx.*)$'

echo "ok info: the component loads, and every failure has its reason"
