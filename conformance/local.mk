# SPDX-License-Identifier: Apache-2.0
# The suite and the program. libsuite.a holds all of it but the command line, so
# that tests can use it too.
noinst_LIBRARIES += libsuite.a
libsuite_a_LIBADD =

libsuite_a_SOURCES = \
	%D%/subject/bounds.h \
	%D%/subject/buffer.c \
	%D%/subject/build_digest.c \
	%D%/subject/build_digest.h \
	%D%/subject/buffer.h \
	%D%/subject/call.c \
	%D%/subject/call.h \
	%D%/subject/conversions.c \
	%D%/subject/conversions.h \
	%D%/subject/subject_cuda_host.cc \
	%D%/subject/gemm_functions.c \
	%D%/subject/gemm_functions.h \
	%D%/subject/gemm_functions_reference.c \
	%D%/subject/elements.c \
	%D%/subject/elements.h \
	%D%/subject/escape.c \
	%D%/subject/escape.h \
	%D%/subject/host.c \
	%D%/subject/host.h \
	%D%/subject/host_call.c \
	%D%/subject/host_child.c \
	%D%/subject/host_child.h \
	%D%/subject/host_device.c \
	%D%/subject/host_device.h \
	%D%/subject/orphans.c \
	%D%/subject/orphans.h \
	%D%/subject/exec_message.c \
	%D%/subject/exec_message.h \
	%D%/subject/host_exec.c \
	%D%/subject/host_exec_greeting.c \
	%D%/subject/host_parts.h \
	%D%/subject/host_process.c \
	%D%/subject/host_limits.c \
	%D%/subject/host_limits.h \
	%D%/subject/host_load.c \
	%D%/subject/host_load.h \
	%D%/subject/host_wire.h \
	%D%/subject/swiglu_functions.c \
	%D%/subject/swiglu_functions.h \
	%D%/subject/swiglu_functions_reference.c \
	%D%/subject/optim_functions.c \
	%D%/subject/optim_functions.h \
	%D%/subject/optim_functions_cuda_host.cc \
	%D%/subject/optim_functions_reference.c \
	%D%/subject/process.c \
	%D%/subject/process.h \
	%D%/subject/subject.c \
	%D%/subject/subject.h \
	%D%/subject/subject_reference.c \
	%D%/subject/verdict.c \
	%D%/subject/verdict.h \
	%D%/checks/block_case.c \
	%D%/checks/block_case.h \
	%D%/checks/case.c \
	%D%/checks/case.h \
	%D%/checks/claims.c \
	%D%/checks/claims_optim.c \
	%D%/checks/dense_views.h \
	%D%/checks/diagnose.c \
	%D%/checks/explanation.c \
	%D%/checks/explanation.h \
	%D%/checks/failure_line.c \
	%D%/checks/fault_kind.c \
	%D%/checks/fault_kind.h \
	%D%/checks/gemm_case.c \
	%D%/checks/gemm_case.h \
	%D%/checks/hypotheses_alignment.c \
	%D%/checks/hypotheses_index.c \
	%D%/checks/hypotheses_layout.c \
	%D%/checks/hypotheses_optim.c \
	%D%/checks/hypotheses_rounding.c \
	%D%/checks/hypotheses_scale.c \
	%D%/checks/hypotheses_special.c \
	%D%/checks/hypothesis.c \
	%D%/checks/hypothesis.h \
	%D%/checks/patterns.c \
	%D%/checks/recoding.c \
	%D%/checks/recoding.h \
	%D%/checks/inputs_block.h \
	%D%/checks/inputs_compand.c \
	%D%/checks/inputs_expand.c \
	%D%/checks/inputs_fp8.c \
	%D%/checks/inputs_gemm.c \
	%D%/checks/inputs_gemm.h \
	%D%/checks/inputs_gemm_bf16.c \
	%D%/checks/inputs_swiglu.c \
	%D%/checks/inputs_swiglu.h \
	%D%/checks/inputs_merge.c \
	%D%/checks/inputs_mxfp4.c \
	%D%/checks/inputs_optim.c \
	%D%/checks/inputs_optim.h \
	%D%/checks/inputs_quantize.c \
	%D%/checks/inputs_scalar.c \
	%D%/checks/inputs_scalar.h \
	%D%/checks/inputs_scales.c \
	%D%/checks/inputs_shapes.c \
	%D%/checks/inputs_split.c \
	%D%/checks/inputs_step.c \
	%D%/checks/inputs_step_constants.c \
	%D%/checks/judge.c \
	%D%/checks/judge.h \
	%D%/checks/measure.c \
	%D%/checks/measure.h \
	%D%/checks/measure_json.c \
	%D%/checks/numbers.c \
	%D%/checks/numbers.h \
	%D%/checks/operation.c \
	%D%/checks/operation.h \
	%D%/checks/operations_block.c \
	%D%/checks/operations_gemm.c \
	%D%/checks/operations_swiglu.c \
	%D%/checks/operations_optim.c \
	%D%/checks/operations_scalar.c \
	%D%/checks/proof.h \
	%D%/checks/proof_identity.c \
	%D%/checks/proof_split.c \
	%D%/checks/proof_states.c \
	%D%/checks/proof_window.c \
	%D%/checks/rule_words.c \
	%D%/checks/rule_words.h \
	%D%/checks/variant.c \
	%D%/checks/variant.h \
	%D%/checks/shrink.c \
	%D%/checks/shrink.h \
	%D%/checks/shrink_values.c \
	%D%/checks/shrink_words.c \
	%D%/checks/small_case.c \
	%D%/checks/small_case.h \
	%D%/checks/small_file.c \
	%D%/checks/small_file.h \
	%D%/checks/small_layout.c \
	%D%/checks/vectors.c \
	%D%/checks/vectors.h \
	%D%/checks/tally_json.c \
	%D%/checks/tally_json.h \
	%D%/checks/verify.c \
	%D%/checks/verify.h \
	%D%/checks/verify_case.c \
	%D%/checks/verify_json.c \
	%D%/checks/verify_json.h \
	%D%/checks/verify_state.c \
	%D%/checks/verify_state.h \
	%D%/checks/writings.h

