#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bash completion offers every command, each command's options, and the values
# that the program itself lists.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
# shellcheck source=/dev/null
. "${NG_SRCDIR:-.}/docs/completion/narrowgauge.bash" || exit 99
failed=0

# offers WORD_WANTED WORD...: what completion gives for the last word typed.
offers() {
    local wanted=$1
    shift
    COMP_WORDS=("$NARROWGAUGE" "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _narrowgauge "$NARROWGAUGE" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2> /dev/null
    printf '%s\n' "${COMPREPLY[@]}" | grep -qxF -- "$wanted" || {
        echo "FAIL $*: not offered: $wanted; offered: ${COMPREPLY[*]}"
        failed=1
    }
}

commands=$("$NARROWGAUGE" --help | sed -n 's/^  \([a-z]\{1,\}\)  *[a-z].*/\1/p' | grep -v narrowgauge)
for command in $commands; do
    offers "$command" "${command:0:2}"
    offers --help "$command" --he
    # Every long option that the command's help lists.
    while read -r option; do
        offers "$option" "$command" "$option"
    done < <("$NARROWGAUGE" "$command" --help | sed -nE 's/^ +(-., )?(--[a-z][a-z0-9-]+).*/\2/p')
done
offers quantize_mxfp4 verify --op quantize_m
offers ocp verify --profile oc
offers cuda-host verify --subject cuda-h
cd "${NG_SRCDIR:-.}" || exit 99
offers reports gate --current rep
exit $failed
