#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# README's demonstration: a transpose that lowers exponent fields is found, named
# and shrunk by itself, to the line that README prints; under the profile that
# states the rule it is equal.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
srcdir=${NG_SRCDIR:?}
command -v cc > /dev/null || {
    echo 'SKIP: no cc'
    exit 77
}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    cat out
    failed=1
}

cc -O2 -fPIC -shared -I"$srcdir/conformance/subject" -o lowered_field.so \
    "$srcdir/conformance/checks/plugin_lowered_field.c" > out 2>&1 || complain 'it does not compile'
verify=("$NARROWGAUGE" verify --quiet --subject ./lowered_field.so)
"${verify[@]}" > out 2>&1
[ $? -eq 1 ] || complain 'not exit 1'
named='scales are aligned in the exponent field, without rounding: rule fp8.align'
grep -qF "fp8_row_to_fp8_col: $named" out || complain 'not named'
line=$(grep '^     shrunk to ' out)
[ -n "$line" ] || complain 'not shrunk'
readme=$(tr -s ' \n' ' ' < "$srcdir/README.md")
[[ $readme == *"fp8_row_to_fp8_col: $named"* ]] || complain 'README names something else'
[[ $readme == *" ${line#     },"* ]] || complain 'README has another small case'
"${verify[@]}" --profile fp8-flow-moe > out 2>&1 ||
    complain 'not equal under the profile that states the rule'
grep -qE '^fp8_row_to_fp8_col .* equal$' out || complain 'nothing was verified'

# The same by files: README's three lines as they are printed, in a folder that
# looks like a checkout. What comes back was counted on the real kernel too
# (reports/peers.json has its 0 differences under the profile).
python3 -c 'import numpy' 2> /dev/null || {
    [ $failed = 0 ] && echo 'SKIP: python3 has no numpy' && exit 77
    exit 1
}
ln -s "$srcdir/conformance" conformance
# shellcheck disable=SC2317
narrowgauge() { "$NARROWGAUGE" "$@"; }
lines=$(grep -A 2 '^narrowgauge vectors --op fp8_row_to_fp8_col ' "$srcdir/README.md")
[ "$(wc -l <<< "$lines")" -eq 3 ] || complain 'README has no three lines'
eval "$lines" > out 2>&1 && complain 'by files: equal'
grep -qF "fp8_row_to_fp8_col: $named" out || complain 'by files: not named'
grep -qxF "$line, if it does so here too" out || complain 'by files: not shrunk to the same'
row=$(grep '^fp8_row_to_fp8_col .* DIFFERS$' out)
grep -qxF "$row" "$srcdir/README.md" || complain 'by files: README has another count'
"$NARROWGAUGE" compare --expected v/000.expected.safetensors --actual back.safetensors \
    --profile fp8-flow-moe > out 2>&1 || complain 'by files: not equal under the profile'

# With a report the small case runs again on any subject, the plug-in for one.
"$NARROWGAUGE" compare --expected v/000.expected.safetensors --actual back.safetensors --report report > out 2>&1
"$NARROWGAUGE" verify --quiet --subject ./lowered_field.so \
    --replay report/shrunk/fp8_row_to_fp8_col.safetensors > out 2>&1
[ $? -eq 1 ] || complain 'its small case does not run again'
grep -qxF "     ${line#     shrunk to }" out || complain 'its small case is another'
exit $failed
