# SPDX-License-Identifier: Apache-2.0
# libnarrowgauge, continued: GEMMs over ragged experts.
libnarrowgauge_la_SOURCES += \
	%D%/ref_gemm_element.c \
	%D%/ref_gemm_views.c \
	%D%/ref_grouped_gemm_bf16.c \
	%D%/ref_grouped_gemm_fprop.c \
	%D%/ref_grouped_gemm_mxfp4.c \
	%D%/ref_grouped_gemm_wgrad.c \
	%D%/ref_hopper_fp8_dot.c \
	%D%/ref_swiglu.c \
	%D%/ref_gemm_element.h \
	%D%/ref_gemm_views.h

# Installed.
nobase_nginclude_HEADERS += \
	%D%/ref_grouped_gemm_bf16.h \
	%D%/ref_grouped_gemm_fprop.h \
	%D%/ref_grouped_gemm_wgrad.h \
	%D%/ref_hopper_fp8_dot.h \
	%D%/ref_swiglu.h
