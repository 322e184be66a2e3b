# SPDX-License-Identifier: Apache-2.0
# The suite, continued: what its results look like.
libsuite_a_SOURCES += \
	%D%/verify_junit.c \
	%D%/verify_report.c \
	%D%/verify_report.h

EXTRA_DIST += \
	%D%/schema/verify.schema.json
