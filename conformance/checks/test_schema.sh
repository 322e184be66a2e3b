#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Results fit the schemas that are published for them, the committed ones and
# those just made; and a result is the same for any number of threads.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
check=${NG_BUILDDIR:-.}/check-schema
reports=${NG_SRCDIR:-.}/reports
[ -x "$check" ] || exit 99

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    failed=1
}

# fits SCHEMA FILE: by our checker and, where python3 has one, by another.
fits() {
    "$check" "$reports/schema/$1.schema.json" "$2" || complain "$2 is no $1"
    if python3 -c 'import jsonschema' 2> /dev/null; then
        python3 -W ignore - "$reports/schema/$1.schema.json" "$2" << 'PYTHON' || complain "$2 is no $1 (jsonschema)"
import json, sys
import jsonschema
schema, document = (json.load(open(name)) for name in sys.argv[1:3])
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(document, schema)
PYTHON
    fi
}

fits accumulation "$reports/accumulation.json"
fits convergence "$reports/convergence.json"
fits optimizers "$reports/optimizers.json"
fits probe-wgmma "$reports/gpu/probe-wgmma.json"

# A run without a difference, and one with.
ops='--op encode_e4m3 --op quantize_mxfp4 --op swiglu --stratum special'
if "$NARROWGAUGE" ops --subjects | grep -q '^oracle'; then
    for threads in 1 2; do
        # shellcheck disable=SC2086
        OMP_NUM_THREADS=$threads "$NARROWGAUGE" verify --quiet $ops --json \
            > $threads.json || complain "verify in $threads threads"
    done
    fits verify 1.json
    stable() { grep -vE '^ *"(time|seconds)":' "$1"; }
    diff <(stable 1.json) <(stable 2.json) ||
        complain 'other results in two threads'
fi
"$NARROWGAUGE" verify --quiet --subject cuda-host --profile ocp --op encode_e2m1 \
    --set rounding=up --json > cuda-host.json
fits verify cuda-host.json
"$NARROWGAUGE" verify --quiet --subject ./none.so --report . > out 2>&1
fits verify verify.json
grep -q '"kind": ' verify.json || complain 'no verdict on a subject that is not there'

# The checker itself finds what does not fit.
sed 's/"outputs": "[0-9a-f]/"outputs": "X/' cuda-host.json > bad.json
"$check" "$reports/schema/verify.schema.json" bad.json 2> err && complain 'a digest with an X fits'
grep -q 'bad.json: /operations/0/outputs: does not match' err || complain "said: $(cat err)"

exit $failed
