#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Wrong usage of any command: exit 2, nothing on standard output, and one line
# that names the command and what is wrong.
set -u
narrowgauge=${NARROWGAUGE:-./narrowgauge}
builddir=${NG_BUILDDIR:-.}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0
rows=()

# refused WANTED_TEXT PROGRAM ARGUMENT...
refused() {
    local text=$1
    shift
    "$@" > "$scratch/out" 2> "$scratch/err" < /dev/null
    local got=$?
    if [ $got -ne 2 ] || [ -s "$scratch/out" ] ||
        [ "$(wc -l < "$scratch/err")" -ne 1 ] ||
        ! grep -qF -e "$text" "$scratch/err"; then
        echo "FAIL $*: exit $got; want 2 and one line with: $text"
        cat "$scratch/out" "$scratch/err"
        failed=1
    fi
}

commands=$("$narrowgauge" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' | sort -u)
[ "$(echo "$commands" | wc -l)" -ge 6 ] || { echo "FAIL no commands"; exit 1; }
for command in $commands; do
    [ "$command" = narrowgauge ] && continue
    refused "narrowgauge $command: unrecognized option '--frobnicate'" \
        "$narrowgauge" "$command" --frobnicate
    refused "narrowgauge $command: invalid option -- 'Z'" \
        "$narrowgauge" "$command" -Z
    "$narrowgauge" "$command" --help > "$scratch/help" 2> "$scratch/err" ||
        { echo "FAIL $command --help"; failed=1; }
    if [ -s "$scratch/err" ] || ! grep -q '^Usage: narrowgauge' "$scratch/help"; then
        echo "FAIL $command --help: no usage, or an error"
        failed=1
    fi
    # An example is copied: none is wrapped, and its options are the command's
    # (they are parsed before the --help behind them ends it).
    sed -n '/^Examples\{0,1\}:/,/^$/p' "$scratch/help" | sed '1d;/^$/d' > "$scratch/examples"
    if [ ! -s "$scratch/examples" ] || grep -qv '^  ' "$scratch/examples"; then
        echo "FAIL $command --help: no example, or one that is wrapped"
        failed=1
    fi
    while read -r example; do
        example=$(sed 's/^mpirun -n [0-9]* //;s/^.* && narrowgauge/narrowgauge/' <<< "$example")
        [[ $example == narrowgauge\ * ]] || continue
        if ! eval "\"\$narrowgauge\" ${example#narrowgauge } --help" > "$scratch/out" 2> "$scratch/err" ||
            [ -s "$scratch/err" ]; then
            echo "FAIL its example: $example"
            failed=1
        fi
    done < <(sed -e :a -e '/\\$/N; s/\\\n *//; ta' "$scratch/examples")
done
# What was given comes back without its escape sequences, of seven bits or eight.
hostile=$'\e[31m\xc2\x9b31m\xff'
for given in "$hostile" "ops $hostile" "verify --op $hostile" "verify --stratum $hostile" \
    "verify --subject $hostile" "verify --profile $hostile" "verify --set $hostile=1" "faults --fault $hostile" \
    "show $hostile 0" "round e4m3 $hostile" "vectors --op $hostile --out x" "quantize --op $hostile a b" \
    "identify --subject reference --op $hostile" "gate --baseline $hostile --current $hostile" \
    "compare --expected $hostile --actual $hostile" "report $hostile" "bench --op $hostile" \
    "train --config $hostile" "study --config $hostile --out x"; do
    # shellcheck disable=SC2086
    "$narrowgauge" $given > "$scratch/out" 2> "$scratch/err" && { echo "FAIL taken: $given"; failed=1; }
    if LC_ALL=C grep -q '[^ -~]' "$scratch/out" "$scratch/err" || [ ! -s "$scratch/err" ]; then
        echo "FAIL an escape sequence comes back: ${given//[^ -~]/?}"
        failed=1
    fi
done
refused "narrowgauge: no such command: frobnicate" "$narrowgauge" frobnicate
refused "narrowgauge: no such command: --frobnicate" "$narrowgauge" --frobnicate

# ---- a row: command | arguments | what its one line says behind the command --------
# An option without its argument, a bad number, what is missing, a file that is
# not there, an argument too many.
while IFS='|' read -r command arguments text; do
    read -r command <<< "$command"
    read -r text <<< "$text"
    rows+=("$command")
    read -ra words <<< "$arguments"
    refused "narrowgauge $command: $text" "$narrowgauge" "$command" "${words[@]}"
done << 'TABLE'
bench    | --op                                                 | option '--op' requires an argument
bench    | --size x                                             | --size: x: not a whole number from 1 to
bench    | --repeat 0                                           | --repeat: 0: not a whole number from 1 to 1000
bench    | --op none                                            | --op: none: no such operation
bench    | --backend none                                       | --backend: none: no such backend
bench    | stray                                                | stray: unexpected argument
compare  | --expected                                           | option '--expected' requires an argument
compare  | --errors x                                           | --errors: x: not a whole number from 0 to 64
compare  | --expected a                                         | --expected and --actual are needed
compare  | --expected /none --actual /none                      | /none: open: No such file or directory
faults   | --subject                                            | option '--subject' requires an argument
faults   | --seed -1                                            | --seed: -1: not a whole number from 0 to
faults   | stray                                                | stray: unexpected argument
gate     | --baseline                                           | option '--baseline' requires an argument
gate     | --current a                                          | --baseline: missing
gate     | --baseline /none --current /none                     | /none: open: No such file or directory
identify | --op                                                 | option '--op' requires an argument
identify | --seed 1.5                                           | --seed: 1.5: not a whole number from 0 to
identify | --op encode_e4m3                                     | --subject and --op are needed
identify | --subject reference --op none                        | --op: none: no such operation
ops      | -x                                                   | invalid option -- 'x'
ops      | none                                                 | none: no such operation
quantize | --seed                                               | option '--seed' requires an argument
quantize | --seed x                                             | --seed: x: not a whole number from 0 to
quantize | a b                                                  | --op: missing
quantize | --op quantize_mxfp4 a                                | OUT: missing
quantize | --op x a b c                                         | c: unexpected argument
quantize | --op quantize_mxfp4 /none.safetensors none.safetensors | /none.safetensors: open: No such file or directory
report   | --json                                               | DIR: missing
report   | /none                                                | /none: folder: cannot be read
round    | --mode                                               | option '--mode' requires an argument
round    | e4m3                                                 | VALUE: missing
round    | e4m3 x                                               | VALUE: "x" is no number
round    | none 1                                               | FORMAT: none: no such format
show     | e4m3                                                 | CODE: missing
show     | e4m3 x                                               | CODE: "x" is no code
show     | none 1                                               | FORMAT: none: no such format
study    | --seeds                                              | option '--seeds' requires an argument
study    | --seeds 18                                           | --seeds: 18: not a whole number from 1 to 17
study    | --out /none                                          | --config: is missing
study    | --config /none.yaml --out /none                      | /none.yaml: open: No such file or directory
train    | --steps                                              | option '--steps' requires an argument
train    | --steps x                                            | --steps: x: not a whole number from
train    | --steps 1                                            | --config: is missing
train    | --config /none.yaml                                  | /none.yaml: open: No such file or directory
vectors  | --out                                                | option '--out' requires an argument
vectors  | --seed x                                             | --seed: x: not a whole number from 0 to
vectors  | --op quantize_mxfp4                                  | --op and --out are needed
vectors  | --op quantize_mxfp4 --out /none --profile /none      | /none: open: No such file or directory
verify   | --op                                                 | option '--op' requires an argument
verify   | --level 3                                            | --level: 3: not a whole number from 0 to 2
verify   | --timeout x                                          | --timeout: x: not a number of seconds
verify   | --shard 3/2                                          | --shard: 3/2: not I/N with 1 <= I <= N
verify   | --profile /none                                      | /none: open: No such file or directory
verify   | stray                                                | stray: unexpected argument
TABLE
for command in $commands; do
    [ "$command" = narrowgauge ] || [[ " ${rows[*]} " == *" $command "* ]] ||
        { echo "FAIL $command: no row"; failed=1; }
done
# What is refused is shown, and does nothing to the terminal.
odd=$'x\033[2J\302\233\377.y'
for arguments in "verify --op" "verify --stratum" "verify --subject" "verify --set" \
    "verify --profile" "verify --shard" "ops" "faults --fault" "identify --subject reference --op" \
    "vectors --out x --op" "vectors --op decode_e4m3 --out x --stratum" "bench --op" \
    "quantize a b --op" "show" "show e4m3" "round" "round e4m3" "gate --today" \
    "compare --actual x --expected" "report" "train --config" ""; do
    [ "$arguments" = 'faults --fault' ] &&
        ! "$narrowgauge" faults --list > "$scratch/out" 2>&1 && continue
    # shellcheck disable=SC2086
    refused "x?[2J??.y" "$narrowgauge" $arguments "$odd"
    if LC_ALL=C grep -q '[^ -~]' "$scratch/err"; then
        echo "FAIL $arguments: a byte that is no printable ASCII"
        cat -v "$scratch/err"
        failed=1
    fi
done
for seed in 010 0xA; do # no octal
    "$narrowgauge" verify --quiet --op pack_e2m1 --seed $seed --json > "$scratch/out" 2>&1
    grep -q '^  "seed": 10,$' "$scratch/out" || { echo "FAIL --seed $seed"; failed=1; }
done
tensors=()
for _ in {1..257}; do tensors+=(--tensor x); done
refused "narrowgauge quantize: --tensor: more than 256" \
    "$narrowgauge" quantize "${tensors[@]}" a b
refused "narrowgauge faults: --subject: reference: is built in, no plug-in" \
    "$narrowgauge" faults --subject reference
if [ -x "$builddir/study-optimizers" ]; then
    refused "unrecognized option '--frobnicate'" \
        "$builddir/study-optimizers" --frobnicate
    refused "--seeds: 18: not a whole number from 1 to 17" \
        "$builddir/study-optimizers" --seeds 18
    refused "stray: unexpected argument" "$builddir/study-optimizers" stray
fi
exit $failed
