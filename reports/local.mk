# SPDX-License-Identifier: Apache-2.0
# The suite, continued: what its results look like.
libsuite_a_SOURCES += \
	%D%/gate.h \
	%D%/gate_baseline.c \
	%D%/gate_compare.c \
	%D%/gate_junit.c \
	%D%/gate_report.c \
	%D%/gate_waivers.c \
	%D%/faults_page.c \
	%D%/faults_page.h \
	%D%/grouped_number.c \
	%D%/grouped_number.h \
	%D%/heat_map.c \
	%D%/json_input.c \
	%D%/json_schema.c \
	%D%/json_schema.h \
	%D%/junit_file.c \
	%D%/junit_file.h \
	%D%/proofs_page.c \
	%D%/proofs_page.h \
	%D%/terminal_text.c \
	%D%/terminal_text.h \
	%D%/text_escape.c \
	%D%/text_escape.h \
	%D%/texts_table.h \
	%D%/verify_html.c \
	%D%/verify_html.h \
	%D%/verify_junit.c \
	%D%/verify_plots.c \
	%D%/verify_report.c \
	%D%/verify_report.h \
	%D%/verify_text.c

# ---- schemas, embedded as text -------------------------------------------------
ng_schemas = \
	%D%/schema/baseline.schema.json \
	%D%/schema/convergence.schema.json \
	%D%/schema/gate.schema.json \
	%D%/schema/verify.schema.json

# What every page carries within.
ng_assets = \
	%D%/page.css \
	%D%/page.js

EXTRA_DIST += $(ng_schemas) $(ng_assets)
BUILT_SOURCES += %D%/schemas_table.c %D%/assets_table.c
CLEANFILES += %D%/schemas_table.c %D%/assets_table.c
nodist_libsuite_a_SOURCES = %D%/schemas_table.c %D%/assets_table.c

%D%/assets_table.c: $(ng_assets) %D%/local.mk build-aux/embed_profiles.sh
	$(AM_V_GEN)$(MKDIR_P) $(@D)
	$(AM_V_at)(cd $(srcdir) && $(SHELL) build-aux/embed_profiles.sh asset $(ng_assets)) >$@.tmp
	$(AM_V_at)mv $@.tmp $@

%D%/schemas_table.c: $(ng_schemas) %D%/local.mk build-aux/embed_profiles.sh
	$(AM_V_GEN)$(MKDIR_P) $(@D)
	$(AM_V_at)(cd $(srcdir) && $(SHELL) build-aux/embed_profiles.sh schema $(ng_schemas)) >$@.tmp
	$(AM_V_at)mv $@.tmp $@

EXTRA_DIST += \
	%D%/accumulation.json \
	%D%/accumulation.md \
	%D%/convergence.json \
	%D%/convergence.md \
	%D%/convergence.svg \
	%D%/baselines/reference.json \
	%D%/faults.json \
	%D%/faults.md \
	%D%/gpu/bench.json \
	%D%/gpu/convert.md \
	%D%/gpu/grouped_gemm.md \
	%D%/gpu/grouped_gemm_sanitizers.txt \
	%D%/gpu/grouped_gemm_mxfp4_bf16.md \
	%D%/gpu/optimizers.md \
	%D%/gpu/probe-wgmma.json \
	%D%/peers.json \
	%D%/proofs.json \
	%D%/optimizers-adamw.svg \
	%D%/optimizers-lion.svg \
	%D%/optimizers-sgd.svg \
	%D%/optimizers.json \
	%D%/optimizers.md \
	%D%/proofs.md \
	%D%/schema/accumulation.schema.json \
	%D%/schema/probe-wgmma.schema.json
