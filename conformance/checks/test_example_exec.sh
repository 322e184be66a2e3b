#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A program as subject: the example is equal; with its ties turned, dying, hanging,
# printing or answering nonsense it gets its verdict, and the line replays.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
srcdir=${NG_SRCDIR:?}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    head -c 2000 out err
    failed=1
}

# verify WANTED_STATUS COMMAND PATTERN ARGUMENT...
verify() {
    local want=$1 command=$2 pattern=$3
    shift 3
    "$NARROWGAUGE" verify --quiet --subject-exec "$command" "$@" > out 2> err
    local got=$?
    [ $got -eq "$want" ] || complain "$command: exit $got, not $want"
    cat out err | grep -qE -- "$pattern" || complain "$command: no line like: $pattern"
}

# ---- programs that never get as far as a greeting ---------------------------------
verify 3 'exit 7' 'exited with status 7'
verify 3 'kill -SEGV $$' 'crashed: SIGSEGV'
verify 3 'echo gone wrong >&2; exit 1' 'exited with status 1 .it said: gone wrong'
verify 3 'sleep 60' 'hung: no answer after 0.5 s' --timeout 0.5
verify 3 'echo; echo Hello, world; cat' 'its answer begins with no length: \\x0aHello, '
verify 3 'printf "\020\0\0\0\0\0\0\0aaaaaaaaaaaaaaaa"; cat' 'its answer is no safetensors'
verify 3 'cat' 'bad greeting: no name, or no operations'