if HAVE_MPFR
libsuite_a_SOURCES += \
	%D%/oracle/oracle_align.c \
	%D%/oracle/oracle_align.h \
	%D%/oracle/oracle_compand.c \
	%D%/oracle/oracle_compand.h \
	%D%/oracle/oracle_context.c \
	%D%/oracle/oracle_context.h \
	%D%/oracle/oracle_convert_fp8_row_to_col.c \
	%D%/oracle/oracle_convert_fp8_row_to_col.h \
	%D%/oracle/oracle_convert_fp8_to_mxfp4.c \
	%D%/oracle/oracle_convert_fp8_to_mxfp4.h \
	%D%/oracle/oracle_convert_mxfp4_to_fp8.c \
	%D%/oracle/oracle_convert_mxfp4_to_fp8.h \
	%D%/oracle/oracle_convert_scales.c \
	%D%/oracle/oracle_convert_scales.h \
	%D%/oracle/oracle_decode.c \
	%D%/oracle/oracle_decode.h \
	%D%/oracle/oracle_dequantize.c \
	%D%/oracle/oracle_dequantize.h \
	%D%/oracle/oracle_dequantize_fp8.c \
	%D%/oracle/oracle_dequantize_fp8.h \
	%D%/oracle/oracle_dequantize_mxfp4.c \
	%D%/oracle/oracle_dequantize_mxfp8.c \
	%D%/oracle/oracle_dequantize_mxfp4.h \
	%D%/oracle/oracle_dequantize_mxfp8.h \
	%D%/oracle/oracle_encode.c \
	%D%/oracle/oracle_encode.h \
	%D%/oracle/oracle_expand.c \
	%D%/oracle/oracle_expand.h \
	%D%/oracle/oracle_format.c \
	%D%/oracle/oracle_format.h \
	%D%/oracle/oracle_fp8_block.c \
	%D%/oracle/oracle_fp8_block.h \
	%D%/oracle/oracle_gemm_bf16.c \
	%D%/oracle/oracle_gemm_bf16.h \
	%D%/oracle/oracle_gemm_block.c \
	%D%/oracle/oracle_gemm_block.h \
	%D%/oracle/oracle_gemm_element.c \
	%D%/oracle/oracle_gemm_element.h \
	%D%/oracle/oracle_grouped_gemm.c \
	%D%/oracle/oracle_grouped_gemm.h \
	%D%/oracle/oracle_swiglu.c \
	%D%/oracle/oracle_swiglu.h \
	%D%/oracle/oracle_hyper.c \
	%D%/oracle/oracle_hyper.h \
	%D%/oracle/oracle_ieee.c \
	%D%/oracle/oracle_ieee.h \
	%D%/oracle/oracle_merge_weights.c \
	%D%/oracle/oracle_merge_weights.h \
	%D%/oracle/oracle_mx_block.c \
	%D%/oracle/oracle_mx_block.h \
	%D%/oracle/oracle_pack_e2m1.c \
	%D%/oracle/oracle_pack_e2m1.h \
	%D%/oracle/oracle_philox.c \
	%D%/oracle/oracle_philox.h \
	%D%/oracle/oracle_quantize_fp8.c \
	%D%/oracle/oracle_quantize_fp8.h \
	%D%/oracle/oracle_quantize_mxfp4.c \
	%D%/oracle/oracle_quantize_mxfp8.c \
	%D%/oracle/oracle_quantize_mxfp4.h \
	%D%/oracle/oracle_quantize_mxfp8.h \
	%D%/oracle/oracle_range.c \
	%D%/oracle/oracle_range.h \
	%D%/oracle/oracle_round.c \
	%D%/oracle/oracle_round.h \
	%D%/oracle/oracle_split_weights.c \
	%D%/oracle/oracle_split_weights.h \
	%D%/oracle/oracle_state.c \
	%D%/oracle/oracle_state.h \
	%D%/oracle/oracle_state_flashoptim.c \
	%D%/oracle/oracle_state_ng.c \
	%D%/oracle/oracle_step.c \
	%D%/oracle/oracle_step.h \
	%D%/oracle/oracle_step_bound.c \
	%D%/oracle/oracle_step_bound.h \
	%D%/oracle/oracle_step_constants.c \
	%D%/oracle/oracle_step_constants.h \
	%D%/oracle/oracle_step_row.c \
	%D%/oracle/oracle_step_row.h \
	%D%/oracle/oracle_transpose_fp8_tile.c \
	%D%/oracle/oracle_transpose_fp8_tile.h \
	%D%/oracle/oracle_unpack_e2m1.c \
	%D%/oracle/oracle_unpack_e2m1.h \
	%D%/oracle/oracle_view.c \
	%D%/oracle/oracle_view.h \
	%D%/oracle/oracle_weight.c \
	%D%/oracle/oracle_weight.h \
	%D%/oracle/oracle_weight_view.c \
	%D%/subject/gemm_functions_oracle.c \
	%D%/subject/swiglu_functions_oracle.c \
	%D%/subject/optim_functions_oracle.c \
	%D%/subject/subject_oracle.c
