#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# narrowgauge itself (no command, help, version, a full disk behind its output),
# and narrowgauge ops, its lists of operations, profiles, rules and subjects.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
out=$scratch/out
err=$scratch/err
failed=0

complain() {
    echo "FAIL $*"
    head -n 20 "$out" "$err"
    failed=1
}

# run WANTED_STATUS ARGUMENT...
run() {
    local want=$1
    shift
    "$NARROWGAUGE" "$@" > "$out" 2> "$err"
    local got=$?
    [ $got -eq "$want" ] || complain "$*: exit $got, not $want"
}

# has PATTERN FILE: a line of it matches
has() {
    grep -q -- "$1" "$2" || complain "no line: $1"
}

# refuses PATTERN ARGUMENT...: exit 2, one line on stderr that matches
refuses() {
    local pattern=$1
    shift
    run 2 "$@"
    [ "$(wc -l < "$err")" -eq 1 ] || complain "$*: not one line"
    [ -s "$out" ] && complain "$*: printed something"
    has "$pattern" "$err"
}

# ---- the program ---------------------------------------------------------------
run 2
[ -s "$out" ] && complain 'no command: printed on stdout'
has '^Usage: narrowgauge COMMAND' "$err"
mv "$err" "$scratch/overview"
for option in --help -h '-?' help; do
    run 0 "$option"
    [ -s "$err" ] && complain "$option: printed on stderr"
    cmp -s "$out" "$scratch/overview" || complain "$option: another overview"
done
for command in show round quantize ops verify bench; do
    has "^  $command  *[a-z]" "$scratch/overview"
    run 0 "$command" --help
    has "^Usage: narrowgauge $command " "$out"
    has "narrowgauge $command" "$out"
    run 0 "$command" --usage
    run 2 "$command" --no-such-option
    [ -s "$out" ] && complain "$command: a bad option printed something"
    has "^narrowgauge $command: .*no-such-option" "$err"
done
for option in --version -V; do
    run 0 "$option"
    has '^narrowgauge [0-9]*\.[0-9]*\.[0-9]*' "$out"
    [ "$(wc -l < "$out")" -eq 1 ] || complain "$option: not one line"
done
refuses 'no such command: verfy' verfy
refuses 'no such command:  (' ''

if [ -c /dev/full ]; then
    for arguments in --help --version ops 'ops --json' 'show e4m3 7E' \
        'round e4m3 1.1'; do
        # shellcheck disable=SC2086
        "$NARROWGAUGE" $arguments > /dev/full 2> "$err"
        [ $? -eq 4 ] || complain "$arguments: a full disk passed as done"
        [ "$(wc -l < "$err")" -eq 1 ] || complain "$arguments: not one line"
        has 'standard output: ' "$err"
    done
fi

# ---- ops -----------------------------------------------------------------------
run 0 ops
names=$(awk '/^[a-z]/ { print $1 }' "$out")
for name in encode_e4m3 decode_ue8m0 philox convert_scales quantize_mxfp4 \
    quantize_mxfp8 dequantize_mxfp8 \
    dequantize_fp8_col transpose_fp8_tile mxfp4_to_fp8_row fp8_row_to_fp8_col
do
    grep -qx $name <<< "$names" || complain "ops: no $name"
done
[ -z "$(sort <<< "$names" | uniq -d)" ] || complain 'ops: a name twice'
[ "$(wc -l < "$out")" -eq $((2 * $(wc -l <<< "$names"))) ] ||
    complain 'ops: not two lines each'

# Each alone: class, signature, axes, strata with their level.
for name in $names; do
    run 0 ops "$name"
    text=$(< "$out")
    [[ $text =~ ^$name\ \((exact|bounded)\) ]] || complain "ops $name: class"
    [[ $text == *'  offered by: '*reference* ]] || complain "ops $name: by"
    [[ $text =~ $'\n  '[a-z0-9]+\ +level\ [012]\  ]] ||
        complain "ops $name: no inputs"
done
run 0 ops quantize_mxfp4
has '^  y.codes e2m1x2 \[R, C/2\], y.scales \[R, C/32\] = x\[R, C\]' "$out"
has '^  rounding  *nearest-even | nearest-away | toward-zero | up | down | stochastic$' "$out"
has '^  mxfp4.scale  *floor | ceil | even | rceil$' "$out"
has '^  x  *fp32 | bf16 | fp16$' "$out"
has '^  sixteen  *level 1 ' "$out"
run 0 ops decode_e4m3
has '^axes: none$' "$out"
refuses 'ops: encode_e5m2: no such operation' ops encode_e5m2
refuses 'ops: philox: one operation at a time' ops decode_e4m3 philox

# Profiles and what they pin, as their files have it.
run 0 ops --profiles
for file in "${NG_SRCDIR:-.}"/formats/profiles/*.profile; do
    name=$(basename "$file" .profile)
    has "^$name  *$(awk '$1 == "version" { print $2 }' "$file") " "$out"
    awk -v name="$name" '/^[a-z]/ { on = $1 == name; next } on { print $1, $3 }' \
        "$out" | sort > "$scratch/got"
    awk '/^[a-z]/ && $1 != "version" && $1 != "source" { print $1, $2 }' \
        "$file" | sort > "$scratch/want"
    cmp -s "$scratch/want" "$scratch/got" || complain "$name: other rules"
done

run 0 ops --rules
for rule in rounding overflow e2m1.nan nan mxfp4.scale mxfp8.scale fp8.scale block.nan \
    headroom; do
    has "^$rule  *[a-z]" "$out"
done
has 'nearest-even | .*| nearest-zero   (default nearest-even)$' "$out"
has ' 0 | 1 | .* | 8   (default 6)$' "$out"

run 0 ops --subjects
has '^reference  *[a-z]' "$out"
subjects=$(awk '{ print $1 }' "$out")

# ---- the same as JSON ----------------------------------------------------------
command -v python3 > /dev/null || exit $failed

for list in operations profiles rules subjects; do
    if [ $list = operations ]; then run 0 ops --json
    else run 0 ops --json --$list
    fi
    mv "$out" "$scratch/$list"
done
run 0 ops --json decode_e4m3
python3 - "$scratch" "$names" "$subjects" > "$err" 2>&1 << 'END' ||
import json, sys
folder, names, subjects = sys.argv[1:]
def read(name):
    with open(folder + "/" + name) as file:
        return json.load(file)
def named(entries, name):
    return next(e for e in entries if e["name"] == name)
operations = read("operations")
assert [o["name"] for o in operations] == names.split()
encode = named(operations, "encode_e4m3")
assert encode["class"] == "exact"
assert encode["axes"]["overflow"] == ["saturate", "ieee"]
assert "reference" in named(operations, "philox")["backends"]
(decode,) = read("out")
assert decode == named(operations, "decode_e4m3")
assert [(s["name"], s["level"]) for s in decode["strata"]] == [("codes", 0)]
profiles = read("profiles")
assert named(profiles, "ng")["rules"] == {}
assert named(profiles, "cuda-headers")["rules"]["nan"] == "bf16-widened"
headroom = named(read("rules"), "headroom")
assert headroom["default"] == "6" and len(headroom["values"]) == 9
assert [s["name"] for s in read("subjects")] == subjects.split()
END
    complain 'ops --json'

exit $failed
