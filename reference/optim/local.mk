# SPDX-License-Identifier: Apache-2.0
# libnarrowgauge, continued: weights split, states companded, optimizer steps.
libnarrowgauge_la_SOURCES += \
	%D%/optimizer.c \
	%D%/optimizer_backend.c \
	%D%/optimizer_file.c \
	%D%/optimizer_load.c \
	%D%/optimizer_lr.c \
	%D%/optimizer_metadata.c \
	%D%/optimizer_parameters.c \
	%D%/optimizer_save.c \
	%D%/optimizer_state.c \
	%D%/optimizer_step.c \
	%D%/optimizer_values.c \
	%D%/ref_compand.c \
	%D%/ref_companding.c \
	%D%/ref_companding_flashoptim.c \
	%D%/ref_expand.c \
	%D%/ref_merge_weights.c \
	%D%/ref_optim_groups.c \
	%D%/ref_optim_views.c \
	%D%/ref_root.c \
	%D%/ref_split_weights.c \
	%D%/ref_splitting.c \
	%D%/ref_step.c \
	%D%/ref_step_adam.c \
	%D%/ref_step_adamw.c \
	%D%/ref_step_constants.c \
	%D%/ref_step_lion.c \
	%D%/ref_step_sgd.c \
	%D%/ref_step_sgdw.c \
	%D%/ref_stepping.c \
	%D%/ref_updates.c \
	%D%/optimizer_backend.h \
	%D%/optimizer_file.h \
	%D%/optimizer_loading.h \
	%D%/optimizer_parts.h \
	%D%/ref_companding.h \
	%D%/ref_fp32.h \
	%D%/ref_optim_groups.h \
	%D%/ref_optim_views.h \
	%D%/ref_root.h \
	%D%/ref_splitting.h \
	%D%/ref_stepping.h \
	%D%/ref_updates.h

# Installed.
nobase_nginclude_HEADERS += \
	%D%/optimizer.h \
	%D%/ref_compand.h \
	%D%/ref_expand.h \
	%D%/ref_merge_weights.h \
	%D%/ref_split_weights.h \
	%D%/ref_step.h \
	%D%/ref_step_constants.h
