/* SPDX-License-Identifier: Apache-2.0
 *
 * probe-steps: the exact shortcuts of the optimizer's kernels, on the GPU with
 * its own seeds. Exit status 0: no difference; 1: some; 77: no GPU.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cuda/device.h"
#include "cuda/optim/probe_steps.h"

int main(void)
{
    static const char *const what[] = {"reciprocal", "root", "quotient"};
    ng_cuda_device device;
    uint64_t differences[3], inputs[3] = {1 << 23, 1 << 24, 0};
    ng_status status = ng_cuda_device_get(&device);

    if (status == NG_OK)
        status = ng_cuda_probe_steps(differences, &inputs[2]);
    if (status != NG_OK) {
        fprintf(stderr, "probe-steps: %s\n", ng_cuda_error_text());
        return status == NG_NO_DEVICE ? 77 : 4;
    }
    printf("%s\n", device.name);
    for (int i = 0; i < 3; i++)
        printf("%s: %" PRIu64 " inputs, %" PRIu64 " differences\n", what[i],
               inputs[i], differences[i]);
    return differences[0] + differences[1] + differences[2] != 0;
}
