#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The exhaustive claims: every one is in reports/proofs.json, whole and true; a
# seeded sample of each long one holds on this machine too, and the short ones
# hold whole. Then the program: what it writes, and what it refuses.
set -u

prove=$(cd "${NG_BUILDDIR:-.}" && pwd)/prove
proofs=$(cd "${NG_SRCDIR:-.}" && pwd)/reports/proofs.json
[ -x "$prove" ] || exit 77

"$prove" --check "$proofs" || exit 1
"$prove" --sample 2 --seed 20261129 --only encode || exit 1
"$prove" --sample 20000 --seed 20261129 --only window || exit 1
"$prove" --only identity || exit 1

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    head -n 20 out err
    failed=1
}

# run WANTED_STATUS ARGUMENT...
run() {
    local want=$1
    shift
    "$prove" "$@" > out 2> err
    local got=$?
    [ $got -eq "$want" ] || complain "prove $*: exit $got, not $want"
}

# refuses WANTED_STATUS PATTERN ARGUMENT...: one line on stderr that matches
refuses() {
    local want=$1 pattern=$2
    shift 2
    run "$want" "$@"
    [ "$(wc -l < err)" -eq 1 ] || complain "prove $*: not one line"
    [ -s out ] && complain "prove $*: printed something"
    grep -q -- "$pattern" err || complain "prove $*: no: $pattern"
}

# ---- the list, and the file and page of some -----------------------------------
run 0 --list
awk '{ print $1 }' out > slugs
[ -z "$(sort slugs | uniq -d)" ] || complain 'a claim twice'
grep '^identity' out > claims
[ "$(wc -l < claims)" -eq 6 ] || complain 'not six formats of 16 bits or less'

# The page's name comes of the file's suffix, whatever its folder is called.
mkdir an.json.d
run 0 --only identity --out an.json.d/some.json
[ "$(wc -l < out)" -eq 6 ] || complain 'not six lines'
[ "$(cd an.json.d && echo *)" = 'some.json some.md' ] ||
    complain "other files: $(cd an.json.d && echo *)"
while read -r slug text; do
    [ "$(grep -c "\"name\": \"$slug\"" an.json.d/some.json)" -eq 1 ] ||
        complain "$slug: not once in the file"
    grep -qF "| $text |" an.json.d/some.md || complain "$slug: not in the page"
    grep -qF "| \`prove --only $slug\` |" an.json.d/some.md ||
        complain "$slug: no command"
done < claims
# 2^4 + 2 * 2^8 + 3 * 2^16
grep -q '6 claims, 197 136 inputs, 0 differences' an.json.d/some.md ||
    complain 'page: no sums'
grep -q '| 2^16 | 0 |' an.json.d/some.md || complain 'page: no power of two'
grep -q '| 256 | 0 |' an.json.d/some.md || complain 'page: no count'

# A second run finds all of it done; a third only what is missing.
cp an.json.d/some.json once.json
run 0 --only identity --out an.json.d/some.json
[ -s out ] && complain 'done twice'
cmp -s once.json an.json.d/some.json || complain 'a second run changes the file'
run 0 --only identity.e2m1 --out part.json
run 0 --only identity --out part.json
[ "$(wc -l < out)" -eq 5 ] || complain 'not the five that were missing'

# ---- what is no proof ----------------------------------------------------------
run 1 --check once.json
grep -qx 'encode_e4m3.up.ieee: missing' out || complain 'nothing missing'
grep -q '^identity' out && complain 'what is there is missing'
# damaged SED_SCRIPT LINE: so changed, the file is refused for this
damaged() {
    sed "$1" "$proofs" > damaged.json
    cmp -s damaged.json "$proofs" && complain "$1 changes nothing"
    run 1 --check damaged.json
    grep -qx "$2" out || complain "no line: $2"
    [ "$(wc -l < out)" -eq 2 ] || complain "$1: more than that"
}
damaged '/"identity.bf16"/,/}/s/"inputs": 65536/"inputs": 65535/' \
    'identity.bf16: not all inputs were tried'
damaged '/"identity.bf16"/,/}/s/"differences": 0/"differences": 1/' \
    'identity.bf16: differences'
damaged '/"identity.bf16"/,/}/s/"differences": 0/"difference": 0/' \
    'identity.bf16: the file does not say how many differences'
damaged 's/"identity.bf16"/"identity.bf17"/' 'identity.bf16: missing'
# A claim that was false is not done anew, and stays false.
sed '/"identity.bf16"/,/}/s/"differences": 0/"differences": 1/' part.json > false.json
cmp -s false.json part.json && complain 'nothing made false'
run 1 --only identity --out false.json
[ -s out ] && complain 'a false claim is tried anew'

refuses 2 '^Usage: prove' --out
refuses 2 '^Usage: prove' --nonsense 1
refuses 2 '^Usage: prove' --sample 0
refuses 2 '^Usage: prove' --sample many
refuses 2 '^Usage: prove' --sample 2 --only identity --out sample.json
refuses 2 'only: nothing: no such claim' --only nothing
refuses 2 'missing.json: cannot be read' --check missing.json
for text in '' '{' '{}' '[1' '"words"'; do
    printf '%s' "$text" > broken.json
    refuses 2 'broken.json: cannot be read' --check broken.json
    refuses 2 'broken.json: cannot be read' --only identity --out broken.json
    [ "$(cat broken.json)" = "$text" ] || complain 'a broken file was replaced'
done
run 4 --only identity.e2m1 --out /dev/null/x.json
grep -q '^prove: /dev/null/x.json' err || complain 'no file named'

exit $failed
