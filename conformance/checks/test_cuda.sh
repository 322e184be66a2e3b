#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The kernels. Their element and block functions, on the host, are equal to the
# reference everywhere. Where a GPU is there, so are the kernels; where there is
# none, `verify` says so with 77, or fails if a GPU is required. NG_SAMPLE=yes: one
# case in eight on the host (where everything is slow).
set -u

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

# check WANTED_STATUS ARGUMENT...: run verify, its text in $scratch/text
check() {
    local want=$1
    shift
    "$NARROWGAUGE" verify --quiet --level 0 "$@" > "$scratch/text" 2>&1
    local got=$?
    [ $got -eq "$want" ] && return
    echo "FAIL verify $*: exit $got, not $want"
    cat "$scratch/text"
    failed=1
}

share=()
[ "${NG_SAMPLE-}" = yes ] && share=(--shard 1/8)
check 0 --subject cuda-host "${share[@]}"
equal=$(grep -c ' equal$' "$scratch/text")
if [ "$equal" -lt 13 ]; then        # six formats, there and back; philox
    echo "FAIL $equal operations equal, not 13 or more"
    failed=1
fi

if "$NARROWGAUGE" verify --quiet --subject cuda --op decode_e2m1 \
    > /dev/null 2>&1; then
    check 0 --subject cuda --require gpu
else
    check 77 --subject cuda --op decode_e2m1
    check 1 --subject cuda --op decode_e2m1 --require gpu
    grep -qE 'no GPU|not in this build' "$scratch/text" || {
        echo 'FAIL a missing GPU is not named'
        failed=1
    }
fi
exit $failed
