#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# narrowgauge verify as a program: shards, resumed runs, repeatable output,
# replay, reports, and what it refuses.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    head -c 4000 out err
    failed=1
}

# run WANTED_STATUS ARGUMENT...
run() {
    local want=$1
    shift
    "$NARROWGAUGE" verify --quiet "$@" > out 2> err
    local got=$?
    [ $got -eq "$want" ] || complain "verify $*: exit $got, not $want"
}

# refuses PATTERN ARGUMENT...: exit 2, nothing printed but one line that matches
refuses() {
    local pattern=$1
    shift
    run 2 "$@"
    [ "$(wc -l < err)" -eq 1 ] || complain "verify $*: not one line"
    [ -s out ] && complain "verify $*: printed something"
    grep -q -- "$pattern" err || complain "verify $*: no: $pattern"
}

# What two runs of the same work must share: all but times.
stable() { grep -vE '^ *"(time|seconds)":' "$1"; }

# same FILE FILE WORDS
same() {
    diff <(stable "$1") <(stable "$2") > delta.txt && return
    echo "FAIL $3"
    head -n 40 delta.txt
    failed=1
}

# sums KEY FILE...: the values of a key, added over all lines and files
sums() {
    local key=$1
    shift
    cat "$@" | awk -F '[:,]' -v key="\"$key\"" \
        '{ gsub(/ /, "", $1) } $1 == key { sum += $2 } END { printf "%d", sum }'
}

subjects=$("$NARROWGAUGE" ops --subjects) || exit 99
if ! grep -q oracle <<< "$subjects"; then
    echo 'SKIP: no MPFR oracle in this build'
    exit 77
fi

# ---- shards share the work out -------------------------------------------------
ops='--op encode_e2m1 --op convert_scales --op philox'
# shellcheck disable=SC2086
{
    run 0 --json $ops
    mv out whole
    for i in 1 2 3; do
        run 0 --json $ops --shard $i/3
        mv out "shard$i"
        [ "$(sums cases "shard$i")" -lt "$(sums cases whole)" ] ||
            complain "shard $i/3 does all"
    done
}
for key in cases elements inexact tie subnormal flushed saturated infinite nan
do
    [ "$(sums $key whole)" -gt 0 ] || complain "no $key in the whole"
    [ "$(sums $key whole)" -eq "$(sums $key shard1 shard2 shard3)" ] ||
        complain "$key of three shards: $(sums $key shard1 shard2 shard3)," \
            "of the whole: $(sums $key whole)"
done

# ---- the same seed, the same output, on any number of threads ------------------
for threads in 1 2 5; do
    OMP_NUM_THREADS=$threads run 0 --json --op encode_e4m3 --op quantize_fp8_tile \
        --stratum random --set rounding=stochastic --seed 7
    mv out "threads$threads"
done
same threads1 threads2 'two threads give another output'
same threads1 threads5 'five threads give another output'
run 0 --json --op encode_e4m3 --op quantize_fp8_tile --stratum random \
    --set rounding=stochastic --seed 8
diff <(stable threads1 | grep -v '"seed"') <(stable out | grep -v '"seed"') \
    > delta.txt && complain 'another seed gives the same output'

# More of them than there is work for: some have none, which is no difference.
run 0 --op decode_e4m3 --shard 2/2
grep -q '^PASSED: 0 differences in 0 elements' out || complain 'an empty shard'

# ---- a run that was stopped goes on --------------------------------------------
long='--json --level 1 --op encode_e2m1'
progress='progress-1-of-1.jsonl'
# shellcheck disable=SC2086
run 0 $long --report undisturbed
mv out want
[ "$(sums cases want)" -gt 1000 ] || complain 'level 1 is short'
lines=$(wc -l < undisturbed/$progress)

# resumes DIR WORDS: the rest of the run in DIR gives what an undisturbed one does
resumes() {
    # shellcheck disable=SC2086
    run 0 $long --report "$1"
    same want out "$2"
    [ "$(wc -l < "$1/$progress")" -eq "$lines" ] ||
        complain "$2: $(wc -l < "$1/$progress") lines of progress, not $lines"
    [ -z "$(cut -d , -f 1 "$1/$progress" | sort | uniq -d)" ] ||
        complain "$2: a chunk was done twice"
    same "undisturbed/verify.json" "$1/verify.json" "$2: report"
}