endif

# The kernels: the library is opened when asked for.
if HAVE_NVCC
libsuite_a_SOURCES += \
	%D%/subject/cuda_call.c \
	%D%/subject/cuda_call.h \
	%D%/subject/cuda_library.c \
	%D%/subject/cuda_library.h \
	%D%/subject/subject_cuda.c \
	%D%/subject/subject_cuda.h \
	%D%/subject/subject_cuda_conversions.c \
	%D%/subject/subject_cuda_gemm.c \
	%D%/subject/subject_cuda_optim.c \
	%D%/subject/subject_cuda_parts.h \
	%D%/subject/subject_cuda_swiglu.c
endif

# NVIDIA's headers, on the host: C++, no nvcc.
if HAVE_CUDA_HEADERS
libsuite_a_SOURCES += \
	%D%/subject/subject_cuda_headers.cc
endif

# Beside the library's headers: all that a plug-in needs.
nginclude_HEADERS = %D%/subject/plugin.h

bin_PROGRAMS += narrowgauge
narrowgauge_SOURCES = \
	%D%/cli/bench_case.c \
	%D%/cli/bench_case.h \
	%D%/cli/bench_gemm.c \
	%D%/cli/bench_gemm.h \
	%D%/cli/bench_machine.c \
	%D%/cli/bench_machine.h \
	%D%/cli/bench_optim.c \
	%D%/cli/bench_optim.h \
	%D%/cli/bench_projection.c \
	%D%/cli/bench_projection.h \
	%D%/cli/bench_report.c \
	%D%/cli/bench_report.h \
	%D%/cli/bench_swiglu.c \
	%D%/cli/bench_swiglu.h \
	%D%/cli/bench_tensor.c \
	%D%/cli/bench_tensor.h \
	%D%/cli/bench_verify.c \
	%D%/cli/bench_verify.h \
	%D%/cli/block_values.c \
	%D%/cli/block_values.h \
	%D%/cli/cmd_bench.c \
	%D%/cli/cmd_compare.c \
	%D%/cli/cmd_gate.c \
	%D%/cli/cmd_faults.c \
	%D%/cli/cmd_identify.c \
	%D%/cli/cmd_ops.c \
	%D%/cli/cmd_quantize.c \
	%D%/cli/cmd_report.c \
	%D%/cli/cmd_round.c \
	%D%/cli/cmd_show.c \
	%D%/cli/cmd_study.c \
	%D%/cli/cmd_train.c \
	%D%/cli/cmd_vectors.c \
	%D%/cli/cmd_verify.c \
	%D%/cli/code_text.c \
	%D%/cli/code_text.h \
	%D%/cli/command.c \
	%D%/cli/command.h \
	%D%/cli/command_store.c \
	%D%/cli/command_store.h \
	%D%/cli/complain.c \
	%D%/cli/complain.h \
	%D%/cli/conversion.c \
	%D%/cli/conversion.h \
	%D%/cli/error_statistics.c \
	%D%/cli/error_statistics.h \
	%D%/cli/main.c \
	%D%/cli/module.c \
	%D%/cli/module.h \
	%D%/cli/natural.c \
	%D%/cli/natural.h \
	%D%/cli/own_call.c \
	%D%/cli/own_call.h \
	%D%/cli/own_kernels.c \
	%D%/cli/own_kernels.h \
	%D%/cli/progress.c \
	%D%/cli/progress.h \
	%D%/cli/quantize_arguments.c \
	%D%/cli/quantize_arguments.h \
	%D%/cli/quantize_report.c \
	%D%/cli/quantize_report.h \
	%D%/cli/quantize_run.c \
	%D%/cli/quantize_run.h \
	%D%/cli/quantize_source.c \
	%D%/cli/quantize_source.h \
	%D%/cli/ranks.c \
	%D%/cli/ranks.h \
	%D%/cli/replay.c \
	%D%/cli/replay.h \
	%D%/cli/real_number.c \
	%D%/cli/real_number.h \
	%D%/cli/real_parse.c \
	%D%/cli/rounding_print.c \
	%D%/cli/rounding_print.h \
	%D%/cli/rounding_view.c \
	%D%/cli/rounding_view.h \
	%D%/cli/rounding_why.c \
	%D%/cli/rules_option.c \
	%D%/cli/rules_option.h \
	%D%/cli/set_option.c \
	%D%/cli/set_option.h \
	%D%/cli/stop_signal.c \
	%D%/cli/stop_signal.h \
	%D%/cli/study_pool.c \
	%D%/cli/study_pool.h \
	%D%/cli/subject_machine.c \
	%D%/cli/subject_machine.h \
	%D%/cli/subject_option.c \
	%D%/cli/subject_option.h \
	%D%/cli/train_progress.c \
	%D%/cli/train_progress.h

