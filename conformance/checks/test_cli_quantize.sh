#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# narrowgauge quantize: bytes worked out by hand (cases.md L-09, L-11, L-12) on
# files written by hand, real tensors there and back, and bad input of every
# kind: exit 2, one line that names the file and the field, nothing written.
# shellcheck disable=SC2059  # bytes are printed by their escapes
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}

fixtures=${srcdir:-.}/conformance/fixtures
[ -r "$fixtures/real_activation.npy" ] || exit 99
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/dir" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    cat "$scratch/text" "$scratch/err"
    failed=1
}

# run WANTED_STATUS ARGUMENT...
run() {
    local want=$1
    shift
    "$NARROWGAUGE" quantize --quiet "$@" > "$scratch/text" 2> "$scratch/err"
    local got=$?
    [ $got -eq "$want" ] || complain "quantize $*: exit $got, not $want"
}

# ends FILE 'HEX': the last bytes of a file
ends() {
    local n got
    n=$(wc -w <<< "$2")
    got=$(tail -c "$n" "$1" | od -An -v -tx1 | tr -s ' \n' ' ')
    [ "$got" = " $2 " ] || complain "$1 ends in$got, not in $2"
}

says() {
    grep -q -- "$1" "$scratch/$2" || complain "no \"$1\" in $2"
}

# refuses PATTERN ARGUMENT...: nothing may be written to $scratch/dir
refuses() {
    local pattern=$1
    shift
    run 2 "$@"
    [ "$(wc -l < "$scratch/err")" -eq 1 ] || complain "quantize $*: not one line"
    says "$pattern" err
    [ -z "$(ls -A "$scratch/dir")" ] || {
        complain "quantize $*: left $(ls -A "$scratch/dir")"
        rm -rf "$scratch/dir" && mkdir "$scratch/dir"
    }
}

