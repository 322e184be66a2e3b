#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docs/cases.md: every case has a row in its list of trap tests, every program
# and test that a row names exists, runs, and is named after the case; and no
# test named after a case is missing from its row.
set -euo pipefail
cd "$NG_SRCDIR"
list=$(sed -n '/^## Where each is trapped/,$p' docs/cases.md)
problems=0
complain() {
    echo "docs/cases.md: $*"
    problems=$((problems + 1))
}

cases=$(sed -nE 's/^### (L-[0-9]+) .*/\1/p' docs/cases.md)
[ "$(wc -w <<<"$cases")" -ge 29 ] || complain "$(wc -w <<<"$cases") cases"
for case in $cases; do
    row=$(grep "^| $case |" <<<"$list" || true)
    [ -n "$row" ] || complain "$case has no row"
    programs=() tests=0
    # shellcheck disable=SC2016
    for name in $(grep -oE '`[a-z0-9_]+`' <<<"$row" | tr -d '`'); do
        case $name in
        test_*)
            programs+=("conformance/checks/$name.c")
            [ -f "conformance/checks/$name.c" ] || complain "$case: no $name.c"
            grep -qw "checks/$name" conformance/local.mk reference/*/local.mk ||
                complain "$case: $name is not built"
            ;;
        *)
            tests=$((tests + 1))
            [[ $name = trap_l${case#L-}_* ]] || complain "$case: $name"
            grep -qs "START_TEST($name)" "${programs[@]}" ||
                complain "$case: no $name in ${programs[*]}"
            grep -qsE "(ADD_TRAP\(|add_(loop_)?test\()tcase, ${name}[,)]" \
                "${programs[@]}" || complain "$case: $name does not run"
            ;;
        esac
    done
    ((tests > 0)) || complain "$case: no trap test"
done

while IFS=: read -r file name; do
    case="L-$(sed -E 's/trap_l([0-9]+)_.*/\1/' <<<"$name")"
    grep "^| $case |" <<<"$list" | grep -qF "\`$name\`" ||
        complain "$case: $name of $file is not in the list"
done < <(grep -HoE 'START_TEST\(trap_l[0-9]+_[a-z0-9_]+' conformance/checks/*.c |
    sed 's/START_TEST(//')

((problems == 0))
