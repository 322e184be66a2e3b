#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# narrowgauge vectors and compare: what was written is equal, one flipped bit is
# found at its place, and files that are not right are refused by name.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    head -c 3000 out err
    failed=1
}

# run WANTED_STATUS ARGUMENT...
run() {
    local want=$1
    shift
    "$NARROWGAUGE" "$@" > out 2> err
    local got=$?
    [ $got -eq "$want" ] || complain "$*: exit $got, not $want"
}

says() { grep -qE -- "$1" "${2:-out}" || complain "no line like: $1"; }

# flip FILE NAME BYTE: one bit of that byte of a .npy file's data
flip() {
    local size at byte
    size=$(stat -c %s "$1")
    at=$((size - 1 - $2))
    byte=$(od -An -tu1 -j $at -N 1 "$1")
    printf '%b' "\\x$(printf %02x $((byte ^ 1)))" |
        dd of="$1" bs=1 seek=$at conv=notrunc status=none
}

one=(--set rounding=nearest-even --set mxfp4.scale=floor --set x=bf16
    --set scales=ue8m0)
run 0 vectors --op quantize_mxfp4 "${one[@]}" --npy --out v
says '^quantize_mxfp4: 1 variant, [0-9]+ cases'
for class in inexact tie subnormal flushed saturated nan; do
    says "[1-9][0-9]* $class"
done
says ' [1-9][0-9]* zero, [1-9][0-9]* NaN, [1-9][0-9]* infinite blocks, [1-9][0-9]* extreme scales, [1-9][0-9]* ragged cases, [1-9][0-9]* empty groups'
says '"format": "narrowgauge-vectors-1"' v/manifest.json
cp -r v again
run 0 vectors --op quantize_mxfp4 "${one[@]}" --npy --out again
diff -r v again > out || complain 'two runs of one seed differ'
run 0 vectors --op quantize_mxfp4 "${one[@]}" --seed 2 --out other
cmp -s v/000.inputs.safetensors other/000.inputs.safetensors &&
    complain 'the seed does nothing'

# ---- what was written is equal, in both forms ------------------------------------
run 0 compare --expected v/000.expected.safetensors --actual v/000.expected.safetensors
says '^quantize_mxfp4 .* equal$'
run 0 compare --expected v/000.expected.safetensors --actual v/000.expected
says '^PASSED: 0 differences in [1-9]'

# ---- a flipped bit, found at its place ----------------------------------------------
cp -r v/000.expected bad
flip bad/special.0.y.scales.npy 0
run 1 compare --expected v/000.expected.safetensors --actual bad --report report
says '^FAIL op=quantize_mxfp4 variant=[^ ]* stratum=special case=0 seed=1 at=y.scales\[[0-9]+,0\] want=.. got=..'
says ' 1  DIFFERS$'
says 'special case=0' report/verify.md
line=$(grep -m 1 '^FAIL' out)
run 0 verify --replay "$line"           # the reference has no such fault

# ---- missing, of another shape, and what was left out on purpose ---------------------
rm bad/special.0.y.scales.npy
run 1 compare --expected v/000.expected.safetensors --actual bad
says 'stratum=special case=0 seed=1 subject special.0/y.scales is missing'
cp v/000.expected/edges.0.y.scales.npy bad/special.0.y.scales.npy
run 1 compare --expected v/000.expected.safetensors --actual bad
says 'special.0/y.scales is of another shape or unit size'
rm bad/special.0.*
run 0 compare --expected v/000.expected.safetensors --actual bad
says 'not covered: 1 case$'
mkdir empty
run 1 compare --expected v/000.expected.safetensors --actual empty
says '^FAILED: 0 differences in 0 elements'

# ---- other rules than the file's ------------------------------------------------------
printf 'version 1\nsource test\nmxfp4.scale ceil\n' > ceil.profile
run 1 compare --expected v/000.expected.safetensors --actual v/000.expected \
    --profile ./ceil.profile
says 'the scale is floor\(log2 amax\) - 2: rule mxfp4.scale .*acts like "floor"'
run 0 vectors --op encode_e4m3 --profile cuda-headers --set rounding=nearest-even \
    --out e
run 0 compare --expected e/001.expected.safetensors --actual e/001.expected.safetensors
for op in decode_bf16 fp8_row_to_fp8_col step_lion; do
    run 0 vectors --op "$op" --set theta=bf16 --set fp8.scale=pow2 --set grad=bf16 \
        --set optim.step=ng --set weight.split=ulp --set state.compand=ng \
        --set from=fp32 --set to=fp32 --out "$op"
    run 0 compare --expected "$op/000.expected.safetensors" \
        --actual "$op/000.expected.safetensors"
done

# Of a profile in a file of one's own too, wherever that is by now; and the name
# in a file is no path that is opened.
printf 'version 1\nsource here\nrounding up\n' > own.profile
run 0 vectors --op encode_e4m3 --profile ./own.profile --out own
rm own.profile
run 0 compare --expected own/000.expected.safetensors \
    --actual own/000.expected.safetensors
says ', profile own, '
mkfifo pipe
sed 's/"profile":"own"/"profile":".\/p"/' own/000.expected.safetensors > path.safetensors
ln -s pipe p
run 0 compare --expected path.safetensors --actual own/000.expected.safetensors

# ---- what is refused -----------------------------------------------------------------
# refuses PATTERN ARGUMENT...
refuses() {
    local pattern=$1
    shift
    run 2 "$@"
    says "$pattern" err
    [ "$(wc -l < err)" -eq 1 ] || complain "$*: not one line"
}
refuses '--op and --out are needed' vectors --op decode_e4m3
refuses '--stratum: tie: encode_e4m3 has no such' vectors --op encode_e4m3 --out x --stratum tie
refuses 'encode_e5m2: no such operation' vectors --op encode_e5m2 --out x
refuses '--expected and --actual' compare --expected x
refuses 'none.safetensors: ' compare --expected none.safetensors --actual v/000.expected
refuses 'none: ' compare --expected v/000.expected.safetensors --actual none
head -c 1000 v/000.expected.safetensors > cut.safetensors
refuses 'cut.safetensors: ' compare --expected cut.safetensors --actual v/000.expected
refuses 'no file of expected outputs' compare \
    --expected "$NG_FIXTURES/real_weights.safetensors" --actual v/000.expected
refuses 'holds other bits than this version computes' compare \
    --expected v/000.inputs.safetensors --actual v/000.expected
sed 's/mxfp4.scale": *"floor"/mxfp4.scale":"cloor"/' v/000.expected.safetensors > rule.safetensors
refuses 'rule.mxfp4.scale: missing or unknown' compare --expected rule.safetensors \
    --actual v/000.expected
run 2 vectors --op decode_e4m3 --out /dev/null/x
exit $failed
