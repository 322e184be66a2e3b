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
grep -qF "fp8_row_to_fp8_col: $named" "$srcdir/README.md" || complain 'README names something else'
line=$(grep '^     shrunk to ' out)
[ -n "$line" ] || complain 'not shrunk'
grep -qxF "$line" "$srcdir/README.md" || complain 'README has another small case'
"${verify[@]}" --profile fp8-flow-moe > out 2>&1 ||
    complain 'not equal under the profile that states the rule'
grep -qE '^fp8_row_to_fp8_col .* equal$' out || complain 'nothing was verified'
exit $failed
