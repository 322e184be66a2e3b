#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The pages of a report: what they say, that they are made again to the same
# bytes, that nothing in them leaves the disk, and that text from outside (a
# subject's name, a file of anyone's) stays text.
# shellcheck disable=SC2016
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    head -c 2000 out err
    failed=1
}

# has PATTERN FILE
has() {
    grep -qE -- "$1" "$2" || complain "$2: no line: $1"
}

# report WANTED_STATUS ARGUMENT...
report() {
    local want=$1 got
    shift
    "$NARROWGAUGE" report "$@" > out 2> err
    got=$?
    [ $got -eq "$want" ] || complain "report $*: exit $got, not $want"
}

# No byte that a terminal or a reader would obey, no markup from outside, and
# nothing that a browser would fetch.
harmless() {
    local file
    for file in "$@"; do
        [ -e "$file" ] || continue
        LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" "$file" &&
            complain "$file: a control byte"
        # (A fenced block of Markdown shows what it holds.)
        sed '/^```$/,/^```$/d' "$file" | grep -qE '<script>alert|<img|="javascript:' &&
            complain "$file: markup from outside"
        iconv -f UTF-8 -t UTF-8 "$file" > /dev/null 2>&1 || complain "$file: no UTF-8"
    done
}

if "$NARROWGAUGE" ops --subjects | grep -q '^oracle'; then
    "$NARROWGAUGE" verify --quiet --op encode_e4m3 --op quantize_mxfp4 --op swiglu \
        --stratum special --report good > out 2> err || complain 'verify'
    page=good/verify.html
    has '<title>passed: reference, narrowgauge verify</title>' $page
    has '<h2 id="map">Mismatches by rule</h2>' $page
    for plot in 'swiglu: errors in ULPs' 'encode_e4m3: relative error by magnitude' \
        'quantize_mxfp4: relative error by magnitude' 'quantize_mxfp4: scales by power of two'; do
        has "<svg [^>]*aria-label=\"$plot\"" $page
    done
    has '<td class="zero" title="0 of [0-9]+ cases differ">' $page
    grep -q 'id="failures"' $page && complain 'failures of a run that passed'
    # One file: no address but the SVG-free ones within the page.
    grep -oE '(src|href|url|action|data)=["(][^")]*' $page | grep -vE '="#[a-z]+' &&
        complain 'the page asks for another file'
    grep -qE 'https?:|@import|fetch\(|XMLHttp' $page && complain 'the page knows a network'
    if command -v xmllint > /dev/null; then
        grep -o '<svg.*</svg>' $page | while read -r svg; do
            printf '%s' "$svg" | xmllint --noout - || echo bad >> svg.bad
        done
        [ -e svg.bad ] && complain 'an SVG that is no XML'
    fi

    # Made again: the same bytes.
    for file in html md; do cp good/verify.$file $file.first; done
    rm good/verify.html good/verify.md
    report 0 good
    cmp -s good/verify.html html.first || complain 'another page'
    cmp -s good/verify.md md.first || complain 'another summary'
    [ "$(cat out)" = "$(printf 'good/verify.md\ngood/verify.html')" ] || complain 'other names'
    report 0 good --json
    tr -d ' \n' < out | grep -qx '\["verify.md","verify.html"\]' || complain 'other names in JSON'

    # Shards have pages of their own.
    "$NARROWGAUGE" verify --quiet --op decode_e4m3 --shard 1/2 --report good > /dev/null
    report 0 good
    [ -s good/verify-1-of-2.html ] || complain 'no page of a shard'
fi

# ---- a subject that differs: each thing that a page says of it -----------------------
"$NARROWGAUGE" verify --quiet --subject cuda-host --op encode_e4m3 --op encode_e2m1 \
    --stratum special --report bad > out 2> err
