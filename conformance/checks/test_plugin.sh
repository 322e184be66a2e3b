#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Plug-ins: one that is right in everything, and one that does harm of every
# kind, each of which gets its verdict while the suite goes on.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
modules=${NG_BUILDDIR:-.}/.libs
hostile=$modules/plugin_hostile.so
reference=$modules/plugin_reference.so
if [ ! -e "$hostile" ]; then
    echo 'SKIP: no shared libraries in this build'
    exit 77
fi

# A build with sanitizers leaves the plug-in's signals to the system.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_sigbus=0:handle_abort=0

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    head -c 3000 out err
    failed=1
}

# verify WANTED_STATUS SUBJECT ARGUMENT...
verify() {
    local want=$1 subject=$2
    shift 2
    "$NARROWGAUGE" verify --quiet --subject "$subject" "$@" > out 2> err
    local got=$?
    [ $got -eq "$want" ] || complain "$what: exit $got, not $want"
    if LC_ALL=C grep -q '[^ -~]' out err; then
        complain "$what: a byte that is no printable ASCII"
    fi
}

# says PATTERN [FILE]
says() {
    grep -qE -- "$1" "${2:-out}" || complain "$what: no line like: $1"
}

# does WHAT WANTED_STATUS PATTERN [ARGUMENT...]: the harm in a call; the line
# replays, and both operations were tried.
does() {
    what=$1
    local want=$2 pattern=$3 line
    shift 3
    export HOSTILE=$what
    verify "$want" "$hostile" --op decode_e4m3 --op decode_ue8m0 "$@"
    says "^FAIL op=decode_e4m3 .* $pattern"
    says '^decode_ue8m0 '
    line=$(grep -m 1 '^FAIL op=decode_e4m3' out)
    verify "$want" "$hostile" "$@" --replay "$line"
    says "$pattern"
    unset HOSTILE
}

# at_load WHAT WANTED_STATUS PATTERN [ARGUMENT...]
at_load() {
    what=$1
    local want=$2 pattern=$3
    shift 3
    export HOSTILE=$what
    verify "$want" "$hostile" "$@"
    says "$pattern" err
    says "the subject cannot be used: $pattern"
    [ "$(wc -l < err)" -eq 1 ] || complain "$what: not one line"
    unset HOSTILE
}

# ---- one that is right -----------------------------------------------------------
what='the reference'
"$NARROWGAUGE" ops | sed -n 's/^\([a-z0-9_]\{1,\}\) .*/\1/p' > operations
export NG_PLUGIN_OPERATIONS=$scratch/operations
some=(--op encode_e4m3 --op decode_bf16 --op quantize_mxfp4 --op quantize_fp8_col
    --op mxfp4_to_fp8_col --op fp8_row_to_fp8_col --op convert_scales
    --op philox --op split_weights --op step_adamw --op step_constants
    --set mxfp4.scale=even --set headroom=5 --set x=bf16 --set theta=bf16
    --set from=ue8m0x4 --set overflow=ieee --set rounding=nearest-even
    --set state.compand=ng)
verify 0 "$reference" "${some[@]}"
says '^narrowgauge .*: reference by plug-in 1 against reference'
[ "$(grep -c ' equal$' out)" -eq 11 ] || complain 'not 11 operations equal'
grep -q 'not covered' out && complain 'something is not covered'
verify 0 "$reference" --op unpack_e2m1 --json
"$NARROWGAUGE" verify --quiet --subject reference --op unpack_e2m1 --json \
    > want 2> err
for key in cases elements; do       # nothing was left out
    [ "$(grep "\"$key\"" out)" = "$(grep "\"$key\"" want)" ] ||
        complain "$key differ from a run without a process"
done

export HOSTILE_TEST=$scratch # by which its processes are known

# ---- harm in a call -----------------------------------------------------------------
export HOSTILE=nothing
what=nothing
verify 0 "$hostile"
[ "$(grep -c ' equal$' out)" -eq 3 ] || complain 'not 3 operations equal'
says '^narrowgauge .*: hostile\\x1b\\x5b2J\\x3cb\\x3e\\x22\\x60\\x7c \\xff\\xfe 1 against'
says 'decode_\\x1b\\x5b31me5m2, which is no operation of this program' err
what=uncovered
verify 1 "$hostile" --op encode_e2m1
says '^nothing was verified: the subject covers none of it$'
what=nothing
does crash 3 'subject crashed: SIGSEGV, (writing to|reading) a null pointer'
does abort 3 'subject crashed: SIGABRT \(it said: it \\x1b\\x5b31mwent\\x1b\\x5b0m wrong\)'
does kill 3 'subject crashed: SIGKILL'
does raise 3 'subject crashed: SIGSEGV$'
does hang 3 'subject hung: no answer after 2 s' --timeout 2
does spin 3 'subject hung: no answer after 2 s' --timeout 2
does exit 3 'subject exited with status 0'
# What was sent first, the end of the channel or that of the process, is a race.
does close 3 'subject (exited with status 1|closed its channel to the program) .it said: the channel to the program is closed'
does channel 3 'subject wrote into its channel'
does status 3 'subject returned 12345, which is no status'
does refuse 3 'subject refused good input'
does lack 3 'subject lists the operation, then says that it lacks it'
does fail 3 'subject says that it failed'
does before 1 'subject wrote 1 bytes before y'
does after 1 'subject wrote 1 bytes past the end of y'
does before-input 1 'subject wrote 1 bytes before x'
does after-input 1 'subject wrote 1 bytes past the end of x'
does far-after 1 'subject wrote 41 bytes past the end of y'
does read-after 3 'subject crashed: SIGSEGV, reading 1 bytes past the end of x'
does input 1 'subject wrote to its input x'
does unwritten 1 'unwritten at=y\[0\] want=00000000 got=a5a5a5a5'
does unstable 1 'unstable at=y\[3\]'
does gap 1 'at=y\[7\] want=[0-9a-f]+ got=a5a5a5a5'
does print 1 'subject printed on standard output: \\x1b\\x5d0;title\\x07\\x3cscript\\x3e\\x7c\\x60\\x2a\\x2a'
does flood 1 'subject printed on standard output: flood\\x0aflood'