if HAVE_NVCC
narrowgauge_SOURCES += \
	%D%/cli/bench_cuda.c \
	%D%/cli/bench_cuda.h \
	%D%/cli/bench_cuda_case.c \
	%D%/cli/bench_cuda_optim.c \
	%D%/cli/bench_cuda_optim.h \
	%D%/cli/bench_cuda_rows.c \
	%D%/cli/bench_cuda_swiglu.c \
	%D%/cli/bench_cuda_verify.c \
	%D%/cli/bench_gpu_state.c \
	%D%/cli/bench_gpu_state.h
endif

# The exhaustive claims of reports/proofs.json; see its page.
if HAVE_MPFR
noinst_PROGRAMS += prove
prove_SOURCES = \
	%D%/cli/progress.c \
	%D%/cli/progress.h \
	%D%/cli/prove.c
prove_LDADD = $(suite_libs)
endif

# A file held to one of reports/schema/: for the tests.
noinst_PROGRAMS += check-schema
check_schema_SOURCES = %D%/cli/check_schema.c
check_schema_LDADD = $(suite_libs)

# What promotion to FP32 buys on Hopper: reports/accumulation.md.
noinst_PROGRAMS += study-accumulation
study_accumulation_SOURCES = %D%/cli/study_accumulation.c
study_accumulation_LDADD = libnarrowgauge.la $(JANSSON_LIBS)