# shellcheck disable=SC2086
"$NARROWGAUGE" verify --quiet $long --report killed > out 2>&1 &
job=$!
for _ in $(seq 1000); do        # until some of it is done
    [ "$(cat killed/$progress 2>/dev/null | wc -l)" -ge 5 ] && break
    sleep 0.02
done
{ kill -KILL $job && wait $job; } 2>/dev/null
[ "$(wc -l < killed/$progress)" -ge 5 ] || complain 'nothing done in 20 s'
resumes killed 'killed and resumed'

mkdir cut half
head -n 20 undisturbed/$progress | head -c -17 > cut/$progress
resumes cut 'cut within a line'
head -c 30 undisturbed/$progress > half/$progress
resumes half 'cut within the header'
resumes undisturbed 'done already'

# ---- a part of level 1: all 2^16 numbers of a type under some of the scales ----
for case in 'quantize_mxfp4 x=bf16 mxfp4.scale=even' \
    'quantize_fp8_row x=fp16 fp8.scale=pow2'; do
    # shellcheck disable=SC2086
    set -- $case
    run 0 --json --level 1 --shard 2/40 --stratum sixteen --op "$1" --set "$2" \
        --set "$3" --set rounding=nearest-even --set scales=ue8m0
    [ "$(sums elements out)" -gt 65536 ] || complain "$1: sixteen is short"
    [ "$(sums failed_cases out)" -eq 0 ] || complain "$1: sixteen"
done

# A progress file of another run is no progress of this one.
refuses "undisturbed/$progress: seed: belongs to another run" \
    --level 1 --op encode_e2m1 --report undisturbed --seed 2
refuses "$progress: level: belongs" --level 2 --sample 1 --op encode_e2m1 \
    --report undisturbed
refuses "$progress: rules: belongs" --level 1 --op encode_e2m1 \
    --report undisturbed --set rounding=up
refuses "$progress: rules: belongs" --level 1 --op decode_bf16 \
    --report undisturbed --set nan=bf16-widened
refuses "$progress: subject: belongs" --level 1 --op encode_e2m1 \
    --report undisturbed --subject oracle
mkdir other
cp undisturbed/$progress other/progress-1-of-2.jsonl
refuses 'other/progress-1-of-2.jsonl: shards: belongs' --level 1 \
    --op encode_e2m1 --report other --shard 1/2
# Nor is that of another build of the program, which is left without a word.
mkdir rebuilt
sed 's/"failed":0/"failed":1/; 1s/"build":"[0-9a-f]*"/"build":"0123456789abcdef"/' \
    undisturbed/$progress > rebuilt/$progress
[ "$(grep -c '"failed":1' rebuilt/$progress)" -gt 5 ] || complain 'no such field'
resumes rebuilt 'of another build'
sed '3s/.*/{"chunk":/' undisturbed/$progress > other/$progress
refuses "other/$progress:3: line: not JSON" --level 1 --op encode_e2m1 \
    --report other

# ---- replay --------------------------------------------------------------------
line='FAIL op=encode_e4m3 variant=rounding=up,overflow=ieee stratum=ties case=3 seed=1 at=y[17] want=77 got=76'
run 0 --replay "$line"
grep -q '^passed: encode_e4m3, [0-9]* elements, no difference$' out ||
    complain 'replay of a case that passes'