# greets METADATA: a program that says so, and then waits.
greets() {
    local header='{"__metadata__":{'"$1"'}}' length size
    for length in $((${#header} + 8)) ${#header}; do # of the message, of this
        printf -v size '\\%03o\\%03o' $((length % 256)) $((length / 256))
        printf '%b' "$size\\0\\0\\0\\0\\0\\0"
    done > greeting
    printf '%s' "$header" >> greeting
    echo 'cat greeting; exec cat > /dev/null'
}

many=$(seq -s ' ' 1000 1256)
long=$(printf 'x%.0s' {1..64})
verify 3 "$(greets '"name":"n","operations":"a b a"')" \
    'bad greeting: operation 2: a name given twice'
verify 3 "$(greets '"name":"n","operations":"a '"$long"'"')" \
    'bad greeting: operation 1: a name longer than 63 bytes'
verify 3 "$(greets '"name":"n","operations":"'"$many"'"')" \
    'bad greeting: more than 256 operations'
verify 3 "$(greets '"name":"n","version":"'"$long"'","operations":"a"')" \
    'bad greeting: a name or version longer than 63 bytes'
# Cut, the entry would still mean something.
verify 3 "$(greets '"name":"n","operations":"a","takes.a":"x=fp32'"$(printf '|fp32%.0s' {1..30})"'"')" \
    'bad greeting: operation 0: takes or limits that mean nothing'
verify 3 'no-such-program' 'exited with status 127 .it said: .*no-such-program'

python3 -c 'import numpy' 2> /dev/null || {
    [ $failed = 0 ] || exit 1
    echo 'SKIP: python3 has no numpy'
    exit 77
}

# ---- the example ---------------------------------------------------------------------
mkdir docs
cp "$srcdir"/docs/example_*.py docs/
command='python3 docs/example_exec.py'
verify 0 "$command" '^quantize_mxfp4 +1 +5[0-9] .* equal$'
grep -q '^narrowgauge .*: numpy example 1.0 against reference' out || complain 'no name'

# variant NAME SED-EXPRESSION
variant() { sed "$2" docs/example_exec.py > "docs/$1.py"; }
sed -i 's/^    code += .*/    code += y == middle[code]/' docs/example_numpy.py
verify 1 "$command" 'ties go away from zero: rule rounding' --report small
grep -qxE '     shrunk to x\[1,1\] fp32 = [-0-9.]*\([0-9a-f]{8}\): y.codes\[0,0\] .* instead of .*' out ||
    complain 'not shrunk to one element'
file=small/shrunk/quantize_mxfp4.safetensors
verify 1 "$command" "^FAIL op=quantize_mxfp4 .* file=$file at=y.codes" --replay $file
cp "$srcdir/docs/example_numpy.py" docs/
verify 0 "$command" '^passed: quantize_mxfp4, 1 elements, no difference' --replay $file
body='        codes, scales = quantize(tensors\["x"\])'
variant dies "s/^$body/        os._exit(3)/"
verify 3 'python3 docs/dies.py' 'subject exited with status 3'
line=$(grep -m 1 '^FAIL' out)
verify 3 'python3 docs/dies.py' 'subject exited with status 3' --replay "$line"
variant hangs "s/^$body/        __import__('time').sleep(60)/"
verify 3 'python3 docs/hangs.py' 'subject hung: no answer after 3 s' --timeout 3
variant prints "s/^$body/        answers.write(b'<b>hello'); codes, scales = quantize(tensors['x'])/"
verify 3 'python3 docs/prints.py' 'begins with no length: \\x3cb\\x3ehello'
variant lacks 's/, "y.scales": scales}/}/; s/send({"status": "ok"}, back)/del back["y.scales"]; send({}, back)/'
verify 3 'python3 docs/lacks.py' 'subject its answer lacks y.scales'
variant refuses 's/{"status": "ok"}, back/{"status": "refused"}, {}/'
verify 3 'python3 docs/refuses.py' 'subject refused good input'
variant status 's/{"status": "ok"}, back/{"status": "great"}, {}/'
verify 3 'python3 docs/status.py' 'answered with a status that is none'
variant unsteady 's/^        send({"status": "ok"}, back)/        back["y.scales"][:] ^= np.uint8(np.random.randint(2)); send({}, back)/'
verify 1 'python3 docs/unsteady.py' 'unstable at=y.scales'
variant limits 's/^HELLO = {/HELLO = {"limits.quantize_mxfp4": "no-nan no-groups no-infinity", /'
verify 0 'python3 docs/limits.py' 'beyond its limits, so not covered: 1[0-9] cases'

# ---- which profile it equals -----------------------------------------------------------
# It takes one value of two rules, so what a profile wants otherwise is held against
# what it gives: the rule that parts and one input, from a program too.
# identify WANTED_STATUS COMMAND ARGUMENT...
identify() {
    local want=$1 command=$2
    shift 2
    "$NARROWGAUGE" identify --quiet --subject-exec "$command" --op quantize_mxfp4 "$@" > out 2> err
    local got=$?
    [ $got -eq "$want" ] || complain "identify $command: exit $got, not $want"
}
says() { grep -qE -- "$1" out || complain "identify: no line like: $1"; }
printf 'version 1\nsource test\nrounding nearest-away\n' > away.profile
identify 0 "$command" --profile ocp --profile torchao-ceil --profile ./away.profile
[ "$(sed -n 1,2p out)" = "$(printf 'numpy example 1.0, quantize_mxfp4\nequals: ocp')" ] ||
    complain 'identify: what it equals does not come first'
says '^ocp +1 +5[0-9] +0  equal$'
says '^torchao-ceil +1 +5[0-9] +[1-9][0-9]*  differs$'
says 'rule mxfp4.scale .* acts like "floor"'
says '^     asked for what it takes, mxfp4.scale=floor$'
says '^away .* differs$'
says 'ties go to the even code: rule rounding .* acts like "nearest-even"'
says '^     asked for what it takes, rounding=nearest-even$'
says '^     x\[1,1\] fp32 = 1.25\(3fa00000\): y.codes\[0,0\] want=07 got=06 \(4 instead of 6\)$'
sed -i 's/^    code += .*/    code += y == middle[code]/' docs/example_numpy.py
identify 1 "$command" --profile ocp
says '^equals: none$'
says 'ties go away from zero: rule rounding'
identify 3 'python3 docs/dies.py' --profile ocp
exit $failed