[ -e bad/verify.json ] || complain 'no report of cuda-host'
sed '/"operation": "encode_e2m1"/,/"axes": {/{
        s/"failed_cases": 0/"failed_cases": 2/
        s/"diagnosis": ""/"diagnosis": "ties go away", "kind": "tie direction"/
        s/"shrunk": ""/"shrunk": "x[1]"/
        s/"failures": \[\]/"failures": ["FAIL a", "FAIL b", "FAIL c", "FAIL d"]/
     }
     /"axes": {/,$s/"failed_cases": 0/"failed_cases": 1/
     s/"passed": true/"passed": false/' bad/verify.json > now && mv now bad/verify.json
report 0 bad
page=bad/verify.html
has '<title>FAILED: cuda-host, narrowgauge verify</title>' $page
has '<a href="#failures">Failures \([12]\)</a>' $page
has '<p class="why">ties go away</p>' $page
has '<span class="pill bad">tie direction</span></h3>' $page
has 'The smallest case: <code>x\[1\]</code>' $page
has '<summary>1 more lines</summary>' $page
has '<td class="hit" title="1 of [0-9]+ cases differ" style="background:rgba\(var\(--bad-rgb\),0\.[0-9]+\)">[0-9]+</td>' $page

# What is nearly all is not said to be all: 1 of 1000 cases right, 1 of 10^9
# units far off; nor do counts past 2^63 in sum do harm.
mkdir nearly
tr -d '\n' < bad/verify.json | sed -E \
    's/"cases": *[0-9]+, *"failed_cases": *1,/"cases": 1000, "failed_cases": 999,/g
     s/"ulp": *\[ *\]/"ulp": [999999999, 0, 0, 0, 0, 0, 0, 0, 0, 1]/
     s/"ulp": *\[ *\]/"ulp": [9223372036854775807, 9223372036854775807, 0, 0, 0, 0, 0, 0, 0]/' > nearly/verify.json
report 0 nearly
has 'title="999 of 1000 cases differ" style="[^"]*">&gt;99</td>' nearly/verify.html
has '<p>1 000 000 000 units, 99.999 % within 1 ULP</p>' nearly/verify.html
has '<p>9 223 372 036 854 775 807 units, 100 % within 1 ULP</p>' nearly/verify.html

# ---- hostile strings in a file --------------------------------------------------------
evil='<script>alert(1)<\/script><img src=x onerror="a"> \\u001b[2J\\u202e\\ud83d\\ude00 ` | [a](javascript:b)'
mkdir evil
sed -E 's/("(version|time|subject|expected|profile|gpu|toolkit|diagnosis|shrunk)": )"[^"]*"/\1"'"${evil//\"/\\\\\"}"'"/
        s/"failures": \[\]/"failures": ["'"${evil//\"/\\\\\"}"'"]/
        s/"inexact"/"'"${evil//\"/\\\\\"}"'"/
        s/"(nearest-even|rounding)": \{/"'"${evil//\"/\\\\\"}"'\1": {/
        s/"failed_cases": 0/"failed_cases": 3/' bad/verify.json > evil/verify.json
report 0 evil
harmless out err evil/verify.md evil/verify.html
has '&lt;script&gt;alert\(1\)&lt;/script&gt;&lt;img src=x onerror=&quot;a&quot;&gt;' evil/verify.html
has '^\| subject \| &lt;script&gt;alert\(1\)&lt;/script&gt;.*\\`  *\\\|  *\\\[a\\\]\(javascript:b\) \|$' evil/verify.md
[ "$(grep -c '<script>' evil/verify.html)" -eq 1 ] || complain 'more than our own script'

# ---- a subject of hostile name, on every way out ----------------------------------------
name=$(printf './<script>alert(1)</script>\033[2J\377\342\200\256.so')
"$NARROWGAUGE" verify --quiet --subject "$name" --report evil --junit evil/junit.xml > out 2> err
harmless out err evil/verify.md evil/verify.html evil/verify.json evil/junit.xml
has 'The subject cannot be used' evil/verify.html
report 0 evil

# What a subject lacks is folded away.
"$NARROWGAUGE" verify --quiet --subject cuda-host --op encode_e2m1 --op philox --stratum special \
    --report lacks > out 2> err
sed '/"operation": "philox"/,/"axes"/s/"variants": 1/"variants": 0/' lacks/verify.json > now &&
    mv now lacks/verify.json
report 0 lacks
has '<summary>1 operation not covered by the subject</summary><p class="quiet">philox</p>' lacks/verify.html
grep -q '<tr><th scope="row">philox' lacks/verify.html && complain 'a row of what is not covered'

# ---- numbers that no run has -------------------------------------------------------------
mkdir odd
tr -d '\n' < bad/verify.json | sed -E \
    's/"error": *\[ *\[[^]]*\]( *, *\[[^]]*\])* *\]/"error": [[900719925474099, -4, 7, 7], [1, 0, 0, 0]]/g
     s/"binades": *\[ *\]/"binades": [[99999999999, 5]]/g
     s/"error": *\[ *\]/"error": [[9223372036854775807, 1, 1, 1], [-9223372036854775808, 0, 0, 0]]/
     s/"seconds": [0-9.]*/"seconds": 1e308/
     s/"elements": [0-9]*/"elements": 9223372036854775807/' > odd/verify.json
report 0 odd
harmless odd/verify.html

# ---- a study's pages, to the bytes that are committed ---------------------------------------
mkdir study
cp "${NG_SRCDIR:-.}/reports/convergence.json" study || exit 99
report 0 study
cmp study/convergence.md "${NG_SRCDIR:-.}/reports/convergence.md" || complain 'another page of the study'
sed -i 's/"seeds": [0-9]*/"seeds": "3"/' study/convergence.json
report 2 study
grep -qx 'narrowgauge report: study/convergence.json: /seeds: not of type integer' err ||
    complain 'a bad study: not said'

# ---- what is refused: the pages stay as they were -----------------------------------------
cp bad/verify.html kept
sed -i 's/"level": 0/"level": 7/' bad/verify.json
report 2 bad
grep -qx 'narrowgauge report: bad/verify.json: /level: none of the values that may stand there' err ||
    complain 'level 7: not said'
cmp -s bad/verify.html kept || complain 'a page of a refused file'
head -c 1000 odd/verify.json > bad/verify.json
report 2 bad
grep -qE '^narrowgauge report: bad/verify.json:[0-9]+: not JSON: ' err || complain 'a torn file: not said'
mkdir empty
report 2 empty
grep -qx 'narrowgauge report: empty: no verify.json or convergence.json in it' err || complain 'empty: not said'
report 2 none
grep -qx 'narrowgauge report: none: folder: cannot be read' err || complain 'none: not said'
report 2
grep -qx 'narrowgauge report: DIR: missing' err || complain 'no DIR: not said'
report 2 a b

# A disk that is full: the old page, and nothing beside it.
before=$(find evil | sort)
cp evil/verify.html kept
(
    trap '' XFSZ
    export GCOV_PREFIX=/dev/null # counters cut short would break the report of coverage
    ulimit -f 1
    report 4 evil
    exit $failed
) || failed=1
cmp -s evil/verify.html kept || complain 'a page half written'
[ "$before" = "$(find evil | sort)" ] || complain 'something left behind'

exit $failed
