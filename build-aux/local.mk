# SPDX-License-Identifier: Apache-2.0
# Targets, and the scripts behind them.
EXTRA_DIST += \
	%D%/allowed-skips \
	%D%/analyse.sh \
	%D%/bundle.sh \
	%D%/check_dist.sh \
	%D%/check_long.sh \
	%D%/check_skips.sh \
	%D%/commit_id.sh \
	%D%/count_tests.sh \
	%D%/coverage.sh \
	%D%/embed_profiles.sh \
	%D%/installcheck.c \
	%D%/installcheck.sh \
	%D%/list_sources.sh \
	%D%/sub_build.sh \
	%D%/thread_sanitize.sh

# ---- the commit, in a header that changes only when it does ------------------
BUILT_SOURCES += commit.h
CLEANFILES += commit.h
formats/version.lo: commit.h
commit.h: FORCE
	@$(SHELL) $(srcdir)/%D%/commit_id.sh '$(GIT)' '$(srcdir)' $@
FORCE:
.PHONY: FORCE

# ---- tests: the last line is "N passed, N failed, N skipped" -----------------
AM_TESTS_ENVIRONMENT = \
	NARROWGAUGE='$(abs_top_builddir)/narrowgauge'; export NARROWGAUGE; \
	NG_SRCDIR='$(abs_top_srcdir)'; export NG_SRCDIR; \
	NG_BUILDDIR='$(abs_top_builddir)'; export NG_BUILDDIR; \
	NG_FIXTURES='$(abs_top_srcdir)/conformance/fixtures'; export NG_FIXTURES;
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(BASH)

# In automake's place, whose rule ends with a table.
check-TESTS: $(check_PROGRAMS) $(check_LTLIBRARIES)
	@rm -f $(TEST_LOGS) $(TEST_LOGS:.log=.trs) $(TEST_SUITE_LOG)
	@status=0; $(MAKE) $(AM_MAKEFLAGS) $(TEST_SUITE_LOG) || status=1; \
	$(SHELL) $(srcdir)/%D%/count_tests.sh $(TEST_LOGS:.log=.trs) || status=1; \
	exit $$status

# Every code, every 16-bit input, every pair of scales; then what LONG_TESTS names.
check-long: all
	@LONG_TESTS='$(LONG_TESTS)'; export LONG_TESTS; \
	$(AM_TESTS_ENVIRONMENT) $(BASH) $(srcdir)/%D%/check_long.sh

# What .ci/run holds level 0 of the reference to (docs/gate.md).
baseline: narrowgauge
	@test -n '$(WHY)' || { echo "baseline: say why: make baseline WHY='...'" >&2; exit 1; }
	@case `./narrowgauge --version` in *-dirty*) \
	    echo "baseline: commit first: these sources have no name" >&2; exit 1;; esac
	./narrowgauge verify --level 0 --report baseline-report
	./narrowgauge gate --baseline $(srcdir)/reports/baselines/reference.json \
	    --current baseline-report --accept --why '$(WHY)'

# ---- builds of their own, in a folder below this one -------------------------
sub_build = $(BASH) $(srcdir)/%D%/sub_build.sh '$(srcdir)'

