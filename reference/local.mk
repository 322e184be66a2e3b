# SPDX-License-Identifier: Apache-2.0
# libnarrowgauge, continued: what each operation returns.
libnarrowgauge_la_SOURCES += \
	%D%/convert/ref_convert_fp8_row_to_col.c \
	%D%/convert/ref_convert_fp8_to_mxfp4.c \
	%D%/convert/ref_convert_mxfp4_to_fp8.c \
	%D%/convert/ref_convert_scales.c \
	%D%/convert/ref_decode.c \
	%D%/convert/ref_decoding.c \
	%D%/convert/ref_dequantize_fp8.c \
	%D%/convert/ref_dequantize_mxfp4.c \
	%D%/convert/ref_elements.c \
	%D%/convert/ref_encode.c \
	%D%/convert/ref_fp8_alignment.c \
	%D%/convert/ref_fp8_blocks.c \
	%D%/convert/ref_fp8_coding.c \
	%D%/convert/ref_mxfp4_coding.c \
	%D%/convert/ref_options.c \
	%D%/convert/ref_pack_e2m1.c \
	%D%/convert/ref_parallel.c \
	%D%/convert/ref_philox.c \
	%D%/convert/ref_quantize_fp8.c \
	%D%/convert/ref_quantize_mxfp4.c \
	%D%/convert/ref_scales.c \
	%D%/convert/ref_transpose_fp8_tile.c \
	%D%/convert/ref_unpack_e2m1.c \
	%D%/convert/ref_views.c \
	%D%/exact.c \
	%D%/optim/optimizer.c \
	%D%/optim/optimizer_file.c \
	%D%/optim/optimizer_load.c \
	%D%/optim/optimizer_lr.c \
	%D%/optim/optimizer_metadata.c \
	%D%/optim/optimizer_parameters.c \
	%D%/optim/optimizer_save.c \
	%D%/optim/optimizer_state.c \
	%D%/optim/optimizer_step.c \
	%D%/optim/optimizer_values.c \
	%D%/optim/ref_compand.c \
	%D%/optim/ref_companding.c \
	%D%/optim/ref_companding_flashoptim.c \
	%D%/optim/ref_expand.c \
	%D%/optim/ref_merge_weights.c \
	%D%/optim/ref_optim_groups.c \
	%D%/optim/ref_optim_views.c \
	%D%/optim/ref_root.c \
	%D%/optim/ref_split_weights.c \
	%D%/optim/ref_splitting.c \
	%D%/optim/ref_step.c \
	%D%/optim/ref_step_adam.c \
	%D%/optim/ref_step_adamw.c \
	%D%/optim/ref_step_constants.c \
	%D%/optim/ref_step_lion.c \
	%D%/optim/ref_step_sgd.c \
	%D%/optim/ref_step_sgdw.c \
	%D%/optim/ref_stepping.c \
	%D%/optim/ref_updates.c

# Not installed.
libnarrowgauge_la_SOURCES += \
	%D%/convert/ref_amax.h \
	%D%/convert/ref_decoding.h \
	%D%/convert/ref_elements.h \
	%D%/convert/ref_fp8_alignment.h \
	%D%/convert/ref_fp8_blocks.h \
	%D%/convert/ref_fp8_coding.h \
	%D%/convert/ref_mxfp4_coding.h \
	%D%/convert/ref_options.h \
	%D%/convert/ref_parallel.h \
	%D%/convert/ref_scales.h \
	%D%/convert/ref_views.h \
	%D%/exact.h \
	%D%/optim/optimizer_file.h \
	%D%/optim/optimizer_loading.h \
	%D%/optim/optimizer_parts.h \
	%D%/optim/ref_companding.h \
	%D%/optim/ref_fp32.h \
	%D%/optim/ref_optim_groups.h \
	%D%/optim/ref_optim_views.h \
	%D%/optim/ref_root.h \
	%D%/optim/ref_splitting.h \
	%D%/optim/ref_stepping.h \
	%D%/optim/ref_updates.h

# Installed.
nobase_nginclude_HEADERS += \
	%D%/convert/ref_convert_fp8_row_to_col.h \
	%D%/convert/ref_convert_fp8_to_mxfp4.h \
	%D%/convert/ref_convert_mxfp4_to_fp8.h \
	%D%/convert/ref_convert_scales.h \
	%D%/convert/ref_decode.h \
	%D%/convert/ref_dequantize_fp8.h \
	%D%/convert/ref_dequantize_mxfp4.h \
	%D%/convert/ref_encode.h \
	%D%/convert/ref_pack_e2m1.h \
	%D%/convert/ref_philox.h \
	%D%/convert/ref_quantize_fp8.h \
	%D%/convert/ref_quantize_mxfp4.h \
	%D%/convert/ref_transpose_fp8_tile.h \
	%D%/convert/ref_unpack_e2m1.h \
	%D%/optim/optimizer.h \
	%D%/optim/ref_compand.h \
	%D%/optim/ref_expand.h \
	%D%/optim/ref_merge_weights.h \
	%D%/optim/ref_split_weights.h \
	%D%/optim/ref_step.h \
	%D%/optim/ref_step_constants.h
