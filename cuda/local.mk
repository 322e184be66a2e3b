# SPDX-License-Identifier: Apache-2.0
# libnarrowgauge-cuda.so, the kernels: opened by the program when it is asked for
# them, so that the program runs where CUDA is missing. Plain PIC objects by
# nvcc, no libtool. To add an operation, add its .cu and its headers here.
ng_cuda_headers = \
	%D%/bits.cuh \
	%D%/count_events.cuh \
	%D%/device.h \
	%D%/grid.cuh \
	%D%/host_device.cuh \
	%D%/launch.h \
	%D%/ptx_cvt.cuh \
	%D%/try.cuh \
	%D%/convert/decode_code.cuh \
	%D%/convert/elements.h \
	%D%/convert/encode_element.cuh \
	%D%/convert/encode_nearest.cuh \
	%D%/convert/format_facts.cuh \
	%D%/convert/philox_word.cuh \
	%D%/convert/real.cuh \
	%D%/convert/round_code.cuh

ng_cuda_sources = \
	%D%/device.cu \
	%D%/convert/elements.cu

EXTRA_DIST += $(ng_cuda_headers) $(ng_cuda_sources) %D%/exports.map

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
