# SPDX-License-Identifier: Apache-2.0
# libnarrowgauge, begun: what each bit pattern means, and the files of tensors.
lib_LTLIBRARIES += libnarrowgauge.la

# current:revision:age (the libtool manual, "Updating version info")
libnarrowgauge_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined \
	-export-symbols-regex '^ng_'
libnarrowgauge_la_LIBADD = $(JANSSON_LIBS)

libnarrowgauge_la_SOURCES = \
	%D%/dtype.c \
	%D%/events.c \
	%D%/files/atomic_write.c \
	%D%/files/file_error.c \
	%D%/files/input_file.c \
	%D%/files/npy.c \
	%D%/files/npy_header.c \
	%D%/files/safetensors_dtype.c \
	%D%/files/safetensors_entry.c \
	%D%/files/safetensors_read.c \
	%D%/files/safetensors_write.c \
	%D%/files/tensor_file.c \
	%D%/files/tensor_path.c \
	%D%/format.c \
	%D%/layout.c \
	%D%/optim.c \
	%D%/profile.c \
	%D%/rules.c \
	%D%/status.c \
	%D%/tensor.c \
	%D%/text.c \
	%D%/version.c

# Not installed.
libnarrowgauge_la_SOURCES += \
	%D%/files/file_error.h \
	%D%/files/input_file.h \
	%D%/files/npy_header.h \
	%D%/files/safetensors_dtype.h \
	%D%/files/safetensors_entry.h \
	%D%/profiles_table.h \
	%D%/text.h

# Installed in $(includedir)/narrowgauge under their own paths.
ngincludedir = $(includedir)/narrowgauge
nobase_nginclude_HEADERS = \
	%D%/bf16.h \
	%D%/dtype.h \
	%D%/e2m1.h \
	%D%/e4m3.h \
	%D%/events.h \
	%D%/files/atomic_write.h \
	%D%/files/npy.h \
	%D%/files/safetensors.h \
	%D%/files/tensor_file.h \
	%D%/files/tensor_path.h \
	%D%/format.h \
	%D%/fp16.h \
	%D%/fp32.h \
	%D%/layout.h \
	%D%/optim.h \
	%D%/options.h \
	%D%/profile.h \
	%D%/rules.h \
	%D%/status.h \
	%D%/tensor.h \
	%D%/ue6m10.h \
	%D%/ue8m0.h \
	%D%/version.h

# ---- profiles, embedded as text ----------------------------------------------
ng_profiles = \
	%D%/profiles/cuda-headers.profile \
	%D%/profiles/deepep-pow2.profile \
	%D%/profiles/deepep-python.profile \
	%D%/profiles/deepep.profile \
	%D%/profiles/deepgemm-fp8-ue8m0.profile \
	%D%/profiles/deepgemm-fp8.profile \
	%D%/profiles/deepgemm.profile \
	%D%/profiles/flashoptim.profile \
	%D%/profiles/fp8-flow-moe.profile \
	%D%/profiles/gfloat.profile \
	%D%/profiles/hopper-wgmma.profile \
	%D%/profiles/microxcaling-even.profile \
	%D%/profiles/microxcaling.profile \
	%D%/profiles/ml-dtypes.profile \
	%D%/profiles/ng.profile \
	%D%/profiles/ocp.profile \
	%D%/profiles/torchao-ceil-pre4725.profile \
	%D%/profiles/torchao-ceil.profile \
	%D%/profiles/torchao-even-pre4725.profile \
	%D%/profiles/torchao-even.profile \
	%D%/profiles/torchao-floor-pre4725.profile \
	%D%/profiles/torchao-floor.profile \
	%D%/profiles/torchao-fp8.profile \
	%D%/profiles/torchao-rceil-pre4725.profile \
	%D%/profiles/torchao-rceil.profile \
	%D%/profiles/transformer-engine-fp32.profile \
	%D%/profiles/transformer-engine-mxfp8.profile \
	%D%/profiles/transformer-engine.profile

EXTRA_DIST += $(ng_profiles)
BUILT_SOURCES += %D%/profiles_table.c
CLEANFILES += %D%/profiles_table.c
nodist_libnarrowgauge_la_SOURCES = %D%/profiles_table.c

%D%/profiles_table.c: $(ng_profiles) %D%/local.mk build-aux/embed_profiles.sh
	$(AM_V_GEN)$(MKDIR_P) $(@D)
	$(AM_V_at)(cd $(srcdir) && $(SHELL) build-aux/embed_profiles.sh profile $(ng_profiles)) >$@.tmp
	$(AM_V_at)mv $@.tmp $@
