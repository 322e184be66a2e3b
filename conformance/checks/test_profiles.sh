#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every profile's rules in both writings: the reference equals the oracle under
# it, in each operation that reads a rule which it pins; and every profile is
# listed here.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
srcdir=${NG_SRCDIR:?}
"$NARROWGAUGE" ops --subjects | grep -q '^oracle ' || {
    echo 'SKIP: no MPFR oracle in this build'
    exit 77
}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

# The profiles of peers: name, then arguments of verify. Others are run by the
# tests of what they describe.
cat > "$scratch/runs" << 'RUNS'
gfloat --op encode_e4m3 --op encode_ue8m0 --op decode_e4m3
gfloat --op quantize_mxfp4 --set x=fp32 --set scales=ue8m0
ml-dtypes --op encode_e2m1 --op encode_e4m3 --op encode_ue8m0 --op encode_bf16
ml-dtypes --op decode_e2m1 --op decode_e4m3 --op decode_ue8m0 --op decode_bf16
deepgemm --op quantize_mxfp4 --set x=fp32 --set scales=ue8m0
deepgemm --op encode_e2m1 --op fp8_row_to_mxfp4
deepep --op quantize_fp8_row --set x=bf16
deepep-pow2 --op quantize_fp8_row --set x=bf16
deepep-python --op quantize_fp8_row --set x=fp32
deepgemm-fp8 --op quantize_fp8_row --set x=bf16
deepgemm-fp8 --op quantize_fp8_tile --set x=fp32
deepgemm-fp8-ue8m0 --op quantize_fp8_row --set x=fp32 --set scales=ue8m0
deepgemm-fp8-ue8m0 --op quantize_fp8_col --set x=bf16 --set scales=fp32
fp8-flow-moe --op fp8_row_to_fp8_col --set from=fp32 --set to=fp32
microxcaling --op quantize_mxfp4 --set x=fp32 --set scales=ue8m0
microxcaling --op encode_e2m1 --op fp8_row_to_mxfp4
microxcaling --op quantize_mxfp8 --set x=bf16 --set scales=ue8m0
microxcaling-even --op quantize_mxfp4 --set x=fp32 --set scales=ue8m0
torchao-ceil --op quantize_mxfp4 --set x=fp32 --set scales=ue8m0
torchao-ceil --op quantize_mxfp8 --set x=bf16 --set scales=ue8m0
torchao-ceil-pre4725 --op quantize_mxfp4 --set x=fp32 --set scales=ue8m0
torchao-even --op quantize_mxfp4 --set x=fp32 --set scales=ue8m0
torchao-even --op encode_e2m1 --op fp8_row_to_mxfp4
torchao-even --op quantize_mxfp8 --set x=fp32 --set scales=ue8m0
torchao-even-pre4725 --op quantize_mxfp8 --set x=fp32 --set scales=ue8m0
torchao-even-pre4725 --op quantize_mxfp4 --set x=bf16 --set scales=ue8m0
torchao-floor --op quantize_mxfp4 --set x=bf16 --set scales=ue8m0
torchao-floor-pre4725 --op quantize_mxfp4 --set x=fp32 --set scales=ue8m0
torchao-rceil --op quantize_mxfp4 --set x=fp32 --set scales=ue8m0
torchao-rceil --op quantize_mxfp8 --set x=fp32 --set scales=ue8m0
torchao-rceil --op fp8_row_to_mxfp4
torchao-rceil-pre4725 --op quantize_mxfp4 --set x=fp32 --set scales=ue8m0
torchao-rceil-pre4725 --op quantize_mxfp8 --set x=fp32 --set scales=ue8m0
torchao-fp8 --op quantize_fp8_row --set x=fp32
torchao-fp8 --op quantize_fp8_col --set x=bf16
transformer-engine --op quantize_fp8_row --set x=fp32 --set scales=ue8m0x4
transformer-engine --op quantize_fp8_tile --set x=bf16 --set scales=fp32
transformer-engine-fp32 --op quantize_fp8_row --set x=bf16
transformer-engine-fp32 --op fp8_row_to_fp8_col --set from=fp32 --set to=fp32
transformer-engine-mxfp8 --op quantize_mxfp8 --set x=fp32 --set scales=ue8m0
transformer-engine-mxfp8 --op quantize_mxfp8 --set x=bf16 --set scales=ue8m0x4
RUNS
elsewhere=' cuda-headers flashoptim hopper-wgmma ng ocp '

while read -r profile arguments; do
    read -ra options <<< "$arguments"
    if ! "$NARROWGAUGE" verify --quiet --profile "$profile" "${options[@]}" \
        > "$scratch/out" 2>&1 ||
        ! grep -q '^PASSED: 0 differences in [1-9]' "$scratch/out"; then
        echo "FAIL $profile $arguments"
        tail -n 5 "$scratch/out"
        failed=1
    fi
done < "$scratch/runs"

for file in "$srcdir"/formats/profiles/*.profile; do
    name=$(basename "$file" .profile)
    [[ $elsewhere == *" $name "* ]] || grep -q "^$name " "$scratch/runs" || {
        echo "FAIL profile $name is not run here"
        failed=1
    }
done
exit $failed