# npy FILE DESCR SHAPE 'HEX': version 1.0, header padded to 64 bytes in all
npy() {
    local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
    local size=$((((10 + ${#header} + 1 + 63) / 64) * 64 - 10))
    {
        printf '\x93NUMPY\x01\x00'
        printf "\\x$(printf %02x $((size % 256)))\\x$(printf %02x $((size / 256)))"
        printf "%-$((size - 1))s\n" "$header"
        local byte
        for byte in $4; do printf "\\x$byte"; done
    } > "$scratch/$1"
}

# st FILE 'JSON' 'HEX'
st() {
    local byte n=${#2}
    {
        for byte in 0 1 2 3 4 5 6 7; do
            printf "\\x$(printf %02x $((n >> (8 * byte) & 255)))"
        done
        printf '%s' "$2"
        for byte in $3; do printf "\\x$byte"; done
    } > "$scratch/$1"
}

out=$scratch/dir/out.safetensors

# L-12: 1, -2, 0.5, 6 have amax 6, so scale 2^(2 - 2); element 0 lies low.
npy x.npy '<f4' '1, 4' '00 00 80 3f 00 00 00 c0 00 00 00 3f 00 00 c0 40'
run 0 --op quantize_mxfp4 "$scratch/x.npy" "$scratch/x4.safetensors"
ends "$scratch/x4.safetensors" 'c2 71 7f'
says '"cols.x":"4"' x4.safetensors
says '"dtype.x.codes":"e2m1x2"' x4.safetensors
says '"operation":"quantize_mxfp4"' x4.safetensors
says '"x.codes":{"dtype":"U8","shape":\[1,2\]' x4.safetensors
says '"x.scales":{"dtype":"F8_E8M0","shape":\[1,1\]' x4.safetensors
says 'x  *fp32  *1x4  *exact  *0.000  *0  *0  *0' text
run 0 --op quantize_mxfp4 --part codes "$scratch/x.npy" "$scratch/codes.npy"
ends "$scratch/codes.npy" 'c2 71'
run 0 --op quantize_mxfp4 --part scales "$scratch/x.npy" "$scratch/scales.npy"
ends "$scratch/scales.npy" '7f'
run 0 --op quantize_mxfp4 --scales ue8m0x4 "$scratch/x.npy" \
    "$scratch/x4p.safetensors"
ends "$scratch/x4p.safetensors" 'c2 71 7f 00 00 00'

# MXFP4 -> FP8, headroom 6: S = 2^-6, codes 64, -128, 32, 384.
run 0 --op mxfp4_to_fp8_row "$scratch/x4.safetensors" "$scratch/x8.safetensors"
ends "$scratch/x8.safetensors" '68 f0 60 7c 00 00 80 3c'
says '"pow2.x":"yes"' x8.safetensors
run 0 --op mxfp4_to_fp8_row --set headroom=0 "$scratch/x4.safetensors" \
    "$scratch/x8.safetensors"
ends "$scratch/x8.safetensors" '38 c0 30 4c 00 00 80 3f'
run 0 --op dequantize_mxfp4 --to bf16 "$scratch/x4.safetensors" \
    "$scratch/back.safetensors"
ends "$scratch/back.safetensors" '80 3f 00 c0 00 3f c0 40'

# FP8: amax 448 gives the scale 1; an amax of 0 too (L-09).
npy f.npy '<f4' '4,' '00 00 e0 43 00 00 80 3f 00 00 00 80 00 00 00 3f'
run 0 --op quantize_fp8_row "$scratch/f.npy" "$scratch/f8.safetensors"
ends "$scratch/f8.safetensors" '7e 38 80 30 00 00 80 3f'
says '"shape.f":"4"' f8.safetensors
run 0 --op dequantize_fp8_row "$scratch/f8.safetensors" "$scratch/back.npy"
cmp "$scratch/f.npy" "$scratch/back.npy" || complain "a vector, there and back"
npy z.npy '<f4' '1, 2' '00 00 00 00 00 00 00 80'
run 0 --op quantize_fp8_row "$scratch/z.npy" "$scratch/z8.safetensors"
ends "$scratch/z8.safetensors" '00 80 00 00 80 3f'
says 'z .*no signal' text

# MXFP8: 500 under floor is 448, under rceil 2 * 256; the pair says that 32 share
# a scale, so that it is not taken for FP8 blocks.
npy m.npy '<f4' '1, 3' '00 00 fa 43 00 00 80 3f 00 00 00 80'
run 0 --op quantize_mxfp8 "$scratch/m.npy" "$scratch/m8.safetensors"
ends "$scratch/m8.safetensors" '7e 38 80 7f'
says '"form.m":"mx"' m8.safetensors
run 0 --op quantize_mxfp8 --set mxfp8.scale=rceil --scales ue8m0x4 \
    "$scratch/m.npy" "$scratch/m8p.safetensors"
ends "$scratch/m8p.safetensors" '78 30 80 80 00 00 00'
run 0 --op dequantize_mxfp8 --to bf16 "$scratch/m8p.safetensors" \
    "$scratch/back.safetensors"
ends "$scratch/back.safetensors" '00 44 80 3f 00 80'
refuses 'form.m: is "mx", the operation takes "row"' --op dequantize_fp8_row \
    "$scratch/m8.safetensors" "$scratch/back.safetensors"

# L-11: one NaN makes the block NaN: scale 0xFF, codes 0.
st n.safetensors '{"n":{"dtype":"BF16","shape":[1,4],"data_offsets":[0,8]}}' \
    '80 3f c0 7f 00 40 00 00'
run 0 --op quantize_mxfp4 "$scratch/n.safetensors" "$scratch/n4.safetensors"
ends "$scratch/n4.safetensors" '00 00 ff'
says 'n  *bf16  *1x4 .* 100.00 %$' text

# An odd width comes back: 3 columns, not 4.
npy o.npy '<f4' '1, 3' '00 00 80 3f 00 00 00 c0 00 00 c0 40'
run 0 --op quantize_mxfp4 "$scratch/o.npy" "$scratch/o4.safetensors"
run 0 --op dequantize_mxfp4 "$scratch/o4.safetensors" "$scratch/back.npy"
cmp "$scratch/o.npy" "$scratch/back.npy" || complain "an odd width"

# Three axes come back too, and other types are skipped, said so.
st r.safetensors '{"i":{"dtype":"I32","shape":[1],"data_offsets":[0,4]},"r":{"dtype":"F32","shape":[1,2,2],"data_offsets":[4,20]}}' \
    '01 00 00 00 00 00 80 3f 00 00 00 c0 00 00 00 3f 00 00 c0 40'
run 0 --op quantize_mxfp4 "$scratch/r.safetensors" "$scratch/r4.safetensors"
says 'tensor "i" (i32) is not fp32, bf16 or fp16: skipped' err
run 0 --op dequantize_mxfp4 "$scratch/r4.safetensors" "$scratch/back.safetensors"
says '"r":{"dtype":"F32","shape":\[1,2,2\]' back.safetensors
ends "$scratch/back.safetensors" \
    '00 00 80 3f 00 00 00 c0 00 00 00 3f 00 00 c0 40'

# Real tensors: MXFP4 -> FP8 -> FP32 is MXFP4 -> FP32 where the window holds
# (semantics.md 5), and a second quantization changes nothing.
for file in real_weights real_activations; do
    real=$fixtures/$file.safetensors
    run 0 --op quantize_mxfp4 "$real" "$scratch/q4.safetensors"
    run 0 --op dequantize_mxfp4 "$scratch/q4.safetensors" "$scratch/d.safetensors"
    run 0 --op quantize_mxfp4 "$scratch/d.safetensors" "$scratch/q4b.safetensors"
    grep -Eq ' (exact|inf)  *0\.000 ' "$scratch/text" ||
        complain "$file: a second quantization changes values"
    cmp "$scratch/q4.safetensors" "$scratch/q4b.safetensors" ||
        complain "$file: a second quantization changes bytes"
done
run 0 --op quantize_mxfp4 "$fixtures/real_weights.safetensors" \
    "$scratch/q4.safetensors"
run 0 --op mxfp4_to_fp8_row "$scratch/q4.safetensors" "$scratch/q8.safetensors"
[ "$(grep -c ' exact  *0\.000 ' "$scratch/text")" -eq 4 ] ||
    complain "weights: MXFP4 -> FP8 is not exact"
run 0 --op dequantize_fp8_row "$scratch/q8.safetensors" "$scratch/d8.safetensors"
run 0 --op dequantize_mxfp4 "$scratch/q4.safetensors" "$scratch/d4.safetensors"
[ "$(tail -c 458000 "$scratch/d4.safetensors" | cksum)" = \
  "$(tail -c 458000 "$scratch/d8.safetensors" | cksum)" ] ||
    complain "weights: FP8 stands for other numbers than MXFP4"
for op in quantize_fp8_row quantize_fp8_col quantize_fp8_tile; do
    run 0 --op $op "$fixtures/real_activation.npy" "$scratch/a.safetensors"
    run 0 --op "de$op" "$scratch/a.safetensors" "$scratch/a.npy"
    [ "$(wc -c < "$scratch/a.npy")" -eq \
      "$(wc -c < "$fixtures/real_activation.npy")" ] || complain "$op: size"
done
run 0 --op quantize_fp8_row --set fp8.scale=pow2 --scales ue8m0 --json \
    "$fixtures/real_activations.safetensors" "$scratch/a.safetensors"
says '"snr_db": [0-9]' text
says '"scale_exponents"' text
run 0 --op fp8_row_to_fp8_col --scales ue8m0 "$scratch/a.safetensors" \
    "$scratch/c.safetensors"
run 0 --op fp8_row_to_mxfp4 --tensor spectrum "$scratch/a.safetensors" \
    "$scratch/c.safetensors"

# Bad arguments.
good=$fixtures/real_activation.npy
refuses 'op: missing' "$good" "$out"
refuses 'op: no_such_op: no such operation' --op no_such_op "$good" "$out"
refuses 'OUT: missing' --op quantize_mxfp4 "$good"
refuses 'nowhere: profile: no such name' --op quantize_mxfp4 \
    --profile nowhere "$good" "$out"
refuses 'set: no.rule: no such rule' --op quantize_mxfp4 --set no.rule=1 \
    "$good" "$out"
refuses 'set: mxfp4.scale: no such value: up' --op quantize_mxfp4 \
    --set mxfp4.scale=up "$good" "$out"
refuses 'scales: fp32: MX scales' --op quantize_mxfp4 --scales fp32 \
    "$good" "$out"
refuses 'scales: e4m3: not one of' --op quantize_fp8_row --scales e4m3 \
    "$good" "$out"
refuses 'need --set fp8.scale=pow2' --op quantize_fp8_row --scales ue8m0 \
    "$good" "$out"
refuses 'to: quantize_mxfp4' --op quantize_mxfp4 --to bf16 "$good" "$out"
refuses 'none is named "missing"' --op quantize_mxfp4 --tensor missing \
    "$good" "$out"
refuses 'choose with --part' --op quantize_mxfp4 "$good" "$scratch/dir/out.npy"
refuses 'out.txt: name: ends in neither' --op quantize_mxfp4 "$good" \
    "$scratch/dir/out.txt"
refuses 'takes codes and scales' --op dequantize_mxfp4 "$good" "$out"

# Bad files.
refuses 'none.npy: ' --op quantize_mxfp4 "$scratch/none.npy" "$out"
head -c 5000 "$good" > "$scratch/cut.npy"
refuses 'cut.npy: ' --op quantize_mxfp4 "$scratch/cut.npy" "$out"
for size in 0 4 8 500 100000; do
    head -c $size "$fixtures/real_weights.safetensors" > "$scratch/cut.safetensors"
    refuses 'cut.safetensors: ' --op quantize_mxfp4 "$scratch/cut.safetensors" \
        "$out"
done
npy i.npy '<i8' '1,' '01 00 00 00 00 00 00 00'
refuses 'i.npy: tensors: none is fp32, bf16 or fp16' --op quantize_mxfp4 \
    "$scratch/i.npy" "$out"
refuses 'tensor "i": dtype: i64' --op quantize_mxfp4 --tensor i \
    "$scratch/i.npy" "$out"
npy big.npy '<f4' '4611686018427387904, 4611686018427387904' '00'
refuses 'big.npy: ' --op quantize_mxfp4 "$scratch/big.npy" "$out"
st big.safetensors '{"b":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}}' \
    '00 00 00 00'
refuses 'big.safetensors: tensor "b": ' --op quantize_mxfp4 \
    "$scratch/big.safetensors" "$out"
st neg.safetensors '{"b":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}' \
    '00 00 00 00'
refuses 'neg.safetensors: tensor "b": data_offsets' --op quantize_mxfp4 \
    "$scratch/neg.safetensors" "$out"

# Bad pairs of codes and scales.
pair='"p.codes":{"dtype":"U8","shape":[1,2],"data_offsets":[0,2]}'
st p.safetensors "{$pair,\"p.scales\":{\"dtype\":\"F8_E8M0\",\"shape\":[1,2],\"data_offsets\":[2,4]}}" \
    'c2 71 7f 7f'
refuses 'tensor "p.scales": shape: want \[1, 1\]' --op dequantize_mxfp4 \
    "$scratch/p.safetensors" "$out"
st p.safetensors "{$pair,\"p.scales\":{\"dtype\":\"F16\",\"shape\":[1,1],\"data_offsets\":[2,4]}}" \
    'c2 71 7f 7f'
refuses 'tensor "p.scales": dtype: fp16 is no scale' --op dequantize_mxfp4 \
    "$scratch/p.safetensors" "$out"
for cols in 5 2 -1 four 99999999999999999999; do
    st p.safetensors "{\"__metadata__\":{\"cols.p\":\"$cols\"},$pair,\"p.scales\":{\"dtype\":\"F8_E8M0\",\"shape\":[1,1],\"data_offsets\":[2,3]}}" \
        'c2 71 7f'
    refuses 'tensor "p": metadata cols.p: ' --op dequantize_mxfp4 \
        "$scratch/p.safetensors" "$out"
done
for shape in 2x2x2 x -4 4x1 99999999999x99999999999 1x1x1x1x4; do
    st p.safetensors "{\"__metadata__\":{\"shape.p\":\"$shape\"},$pair,\"p.scales\":{\"dtype\":\"F8_E8M0\",\"shape\":[1,1],\"data_offsets\":[2,3]}}" \
        'c2 71 7f'
    refuses 'tensor "p": metadata shape.p: ' --op dequantize_mxfp4 \
        "$scratch/p.safetensors" "$out"
done
st p.safetensors "{$pair}" 'c2 71'
refuses 'no pair NAME.codes and NAME.scales' --op dequantize_mxfp4 \
    "$scratch/p.safetensors" "$out"

# Codes in another layout than the operation takes, told by form.NAME (L-15).
run 0 --op quantize_fp8_col "$good" "$scratch/g.safetensors"
refuses 'metadata form.real_activation: is "col", the operation takes "row"' \
    --op dequantize_fp8_row "$scratch/g.safetensors" "$out"

# A declared power of two that is none.
run 0 --op quantize_fp8_row "$good" "$scratch/g.safetensors"
refuses 'scales: fp8_row_to_fp8_col: a scale that is not a power of two' \
    --op fp8_row_to_fp8_col --pow2 "$scratch/g.safetensors" "$out"

# Options that do not fit together, or do not exist.
q='--op quantize_mxfp4'
# shellcheck disable=SC2086
{
    refuses 'part: halves: not codes or scales' $q --part halves "$good" "$out"
    refuses 'part: codes: only for codes and scales into a .npy' $q \
        --part codes "$good" "$out"
    refuses 'more: unexpected argument' $q "$good" "$out" more
    refuses 'scales: fp32: MX scales are ue8m0 or ue8m0x4' $q --scales fp32 \
        "$good" "$out"
    refuses 'seed: -1: not a whole number' $q --seed=-1 "$good" "$out"
    refuses 'set: rounding: not RULE=VALUE' $q --set rounding "$good" "$out"
    refuses 'to: quantize_mxfp4: only dequantize' $q --to bf16 "$good" "$out"
}
refuses 'scales: dequantize_mxfp4: writes none' --op dequantize_mxfp4 \
    --scales ue8m0 "$scratch/g.safetensors" "$out"

# Stochastic rounding: a seed names its stream.
for run in 1:7 2:7 3:8; do
    run 0 --op quantize_mxfp4 --set rounding=stochastic --seed "${run#*:}" \
        "$good" "$scratch/s${run%:*}.safetensors"
done
cmp -s "$scratch/s1.safetensors" "$scratch/s2.safetensors" ||
    complain 'seed 7 twice: two outputs'
cmp -s "$scratch/s1.safetensors" "$scratch/s3.safetensors" &&
    complain 'seeds 7 and 8: one output'

# Outputs that cannot be written; an old file stays as it was.
refuses 'nowhere' --op quantize_mxfp4 "$good" "$scratch/nowhere/out.safetensors"
mkdir "$scratch/taken.safetensors"
refuses 'taken.safetensors: ' --op quantize_mxfp4 "$good" \
    "$scratch/taken.safetensors"
echo old > "$out"
(
    trap '' XFSZ
    ulimit -f 1
    "$NARROWGAUGE" quantize --quiet --op quantize_mxfp4 "$good" "$out" \
        > /dev/null 2> "$scratch/err"
)
[ $? -eq 4 ] || complain "no room left: not exit 4"
[ "$(cat "$out")" = old ] || complain "no room left: the old file changed"
[ "$(ls -A "$scratch/dir")" = out.safetensors ] ||
    complain "no room left: something else is there"

exit $failed
