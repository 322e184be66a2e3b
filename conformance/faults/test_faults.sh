#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every planted fault is found and called by its kind, at least two of each field
# case that is planted; and one that is compiled under another name, from other
# files, is called the same. NG_SAMPLE=yes: one of each kind (where all were planted
# before).
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
srcdir=${NG_SRCDIR:?} builddir=${NG_BUILDDIR:?}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

complain() {
    echo "FAIL $*"
    failed=1
}

"$NARROWGAUGE" faults --list > "$scratch/list" 2> "$scratch/err"
case $? in
0) ;;
77)
    echo "SKIP: $(cat "$scratch/err")"
    exit 77
    ;;
*) complain '--list' ;;
esac
if ! "$NARROWGAUGE" ops --subjects | grep -q oracle; then
    echo 'SKIP: no MPFR oracle in this build'
    exit 77
fi
{
    read -r cc
    read -r flags
} < <(cd "$builddir" &&
    printf '%s\n' '@CC@' '@CPPFLAGS@ @JANSSON_CFLAGS@ @NG_CFLAGS@ @OPENMP_CFLAGS@ @CFLAGS@' |
    ./config.status --quiet --file=-:-)

# ---- the catalogue ------------------------------------------------------------
grep -v '^not planted' "$scratch/list" > "$scratch/faults"
[ "$(wc -l < "$scratch/faults")" -ge 60 ] || complain 'less than 60 faults'
grep -qF "runs $(wc -l < "$scratch/faults") implementations" "$srcdir/README.md" ||
    complain 'README has another number of faults'
for n in $(seq -w 1 29); do
    planted=$(grep -c " L-$n " "$scratch/faults")
    if grep -q "^not planted: L-$n " "$scratch/list"; then
        [ "$planted" -eq 0 ] || complain "L-$n is planted and said not to be"
    elif [ "$planted" -lt 2 ]; then
        complain "L-$n: $planted faults"
    fi
done
"$NARROWGAUGE" faults --fault no-such > "$scratch/out" 2> "$scratch/err"
[ $? -eq 2 ] || complain 'an unknown fault: not exit 2'
"$NARROWGAUGE" faults --fault e2m1-ties-away --report /dev/null/x > "$scratch/out" 2> "$scratch/err"
[ $? -eq 4 ] || complain 'no folder for the report: not exit 4'
[ -s "$scratch/out" ] && complain 'no folder for the report: said after the work'

# ---- all of them; where everything is slow, one of each kind --------------------
# The page must have one row that is known here, so that fault is always among them.
known=mxfp4-written-high-first
some=()
if [[ ${NG_SAMPLE-} == yes || $cc$flags == *-fsanitize* || $cc$flags == *--coverage* ]]; then
    some+=(--fault "$known")
    while read -r name; do
        some+=(--fault "$name")
    done < <(awk '{ kind = substr($0, 40, 26) } !seen[kind]++ { print $1 }' \
        "$scratch/faults")
fi
"$NARROWGAUGE" faults --quiet "${some[@]}" --report "$scratch" > "$scratch/out" || {
    complain 'a fault is not found, or not named'
    grep -v ' named ' "$scratch/out"
}
tail -n 1 "$scratch/out"
for file in faults.json faults.md; do
    [ -s "$scratch/$file" ] || complain "no $file"
done
grep -q "| $known | L-12 | nibble order | yes | yes | 0 |" \
    "$scratch/faults.md" || complain 'the page lacks a row'

# ---- under another name, in another file ------------------------------------------
# The family's source, its table renamed, with a plug-in's table of its own.
mkdir "$scratch/other"
sed -e 's/faults_layout/kernels/' -e 's/"mxfp4-written-high-first"/"k"/' \
    "$srcdir/conformance/faults/faults_layout.c" > "$scratch/other/a.c"
sed -n '/^const fault \*ng_fault_at/q;p' "$srcdir/conformance/faults/fault.c" \
    > "$scratch/other/b.c"
cat > "$scratch/other/c.c" << 'END'
#include <string.h>
#include "conformance/faults/fault.h"
#include "conformance/faults/plugin_call.h"

extern const fault kernels[];

static int32_t run(const ng_plugin_call *from)
{
    ng_call call;
    int i = 0;

    while (strcmp(kernels[i].name, "k") != 0)
        i++;
    return ng_plugin_call_read(&call, from) && kernels[i].run(&call) == NG_OK
               ? NG_PLUGIN_OK : NG_PLUGIN_REFUSED;
}

int32_t ng_plugin(ng_plugin_table *table)
{
    static const char *const takes[] = {"rounding=nearest-even", "x=fp32",
                                        "mxfp4.scale=floor", NULL};
    static const ng_plugin_operation operation = {
        .name = "quantize_mxfp4", .limits = NG_PLUGIN_CHECKS_INPUT,
        .takes = takes};

    *table = (ng_plugin_table){.abi = NG_PLUGIN_ABI, .name = "something else",
                               .version = "7", .n_operations = 1,
                               .operation_size = sizeof operation,
                               .operations = &operation, .run = run};
    return NG_PLUGIN_OK;
}
END
subject=$srcdir/conformance/subject
# shellcheck disable=SC2086
if $cc $flags -w -D_XOPEN_SOURCE=700 -I"$srcdir" -I"$builddir" -fPIC -shared \
    -o "$scratch/kernel.so" "$scratch"/other/[abc].c \
    "$srcdir/conformance/faults/plugin_call.c" "$subject/elements.c" \
    "$subject/call.c" "$subject/conversions.c" "$subject"/gemm_functions{,_reference}.c \
    "$subject"/optim_functions{,_reference}.c "$subject/subject_reference.c" \
    "$subject"/swiglu_functions{,_reference}.c \
    -L"$builddir/.libs" -Wl,-rpath,"$builddir/.libs" -lnarrowgauge -lm \
    2> "$scratch/err"; then
    "$NARROWGAUGE" faults --subject "$scratch/kernel.so" > "$scratch/out" 2>&1
    [ $? -eq 1 ] || complain 'under another name: not exit 1'
    grep -q '^quantize_mxfp4: nibble order$' "$scratch/out" || {
        complain 'under another name it is called otherwise'
        cat "$scratch/out"
    }
elif [[ $cc$flags != *-fsanitize* && $cc$flags != *--coverage* ]]; then
    complain 'the other plug-in does not compile'
    cat "$scratch/err"
fi
exit $failed
