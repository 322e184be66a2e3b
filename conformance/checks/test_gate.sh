#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# narrowgauge gate: every kind of regression, planted in a copy of a real run, is
# found and said in the line expected; waivers, acceptance, and what is refused.
# shellcheck disable=SC2016
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
check=${NG_BUILDDIR:-.}/check-schema
schemas=${NG_SRCDIR:-.}/reports/schema

"$NARROWGAUGE" ops --subjects | grep -q '^oracle' || {
    echo 'SKIP: no MPFR oracle in this build'
    exit 77
}
[ -x "$check" ] || exit 99
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    head -c 3000 out err
    failed=1
}

# gate WANTED_STATUS ARGUMENT...
gate() {
    local want=$1 got
    shift
    "$NARROWGAUGE" gate --today 2026-12-01 --baseline base.json "$@" > out 2> err
    got=$?
    [ $got -eq "$want" ] || complain "gate $*: exit $got, not $want"
}

# says LINE [FILE]: the file has exactly this line.
says() {
    grep -qxF -- "$1" "${2:-out}" || complain "no line: $1"
}

# plant OPERATION SED: change the lines of one operation in a copy of the run.
plant() {
    sed "/\"operation\": \"$1\"/,/\"axes\"/{$2}" run.json > now.json
    cmp -s run.json now.json && complain "plant $1 $2: changes nothing"
}

# In the lines from a pattern to the next brace that closes.
other_digit='s/: "[0-7]/: "f/;s/: "[89a-e]/: "0/'

"$NARROWGAUGE" verify --quiet --op encode_e2m1 --op decode_e4m3 --op swiglu --json > run.json ||
    exit 99

# ---- no baseline yet, then one ---------------------------------------------------
gate 2 --current run.json
[ "$(wc -l < err)" -eq 1 ] || complain 'not one line'
grep -q '^narrowgauge gate: base.json: ' err || complain 'no file named'
gate 2 --current run.json --accept
says 'narrowgauge gate: --accept and --why go together' err
gate 2 --current run.json --accept --why "$(printf 'a\377')"
says 'narrowgauge gate: --why: not a text in UTF-8' err
[ -e base.json ] && complain 'a refused acceptance left a baseline'
gate 0 --current run.json --accept --why 'the first one'
says 'accepted: base.json'
"$check" "$schemas/baseline.schema.json" base.json || complain 'base.json is no baseline'
gate 0 --current run.json
says 'PASSED: nothing moved in 3 operations'
grep -q '^gate: reference, profile ng, level 0, GPU none, toolkit none; baseline of .*: the first one$' out ||
    complain 'no first line'
cp base.json first.json

# A build without libxml2 says so, and the rest is tried without.
junit=(--junit gate.xml)
if ! "$NARROWGAUGE" gate --baseline base.json --current run.json --junit gate.xml > out 2> err; then
    grep -q 'has no libxml2' err || complain 'no JUnit, and no reason'
    junit=()
fi

# ---- each kind, planted ----------------------------------------------------------
plant encode_e2m1 '/"ties": {/,/}/{/"outputs"/{'"$other_digit"'}}'
gate 1 --current now.json
says 'REGRESSION changed-bits encode_e2m1: 1 stratum: ties, same inputs'
says 'FAILED: 1 regression (1 changed-bits)'
[ "$(grep -c REGRESSION out)" -eq 1 ] || complain 'more than was planted'

plant encode_e2m1 '/"random": {/,/}/{/"inputs"/{'"$other_digit"'}}'
gate 1 --current now.json
says "REGRESSION changed-inputs encode_e2m1: 1 stratum: random, other inputs than the baseline's"

plant encode_e2m1 's/"variants": 6/"variants": 5/'
gate 1 --current now.json
says 'REGRESSION lost-coverage encode_e2m1: 5 variants, were 6'

plant decode_e4m3 's/"variants": 1/"variants": 0/'
gate 1 --current now.json
says 'REGRESSION lost-coverage decode_e4m3: not in this run'

