#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The example of a plug-in: compiled by the line that its first comment prints,
# which is the one in README and in the guide, it is equal in all it covers. With
# its ties going the other way the report says so in one command.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
srcdir=${NG_SRCDIR:?}
command -v cc > /dev/null || {
    echo 'SKIP: no cc'
    exit 77
}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

complain() {
    echo "FAIL $*"
    cat "$scratch/out"
    failed=1
}

line=$(sed -n '1s,^/\* \(cc .*\)$,\1,p' "$srcdir/docs/example_subject.c")
[ -n "$line" ] || complain 'no line in the first comment'
for page in README.md docs/subjects.md; do
    grep -qxF "$line" "$srcdir/$page" || complain "$page has another line"
done

# As it is printed, in a folder that looks like a checkout.
cd "$scratch" || exit 99
ln -s "$srcdir/conformance" conformance
mkdir docs
cp "$srcdir/docs/example_subject.c" docs/
eval "$line" > out 2>&1 || complain 'it does not compile'
"$NARROWGAUGE" verify --quiet --subject ./example_subject.so > out 2>&1 ||
    complain 'the example is not equal'
grep -qE '^quantize_mxfp4 +1 .* equal$' out || complain 'nothing was verified'

sed -i 's/ && c % 2)/)/' docs/example_subject.c
eval "$line" > out 2>&1 || complain 'the wrong one does not compile'
"$NARROWGAUGE" verify --quiet --subject ./example_subject.so > out 2>&1
[ $? -eq 1 ] || complain 'the wrong one: not exit 1'
grep -q 'ties go away from zero: rule rounding .*acts like "nearest-away"' out ||
    complain 'the diagnosis does not name the ties'
grep -qE '^FAIL op=quantize_mxfp4 .* at=y.codes\[[0-9]+,[0-9]+\] want=.. got=.. x=' out ||
    complain 'no element'
grep -qE '^     shrunk to x\[1,[12]\] fp32 = .*: y.codes\[0,0\] want=.. got=.. (.* instead of .*)$' out ||
    complain 'not shrunk to one or two elements'

# What is wrong stands first, before the table and the cases.
first=$(sed -n '/^$/{n;p;q}' out)
[[ $first == 'quantize_mxfp4: ties go away from zero: '* ]] || complain "first comes: $first"

# On a terminal of 80 columns only what is to be copied is longer, and nothing is
# coloured, whatever NO_COLOR says.
if command -v script > /dev/null; then
    for no_color in '' 1; do
        NO_COLOR=$no_color script -qec "stty cols 80; '$NARROWGAUGE' verify --quiet \
            --subject ./example_subject.so" typescript > /dev/null < /dev/null
        tr -d '\r' < typescript | sed '/^Script /d' > out
        grep -v '^FAIL' out | grep -qE '.{81}' && complain 'a line of more than 80 columns'
        LC_ALL=C grep -q "$(printf '\033')" out && complain 'an escape sequence'
        tr -s ' \n' ' ' < out | grep -qF 'neighbour a value between two codes goes to): acts' ||
            complain 'wrapped, and a word is lost'
        grep -qE '^FAIL op=quantize_mxfp4 .{150,}$' out || complain 'a case is wrapped'
    done
fi
exit $failed