# A share of level 0, and the tests, under ASan and UBSan, with counters in the code,
# or with both at once. (MPI libraries leak on purpose.) Counters start from nothing,
# since gcov does not forgive counts of older sources; they are plain, and so on one
# thread where a test does not ask for more: atomic ones take four times as long.
sanitizers = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all
counters = --coverage -fprofile-update=single
instrumented = $(AM_V_at)build() { \
	    MAKE='$(MAKE)' $(sub_build) "$$1" --disable-static --without-mpi \
	        --disable-kernels CFLAGS="$$2" CXXFLAGS="$$2" && \
	    rm -f "$$1"/*conftest.gc* && \
	    UBSAN_OPTIONS=print_stacktrace=1 OMP_NUM_THREADS=1 && \
	    export UBSAN_OPTIONS OMP_NUM_THREADS && \
	    ./"$$1"/narrowgauge verify --level 0 --shard 1/4 --quiet && \
	    NG_SAMPLE=yes $(MAKE) -C "$$1" --no-print-directory check; \
	}; \
	count() { \
	    GCOVR='$(GCOVR)' $(BASH) $(srcdir)/%D%/coverage.sh '$(srcdir)' "$$1" coverage; \
	}; \
	counted() { \
	    test '$(GCOVR)' != no || { echo 'coverage: gcovr is missing' >&2; exit 1; }; \
	    rm -rf "$$1"; \
	};

sanitize:
	+$(instrumented) build sanitize-build '$(sanitizers)'

coverage:
	+$(instrumented) counted coverage-build && \
	    build coverage-build '-O0 -g $(counters)' && count coverage-build

sanitize-coverage:
	+$(instrumented) counted sanitize-coverage-build && \
	    build sanitize-coverage-build '$(sanitizers) $(counters)' && \
	    count sanitize-coverage-build

# What uses threads, under clang's TSan.
thread-sanitize:
	$(AM_V_at)MAKE='$(MAKE)' NG_SRCDIR='$(abs_top_srcdir)' \
	    $(BASH) $(srcdir)/%D%/thread_sanitize.sh
LONG_TESTS += build-aux/thread_sanitize.sh

clean-local:
	-rm -rf coverage-build coverage sanitize-build sanitize-coverage-build \
	    thread-sanitize-build \
	    bundle-build bundle-stage narrowgauge-bundle \
	    baseline-report

# ---- a folder to copy to a machine that has neither MPFR nor root ------------
# Without libxml2, which would bring 35 MB of ICU: no --junit there.
bundle:
	@test '$(PATCHELF)' != no || { echo 'bundle: patchelf is missing' >&2; exit 1; }
	$(AM_V_at)MAKE='$(MAKE)' $(sub_build) bundle-build --disable-static --without-mpi \
	    --without-libxml2
	$(AM_V_at)rm -rf bundle-stage
	$(AM_V_at)$(MAKE) -C bundle-build --no-print-directory install \
	    DESTDIR='$(abs_builddir)/bundle-stage' >bundle-build/install.log 2>&1 || \
	    { cat bundle-build/install.log; exit 1; }
	$(AM_V_at)PATCHELF='$(PATCHELF)' $(BASH) $(srcdir)/%D%/bundle.sh '$(srcdir)' \
	    'bundle-stage$(bindir)' 'bundle-stage$(libdir)' narrowgauge-bundle \
	    '$(PACKAGE_VERSION)'
	$(AM_V_at)rm -rf bundle-stage

installcheck-local:
	$(AM_V_at)CC='$(CC)' CXX='$(CXX)' DESTDIR='$(DESTDIR)' PKG_CONFIG='$(PKG_CONFIG)' \
	    $(BASH) $(srcdir)/%D%/installcheck.sh '$(srcdir)' '$(pkgconfigdir)' \
	    '$(libdir)' '$(bindir)'

# ---- the sources themselves --------------------------------------------------
format:
	@test '$(CLANG_FORMAT)' != no || { echo 'format: clang-format is missing' >&2; exit 1; }
	cd $(srcdir) && $(BASH) %D%/list_sources.sh | xargs $(CLANG_FORMAT) -i

analyse: $(BUILT_SOURCES)
	$(AM_V_at)CPPCHECK='$(CPPCHECK)' CLANG_TIDY='$(CLANG_TIDY)' $(BASH) \
	    $(srcdir)/%D%/analyse.sh '$(srcdir)' \
	    $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) $(MPI_CFLAGS) \
	    -std=c11 $(OPENMP_CFLAGS)

.PHONY: baseline check-long coverage sanitize sanitize-coverage thread-sanitize bundle \
	format analyse
