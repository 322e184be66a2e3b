#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# narrowgauge round: expected codes from the cases that happened (cases.md L-01
# to L-06, L-20) and from the formats' definitions, written out by hand.
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

# run WANTED_STATUS ARGUMENT...
run() {
    local want=$1
    shift
    "$NARROWGAUGE" round "$@" > "$scratch/out" 2> "$scratch/err"
    local got=$?
    [ $got -eq "$want" ] || complain "round $*: exit $got, not $want"
}

# gives 'CODES' ARGUMENT...: the results, in order
gives() {
    local want=$1
    shift
    run 0 "$@"
    local got
    got=$(awk '$1 == "result" { printf "%s%s", n++ ? " " : "", $2 }' \
        "$scratch/out")
    [ "$got" = "$want" ] || complain "round $*: $got, not $want"
}

has() {
    sed 's/^ *//; s/ *$//' "$scratch/out" | grep -qxF -- "$1" ||
        complain "no line: $1"
}

refuses() {
    local pattern=$1
    shift
    run 2 "$@"
    [ "$(wc -l < "$scratch/err")" -eq 1 ] || complain "round $*: not one line"
    grep -q -- "$pattern" "$scratch/err" || complain "round $*: no: $pattern"
}

# L-01: ties go to the even code; only 0.75, 1.75 and 3.5 go up.
gives '0x0 0x2 0x2 0x4 0x4 0x6 0x6' e2m1 0.25 0.75 1.25 1.75 2.5 3.5 5
gives '0x8 0xA 0xA 0xC 0xC 0xE 0xE' \
    e2m1 -0.25 -0.75 -1.25 -1.75 -2.5 -3.5 -5
gives '0x1 0x2 0x3 0x4 0x5 0x6 0x7' e2m1 --mode nearest-away \
    0.25 0.75 1.25 1.75 2.5 3.5 5

# L-02: a tie, and just past it.
gives '0x76 0x77 0x48 0x4A' e4m3 232 fp32:4368096E 4.25 4.75
gives '0x76 0x77' e4m3 232 232.00000000000000000000000000000000000001

# L-03: the edge of overflow; 464 is the tie between 448 and the slot 480.
gives '0x7E 0x7E 0x7E 0x7E 0x7E 0xFE' e4m3 448 464 fp32:43E80001 480 1000 -1000
gives '0x7E 0x7E 0x7F 0x7F 0x7F 0xFF' e4m3 --overflow ieee \
    448 464 fp32:43E80001 480 1000 -1000
# Toward zero a finite value stops at 448, an infinity does not.
gives '0x7F 0xFE 0xFF' e4m3 --overflow ieee --mode up 449 -1000 -inf
gives '0x7E 0x7F' e4m3 --overflow ieee --mode toward-zero 1000 inf

# L-04: minus zero, and what rounds to it.
gives '0x80 0x80 0x81' e4m3 fp16:8000 -0x1p-10 -0x1.00001p-10

# L-06: UE8M0 encodes |x|; everything below 2^-127 is 0x00.
gives '0x00 0x00 0x00 0x7F 0x80 0xFE' ue8m0 0 -0 0x1p-140 -1 1.6 inf

# L-20: BF16 and FP16 by nearest-even.
gives '0x3E8A 0x3F80 0x3F82' bf16 fp32:3E89CCD5 fp32:3F808000 fp32:3F818000
gives '0x0001 0x0000 0x0001 0x0002 0x0200 0x0400' fp16 fp32:33800000 \
    fp32:33000000 fp32:33000001 fp32:33C00000 fp32:38000000 fp32:387FE000

# A decimal is taken exactly, not by way of FP32 or double: 1 + 2^-8 is a BF16
# tie to 0x3F80, and a digit past what a double holds decides otherwise.
gives '0x3F80 0x3F81' bf16 1.00390625 1.003906250000000000000000000000000001
gives '0x3DCCCCCD 0x3EAAAAAB' fp32 0.1 1/3
gives '0x2E66 0x3555' fp16 0.1 1/3
gives '0x7F7FFFFF' fp32 1e2000
gives '0x7F800000' fp32 --overflow ieee 1e39
gives '0x00000000 0x00000001' fp32 0x1p-150 0x1.0000000000000000000001p-150

# Stochastic: away from zero if and only if floor(2^32 t) + r >= 2^32.
gives '0x3F80' bf16 --mode stochastic --random 0x7FFFFFFF 1.00390625
gives '0x3F81' bf16 --mode stochastic --random 0x80000000 1.00390625

