# SPDX-License-Identifier: Apache-2.0
# bash completion for narrowgauge. Commands, options, operations, profiles and
# subjects are asked from the program itself, so that it is never out of date.
# shellcheck shell=bash

# The first words of the lines that begin with one.
_narrowgauge_names() {
    "$@" 2>/dev/null | sed -n 's/^\([a-z0-9][a-z0-9_.-]*\) .*/\1/p'
}

_narrowgauge() {
    local program=$1 word=$2 previous=$3 command=${COMP_WORDS[1]-} words='' i
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words="$("$program" --help 2>/dev/null |
            sed -n 's/^  \([a-z]\{1,\}\)  *[a-z].*/\1/p') --help --version"
    elif [[ $word == -* ]]; then
        words=$("$program" "$command" --help 2>/dev/null |
            sed -nE 's/^ +(-., )?(--[a-z][a-z0-9-]+).*/\2/p')
    else
        case $previous in
        --op | -o) words=$(_narrowgauge_names "$program" ops) ;;
        --profile | -p) words=$(_narrowgauge_names "$program" ops --profiles) ;;
        --backend)
            if [[ $command == train ]]; then
                words=reference
            else
                words=$(_narrowgauge_names "$program" ops --subjects)
            fi
            ;;
        --recipe | --recipes) words='bf16 fp8 mxfp4' ;;
        --subject) words=$(_narrowgauge_names "$program" ops --subjects) ;;
        --set)
            if [[ $command == train || $command == study ]]; then
                words=$(_narrowgauge_names "$program" train --fields)
            else
                words=$(_narrowgauge_names "$program" ops --rules)
            fi
            ;;
        --level) words='0 1 2' ;;
        --mode) words='nearest-even nearest-away toward-zero up down stochastic' ;;
        --overflow) words='saturate ieee' ;;
        --scales) words='ue8m0 ue8m0x4 fp32' ;;
        --to) words='fp32 bf16 fp16' ;;
        --part) words='codes scales' ;;
        --require) words=gpu ;;
        -r)
            if [[ $command == train || $command == study ]]; then
                words='bf16 fp8 mxfp4'
            else
                mapfile -t COMPREPLY < <(compgen -d -- "$word")
                return
            fi
            ;;
        --report | --out | --resume | --current | -c)
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
            return
            ;;
        *)
            if [[ $command == show || $command == round ]] && ((COMP_CWORD == 2)); then
                words='e2m1 e4m3 ue8m0 ue6m10 bf16 fp16 fp32'
            fi
            ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    # A profile, a subject or a tensor may be a file.
    if [[ $word != -* ]] && ((COMP_CWORD > 1)) && ((${#COMPREPLY[@]} == 0)); then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
    # The values of a rule follow its name directly.
    if [[ $previous == --set ]]; then
        compopt -o nospace 2>/dev/null || :
        for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]+='='; done
    fi
}
complete -o filenames -F _narrowgauge narrowgauge