# Hopper's tensor core against its model: `make probe-wgmma`, then run it where
# there is such a GPU. One file besides CUDA's runtime; --json writes what
# reports/gpu/probe-wgmma.json holds.
if HAVE_NVCC
EXTRA_PROGRAMS += probe-wgmma
CLEANFILES += probe-wgmma cuda/moe/probe_wgmma.o cuda/moe/probe_wgmma.d
probe_wgmma_SOURCES = \
	cuda/moe/probe_wgmma.h \
	cuda/ptx_operands.cuh cuda/ptx_wgmma_probe.cuh \
	reference/moe/ref_hopper_fp8_dot.c \
	%D%/cli/probe_wgmma.c
probe_wgmma_CFLAGS = $(AM_CFLAGS)
probe_wgmma_LDADD = cuda/moe/probe_wgmma.o
probe_wgmma_LINK = $(NVCC) -cudart static -Xcompiler='-pipe $(OPENMP_CFLAGS)' -o $@
-include cuda/moe/probe_wgmma.d

# The exact shortcuts of the optimizer's kernels, with the GPU's own seeds.
EXTRA_PROGRAMS += probe-steps
CLEANFILES += probe-steps cuda/optim/probe_steps.o cuda/optim/probe_steps.d
probe_steps_SOURCES = cuda/optim/probe_steps.h %D%/cli/probe_steps.c
probe_steps_LDADD = cuda/optim/probe_steps.o cuda/device.o
probe_steps_LINK = $(NVCC) -cudart static -o $@
-include cuda/optim/probe_steps.d
else
# automake writes the rules all the same; what they would link with says why not.
needs_nvcc = echo "$@: needs nvcc; configure says why there is none" >&2; exit 1;
probe_wgmma_SOURCES =
probe_wgmma_LINK = $(needs_nvcc)
probe_steps_SOURCES =
probe_steps_LINK = $(needs_nvcc)
endif
EXTRA_DIST += cuda/moe/probe_wgmma.cu cuda/optim/probe_steps.cu

suite_libs = libsuite.a libnarrowgauge.la $(LIBXML2_LIBS) $(JANSSON_LIBS) $(MPFR_LIBS)
narrowgauge_LDADD = libtrain.a $(suite_libs) $(YAML_LIBS)

# Opened by the program under mpirun; the program itself links no MPI.
if HAVE_MPI
pkglib_LTLIBRARIES += narrowgauge-mpi.la
narrowgauge_mpi_la_SOURCES = \
	%D%/cli/ranks_mpi.c \
	reference/train/comm_mpi.c \
	reference/train/comm_mpi.h
narrowgauge_mpi_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
narrowgauge_mpi_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared
narrowgauge_mpi_la_LIBADD = $(MPI_LIBS)
endif

# ---- tests ---------------------------------------------------------------------
# A program is built from the one file of its name.
LDADD = $(suite_libs) $(CHECK_LIBS)
TESTS += $(check_PROGRAMS)

# The kernels' exact shortcuts, over every input.
check_PROGRAMS += %D%/checks/test_exact_steps
conformance_checks_test_exact_steps_SOURCES = %D%/checks/test_exact_steps.cc

# The order of the grouped GEMMs' tiles.
check_PROGRAMS += %D%/checks/test_gemm_tiles
conformance_checks_test_gemm_tiles_SOURCES = %D%/checks/test_gemm_tiles.cc

# What launchers count.
check_PROGRAMS += %D%/checks/test_cuda_grids
conformance_checks_test_cuda_grids_SOURCES = %D%/checks/test_cuda_grids.cc

