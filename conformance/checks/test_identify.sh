#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# narrowgauge identify: which profile a subject equals, and for each other the
# rule that parts and one input, which replays.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    head -c 3000 out err
    failed=1
}

# run WANTED_STATUS ARGUMENT...
run() {
    local want=$1
    shift
    "$NARROWGAUGE" identify "$@" > out 2> err
    local got=$?
    [ $got -eq "$want" ] || complain "identify $*: exit $got, not $want"
}

says() { grep -qE -- "$1" "${2:-out}" || complain "no line like: $1"; }

printf 'version 1\nsource test\nrounding nearest-away\n' > away.profile
printf 'version 1\nsource test\nrounding nearest-even\n' > even.profile

# A plug-in that takes one variant: it equals every profile that allows that.
if command -v cc > /dev/null; then
    cc -O2 -fPIC -shared -I"$NG_SRCDIR/conformance/subject" -o example.so \
        "$NG_SRCDIR/docs/example_subject.c" -lm || complain 'it does not compile'
    run 0 --subject ./example.so --op quantize_mxfp4 --profile ng --profile ocp
    says '^ocp .* equal$'
    says '^equals: ng, ocp$'
    sed 's/ && c % 2)/)/' "$NG_SRCDIR/docs/example_subject.c" > away.c
    cc -O2 -fPIC -shared -I"$NG_SRCDIR/conformance/subject" -o away.so away.c -lm
    run 1 --subject ./away.so --op quantize_mxfp4 --profile ocp
    says '^ocp .* differs$'
    says 'ties go away from zero: rule rounding'
    says '^equals: none$'
    line=$(grep -m 1 -o 'FAIL op=.*' out)
    "$NARROWGAUGE" verify --subject ./away.so --profile ocp --replay "$line" > out 2>&1
    [ $? -eq 1 ] || complain 'its line does not replay'
    diff <(echo "$line") out > /dev/null || complain 'the replayed line is another'

    # It takes one value of two rules, so it is never asked for another; the
    # profiles that want another are told apart all the same.
    run 0 --subject ./example.so --op quantize_mxfp4 --profile ocp \
        --profile torchao-ceil --profile ./away.profile
    says '^ocp .* equal$'
    says '^torchao-ceil .* differs$'
    says 'rule mxfp4.scale .* acts like "floor"'
    says '^     asked for what it takes, mxfp4.scale=floor$'
    says '^     x\[1,1\] fp32 = 1.[0-9]*\([0-9a-f]{8}\): y.codes\[0,0\] want=.. got=.. '
    says '^away .* differs$'
    says 'rule rounding .* acts like "nearest-even"'
    says '^     asked for what it takes, rounding=nearest-even$'
    says '^     x\[1,1\] fp32 = 1.25\(3fa00000\): y.codes\[0,0\] want=07 got=06 \(4 instead of 6\)$'
    says '^equals: ocp$'

    # A profile that parts in several rules at once: each one that has a part, and
    # of the small input the one that it takes. Rules worked out by hand: under
    # e2m1.zero a -0 is +0; under the least amax of 1e-4 the scale of 0 is
    # 2^(floor(log2 1e-4) - 2) = 2^-16, byte 6f.
    printf 'version 1\nsource test\ne2m1.zero plus\nblock.least 1e-4\n' > two.profile
    run 0 --subject ./example.so --op quantize_mxfp4 --profile ocp \
        --profile ./two.profile
    says '^two .* differs$'
    says 'parts in 2 rules at once: e2m1.zero, block.least, which'
    grep -q 'double rounding' out && complain 'a mistake that it has not'
    tr -s ' \n' ' ' < out > line
    if grep -q 'fp32 = -0(80000000)' line; then
        says 'the input below by one: a zero keeps its sign: rule e2m1.zero' line
        says ': y.codes\[0,0\] want=00 got=08' line
    else
        says 'the input below by one: amax has no lower end: rule block.least' line
        says 'fp32 = 0\(00000000\): y.scales\[0,0\] want=6f got=00' line
    fi
    # The published one that led to this: three rules beside the scale's.
    run 0 --subject ./example.so --op quantize_mxfp4 --profile ocp \
        --profile microxcaling-even
    tr -s ' \n' ' ' < out > line
    says 'parts in 3 rules at once: e2m1.zero, e2m1.half, mxfp4.scale, which' line
    grep -q 'double rounding' out && complain 'a mistake that it has not'

    # Profiles that pin rules of other operations say nothing of this one.
    run 0 --subject ./example.so --op quantize_mxfp4 --profile hopper-wgmma \
        --profile flashoptim --profile ocp
    says '^equals: ocp$'
    says '^say nothing of it: hopper-wgmma, flashoptim$'
    says '^hopper-wgmma .* says nothing of it$'
    run 1 --subject ./example.so --op quantize_mxfp4 --profile hopper-wgmma
    says '^equals: none$'
    sed 's/rounding=nearest-even/rounding=nearest-away/' away.c > strict.c
    cc -O2 -fPIC -shared -I"$NG_SRCDIR/conformance/subject" -o strict.so strict.c -lm
    run 0 --subject ./strict.so --op quantize_mxfp4 --profile ./even.profile \
        --profile ./away.profile
    says '^even .* differs$'
    says 'ties go away from zero: rule rounding .* acts like "nearest-away"'
    says '^     asked for what it takes, rounding=nearest-away$'
    says '^equals: away$'
    run 1 --subject ./away.so --op encode_e4m3 --profile ocp
    says '^ocp .* not covered$'
fi

# Subjects of this build.
run 0 --subject cuda-host --op encode_e2m1 --profile ng --profile ./even.profile --json
says '"verdict": "equal"'
if "$NARROWGAUGE" ops --subjects | grep -q '^cuda-headers '; then
    run 0 --subject cuda-headers --op encode_e2m1 --set rounding=nearest-even
    says '^cuda-headers .* equal$'
    says '^ng .* differs$'
    says 'a NaN becomes 6: rule e2m1.nan'
    says '^equals: cuda-headers'
fi

# What is refused.
run 2 --subject cuda-host
says 'identify: --subject and --op are needed' err
run 2 --subject nobody --op encode_e2m1
says 'no such subject' err
run 2 --subject cuda-host --op encode_e5m2
says 'no such operation' err
run 2 --subject cuda-host --op encode_e2m1 --profile nothing
says 'nothing: profile: no such name' err
run 3 --subject ./missing.so --op encode_e2m1
says 'not loaded' err
exit $failed
