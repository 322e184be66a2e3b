#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# NVIDIA's headers against the default rules: they differ, and the report names
# the rules that they follow instead. Under their own profile they do not, in
# any variant that they offer.
set -u

subjects=$("$NARROWGAUGE" ops --subjects) || exit 99
grep -q cuda-headers <<< "$subjects" || exit 77

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

# check WANTED_STATUS ARGUMENT...: run verify, its text in $scratch/text
check() {
    local want=$1
    shift
    "$NARROWGAUGE" verify --quiet --subject cuda-headers --level 0 "$@" \
        > "$scratch/text" 2>&1
    local got=$?
    [ $got -eq "$want" ] && return
    echo "FAIL verify $*: exit $got, not $want"
    cat "$scratch/text"
    failed=1
}

# names PATTERN: the text of the last run has a line like it
names() {
    grep -q -- "$1" "$scratch/text" && return
    echo "FAIL no line like: $1"
    cat "$scratch/text"
    failed=1
}

check 1
names 'rule e2m1\.nan .*acts like "max"'
names 'rule nan .*acts like "bf16-widened"'
names 'op=encode_e2m1 .*want=00 got=07 x=nan('
check 0 --profile cuda-headers
equal=$(grep -c 'code_.* equal$' "$scratch/text")
if [ "$equal" -ne 10 ]; then        # five formats, there and back
    echo "FAIL $equal operations equal, not 10"
    failed=1
fi

# No rule that the profile pins is idle.
check 1 --profile cuda-headers --op encode_e2m1 --set e2m1.nan=zero
check 1 --profile cuda-headers --op decode_bf16 --set nan=canonical
exit $failed
