#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docs/gate.md as it is printed: its three commands, then its steps of a pipeline,
# run as a runner would: after a step that fails only those that run always. On the
# example of a plug-in, then with its ties turned away from zero.
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
page=$srcdir/docs/gate.md
failed=0

complain() {
    echo "FAIL $*"
    cat log
    failed=1
}

# shellcheck disable=SC2317
narrowgauge() { "$NARROWGAUGE" "$@"; }
# shellcheck disable=SC2317
make() { cc -O2 -fPIC -shared -I"$srcdir/conformance/subject" -o kernel.so kernel.c -lm; }

# pipeline: run the steps; the names of those that fail in ./failing.
pipeline() {
    local broken=no n
    : > failing
    rm -rf report summary step-*
    awk '/^```yaml/ { yaml = 1; next } /^```/ { yaml = 0 } !yaml { next }
        /^      - / { n++; text = 0; sub(/- /, "  ") }
        /^        if: always\(\)/ { print > ("step-" n ".always") }
        /^        run: [^|]/ { sub(/^        run: /, ""); print > ("step-" n ".sh") }
        /^        run: \|/ { text = 1; next }
        text { print > ("step-" n ".sh") }' "$page"
    for n in 1 2 3 4 5 6 7; do
        [ -e step-$n.sh ] || continue
        [ $broken = no ] || [ -e step-$n.always ] || continue
        export GITHUB_STEP_SUMMARY=$PWD/summary
        eval "$(cat step-$n.sh)" >> log 2>&1 && continue
        broken=yes
        echo $n >> failing
    done
}

cp "$srcdir/docs/example_subject.c" kernel.c
make || exit 99
commands=$(awk '/^```$/ { inside = !inside; if (++fence == 2) exit; next } inside' "$page")
[ "$(wc -l <<< "$commands")" -eq 3 ] || complain 'not three commands'
eval "$commands" > log 2>&1 || complain 'the three commands do not run'
grep -qx 'PASSED: nothing moved in .*' log || complain 'something moved at once'
[ "$(grep -c '"why": "release 1.4"' kernel.json)" -eq 1 ] || complain 'no reason in the baseline'

mkdir numerics
mv kernel.json numerics/
: > numerics/waivers
: > log
pipeline
[ "$(find . -name 'step-*.sh' | wc -l)" -eq 4 ] || complain 'not four steps to run'
[ -s failing ] && complain "the right one: step $(cat failing) fails"
grep -q '^# narrowgauge gate: PASSED' summary || complain 'no summary of the gate'
[ -s report/verify.xml ] && [ -s report/gate.xml ] || grep -q 'has no libxml2' log || complain 'no JUnit'

# A wrong release: verify and the gate fail, and the summary has both.
sed -i 's/ && c % 2)/)/' kernel.c
: > log
pipeline
[ "$(paste -sd' ' failing)" = '3 4' ] || complain "the wrong one: steps $(paste -sd' ' failing) fail"
grep -q '^REGRESSION new-failure quantize_mxfp4: .*ties go away from zero' log || complain 'the gate does not say why'
grep -q '^# narrowgauge gate: FAILED' summary || complain 'no summary of the gate that fails'
grep -q '^ties go away from zero: rule rounding' summary || complain 'no diagnosis in the summary'

# Waived as the page has it, the gate lets it pass: verify alone fails.
waiver=$(awk '/^# A field a line/ { on = 1 } /^```/ { on = 0 } on' "$page")
until=$(date -u +%Y-12-31)
for kind in changed-bits new-failure changed-errors; do
    sed "s/^kind .*/kind $kind/;s/^until .*/until $until/" <<< "$waiver"
done > numerics/waivers
: > log
pipeline
[ "$(paste -sd' ' failing)" = 3 ] || complain "waived: steps $(paste -sd' ' failing) fail"
grep -q '^PASSED: nothing moved in .* waived$' log || complain 'nothing is waived'
exit $failed