# NaN and infinity.
gives '0x7F 0x7E 0xFE' e4m3 nan inf -inf
gives '0x7F 0x7F 0xFF' e4m3 --overflow ieee -nan inf -inf
gives '0x0' e2m1 nan
gives '0x7FFF 0x7F80' bf16 --overflow ieee nan inf

# What is printed around the result.
run 0 e4m3 232
has 'below    0x76  224, 8 away (0.5 of the step)'
has 'above    0x77  240, 8 away (0.5 of the step)'
has 'why      a tie, half way between the two: 0x76 is the even code'
has 'events   inexact, tie'
run 0 e4m3 0.1
has 'below    0x1C  0.09375, 0.00625 away (0.8 of the step)'
has 'above    0x1D  0.1015625, 0.0015625 away (0.2 of the step)'
run 0 e4m3 465
has 'above    no code: the next slot would be 480, 15 away (0.46875 of the step)'
has 'events   inexact, saturated'

# Every mode in one table.
run 0 e4m3 -500 --all-modes
has 'up              0xFE  -448                        the same'
has 'down            0xFE  -448                        0xFF  nan'
run 0 bf16 1.00390625 --all-modes
has 'stochastic      0x3F80, 0x3F81 from r = 80000000 on  the same'
run 0 ue6m10 1.5 --all-modes
[ "$(grep -c nearest "$scratch/out")" -eq 1 ] || complain "ue6m10: modes"

run 0 e4m3 464.1 --json
grep -q '"distance": "16.1"' "$scratch/out" || complain "json: no distance"

# json_has PATTERN: a line of the JSON matches
json_has() {
    grep -qE -- "$1" "$scratch/out" || complain "json: no line: $1"
}
run 0 bf16 1.00390625 --mode stochastic --random 5 --json
json_has '"mode": "stochastic"'
json_has '"random": 5\b'
json_has '"first_word_away": 2147483648\b'
json_has '"code": "0x3F80"'
run 0 e4m3 nan --json
json_has '"value": "nan"'
run 0 ue8m0 0x1p-140 --json
json_has '"below": null'
# Each mode under each overflow rule, but for E2M1, which only saturates.
run 0 e4m3 -500 --all-modes --json
[ "$(grep -c '"why":' "$scratch/out")" -eq 12 ] || complain 'e4m3: not 6 x 2'
[ "$(grep -c '"code": "0xFF"' "$scratch/out")" -eq 4 ] ||
    complain 'e4m3 -500: NaN in other than four modes'
run 0 e2m1 5 --all-modes --json
[ "$(grep -c '"why":' "$scratch/out")" -eq 6 ] || complain 'e2m1: not six modes'
refuses 'all-modes: shows every mode' e4m3 1 --all-modes --mode up
run 0 e4m3 232 --mode up
has 'why      0x77 is the one above'
run 0 e4m3 232 --mode down
has 'why      0x76 is the one below'
run 0 e4m3 -232 --mode toward-zero
has 'why      0xF6 is the one toward zero'

refuses 'VALUE: "0.1x" is no number' e4m3 0.1x
refuses 'VALUE: "" is no number' e4m3 ''
refuses 'VALUE: "1/0" divides by zero' e4m3 1/0
refuses 'VALUE: "1/2/3" is no fraction of two whole numbers' e4m3 1/2/3
refuses 'VALUE: "1/" is no fraction of two whole numbers' e4m3 1/
refuses 'VALUE: "0x1p" is no number' e4m3 0x1p
refuses 'VALUE: "0x1p9999" has an exponent beyond 6000' e4m3 0x1p9999
refuses 'more than 1000 digits' e4m3 "1/$(printf '%01001d' 1)"
refuses 'more than 1000 digits' e4m3 "0x$(printf '%01001d' 1)"
refuses 'VALUE: "e4m3:1FF" is wider' e4m3 e4m3:1FF
refuses 'VALUE: "e5m2:1" names no format' e4m3 e5m2:1
refuses 'VALUE: "1e99999" has an exponent beyond' e4m3 1e99999
refuses 'more than 1000 digits' e4m3 "$(printf '%01001d' 1)"
refuses 'FORMAT: e5m2: no such format' e5m2 1
refuses 'VALUE: missing' e4m3
refuses 'mode: sideways: no such value' e4m3 1 --mode sideways
refuses 'mode: ue6m10 rounds nearest-even only' ue6m10 1 --mode up
refuses 'overflow: e2m1 only saturates' e2m1 1 --overflow ieee
refuses 'stochastic needs its word' bf16 1 --mode stochastic
refuses 'random: only --mode stochastic reads it' bf16 1 --random 1

exit $failed