# ended: no process of this test's is left; another test's may run the same library.
ended() {
    local process
    for process in /proc/[0-9]*; do
        if grep -qzxF "HOSTILE_TEST=$scratch" "$process/environ" 2> /dev/null &&
            grep -qz subject-process "$process/cmdline" 2> /dev/null; then
            complain "$what: a process is left: $process"
            kill -9 "${process#/proc/}"
        fi
    done
}

# Not once the library's fault is it left alone: a child of its own is ended too,
# and children of children that left its group and session.
for what in fork daemons; do
    export HOSTILE=$what
    verify 0 "$hostile" --op decode_ue8m0
    ended
done

# What it does to its own process is its own affair, or a verdict.
does munmap 3 'subject crashed: SIGSEGV'
does longjmp 3 'subject '
does exec 3 'subject hung: no answer after 2 s' --timeout 2
does chdir 3 'subject crashed: SIGSEGV'
for what in close-standard rlimit descriptors interrupt outlive-program; do
    export HOSTILE=$what
    verify 0 "$hostile" --op decode_e4m3 --op decode_ue8m0 5< /dev/null 77< /dev/null
    [ "$(grep -c ' equal$' out)" -eq 2 ] || complain "$what: not 2 operations equal"
done

# Nor is it anyone else's: whoever started the program ignores its children.
what='children ignored'
export HOSTILE=crash
if env --ignore-signal=CHLD true 2> /dev/null; then
    env --ignore-signal=CHLD "$NARROWGAUGE" verify --quiet --subject "$hostile" \
        --op decode_ue8m0 > out 2> err
    [ $? -eq 3 ] || complain "$what: exit status"
    says 'subject crashed: SIGSEGV, (writing to|reading) a null pointer'
fi

# After a crash the next operation, and the next case, have a fresh process.
what=crash-in-decode-e4m3
export HOSTILE=$what
verify 3 "$hostile" --op decode_e4m3 --op decode_ue8m0
says '^decode_ue8m0 .* equal$'
what=crash-once
export HOSTILE=$what
verify 3 "$hostile" --op encode_bf16 --op decode_e4m3
says '^encode_bf16 .* CRASHED'
says '^decode_e4m3 .* equal$'

# A run that was stopped goes on, of the same library only: rebuilt under its name
# and version, what the old one gave says nothing.
what=rebuilt
cp "$hostile" again.so
export HOSTILE=nothing
verify 0 ./again.so --level 1 --op decode_e4m3 --report again
export HOSTILE=unwritten
verify 0 ./again.so --level 1 --op decode_e4m3 --report again
echo >> again.so
verify 1 ./again.so --level 1 --op decode_e4m3 --report again
says 'unwritten at=y'

# ---- reports --------------------------------------------------------------------------
what=reports
export HOSTILE=crash
verify 3 "$hostile" --op encode_bf16
says 'not asked after it had failed too often: [0-9]+ cases'
verify 3 "$hostile" --report report --junit junit.xml --json
says '"crashed": [1-9]'
says '"not asked": [1-9]' report/verify.json
says '\| decode_e4m3 \| .* CRASHED' report/verify.md
if [ -e junit.xml ]; then
    says 'classname="hostile\\x1b' junit.xml
    if command -v xmllint > /dev/null; then
        xmllint --noout junit.xml 2> err || complain 'JUnit: not well-formed'
    fi
fi
export HOSTILE=future
verify 3 "$hostile" --report unusable --json
says '"kind": "wrong ABI version"' unusable/verify.json
says 'The subject cannot be used: wrong version' unusable/verify.md

# ---- harm before any call ---------------------------------------------------------------
at_load crash-at-load 3 'crashed: SIGSEGV'
at_load exit-at-load 3 'exited with status 7'
at_load hang-at-load 3 'hung: no answer after 0.5 s' --timeout 0.5
at_load crash-in-table 3 'crashed: SIGSEGV'
at_load future 3 'wrong version: ABI version 2, this program has 1'
at_load nameless 3 'bad table: a name or version that is empty or longer'
at_load huge 3 'bad table: a name or version that is empty or longer'
at_load huge-operation 3 'bad table: operation 1: a name that is empty or longer'
at_load twice 3 'bad table: operation 1: a name given twice'
at_load many 3 'bad table: no run, no operations, more than 256'
at_load no-run 3 'bad table: no run'
at_load typo 3 'bad table: operation 0: an entry of takes that is no known'
at_load limits 3 'bad table: operation 0: limits that this program does not know'
at_load alignment 3 'bad table: operation 0: an alignment that is no power'
at_load no-start 3 'failed to start: ng_plugin returned 3'
at_load no-gpu 77 'says that it cannot run on this machine'
unset HOSTILE
what='no library'
printf 'text\n' > text.so
verify 3 text.so
says 'text.so: not loaded: ./text.so: ' err
verify 3 ./missing.so
says 'not loaded: ./missing.so: cannot open' err
library=$(ls "$modules"/libnarrowgauge.so 2> /dev/null)
if [ -n "$library" ]; then
    verify 3 "$library"
    says 'missing symbol: no function ng_plugin' err
fi

exit $failed