plant encode_e2m1 '/"special": {/,/}/s/"cases": 6/"cases": 5/'
gate 1 --current now.json
says 'REGRESSION lost-coverage encode_e2m1: 1 stratum: special, fewer cases'

plant encode_e2m1 's/"tie": [0-9]*/"tie": 0/'
gate 1 --current now.json
says 'REGRESSION lost-coverage encode_e2m1: no element of the class tie any more'

plant swiglu 's/"not_covered_cases": 0/"not_covered_cases": 7/'
gate 1 --current now.json
says "REGRESSION lost-coverage swiglu: 7 cases beyond the subject's limits, were 0"

plant decode_e4m3 's/"failed_cases": 0/"failed_cases": 1/;s/"diagnosis": ""/"diagnosis": "NaN is moved"/'
gate 1 --current now.json
says 'REGRESSION new-failure decode_e4m3: 1 failing cases, were 0; NaN is moved'

plant encode_e2m1 's/"missing": \[\]/"missing": ["nan"]/'
gate 1 --current now.json
says 'REGRESSION new-failure encode_e2m1: claims to have met the class nan and did not'

plant swiglu '/"ulp": \[/,/\]/{s/ 0$/ 1/}'
gate 1 --current now.json
grep -qx 'REGRESSION changed-errors swiglu: largest error 0.9[0-9]* of the bound, was 0.9[0-9]*; 1 units 1 ULP off or more, were 0' out ||
    complain 'an error of 2^15 ULP'
plant swiglu 's/"share": 0\.[0-9]*/"share": 1.5/'
gate 1 --current now.json
grep -qx 'REGRESSION changed-errors swiglu: largest error 1.5 of the bound, was 0.9[0-9]*; 0 units .*' out ||
    complain 'a share of 1.5'
plant swiglu 's/"share": 0\.[0-9]*/"share": "inf"/'
gate 1 --current now.json
grep -q 'largest error inf of the bound' out || complain 'a share without end'
plant encode_e2m1 '/"error": \[/,/\]/{n;n;n;n;s/[0-9][0-9]*$/2097152/}'
gate 1 --current now.json
grep -qx 'REGRESSION changed-errors encode_e2m1: mean error [0-9.]* %, was [0-9.]* %; largest 200 %, was 100 %' out ||
    complain 'an error of 200 %'

# An operation that the baseline lacks is no regression unless it fails.
sed 's/"operation": "swiglu"/"operation": "swigly"/' run.json > now.json
gate 1 --current now.json
says 'REGRESSION lost-coverage swiglu: not in this run'
says 'note: swigly is not in the baseline'

# More than three: the three gravest, and how many more.
sed 's/"failed_cases": 0/"failed_cases": 2/;/swiglu/,$s/"share": 0\.[0-9]*/"share": 2.5/;s/"tie": [0-9]*/"tie": 0/' \
    run.json > now.json
gate 1 --current now.json --markdown gate.md "${junit[@]}"
[ "$(grep -c '^REGRESSION new-failure' out)" -eq 3 ] || complain 'not the three gravest'
says '     ... 2 more; --markdown, --junit and --json have them all'
says 'FAILED: 5 regressions (3 new-failure, 1 lost-coverage, 1 changed-errors)'
[ "$(grep -c '^| \*\*regression\*\* ' gate.md)" -eq 5 ] || complain 'Markdown: not five'
if [ -e gate.xml ]; then
    grep -q '<testsuite name="narrowgauge gate" tests="5" failures="5" skipped="0">' gate.xml ||
        complain 'JUnit: not five'
fi
gate 1 --current now.json --json
"$check" "$schemas/gate.schema.json" out || complain 'the outcome is no gate'

