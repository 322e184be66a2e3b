# SPDX-License-Identifier: Apache-2.0
# libnarrowgauge-cuda.so, the kernels: opened by the program when it is asked for
# them, so that the program runs where CUDA is missing. Plain PIC objects by
# nvcc, no libtool. To add an operation, add its .cu and its headers here.
ng_cuda_headers = \
	%D%/bits.cuh \
	%D%/block_run.cuh \
	%D%/check_views.h \
	%D%/count_events.cuh \
	%D%/counts.cuh \
	%D%/device.h \
	%D%/divider.cuh \
	%D%/find_row_block.cuh \
	%D%/general.cuh \
	%D%/grid.cuh \
	%D%/host_device.cuh \
	%D%/kept_blocks.cuh \
	%D%/launch.h \
	%D%/launch_next.cuh \
	%D%/options.cuh \
	%D%/ptx_cvt.cuh \
	%D%/ptx_grid.cuh \
	%D%/ptx_half2.cuh \
	%D%/ptx_matrix.cuh \
	%D%/ptx_mbarrier.cuh \
	%D%/ptx_prmt.cuh \
	%D%/ptx_rcp.cuh \
	%D%/ptx_tma.cuh \
	%D%/ptx_operands.cuh \
	%D%/ptx_wgmma.cuh \
	%D%/ptx_wgmma_bf16.cuh \
	%D%/ptx_wgmma_probe.cuh \
	%D%/row_group.cuh \
	%D%/ptx_math.cuh \
	%D%/row_window.cuh \
	%D%/strips.cuh \
	%D%/team.cuh \
	%D%/tensor_map.h \
	%D%/try.cuh \
	%D%/vector.cuh \
	%D%/convert/align_block.cuh \
	%D%/convert/align_e4m3.cuh \
	%D%/convert/align_table.cuh \
	%D%/convert/both.cuh \
	%D%/convert/col_fast.cuh \
	%D%/convert/col_tile.cuh \
	%D%/convert/convert_fp8_row_to_col.h \
	%D%/convert/convert_fp8_to_mxfp4.h \
	%D%/convert/convert_mxfp4_to_fp8.h \
	%D%/convert/convert_scale.cuh \
	%D%/convert/convert_scales.h \
	%D%/convert/decode_code.cuh \
	%D%/convert/dequantize_element.cuh \
	%D%/convert/dequantize_fp8.h \
	%D%/convert/dequantize_mxfp4.h \
	%D%/convert/elements.h \
	%D%/convert/elements_of.cuh \
	%D%/convert/encode_e2m1x8.cuh \
	%D%/convert/encode_element.cuh \
	%D%/convert/encode_fp8_run.cuh \
	%D%/convert/encode_nearest.cuh \
	%D%/convert/format_facts.cuh \
	%D%/convert/fp8_blocks.cuh \
	%D%/convert/fp8_code.cuh \
	%D%/convert/fp8_inverse.cuh \
	%D%/convert/fp8_quotient.cuh \
	%D%/convert/fp8_row_to_col_block.cuh \
	%D%/convert/fp8_scale.cuh \
	%D%/convert/fp8_to_mxfp4_block.cuh \
	%D%/convert/load_numbers.cuh \
	%D%/convert/mxfp4_block.cuh \
	%D%/convert/mxfp4_scale.cuh \
	%D%/convert/mxfp4_threshold.cuh \
	%D%/convert/pack_e2m1.h \
	%D%/convert/philox_word.cuh \
	%D%/convert/quantize_fp8.h \
	%D%/convert/quantize_fp8_block.cuh \
	%D%/convert/quantize_fp8_fast.cuh \
	%D%/convert/quantize_fp8_row_col.h \
	%D%/convert/quantize_mxfp4.h \
	%D%/convert/quantize_mxfp4_block.cuh \
	%D%/convert/requantize_fp8_col.cuh \
	%D%/convert/ramp_e2m1.cuh \
	%D%/convert/real.cuh \
	%D%/convert/round_code.cuh \
	%D%/convert/row_block.cuh \
	%D%/convert/scale_access.cuh \
	%D%/convert/scale_plane.cuh \
	%D%/convert/transpose_bytes.cuh \
	%D%/convert/transpose_fp8_tile.h \
	%D%/moe/bf16_gemm_sm90.cuh \
	%D%/moe/fp8_gemm_rows_sm90.cuh \
	%D%/moe/fp8_gemm_wgrad_sm90.cuh \
	%D%/moe/gemm_block_tiles.cuh \
	%D%/moe/gemm_events.cuh \
	%D%/moe/gemm_launch.cuh \
	%D%/moe/gemm_realign.cuh \
	%D%/moe/gemm_ring.cuh \
	%D%/moe/gemm_row_tiles.cuh \
	%D%/moe/grouped_gemm_bf16.h \
	%D%/moe/grouped_gemm_fprop.h \
	%D%/moe/grouped_gemm_mxfp4_fprop.h \
	%D%/moe/grouped_gemm_wgrad.h \
	%D%/moe/mxfp4_align_row.cuh \
	%D%/moe/mxfp4_gemm_rows_sm90.cuh \
	%D%/moe/place_lines.cuh \
	%D%/moe/probe_wgmma.h \
	%D%/bench/fill_numbers.h \
	%D%/ptx_stream.cuh \
	%D%/optim/exact.cuh \
	%D%/optim/fast_state.cuh \
	%D%/optim/fast_weight.cuh \
	%D%/optim/state_code.cuh \
	%D%/optim/state_arrays.h \
	%D%/optim/step.h \
	%D%/optim/step_constants.cuh \
	%D%/optim/step_job.cuh \
	%D%/optim/step_kernel.cuh \
	%D%/optim/step_launch.cuh \
	%D%/optim/step_octet.cuh \
	%D%/optim/step_pick.cuh \
	%D%/optim/step_row.cuh \
	%D%/optim/step_share.cuh \
	%D%/optim/weight_code.cuh \
	%D%/moe/swiglu.h \
	%D%/moe/swiglu_element.cuh \
	%D%/moe/swiglu_fast.cuh

