#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Reports of a run with differences (NVIDIA's headers held against profile ng,
# which say 0x7 where it says 0x0 for NaN): text, JSON, Markdown and JUnit agree.
# And the progress line of a terminal.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    failed=1
}

# has PATTERN FILE
has() {
    grep -qE -- "$1" "$2" || complain "$2: no line: $1"
}

# run WANTED_STATUS ARGUMENT...
run() {
    local want=$1
    shift
    "$NARROWGAUGE" verify --quiet "$@" > out 2> err
    local got=$?
    [ $got -eq "$want" ] || { complain "verify $*: exit $got, not $want"; cat err; }
}

subjects=$("$NARROWGAUGE" ops --subjects) || exit 99
ran=no

# ---- the progress line ---------------------------------------------------------
if command -v script > /dev/null && grep -q '^oracle' <<< "$subjects"; then
    ran=yes
    script -qec "'$NARROWGAUGE' verify --op encode_e2m1" typescript \
        > /dev/null < /dev/null || complain 'verify in a terminal'
    tr '\r' '\n' < typescript > lines
    # A bar of 24, its share, the time left, the rate, the operation.
    has '\[#{0,24}\.{0,24}\] +[0-9]+ %  [0-9]+ s left  [0-9.]+ cases/s  encode_e2m1' \
        lines
    sed -n 's/.*\] *\([0-9]*\) %.*/\1/p' lines > shares
    sort -n shares | cmp -s - shares || complain 'the share falls'
    has 'PASSED' lines
    script -qec "'$NARROWGAUGE' verify --quiet --op encode_e2m1" typescript \
        > /dev/null < /dev/null || complain 'verify in a terminal'
    grep -q ' %  ' typescript && complain '--quiet shows progress'
fi

# ---- differences ---------------------------------------------------------------
if grep -q '^cuda-headers' <<< "$subjects"; then
    ran=yes
    run 1 --subject cuda-headers --op encode_e2m1 --op decode_e4m3 --op philox \
        --errors 2 --report .
    "$NARROWGAUGE" verify --quiet --subject cuda-headers --op encode_e2m1 --op decode_e4m3 \
        --op philox --junit junit.xml > /dev/null 2> err
    has '^encode_e2m1 .* DIFFERS$' out
    has '^decode_e4m3 .* equal$' out
    grep -q '^philox' out && complain 'philox is not covered, and listed'
    has '^not covered by the subject: 1 operation whole' out
    has '^FAILED: [0-9 ]* differences in [0-9 ]* elements, 2 operations' out
    [ "$(grep -c '^FAIL op=encode_e2m1 ' out)" -eq 2 ] ||
        complain '--errors 2: other than two lines'
    has '^ +\.\.\. [0-9]+ failing cases of encode_e2m1 in all$' out
    has 'rule e2m1.nan .* acts like "max"' out

    has '^# narrowgauge verify: FAILED$' verify.md
    has '^\| subject \| cuda-headers \|$' verify.md
    has '^\| encode_e2m1 \| .* \| DIFFERS \|$' verify.md
    has '^\| decode_e4m3 \| 1 \| 0 \| 256 \| 0 \| equal \|$' verify.md
    has '^<details><summary>1 operation not covered by the subject</summary>$' verify.md
    has '^philox$' verify.md
    grep -q '^| philox' verify.md && complain 'Markdown: a row of what is not covered'
    has '^## encode_e2m1$' verify.md
    has '^a NaN becomes 6: rule e2m1.nan ' verify.md
    [ "$(grep -c '^FAIL op=' verify.md)" -eq 5 ] || complain 'Markdown: not five'

    # One count of failed cases, whoever gives it; one first line.
    cases=$(sed -n 's/.* \([0-9]*\) failing cases of .*/\1/p' out)
    has "\"failed_cases\": $cases," verify.json
    line=$(grep -m 1 '^FAIL' out)
    grep -qxF "$line" verify.md || complain 'Markdown: another line'
    if [ -e junit.xml ]; then
        has '<testsuite name="narrowgauge verify, level 0" tests="3" failures="1" skipped="1">' \
            junit.xml
        has '<testcase classname="cuda-headers" name="decode_e4m3" time="[0-9.]+"/>' \
            junit.xml
        has '<failure type="[^"]*" message="a NaN becomes 6: rule e2m1.nan .*acts like &quot;max&quot;' junit.xml
        has '<skipped message="not covered by the subject"/>' junit.xml
        grep -qF "$line" junit.xml || complain 'JUnit: another line'
        if command -v xmllint > /dev/null; then
            xmllint --noout junit.xml || complain 'JUnit: not well-formed'
            [ "$(xmllint --xpath 'count(//failure)' junit.xml)" = 1 ] ||
                complain 'JUnit: not one failure'
        fi
    else
        has 'has no libxml2' err
    fi
    run 1 --subject cuda-headers --op encode_e2m1 --stratum special --errors 0
    grep -q '^FAIL ' out && complain '--errors 0 prints failures'
fi

if [ $ran = no ]; then
    echo 'SKIP: neither a terminal nor a subject that differs'
    exit 77
fi
exit $failed