# ---- waivers -----------------------------------------------------------------------
plant encode_e2m1 '/"ties": {/,/}/{/"outputs"/{'"$other_digit"'}}'
waive() { printf '%s\n' "$@" > waivers; }
waive '# ties change' 'operation encode_e2m1' 'kind  changed-bits' 'until 2026-12-01' 'why   ties | <b>'
gate 0 --current now.json --waivers waivers --markdown gate.md "${junit[@]}"
says 'PASSED: nothing moved in 3 operations, 1 waived'
grep -q '^| waived | changed-bits | encode_e2m1 | .*; until 2026-12-01: ties \\| &lt;b&gt; |$' gate.md ||
    complain 'Markdown: no waiver'
[ ! -e gate.xml ] || grep -q '<skipped message="ties | &lt;b&gt;">' gate.xml ||
    complain 'JUnit: no waiver'
gate 0 --current run.json --waivers waivers
says 'note: waivers:2: waives nothing: encode_e2m1 changed-bits'
sed -i 's/2026-12-01/2026-11-30/' waivers
gate 1 --current run.json --waivers waivers
says 'REGRESSION expired-waiver waivers:2: encode_e2m1 changed-bits: expired on 2026-11-30: ties | <b>'
says 'FAILED: 1 regression (1 expired waiver)'
gate 1 --current now.json --waivers waivers
says 'FAILED: 2 regressions (1 changed-bits, 1 expired waiver)'

# refused LINE WAIVER_LINE...
refused() {
    local line=$1
    shift
    waive "$@"
    gate 2 --current run.json --waivers waivers
    says "narrowgauge gate: waivers:$line" err
    [ -s out ] && complain 'printed all the same'
}
refused '2: owner: unknown field (operation, kind, until, why)' 'operation a' 'owner me'
refused '1: kind: a waiver begins with the field operation' 'kind changed-bits'
refused '1: until: missing in this waiver' 'operation a' 'kind changed-bits' 'why b'
refused '1: why: missing in this waiver' 'operation a' 'kind changed-bits' 'until 2027-01-01' 'operation b'
refused '2: kind: not new-failure, lost-coverage, changed-bits, changed-errors or changed-inputs' \
    'operation a' 'kind all'
refused '2: until: not a day, YYYY-MM-DD' 'operation a' 'until 2027-02-29'
refused '2: until: not a day, YYYY-MM-DD' 'operation a' 'until soon'
refused '3: until: given twice' 'operation a' 'until 2027-01-01' 'until 2027-01-01'
refused '2: why: has no value' 'operation a' 'why'
refused '1: operation: not the name of an operation' 'operation <script>'
refused '2: line: not UTF-8' 'operation a' "$(printf 'why \377')"
refused '2: line: control byte' 'operation a' "$(printf 'why \033[31m')"
printf 'operation a\0' > waivers
gate 2 --current run.json --waivers waivers
says 'narrowgauge gate: waivers:1: file: not text: a zero byte' err

# ---- acceptance --------------------------------------------------------------------
gate 0 --current now.json --accept --why 'ties go "away" <now>'
says 'accepted: base.json'
grep -q '"why": "ties go \\"away\\" <now>", "changes": \["changed-bits encode_e2m1: 1 stratum: ties, same inputs"\]' base.json ||
    complain 'no reason recorded'
grep -q '"why": "the first one"' base.json || complain 'the history is lost'
gate 0 --current now.json
gate 1 --current run.json

# Another GPU has a baseline of its own.
sed 's/"gpu": "none"/"gpu": "H200"/;s/"toolkit": "none"/"toolkit": "13.0"/' run.json > gpu.json
gate 2 --current gpu.json
says 'narrowgauge gate: base.json: no baseline of reference, profile ng, level 0, seed 1, GPU H200, toolkit 13.0 (--accept --why makes one)' err
gate 0 --current gpu.json --accept --why 'an H200'
gate 0 --current gpu.json
gate 0 --current now.json
"$check" "$schemas/baseline.schema.json" base.json || complain 'two entries are no baseline'