# What launchers refuse: it opens libnarrowgauge-cuda.so, and asks for no GPU.
if HAVE_NVCC
check_PROGRAMS += \
	%D%/checks/test_cuda_refusals \
	%D%/checks/test_cuda_refusals_optim
endif
EXTRA_DIST += %D%/checks/cuda_refusals.h

# Written with Check.
if HAVE_CHECK
check_PROGRAMS += \
	%D%/checks/test_constants \
	%D%/checks/test_traps_index \
	%D%/checks/test_traps_layout \
	%D%/checks/test_traps_quantize \
	%D%/checks/test_traps_scalar \
	%D%/checks/test_bounded \
	%D%/checks/test_compare \
	%D%/checks/test_diagnose \
	%D%/checks/test_disagreements \
	%D%/checks/test_formats \
	%D%/checks/test_gemm \
	%D%/checks/test_swiglu \
	%D%/checks/test_json_schema \
	%D%/checks/test_measure \
	%D%/checks/test_no_memory \
	%D%/checks/test_npy \
	%D%/checks/test_profile \
	%D%/checks/test_refusals \
	%D%/checks/test_refusals_options \
	%D%/checks/test_refusals_optim \
	%D%/checks/test_optimizer \
	%D%/checks/test_optimizer_backend \
	%D%/checks/test_optimizer_file \
	%D%/checks/test_optimizer_no_memory \
	%D%/checks/test_optimizer_refusals \
	%D%/checks/test_optimizer_release \
	%D%/checks/test_own_no_memory \
	%D%/checks/test_safetensors \
	%D%/checks/test_safetensors_bad \
	%D%/checks/test_safetensors_write \
	%D%/checks/test_shrink \
	%D%/checks/test_small_case \
	%D%/checks/test_tensor_file \
	%D%/checks/test_text_escape \
	%D%/checks/test_threads \
	%D%/checks/test_traps_optim \
	%D%/checks/test_wrong_subject
if HAVE_MPFR
check_PROGRAMS += \
	%D%/checks/test_gemm_bound \
	%D%/checks/test_step_bound
endif
endif

conformance_checks_test_own_no_memory_SOURCES = \
	%D%/checks/test_own_no_memory.c \
	%D%/cli/own_call.c \
	%D%/cli/own_call.h \
	%D%/cli/own_kernels.c \
	%D%/cli/own_kernels.h

# Plug-ins: the reference behind plugin.h (with all that subject_reference.c is
# made of), and one that does harm. (-rpath makes libtool build a shared object
# of a library that is not installed.)
check_LTLIBRARIES += plugin_reference.la plugin_hostile.la cuda_stand_in.la
plugin_flags = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
reference_plugin_sources = \
	%D%/faults/plugin_call.c \
	%D%/faults/plugin_call.h \
	%D%/subject/call.c \
	%D%/subject/conversions.c \
	%D%/subject/gemm_functions.c \
	%D%/subject/gemm_functions_reference.c \
	%D%/subject/optim_functions.c \
	%D%/subject/optim_functions_reference.c \
	%D%/subject/subject_reference.c \
	%D%/subject/swiglu_functions.c \
	%D%/subject/swiglu_functions_reference.c
plugin_reference_la_SOURCES = \
	$(reference_plugin_sources) \
	%D%/checks/plugin_reference.c
plugin_reference_la_CPPFLAGS = $(AM_CPPFLAGS)
plugin_reference_la_LDFLAGS = $(plugin_flags)
plugin_reference_la_LIBADD = libnarrowgauge.la

# The planted faults, which `narrowgauge faults` opens: the reference with one
# deviation each.
pkglib_LTLIBRARIES += narrowgauge-faults.la
narrowgauge_faults_la_SOURCES = \
	$(reference_plugin_sources) \
	%D%/faults/fault.c \
	%D%/faults/fault.h \
	%D%/faults/faults_alignment.c \
	%D%/faults/faults_groups.c \
	%D%/faults/faults_layout.c \
	%D%/faults/faults_optim.c \
	%D%/faults/faults_rounding.c \
	%D%/faults/faults_scale.c \
	%D%/faults/faults_special.c \
	%D%/faults/plugin.c \
	%D%/subject/elements.c
