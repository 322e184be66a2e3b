# SPDX-License-Identifier: Apache-2.0
# libnarrowgauge, continued: data, checkpoints, the loop.
libnarrowgauge_la_SOURCES += \
	%D%/checkpoint_files.c \
	%D%/checkpoint_read.c \
	%D%/checkpoint_write.c \
	%D%/data.c \
	%D%/study_model.c \
	%D%/study_run.c \
	%D%/study_setting.c \
	%D%/train_log.c
libnarrowgauge_la_SOURCES += formats/files/checksum.c formats/files/checksum.h

# Installed.
nobase_nginclude_HEADERS += \
	%D%/checkpoint.h \
	%D%/checkpoint_files.h \
	%D%/data.h \
	%D%/study_model.h \
	%D%/study_run.h \
	%D%/study_setting.h \
	%D%/train_log.h
