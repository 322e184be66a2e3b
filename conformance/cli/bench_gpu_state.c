/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/bench_gpu_state.h"

#include <dlfcn.h>
#include <stddef.h>

/* NVML's numbers for the clocks of the multiprocessors and of the memory. */
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };

typedef int (*start_function)(void);
typedef int (*driver_function)(char *, unsigned);
typedef int (*device_function)(unsigned, void **);
typedef int (*clock_function)(void *, int, unsigned *);

static int clock_of(void *library, const char *symbol, void *device, int clock)
{
    clock_function get;
    unsigned mhz = 0;

    *(void **)&get = dlsym(library, symbol);
    return get != NULL && get(device, clock, &mhz) == 0 ? (int)mhz : 0;
}

ng_gpu_state ng_gpu_state_now(void)
{
    ng_gpu_state state = {"", 0, 0, 0};
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    void *device = NULL;
    start_function start, stop;
    driver_function driver;
    device_function find;

    if (library == NULL)
        return state;
    *(void **)&start = dlsym(library, "nvmlInit_v2");
    *(void **)&stop = dlsym(library, "nvmlShutdown");
    *(void **)&driver = dlsym(library, "nvmlSystemGetDriverVersion");
    *(void **)&find = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    if (start != NULL && stop != NULL && start() == 0) {
        if (driver == NULL || driver(state.driver, sizeof state.driver) != 0)
            state.driver[0] = '\0';
        if (find != NULL && find(0, &device) == 0) {
            state.sm_mhz =
                clock_of(library, "nvmlDeviceGetClockInfo", device, CLOCK_SM);
            state.sm_max_mhz = clock_of(library, "nvmlDeviceGetMaxClockInfo",
                                        device, CLOCK_SM);
            state.memory_mhz = clock_of(library, "nvmlDeviceGetClockInfo",
                                        device, CLOCK_MEMORY);
        }
        stop();
    }
    dlclose(library);
    return state;
}