narrowgauge_faults_la_CPPFLAGS = $(AM_CPPFLAGS)
narrowgauge_faults_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared
narrowgauge_faults_la_LIBADD = libnarrowgauge.la

plugin_hostile_la_SOURCES = %D%/checks/plugin_hostile.c
plugin_hostile_la_LDFLAGS = $(plugin_flags)
cuda_stand_in_la_SOURCES = %D%/checks/cuda_stand_in.c
cuda_stand_in_la_LDFLAGS = $(plugin_flags)

# Scripts: NARROWGAUGE is the program, NG_SRCDIR, NG_BUILDDIR, NG_FIXTURES folders.
ng_test_scripts = \
	%D%/checks/test_cases.sh \
	%D%/checks/test_cli_bench.sh \
	%D%/checks/test_cli_ops.sh \
	%D%/checks/test_cli_quantize.sh \
	%D%/checks/test_cli_round.sh \
	%D%/checks/test_cli_show.sh \
	%D%/checks/test_cli_usage.sh \
	%D%/checks/test_completion.sh \
	%D%/checks/test_cuda.sh \
	%D%/checks/test_cuda_headers.sh \
	%D%/checks/test_demonstration.sh \
	%D%/checks/test_example_exec.sh \
	%D%/checks/test_example_numpy.sh \
	%D%/checks/test_vectors_layout.sh \
	%D%/checks/test_example_subject.sh \
	%D%/checks/test_gate.sh \
	%D%/checks/test_gate_page.sh \
	%D%/checks/test_identify.sh \
	%D%/checks/test_identify_fp8.sh \
	%D%/checks/test_plugin.sh \
	%D%/checks/test_plugin_device.sh \
	%D%/checks/test_profiles.sh \
	%D%/checks/test_profiles_page.sh \
	%D%/checks/test_proofs.sh \
	%D%/checks/test_ranks.sh \
	%D%/checks/test_reports.sh \
	%D%/checks/test_page_browser.sh \
	%D%/checks/test_report_pages.sh \
	%D%/checks/test_schema.sh \
	%D%/checks/test_shrink_faults.sh \
	%D%/checks/test_vectors.sh \
	%D%/checks/test_verify.sh \
	%D%/faults/test_faults.sh \
	%D%/faults/test_mutations.sh \
	%D%/peers/test_peers.sh
TESTS += $(ng_test_scripts)

EXTRA_DIST += \
	%D%/faults/mutations.txt \
	%D%/peers/checkout.py \
	%D%/peers/fp8_blocks.py \
	%D%/peers/peer_deepep.py \
	%D%/peers/peer_deepgemm.py \
	%D%/peers/peer_flashoptim.py \
	%D%/peers/peer_fp8_flow_moe.py \
	%D%/peers/peer_gfloat.py \
	%D%/peers/peer_microxcaling.py \
	%D%/peers/peer_ml_dtypes.py \
	%D%/peers/peer_torchao.py \
	%D%/peers/peer_torchao_fp8.py \
	%D%/peers/peer_torchao_pre4725.py \
	%D%/peers/peer_transformer_engine.py \
	%D%/peers/requirements.txt \
	%D%/peers/run.py \
	%D%/peers/tensors.py \
	%D%/checks/broken_calls.h \
	%D%/checks/checkpoint_fixture.h \
	%D%/checks/failing_calls.h \
	%D%/checks/failing_memory.h \
	%D%/checks/golden_npy.h \
	%D%/checks/lowered_field.py \
	%D%/checks/plugin_lowered_field.c \
	%D%/checks/golden_safetensors.h \
	%D%/checks/optimizer_fixture.h \
	%D%/checks/scratch.h \
	%D%/checks/suite_runner.h \
	$(ng_test_scripts) \
	%D%/checks/gen_golden_files.py \
	%D%/fixtures/LICENSE.pocketsphinx \
	%D%/fixtures/LICENSE.silero-vad \
	%D%/fixtures/README.md \
	%D%/fixtures/prepare_fixtures.py \
	%D%/fixtures/real_activation.npy \
	%D%/fixtures/real_activations.safetensors \
	%D%/fixtures/real_weights.safetensors
