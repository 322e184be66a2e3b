#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Planted faults of every family, each in a plug-in: the failure is shrunk to the
# size and the values that one works out by hand, is written to a file, and that
# file fails in the same way again; the reference passes it. A second run gives
# the same bytes. What is no such file is refused with one line.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
faults=${NG_BUILDDIR:-.}/.libs/narrowgauge-faults.so
[ -e "$faults" ] || {
    echo 'SKIP: no catalogue of faults in this build'
    exit 77
}
if ! "$NARROWGAUGE" ops --subjects | grep -q oracle; then
    echo 'SKIP: no MPFR oracle in this build'
    exit 77
fi
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    head -c 3000 out err
    failed=1
}

verify() { "$NARROWGAUGE" verify --quiet "$@" > out 2> err; }

# shrinks FAULT OPERATION SHRUNK: inputs, ": ", and what is wrong with them.
shrinks() {
    local file=$1/shrunk/$2.safetensors
    export NG_FAULT=$1
    verify --subject "$faults" --op "$2" --stop-after 24 --report "$1"
    [ $? -eq 1 ] || complain "$1: not exit 1"
    grep -qxF "     shrunk to $3" out || complain "$1: not shrunk to $3"
    grep -qxF "     run it again with --replay $file" out || complain "$1: no file"
    verify --subject "$faults" --replay "$file"
    [ $? -eq 1 ] || complain "$1: its file does not fail"
    grep -qxF "     $3" out || complain "$1: its file fails otherwise"
    grep -qE "^FAIL op=$2 variant=[^ ]* file=$file " out || complain "$1: no FAIL line"
    verify --replay "$file" || complain "$1: the reference fails its file"
    grep -qE "^passed: $2, [0-9]+ elements, no difference\$" out || complain "$1: not passed"
}

# A tie, and nothing else: 1.25 under the scale 2^-2 that its exponent gives.
shrinks mxfp4-ties-away quantize_mxfp4 \
    'x[1,1] bf16 = 1.25(3fa0): y.codes[0,0] want=06 got=07 (6 instead of 4)'
# The first number past 464 that a mantissa of few bits has.
shrinks e4m3-never-saturates encode_e4m3 \
    'x[1] fp32 = 480(43f00000): y[0] want=7e got=7f (nan instead of 448)'
shrinks mxfp4-skips-nan quantize_mxfp4 \
    'x[1,1] fp32 = nan(7fc00000): y.scales[0,0] want=ff got=00 (5.87747175e-39 instead of nan)'
shrinks mxfp4-read-high-first dequantize_mxfp4 \
    'x.codes[1,1] e2m1x2 = 1(2), x.scales[1,1] ue8m0 = 1(7f): y[0,0] want=3f800000 got=00000000 (0 instead of 1)'
# The 129th row or column is the first that a wrong tile can show.
shrinks gemm-columns-over-tiles grouped_gemm_fprop \
    'a.codes[1,1] e4m3 = 1(38), a.scales[1,1] fp32 = 1(3f800000), b.codes[129,1] e4m3 = [127,0] 1(38), else 0, b.scales[2,1] fp32 = 1(3f800000) 1.25(3fa00000): d[0,127] exact=1 bound=0.000855 got=1.25(3fa00000)'
# Groups: one of no row, and nothing beside it; rows past it.
shrinks wgrad-empty-group-unwritten grouped_gemm_wgrad \
    'offsets = 0 0, a.codes[1,0] e4m3, a.scales[1,0] fp32, b.codes[1,0] e4m3, b.scales[1,0] fp32: unwritten at=d[0,0] want=00000000 got=a5a5a5a5'
shrinks mxfp4-all-rows quantize_mxfp4 \
    'offsets = 0 0, x[1,1] fp32 = 0(00000000): y.codes[0,0] want=a5 got=00 (+1 more in this case)'
# Optimizers: weights, states, settings.
shrinks split-to-even split_weights \
    'x[1] fp32 = 4.59177481e-41(00008000): y.low[0] want=01 got=00 (0 instead of 9.18354962e-41)'
shrinks momentum-without-a-zero compand_momentum \
    'x[1] fp32 = 0(00000000): y.codes[0] want=00 got=01'
shrinks step-never-counted step_constants \
    'beta2=0.5, eps=1, kind=2, t=2: y[11] want=3f93cd3a got=3fb504f3 (1.41421354 instead of 1.15470052)'

# The same subject and seed: the same words, the same bytes.
for again in mxfp4-ties-away:quantize_mxfp4 gemm-columns-over-tiles:grouped_gemm_fprop; do
    file=shrunk/${again#*:}.safetensors
    export NG_FAULT=${again%:*}
    verify --subject "$faults" --op "${again#*:}" --stop-after 24 --report again
    cmp -s "again/$file" "$NG_FAULT/$file" || complain "$NG_FAULT: another file"
    for report in again "$NG_FAULT"; do
        sed -E 's/"(time|seconds)": [^,]*//' "$report/verify.json" > "$report.json"
    done
    diff again.json "$NG_FAULT.json" > out || complain "$NG_FAULT: another report"
done

# ---- what is refused, with one line that a terminal can show -------------------------
good=mxfp4-ties-away/shrunk/quantize_mxfp4.safetensors
head -c 100 $good > torn
head -c 60 /dev/zero > zeros
sed 's/narrowgauge-case-1/narrowgauge-case-2/' $good > foreign
sed 's/"operation":"quantize_mxfp4"/"operation":"\\u001b[2J<b>mxfp4"/' $good > escapes
"$NARROWGAUGE" vectors --op encode_e2m1 --stratum ties --out vectors > out 2> err ||
    complain 'vectors'
# refuses FILE PATTERN
refuses() {
    verify --replay "$1"
    [ $? -eq 2 ] || complain "$1: not exit 2"
    [ "$(wc -l < err)" -eq 1 ] || complain "$1: not one line"
    [ ! -s out ] || complain "$1: a line on standard output"
    LC_ALL=C grep -q '[^ -~]' err && complain "$1: a byte that is no printable ASCII"
    grep -qE "^narrowgauge verify: $1: $2" err || complain "$1: no line like: $2"
}
refuses torn ''
refuses zeros ''
refuses foreign 'no case that verify has written'
refuses escapes ''
refuses vectors/000.inputs.safetensors 'no case that verify has written'
refuses nowhere ''
refuses . ''
exit $failed
