#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# narrowgauge bench: it verifies, times and prints; no figure is judged here.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

# run WANTED_STATUS ARGUMENT...
run() {
    local want=$1
    shift
    "$NARROWGAUGE" bench --quiet --size 4096 --repeat 2 "$@" \
        > "$scratch/out" 2> "$scratch/err"
    local got=$?
    [ $got -eq "$want" ] && return
    echo "FAIL bench $*: exit $got, not $want"
    cat "$scratch/out" "$scratch/err"
    failed=1
}

# has PATTERN FILE: a line of the last run's out or err
has() {
    grep -q -- "$1" "$scratch/$2" && return
    echo "FAIL no \"$1\" in $2 of the last run"
    failed=1
}

run 0
for op in $("$NARROWGAUGE" ops | awk '/^[a-z]/ { print $1 }'); do
    has "^$op " out
done
has 'memcpy [0-9.]* GB/s' out

# Compulsory bytes: FP32 in, one byte out; BF16 in, codes and scales out.
run 0 --json --op encode_e4m3 --op quantize_mxfp4
has '"bytes": 20480' out
has '"bytes": 10368' out
has '"values": 4096' out
has '"limit": [0-9]' out

run 77 --backend cuda
[ "$(wc -l < "$scratch/err")" -eq 1 ] || { echo "FAIL not one line"; failed=1; }
run 2 --backend nobody
has 'backend: nobody: no such backend' err
run 2 --op nothing
has 'op: nothing: no such operation' err
run 2 --repeat 0

if "$NARROWGAUGE" ops --subjects | grep -q oracle; then
    run 0 --backend oracle --op encode_e4m3
    has 'All 2^32 FP32 -> E4M3 in two processes' out
fi

exit $failed
