#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The example of a quantiser in NumPy, by the three lines of docs/vectors.md: it
# is equal, and with its ties turned the report says so.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
srcdir=${NG_SRCDIR:?}
python3 -c 'import numpy' 2> /dev/null || {
    echo 'SKIP: python3 has no numpy'
    exit 77
}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0
mkdir docs
cp "$srcdir/docs/example_numpy.py" docs/
# The lines of the guide, run below, call it so.
# shellcheck disable=SC2317
narrowgauge() { "$NARROWGAUGE" "$@"; }

complain() {
    echo "FAIL $*"
    cat out
    failed=1
}

lines=$(awk '/^```$/ { inside = !inside; next } inside' "$srcdir/docs/vectors.md")
[ "$(wc -l <<< "$lines")" -eq 3 ] || complain 'the page has no three lines'
eval "$lines" > out 2>&1 || complain 'not equal'
grep -qE '^quantize_mxfp4 +1 +5[0-9] .* equal$' out || complain 'few cases'
sed -i 's/^    code += .*/    code += y == middle[code]/' docs/example_numpy.py
eval "$lines" > out 2>&1 && complain 'the wrong one is equal'
grep -q 'ties go away from zero: rule rounding' out ||
    complain 'the diagnosis does not name the ties'
exit $failed
