# SPDX-License-Identifier: Apache-2.0
# libnarrowgauge, continued: what each operation returns; the backend, a table of
# operations over which the model, the optimizer and the training loop run.
libnarrowgauge_la_SOURCES += \
	%D%/backend_reference.c \
	%D%/carrier.c \
	%D%/convert/ref_convert_fp8_row_to_col.c \
	%D%/convert/ref_convert_fp8_to_mxfp4.c \
	%D%/convert/ref_convert_mxfp4_to_fp8.c \
	%D%/convert/ref_convert_scales.c \
	%D%/convert/ref_decode.c \
	%D%/convert/ref_decoding.c \
	%D%/convert/ref_dequantize_fp8.c \
	%D%/convert/ref_dequantize_mxfp4.c \
	%D%/convert/ref_dequantize_mxfp8.c \
	%D%/convert/ref_elements.c \
	%D%/convert/ref_encode.c \
	%D%/convert/ref_fp8_alignment.c \
	%D%/convert/ref_fp8_blocks.c \
	%D%/convert/ref_fp8_coding.c \
	%D%/convert/ref_mx_coding.c \
	%D%/convert/ref_peer_fp8.c \
	%D%/convert/ref_peer_scales.c \
	%D%/convert/ref_options.c \
	%D%/convert/ref_pack_e2m1.c \
	%D%/convert/ref_parallel.c \
	%D%/convert/ref_philox.c \
	%D%/convert/ref_quantize_fp8.c \
	%D%/convert/ref_quantize_mxfp4.c \
	%D%/convert/ref_quantize_mxfp8.c \
	%D%/convert/ref_scales.c \
	%D%/convert/ref_transpose_fp8_tile.c \
	%D%/convert/ref_unpack_e2m1.c \
	%D%/convert/ref_views.c \
	%D%/exact.c

# Not installed.
libnarrowgauge_la_SOURCES += \
	%D%/backend.h \
	%D%/convert/ref_amax.h \
	%D%/convert/ref_decoding.h \
	%D%/convert/ref_elements.h \
	%D%/convert/ref_fp8_alignment.h \
	%D%/convert/ref_fp8_blocks.h \
	%D%/convert/ref_fp8_coding.h \
	%D%/convert/ref_mx_coding.h \
	%D%/convert/ref_peer_fp8.h \
	%D%/convert/ref_peer_scales.h \
	%D%/convert/ref_options.h \
	%D%/convert/ref_parallel.h \
	%D%/convert/ref_scales.h \
	%D%/convert/ref_views.h \
	%D%/exact.h

# Installed.
nobase_nginclude_HEADERS += \
	%D%/convert/ref_convert_fp8_row_to_col.h \
	%D%/convert/ref_convert_fp8_to_mxfp4.h \
	%D%/convert/ref_convert_mxfp4_to_fp8.h \
	%D%/convert/ref_convert_scales.h \
	%D%/convert/ref_decode.h \
	%D%/convert/ref_dequantize_fp8.h \
	%D%/convert/ref_dequantize_mxfp4.h \
	%D%/convert/ref_dequantize_mxfp8.h \
	%D%/convert/ref_encode.h \
	%D%/convert/ref_pack_e2m1.h \
	%D%/convert/ref_philox.h \
	%D%/convert/ref_quantize_fp8.h \
	%D%/convert/ref_quantize_mxfp4.h \
	%D%/convert/ref_quantize_mxfp8.h \
	%D%/convert/ref_transpose_fp8_tile.h \
	%D%/convert/ref_unpack_e2m1.h
