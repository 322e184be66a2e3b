#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Plug-ins that take device memory, over a stand-in for CUDA's driver: the same
# bits as over host memory, guards, inputs and poison watched, every error of
# CUDA one line, everything given back. The guide's CUDA plug-in compiles.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
srcdir=${NG_SRCDIR:?}
modules=${NG_BUILDDIR:-.}/.libs
hostile=$modules/plugin_hostile.so
reference=$modules/plugin_reference.so
if [ ! -e "$hostile" ]; then
    echo 'SKIP: no shared libraries in this build'
    exit 77
fi
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_sigbus=0:handle_abort=0
export NARROWGAUGE_LIBCUDA=$modules/cuda_stand_in.so

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    head -c 3000 out err
    failed=1
}

# verify WANTED_STATUS ARGUMENT...
verify() {
    local want=$1
    shift
    : > log
    CUDA_STAND_IN_LOG=$PWD/log "$NARROWGAUGE" verify --quiet "$@" > out 2> err
    local got=$?
    [ $got -eq "$want" ] || complain "$what: exit $got, not $want"
}

says() {
    grep -qE -- "$1" "${2:-out}" || complain "$what: no line like: $1"
}

# Every process that had a context says what it gave back.
nothing_is_left() {
    [ -s log ] || complain "$what: the context was not released"
    awk '$2 != $4 || $6 != 0 { exit 1 }' log || complain "$what: $(cat log)"
}

# ---- right, bit for bit ------------------------------------------------------
what='the same bits'
"$NARROWGAUGE" ops | sed -n 's/^\([a-z0-9_]\{1,\}\) .*/\1/p' > operations
export NG_PLUGIN_OPERATIONS=$scratch/operations
some=(--op decode_bf16 --op quantize_mxfp4 --op quantize_fp8_col --op merge_weights
    --op pack_e2m1 --set mxfp4.scale=even --set rounding=nearest-even)
digests() { grep -oE '"(cases|elements|inputs|outputs)": [^,]*' "$1"; }
verify 0 --subject "$reference" "${some[@]}" --json
digests out > on-host
[ -s log ] && complain "$what: a device for operations of the host"
export NG_PLUGIN_MEMORY=cuda
verify 0 --subject "$reference" "${some[@]}" --json
digests out > on-device
[ -s on-host ] || complain "$what: no digests"
cmp -s on-host on-device || complain "$what: they are not"
nothing_is_left
read -r _ allocated _ < log
[ "$allocated" -gt 3 ] || complain "$what: nothing was allocated"
unset NG_PLUGIN_MEMORY

# ---- harm ----------------------------------------------------------------------
# does WHAT WANTED_STATUS PATTERN
does() {
    what=$1
    HOSTILE=$1 HOSTILE_MEMORY=cuda verify "$2" --subject "$hostile" --op decode_e4m3
    says "^FAIL op=decode_e4m3 .* $3"
    nothing_is_left
}
what=nothing
HOSTILE=nothing HOSTILE_MEMORY=cuda verify 0 --subject "$hostile"
[ "$(grep -c ' equal$' out)" -eq 3 ] || complain 'not 3 operations equal'
nothing_is_left
does before 1 'subject wrote 1 bytes before y'
does after 1 'subject wrote 1 bytes past the end of y'
does far-after 1 'subject wrote 41 bytes past the end of y'
does input 1 'subject wrote to its input x'
does unwritten 1 'unwritten at=y\[0\] want=00000000 got=a5a5a5a5'
does unstable 1 'unstable at=y\[3\]'
does fail 3 'subject says that it failed'

# ---- errors of CUDA --------------------------------------------------------------
what=synchronize
CUDA_STAND_IN=synchronize does nothing 3 \
    'subject crashed on the GPU: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS'
CUDA_STAND_IN=copy does nothing 3 'subject crashed on the GPU: cuMemcpyDtoH: CUDA error 12345'
CUDA_STAND_IN=allocate does nothing 4 \
    'subject device memory: cuMemAlloc of [0-9]+ bytes: CUDA_ERROR_OUT_OF_MEMORY'
CUDA_STAND_IN=allocate-late does nothing 4 \
    'subject device memory: cuMemAlloc of [0-9]+ bytes: CUDA_ERROR_OUT_OF_MEMORY'

# ---- no device: 77, or the other operations alone --------------------------------
cannot() {
    verify 77 --subject "$hostile" --op decode_e4m3
    says "wants CUDA's device memory: $1" err
    [ "$(wc -l < err)" -eq 1 ] || complain "$what: not one line"
}
export HOSTILE=nothing HOSTILE_MEMORY=cuda
what='no device'
CUDA_STAND_IN=no-device cannot 'cuInit: CUDA_ERROR_NO_DEVICE'
what='no driver'
NARROWGAUGE_LIBCUDA=$scratch/missing.so cannot 'no CUDA driver: .*missing.so'
what='another library'
NARROWGAUGE_LIBCUDA=$hostile cannot 'the CUDA driver has no cuInit'
what='some on the host'
export HOSTILE_MEMORY=mixed
CUDA_STAND_IN=no-device verify 0 --subject "$hostile" --op decode_e4m3 --op decode_ue8m0
says '^decode_ue8m0 .* equal$'
says 'no device memory for the operations that want it: cuInit: CUDA_ERROR_NO_DEVICE: not covered' err
grep -q '^decode_e4m3' out && complain "$what: decode_e4m3 was run"
unset HOSTILE HOSTILE_MEMORY

# ---- the guide's example ------------------------------------------------------------
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ -x "$(command -v "$nvcc")" ]; then
    what='the example'
    line=$(sed -n '1s,^/\* \(nvcc .*\)$,\1,p' "$srcdir/docs/example_cuda.cu")
    grep -qxF "$line" "$srcdir/docs/subjects.md" || complain 'the guide has another line'
    ln -s "$srcdir/conformance" conformance
    mkdir docs
    cp "$srcdir/docs/example_cuda.cu" docs/
    eval "${line/#nvcc/\"\$nvcc\"}" > out 2> err || complain 'it does not compile'
    unset NARROWGAUGE_LIBCUDA
    if [ -e example_cuda.so ]; then # equal on a GPU; elsewhere one line
        "$NARROWGAUGE" verify --quiet --subject ./example_cuda.so > out 2> err
        case $? in
        0) says '^encode_bf16 .* equal$' ;;
        77) says 'wants CUDA.s device memory: ' err ;;
        *) complain 'the example is not right' ;;
        esac
    fi
fi
exit $failed
