#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# In a build folder: build below it with clang's thread sanitizer, and run what
# uses threads (OpenMP, and the tests' ranks, which are threads). For `make
# thread-sanitize` and make check-long. Not gcc: its libgomp has no tool
# interface, so that its barriers and locks look like races.
set -uo pipefail
srcdir=$(cd "${NG_SRCDIR:-.}" && pwd)
cd "${NG_BUILDDIR:-.}" || exit 99
dir=thread-sanitize-build
flags='-O1 -g -fno-omit-frame-pointer -fsanitize=thread'
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0 skipped=0

# libomp loads libarcher.so beside it, which tells the sanitizer of its forks,
# joins, barriers and locks. What archer cannot tell is how the runtime guards
# its own memory: libomp is not instrumented, but the sanitizer sees its calls of
# pthread_mutex_lock and would report them, hence ignore_noninstrumented_modules.
# (It leaves out what such a library calls, nothing of our own code.)
export TSAN_OPTIONS=ignore_noninstrumented_modules=1
export OMP_NUM_THREADS=4 # on a machine of one core, too

# Both ways round: a lock is understood, and one that is missing is reported.
cat >"$scratch/count.c" <<'END'
int main(void)
{
    int sum = 0;

#pragma omp parallel num_threads(2)
    for (int i = 0; i < 1000; i++) {
#ifdef LOCKED
#pragma omp critical
#endif
        sum++;
    }
    return sum == 0;
}
END
for lock in -DLOCKED -UNONE; do
    # shellcheck disable=SC2086
    clang -fopenmp $flags $lock "$scratch/count.c" -o "$scratch/count$lock" \
        2>"$scratch/err" || {
        head -n 3 "$scratch/err"
        echo 'SKIP: no clang with OpenMP and thread sanitizer (clang, libomp-dev)'
        exit 77
    }
done
"$scratch/count-DLOCKED" >"$scratch/out" 2>&1 || {
    head -n 5 "$scratch/out"
    echo 'SKIP: this libomp does not tell the sanitizer of its locks (archer)'
    exit 77
}
if "$scratch/count-UNONE" >"$scratch/out" 2>&1 ||
    ! grep -q 'WARNING: ThreadSanitizer: data race' "$scratch/out"; then
    echo 'FAIL: a race was not reported'
    exit 1
fi

MAKE=${MAKE:-make} bash "$srcdir/build-aux/sub_build.sh" "$srcdir" $dir \
    --disable-static --without-mpi --disable-kernels --disable-werror \
    CC=clang CXX=clang++ CFLAGS="$flags" CXXFLAGS="$flags" || exit 1
NG_BUILDDIR=$(cd $dir && pwd)
NG_SRCDIR=$srcdir
NARROWGAUGE=$NG_BUILDDIR/narrowgauge
NG_FIXTURES=$srcdir/conformance/fixtures
export NG_BUILDDIR NG_SRCDIR NARROWGAUGE NG_FIXTURES
cd "$NG_BUILDDIR" || exit 99

# run COMMAND...: one result. A report counts, whatever becomes of the status of
# the process that made it.
run() {
    local status=0 start=$SECONDS result=FAIL
    "$@" >"$scratch/out" 2>&1 || status=$?
    ! grep -q 'ThreadSanitizer: ' "$scratch/out" || status=66
    case $status in
    0) result=ok passed=$((passed + 1)) ;;
    77) result=SKIP skipped=$((skipped + 1)) ;;
    *)
        failed=$((failed + 1))
        grep -A 24 -m 3 'ThreadSanitizer: ' "$scratch/out" || tail -n 20 "$scratch/out"
        ;;
    esac
    printf '%-5s %4d s  %s\n' $result $((SECONDS - start)) "$*"
}

tests=()
for name in threads train train_loop model_step model_exact model_moe model_gradients \
    optimizer optimizer_release diagnose; do
    tests+=("conformance/checks/test_$name")
done
"${MAKE:-make}" --no-print-directory -s "${tests[@]}" plugin_reference.la || exit 1
for test in "${tests[@]}"; do
    run "./$test"
done
# Cases on threads, beside each other; and with a plug-in, whose calls take turns.
run ./narrowgauge verify --quiet --shard 3/40
./narrowgauge ops | sed -n 's/^\([a-z0-9_]\{1,\}\) .*/\1/p' >"$scratch/operations"
export NG_PLUGIN_OPERATIONS=$scratch/operations
[ ! -e .libs/plugin_reference.so ] ||
    run ./narrowgauge verify --quiet --shard 5/40 --subject .libs/plugin_reference.so
run ./prove --sample 2 --only encode
run ./prove --sample 200 --only window
run bash "$srcdir/conformance/checks/test_study.sh"
echo "thread-sanitize: $passed passed, $failed failed, $skipped skipped"
((failed == 0))