ng_cuda_sources = \
	%D%/check_views.cu \
	%D%/device.cu \
	%D%/tensor_map.cu \
	%D%/convert/convert_fp8_row_to_col.cu \
	%D%/convert/convert_fp8_to_mxfp4.cu \
	%D%/convert/convert_mxfp4_to_fp8.cu \
	%D%/convert/convert_mxfp4_to_fp8_col.cu \
	%D%/convert/convert_scales.cu \
	%D%/convert/dequantize_fp8.cu \
	%D%/convert/dequantize_mxfp4.cu \
	%D%/convert/elements.cu \
	%D%/convert/pack_e2m1.cu \
	%D%/convert/quantize_fp8.cu \
	%D%/convert/quantize_fp8_col.cu \
	%D%/convert/quantize_fp8_row.cu \
	%D%/convert/quantize_fp8_tile.cu \
	%D%/convert/quantize_mxfp4.cu \
	%D%/convert/transpose_fp8_tile.cu \
	%D%/moe/gemm_check_rows.cu \
	%D%/moe/grouped_gemm_bf16.cu \
	%D%/moe/grouped_gemm_fprop.cu \
	%D%/moe/grouped_gemm_mxfp4_fprop.cu \
	%D%/moe/grouped_gemm_wgrad.cu \
	%D%/moe/place_lines.cu \
	%D%/bench/fill_numbers.cu \
	%D%/moe/swiglu.cu \
	%D%/moe/swiglu_backward.cu \
	%D%/moe/swiglu_quantize.cu \
	%D%/optim/state_arrays.cu \
	%D%/optim/step.cu \
	%D%/optim/step_adam_flashoptim.cu \
	%D%/optim/step_adam_ng.cu \
	%D%/optim/step_lion_flashoptim.cu \
	%D%/optim/step_lion_ng.cu \
	%D%/optim/step_sgd_flashoptim.cu \
	%D%/optim/step_sgd_ng.cu

EXTRA_DIST += $(ng_cuda_headers) $(ng_cuda_sources) %D%/bench/peers.py \
	%D%/bench/peers_optim.py %D%/bench/table.py %D%/exports.map

if HAVE_NVCC
ng_cuda_objects = $(ng_cuda_sources:.cu=.o)

ngcudadir = $(pkglibdir)
ngcuda_DATA = libnarrowgauge-cuda.so
CLEANFILES += libnarrowgauge-cuda.so $(ng_cuda_objects)

SUFFIXES = .cu
.cu.o:
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(NVCC) -I$(srcdir) $(CPPFLAGS) $(NG_NVCCFLAGS) $(NVCCFLAGS) \
	    -MD -MP -MF $(@:.o=.d) -c -o $@ $<
-include $(ng_cuda_objects:.o=.d)

# The C++ runtime inside, and of libnarrowgauge the few functions of formats/.
# A symbol nobody defines is found here, not when the library is opened.
libnarrowgauge-cuda.so: $(ng_cuda_objects) libnarrowgauge.la %D%/exports.map
	$(AM_V_GEN)$(NVCC) $(NG_NVCCFLAGS) -shared -cudart static -o $@ \
	    $(ng_cuda_objects) -L.libs -lnarrowgauge \
	    -Xcompiler=-static-libstdc++,-static-libgcc -Xlinker=-z,defs \
	    -Xlinker=--version-script=$(srcdir)/cuda/exports.map \
	    -Xlinker=-rpath,'$$ORIGIN/..:$$ORIGIN/.libs:$$ORIGIN'

mostlyclean-local:
	-rm -f $(ng_cuda_objects:.o=.d)
endif
