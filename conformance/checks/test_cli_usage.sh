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
refused "option '--op' requires an argument" "$narrowgauge" verify --op
refused "narrowgauge verify: stray: unexpected argument" "$narrowgauge" verify stray
refused "narrowgauge verify: --level: 3: not a whole number from 0 to 2" \
    "$narrowgauge" verify --level 3
refused "narrowgauge bench: stray: unexpected argument" "$narrowgauge" bench stray
refused "narrowgauge bench: --repeat: x: not a whole number from 1 to" \
    "$narrowgauge" bench --repeat x
refused "narrowgauge quantize: --op: missing" "$narrowgauge" quantize a b
refused "narrowgauge quantize: c: unexpected argument" \
    "$narrowgauge" quantize --op x a b c
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
refused "narrowgauge round: VALUE: missing" "$narrowgauge" round e4m3
refused "narrowgauge show: CODE: missing" "$narrowgauge" show e4m3
if [ -x "$builddir/study-optimizers" ]; then
    refused "unrecognized option '--frobnicate'" \
        "$builddir/study-optimizers" --frobnicate
    refused "--seeds: 18: not a whole number from 1 to 17" \
        "$builddir/study-optimizers" --seeds 18
    refused "stray: unexpected argument" "$builddir/study-optimizers" stray
fi
exit $failed