# A disk that is full leaves what was there, and nothing else.
cp base.json kept.json
before=$(find . | sort)
(
    trap '' XFSZ
    export GCOV_PREFIX=/dev/null # counters cut short would break the report of coverage
    ulimit -f 1
    gate 4 --current run.json --accept --why 'no room'
    exit $failed
) || failed=1
cmp -s base.json kept.json || complain 'a baseline half written'
[ "$before" = "$(find . | sort)" ] || complain 'something left behind'

# ---- what is refused ---------------------------------------------------------------
# bad WHY SED_ON_FIRST_BASELINE
bad() {
    sed "$2" first.json > base.json
    gate 2 --current run.json
    [ "$(wc -l < err)" -eq 1 ] || complain "bad baseline ($2): not one line"
    grep -qF -- "narrowgauge gate: base.json$1" err || complain "bad baseline ($2): not $1"
    [ -s out ] && complain 'printed all the same'
}
bad ':1: not JSON' '1s/{/[/'
bad ':6: not JSON' '6,$d'
bad ': /schema: not narrowgauge-baseline-1' 's/baseline-1/baseline-9/'
bad ': /entries/0/operations/1/variants: not of type integer' '/decode_e4m3/s/"variants":1/"variants":"1"/'
bad ': /entries/0/operations/1/cases: too small' '/decode_e4m3/s/"cases":1/"cases":-1/'
bad ': /entries/0/operations/0: lacks the field strata' '/encode_e2m1/s/"strata"/"strati"/'
bad ': /entries/0/operations/0/operation: does not match' 's/"encode_e2m1"/"<script>"/'
bad ': /entries/0/history: has too few' '/"history"/s/\[/[],"h":[/'
bad ': /entries/0/operations/1/strata/codes/2: does not match' '/decode_e4m3/s/","[0-9a-f]*"\]/","12"]/'
cp first.json base.json
gate 2 --current none.json
grep -q '^narrowgauge gate: none.json: ' err || complain 'no run: not said'
mkdir -p empty
gate 2 --current empty
grep -q '^narrowgauge gate: empty/verify.json: ' err || complain 'an empty folder: not said'
sed 's/"shards": 1/"shards": 2/' run.json > now.json
gate 2 --current now.json
says 'narrowgauge gate: now.json: shards: a shard is no whole run' err
gate 2 --current run.json --today 2026-13-01
"$NARROWGAUGE" gate --current run.json > out 2> err
says 'narrowgauge gate: --baseline: missing' err
"$NARROWGAUGE" gate --baseline base.json > out 2> err
says 'narrowgauge gate: --current: missing' err
gate 4 --current run.json --markdown none/gate.md

# A subject that could not be loaded at all.
"$NARROWGAUGE" verify --quiet --subject ./none.so --json > none.json 2> /dev/null
sed -i 's/"subject": ".*"/"subject": "reference"/;s/"gpu": ".*"/"gpu": "none"/' none.json
gate 1 --current none.json
grep -q '^REGRESSION new-failure load: ' out || complain 'no subject: not said'

# ---- hostile strings -----------------------------------------------------------------
hostile='<script>alert(1)<\/script> | `x` \\u001b[31m \\u202e \\u0000'
plant decode_e4m3 's/"failed_cases": 0/"failed_cases": 1/;s/"diagnosis": ""/"diagnosis": "'"${hostile% *}"'"/'
gate 1 --current now.json --markdown gate.md "${junit[@]}"
LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" out gate.md gate.xml 2> /dev/null &&
    complain 'a control byte came through'
grep -q '<script' gate.md gate.xml 2> /dev/null && complain 'markup came through'
grep -q '&lt;script&gt;alert(1)&lt;/script&gt; \\| \\`x\\` ?\\\[31m ? |$' gate.md ||
    complain 'Markdown: not escaped as expected'
plant decode_e4m3 's/"diagnosis": ""/"diagnosis": "'"$hostile"'"/'
gate 2 --current now.json
grep -q '^narrowgauge gate: now.json:[0-9]*: not JSON: ' err || complain 'a NUL is taken'

exit $failed
