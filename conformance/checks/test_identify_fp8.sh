#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The profiles of peers' FP8 blocks tell those peers apart: a subject that follows
# one is called by its name, differs under every other, and from its nearest
# neighbour by the rule that is between them.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
reference=${NG_BUILDDIR:?}/.libs/plugin_reference.so
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0
if [ ! -f "$reference" ]; then
    echo 'SKIP: no plug-ins in this build'
    exit 77
fi

complain() {
    echo "FAIL $*"
    head -c 3000 "$scratch/out"
    failed=1
}

echo quantize_fp8_row > "$scratch/operations"
export NG_PLUGIN_OPERATIONS=$scratch/operations
asked=(--subject "$reference" --op quantize_fp8_row --set x=bf16 --set scales=fp32)
profiles=(deepep deepep-pow2 deepep-python deepgemm-fp8 deepgemm-fp8-ue8m0
    torchao-fp8 transformer-engine transformer-engine-fp32)

for followed in "${profiles[@]}"; do
    export NG_PLUGIN_PROFILE=$followed
    "$NARROWGAUGE" identify "${asked[@]}" --profile "$followed" > "$scratch/out" 2>&1 ||
        complain "$followed equals nothing"
    grep -q "^equals: $followed\$" "$scratch/out" || complain "$followed is not called so"
    for other in "${profiles[@]}"; do
        [ "$other" = "$followed" ] && continue
        "$NARROWGAUGE" verify "${asked[@]}" --profile "$other" --quiet \
            --no-diagnosis --stop-after 1 > "$scratch/out" 2>&1
        [ $? -eq 1 ] || complain "$followed passes for $other"
    done
done

# parts FOLLOWED PROFILE WORDS: the rule between the two
parts() {
    NG_PLUGIN_PROFILE=$1 "$NARROWGAUGE" identify "${asked[@]}" --profile "$2" \
        > "$scratch/out" 2>&1
    [ $? -eq 1 ] || complain "$1 under $2: not exit 1"
    grep -q "$3" "$scratch/out" || complain "$1 under $2: not said: $3"
    grep -q 'FAIL op=' "$scratch/out" || complain "$1 under $2: no input"
}
parts deepep-pow2 deepgemm-fp8-ue8m0 'a NaN takes no part in amax: rule block.nan'
parts torchao-fp8 transformer-engine-fp32 'amax is never below 1e-12: rule block.least'
parts deepgemm-fp8 deepep-python \
    'multiplies by the rounded reciprocal of the scale: rule fp8.multiplier'
exit $failed
