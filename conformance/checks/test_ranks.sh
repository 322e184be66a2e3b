#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# mpirun -n N narrowgauge verify: the ranks share the work, one prints, the sums
# are those of a single process, and the worst exit status is the status.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMP_NUM_THREADS=1

skip() {
    echo "SKIP: $*"
    exit 77
}

command -v mpirun > /dev/null || skip 'no mpirun'
[ -f "${NG_BUILDDIR:-.}/.libs/narrowgauge-mpi.so" ] ||
    skip 'narrowgauge-mpi.so was not built'
"$NARROWGAUGE" ops --subjects | grep -q oracle ||
    skip 'no MPFR oracle in this build'

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0
mpirun -n 2 true > out 2>&1 || skip "mpirun does not run: $(head -n 1 out)"

complain() {
    echo "FAIL $*"
    head -c 4000 out err
    failed=1
}

# ranks N WANTED_STATUS ARGUMENT...
ranks() {
    local n=$1 want=$2
    shift 2
    mpirun -n "$n" "$NARROWGAUGE" verify --quiet "$@" > out 2> err
    local got=$?
    [ $got -eq "$want" ] || complain "$n ranks, verify $*: exit $got, not $want"
}

# What must not differ: all but times, the shards, and the mark of a merger.
stable() {
    grep -vE '^ *"(time|seconds|shards?|merged)":' "$1" | sed 's/,$//'
}

"$NARROWGAUGE" verify --quiet --op encode_e2m1 --op pack_e2m1 --json > want ||
    exit 99
for n in 1 2 3; do
    ranks $n 0 --op encode_e2m1 --op pack_e2m1 --json
    [ "$(grep -c '^{' out)" -eq 1 ] || complain "$n ranks: not printed once"
    diff <(stable want) <(stable out) > delta.txt ||
        { complain "$n ranks: another result"; cat delta.txt; }
done

ranks 2 0 --op decode_e4m3
[ "$(grep -c '^PASSED' out)" -eq 1 ] || complain '2 ranks: not one verdict'

# One report of the whole, and each rank's progress, from which a run goes on.
ranks 2 0 --op encode_e2m1 --level 1 --report report
"$NARROWGAUGE" verify --quiet --op encode_e2m1 --level 1 --json > want || exit 99
diff <(stable want) <(stable report/verify.json) > delta.txt ||
    { complain '2 ranks: another report'; cat delta.txt; }
head -n 9 report/progress-2-of-2.jsonl > short
mv short report/progress-2-of-2.jsonl
ranks 2 0 --op encode_e2m1 --level 1 --report report --json
diff <(stable want) <(stable out) > delta.txt ||
    { complain '2 ranks resumed: another result'; cat delta.txt; }

# The worst status is the status.
ranks 2 2 --op nothing
grep -q -- '--op: nothing: no such operation' err || complain 'no reason given'
ranks 2 2 --op encode_e2m1 --shard 1/2
grep -q -- '--shard: the ranks' err || complain 'ranks and shards'
ranks 2 2 --op encode_e2m1 --report /dev/null/x
grep -q '/dev/null/x: folder: ' err || complain 'no reason given'

# Only the second rank fails: its progress is of another run.
sed -i '1s/"seed":1/"seed":2/' report/progress-2-of-2.jsonl
ranks 2 2 --op encode_e2m1 --level 1 --report report
grep -q 'progress-2-of-2.jsonl: seed: belongs to another run' err ||
    complain 'the second rank: no reason given'
[ -s out ] && complain "a part passes for the whole"

if "$NARROWGAUGE" ops --subjects | grep -q cuda-headers; then
    ranks 2 1 --op encode_e2m1 --subject cuda-headers
    [ "$(grep -c '^FAILED' out)" -eq 1 ] || complain '2 ranks: not one FAILED'
fi

exit $failed
