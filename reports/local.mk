# SPDX-License-Identifier: Apache-2.0
# The suite, continued: what its results look like.
libsuite_a_SOURCES += \
	%D%/grouped_number.c \
	%D%/grouped_number.h \
	%D%/proofs_page.c \
	%D%/proofs_page.h \
	%D%/verify_junit.c \
	%D%/verify_report.c \
	%D%/verify_report.h

EXTRA_DIST += \
	%D%/accumulation.json \
	%D%/accumulation.md \
	%D%/gpu/bench.json \
	%D%/gpu/convert.md \
	%D%/gpu/grouped_gemm.md \
	%D%/gpu/probe-wgmma.json \
	%D%/proofs.json \
	%D%/optimizers-adamw.svg \
	%D%/optimizers-lion.svg \
	%D%/optimizers-sgd.svg \
	%D%/optimizers.json \
	%D%/optimizers.md \
	%D%/proofs.md \
	%D%/schema/accumulation.schema.json \
	%D%/schema/probe-wgmma.schema.json \
	%D%/schema/verify.schema.json
