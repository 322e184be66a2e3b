#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# narrowgauge show: values from the formats' definitions (OCP MX v1.0, OCP OFP8
# v1.0, IEEE 754) and the traps L-04 and L-05, written out by hand.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

complain() {
    echo "FAIL $*"
    cat "$scratch/out" "$scratch/err"
    failed=1
}

# show WANTED_STATUS ARGUMENT...: run it; output in $scratch/out and err
show() {
    local want=$1
    shift
    "$NARROWGAUGE" show "$@" > "$scratch/out" 2> "$scratch/err"
    local got=$?
    [ $got -eq "$want" ] || complain "show $*: exit $got, not $want"
}

# has LINE: the output has this line, blanks at its ends aside
has() {
    sed 's/^ *//; s/ *$//' "$scratch/out" | grep -qxF -- "$1" ||
        complain "no line: $1"
}

# refuses PATTERN ARGUMENT...: exit 2, one line on stderr that matches
refuses() {
    local pattern=$1
    shift
    show 2 "$@"
    [ "$(wc -l < "$scratch/err")" -eq 1 ] || complain "show $*: not one line"
    grep -q -- "$pattern" "$scratch/err" || complain "show $*: no: $pattern"
    [ -s "$scratch/out" ] && complain "show $*: printed something"
}

# E4M3: 448 is the largest, 2^-9 the smallest; 0x7F and 0xFF are NaN (L-04).
show 0 e4m3 0x7E
has 'fields     0 1111 110  = +(1 + 6/8) * 2^(15 - 7)'
has 'class      normal, the largest finite magnitude'
has 'value      448'
has 'previous   0x7D  416'
has 'next       none'
has 'ULP        32 = 2^5'
show 0 e4m3 01 02 07 08 81
has 'class      subnormal'
has 'value      0.001953125'
has 'value      0.00390625'
has 'value      0.013671875'
has 'value      0.015625'
has 'value      -0.001953125'
show 0 e4m3 0xFF
has 'class      NaN'
show 0 e4m3 0b1111111
has 'e4m3 0x7F'
show 0 e4m3 80
has 'class      zero'
has 'value      -0'
has 'previous   0x81  -0.001953125'
has 'next       0x01  0.001953125'

# UE8M0: 0x00 is 2^-127 and no zero, 0xFE is 2^127, 0xFF is NaN (L-05).
show 0 ue8m0 00
has 'value      0x1p-127 (about 5.87747175e-39)'
has 'previous   none'
show 0 ue8m0 FE
has 'value      0x1p+127 (about 1.70141183e+38)'
has 'next       none'
show 0 ue8m0 FF
has 'class      NaN'
show 0 ue8m0 7F
has 'value      1'

# UE6M10: 0xFFFE is 261888, 0xFFFF NaN, 0x0001 is 2^-55.
show 0 ue6m10 FFFE
has 'value      261888'
show 0 ue6m10 FFFF
has 'class      NaN'
show 0 ue6m10 0001
has 'class      subnormal'
has 'value      0x1p-55 (about 2.77555756e-17)'

# IEEE formats: the largest, infinity, the smallest subnormal.
show 0 fp16 7BFF 7C00 0001
has 'value      65504'
has 'next       0x7C00  inf'
has 'class      Inf'
has 'value      5.9604644775390625e-8'
show 0 bf16 3F80 7F80
has 'value      1'
has 'next       0x3F81  1.0078125'
show 0 fp32 3F800001 80000001
has 'value      1.00000011920928955078125'
has 'value      -0x1p-149 (about -1.40129846e-45)'

# The whole of E2M1.
show 0 e2m1 --all
values=$(awk 'NR > 1 { printf "%s ", $NF }' "$scratch/out")
[ "$values" = "0 0.5 1 1.5 2 3 4 6 -0 -0.5 -1 -1.5 -2 -3 -4 -6 " ] ||
    complain "e2m1 --all: $values"
show 0 bf16 --all
[ "$(wc -l < "$scratch/out")" -eq 65537 ] || complain "bf16 --all: lines"

# JSON has the value in full: 2^-149 has 105 significant digits.
show 0 fp32 1 --json
grep -q '"value": "1\.4012984643248170709237295832899161312802619418765157717570682838897910826858606014866381883621215820312[5]e-45"' \
    "$scratch/out" || complain "fp32 1 --json: not 2^-149 in full"
show 0 e4m3 7F --json
grep -q '"value": "nan"' "$scratch/out" || complain "NaN is no string"

refuses 'CODE: "1FF" is wider' e4m3 1FF
refuses 'CODE: "xyz" is no code' e4m3 xyz
refuses 'CODE: "" is no code' e4m3 ''
refuses 'CODE: "0b10" can be read as hexadecimal and as binary' bf16 0b10
refuses 'FORMAT: e5m2: no such format' e5m2 1
refuses 'FORMAT: missing'
refuses 'CODE: missing' e4m3
refuses 'all: fp32 has 2^32 codes' fp32 --all
refuses 'all: takes no codes' e4m3 --all 7E
show 0 --help
grep -q 'narrowgauge show e4m3 0x7E' "$scratch/out" || complain "no example"

exit $failed
