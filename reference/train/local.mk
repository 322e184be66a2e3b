# SPDX-License-Identifier: Apache-2.0
# libnarrowgauge, continued: data, checkpoints, logs. checksum.c needs the header
# of libxxhash 0.8 (pkg-config libxxhash), and links nothing of it.
libnarrowgauge_la_SOURCES += \
	formats/files/checksum.c \
	%D%/checkpoint_files.c \
	%D%/checkpoint_keep.c \
	%D%/checkpoint_read.c \
	%D%/checkpoint_write.c \
	%D%/data.c \
	%D%/train_log.c

# Not installed.
libnarrowgauge_la_SOURCES += \
	formats/files/checksum.h \
	%D%/checkpoint.h \
	%D%/checkpoint_files.h \
	%D%/comm.h \
	%D%/data.h \
	%D%/train_log.h

# ---- training ----------------------------------------------------------------
# In a library of its own: it needs libyaml, which libnarrowgauge does without.
noinst_LIBRARIES += libtrain.a
libtrain_a_SOURCES = \
	formats/files/yaml_schema.c \
	formats/files/yaml_schema.h \
	%D%/convergence.c \
	%D%/convergence.h \
	%D%/schedule.c \
	%D%/schedule.h \
	%D%/study_statistics.c \
	%D%/study_statistics.h \
	%D%/tokens.c \
	%D%/tokens.h \
	%D%/train.c \
	%D%/train.h \
	%D%/train_batch.c \
	%D%/train_config.c \
	%D%/train_config.h \
	%D%/train_evaluate.c \
	%D%/train_identity.c \
	%D%/train_parts.h \
	%D%/train_pretrained.c \
	%D%/train_ranks.c \
	%D%/train_report.c \
	%D%/train_resume.c \
	%D%/train_sample.c \
	%D%/train_save.c \
	%D%/trigram.c \
	%D%/trigram.h \
	reports/convergence_page.c \
	reports/convergence_page.h \
	reports/page_file.c \
	reports/page_file.h \
	reports/page_values.c \
	reports/page_values.h

# ---- the optimizer study -----------------------------------------------------
noinst_LIBRARIES += libstudy.a
libstudy_a_SOURCES = \
	%D%/study.c \
	%D%/study.h \
	%D%/study_coding.c \
	%D%/study_coding.h \
	%D%/study_losses.c \
	%D%/study_losses.h \
	%D%/study_model.c \
	%D%/study_model.h \
	%D%/study_report.c \
	%D%/study_result.h \
	%D%/study_run.c \
	%D%/study_run.h \
	%D%/study_setting.c \
	%D%/study_setting.h \
	%D%/study_statistics.c \
	%D%/study_statistics.h \
	reports/optimizer_page.c \
	reports/optimizer_page.h \
	reports/page_file.c \
	reports/page_file.h \
	reports/page_values.c \
	reports/page_values.h

# To be carried to a larger machine: make study-optimizers LDFLAGS=-all-static
noinst_PROGRAMS += study-optimizers
study_optimizers_SOURCES = \
	conformance/cli/command.c \
	conformance/cli/command.h \
	conformance/cli/command_store.c \
	conformance/cli/command_store.h \
	conformance/cli/progress.c \
	conformance/cli/progress.h \
	conformance/cli/study_optimizers.c
study_optimizers_LDADD = libstudy.a libnarrowgauge.la $(JANSSON_LIBS)

EXTRA_DIST += \
	configs/study-optimizers.json \
	configs/deepseek-v3.yaml \
	configs/prepare_text.sh \
	configs/small-moe.yaml \
	configs/tiny-moe.yaml \
	conformance/checks/long_contraction.sh \
	conformance/checks/long_compilers.sh \
	conformance/checks/long_model.sh \
	conformance/checks/long_train.sh \
	conformance/checks/train_refusals.h \
	conformance/checks/train_runs.sh \
	reports/schema/optimizers.schema.json

# ---- tests -------------------------------------------------------------------
if HAVE_CHECK
check_PROGRAMS += \
	conformance/checks/test_checkpoint \
	conformance/checks/test_checkpoint_refusals \
	conformance/checks/test_train \
	conformance/checks/test_train_bad \
	conformance/checks/test_train_bad_checkpoint \
	conformance/checks/test_train_bad_run \
	conformance/checks/test_train_data \
	conformance/checks/test_train_loop \
	conformance/checks/test_train_no_memory \
	conformance/checks/test_train_pretrained \
	conformance/checks/test_train_refusals \
	conformance/checks/test_yaml_schema
conformance_checks_test_checkpoint_LDADD = libstudy.a $(LDADD)
conformance_checks_test_checkpoint_refusals_LDADD = libstudy.a $(LDADD)
conformance_checks_test_train_no_memory_LDADD = libstudy.a $(LDADD)
conformance_checks_test_train_refusals_LDADD = libstudy.a $(LDADD)
conformance_checks_test_train_LDADD = libstudy.a $(LDADD)
conformance_checks_test_train_bad_LDADD = libtrain.a $(LDADD) $(YAML_LIBS)
conformance_checks_test_train_bad_checkpoint_LDADD = libtrain.a $(LDADD) $(YAML_LIBS)
conformance_checks_test_train_bad_run_LDADD = libtrain.a $(LDADD) $(YAML_LIBS)
conformance_checks_test_train_data_LDADD = libtrain.a $(LDADD)
conformance_checks_test_train_loop_LDADD = libtrain.a $(LDADD) $(YAML_LIBS)
conformance_checks_test_train_pretrained_LDADD = libtrain.a $(LDADD) $(YAML_LIBS)
conformance_checks_test_yaml_schema_LDADD = libtrain.a $(LDADD) $(YAML_LIBS)
endif
if HAVE_MPI
check_PROGRAMS += conformance/checks/test_exchange
conformance_checks_test_exchange_SOURCES = \
	conformance/checks/test_exchange.c \
	%D%/comm_mpi.c
conformance_checks_test_exchange_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
conformance_checks_test_exchange_LDADD = libnarrowgauge.la $(MPI_LIBS)
endif
ng_train_scripts = \
	conformance/checks/test_convergence.sh \
	conformance/checks/test_study.sh \
	conformance/checks/test_train_killed.sh \
	conformance/checks/test_train_own.sh \
	conformance/checks/test_train_ranks.sh \
	conformance/checks/test_train_runs.sh
TESTS += $(ng_train_scripts)
LONG_TESTS += \
	conformance/checks/long_contraction.sh \
	conformance/checks/long_compilers.sh \
	conformance/checks/long_model.sh \
	conformance/checks/long_train.sh
EXTRA_DIST += $(ng_train_scripts)