refuses 'replay: op: ' --replay 'FAIL op=encode_e5m2 variant=- stratum=ties case=3 seed=1'
refuses 'replay: stratum: ' --replay "${line/stratum=ties/stratum=tie}"
refuses 'replay: variant: ' --replay "${line/=up/=sideways}"
refuses 'replay: case: ' --replay "${line/case=3/case=65}"
if grep -q cuda-headers <<< "$subjects"; then
    # Many failures, so that resumed runs bring theirs back too.
    run 1 --subject cuda-headers --op encode_e2m1 --json --level 1 \
        --report headers
    mv out want
    grep -m 1 -o 'FAIL op=.*[^",]' want > line
    mkdir headers-cut
    head -n 9 headers/$progress > headers-cut/$progress
    run 1 --subject cuda-headers --op encode_e2m1 --json --level 1 \
        --report headers-cut
    same want out 'failures of a resumed run'
    run 1 --subject cuda-headers --replay "$(cat line)"
    diff line out > delta.txt || complain 'replay gives another line'
    run 0 --replay "$(cat line)"        # the reference has no such fault
fi

# ---- what is refused -----------------------------------------------------------
refuses '--op: encode_e5m2: no such operation' --op encode_e5m2
refuses '--subject: nobody: no such subject' --subject nobody
refuses 'nothing: profile: no such name' --profile nothing
refuses './nothing.profile: open: No such file' \
    --profile ./nothing.profile
refuses '--shard: 0/3: not I/N' --shard 0/3
refuses '--shard: 4/3: not I/N' --shard 4/3
refuses '--shard: 1/3x: not I/N' --shard 1/3x
refuses '--set: nonsense: not NAME=VALUE' --set nonsense
refuses '--set: a=b: no such rule or axis' --set a=b
refuses '--set: rounding=sideways: no such value' --set rounding=sideways
refuses '--set: x=fp63: no such value' --set x=fp63
refuses '--stratum: tie: no such stratum' --stratum tie
refuses '--level: 3: not a whole number from 0 to 2' --level 3
refuses '--seed: -1: not a whole number' --seed=-1
refuses '--require: tpu: only gpu' --require tpu
refuses 'more: unexpected argument' more

# profile_line PATTERN LINE...: a profile of these lines after its version
profile_line() {
    local pattern=$1
    shift
    printf '%s\n' 'version 1' '# words' "$@" > bad.profile
    refuses "bad.profile$pattern" --op decode_e2m1 --profile ./bad.profile
}
profile_line ':3: rouding: no such rule' 'rouding up' 'source here'
profile_line ':4: rounding: no such value: sideways' 'source here' \
    'rounding sideways'
profile_line ':4: rounding: no value' 'source here' 'rounding'
profile_line ':5: rounding: given twice' 'source here' 'rounding up' \
    'rounding up'
profile_line ': source: missing' 'rounding up'
printf '%s\n' 'version 1' 'source here' 'rounding up' > good.profile
run 0 --op encode_e2m1 --profile ./good.profile
grep -qE '^encode_e2m1 +1 ' out || complain 'a pinned rounding leaves one variant'

# ---- what cannot run here, and what cannot be written --------------------------
if ! grep -qE '^cuda ' <<< "$subjects"; then
    run 77 --subject cuda
    [ "$(wc -l < err)" -eq 1 ] || complain 'subject cuda: not one line'
    run 1 --subject cuda --require gpu
fi
refuses '/dev/null/x: folder: ' --op decode_e2m1 --report /dev/null/x
run 4 --op decode_e2m1 --junit /dev/null/x.xml
[ "$(wc -l < err)" -eq 1 ] || complain 'junit: not one line'
[ -s out ] && complain 'junit: said after the work'
mkdir -p taken/$progress
refuses "taken/$progress: progress: " --op decode_e2m1 --level 1 --report taken
[ "$(ls taken)" = $progress ] || complain 'a refused run wrote a report'

# ---- JUnit ---------------------------------------------------------------------
"$NARROWGAUGE" verify --quiet --op decode_e2m1 --op philox --junit good.xml \
    > out 2> err
if ! grep -q 'has no libxml2' err; then
    grep -q '<testcase .*name="philox"' good.xml || complain 'no testcase philox'
    if command -v xmllint > /dev/null; then
        xmllint --noout good.xml 2> err || complain 'junit: not well-formed'
    elif command -v python3 > /dev/null; then
        python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' \
            good.xml 2> err || complain 'junit: not well-formed'
    fi
fi

exit $failed
