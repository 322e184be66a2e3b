/* SPDX-License-Identifier: Apache-2.0
 *
 * `bench --backend cuda`: kernels on tensors in device memory, each verified at
 * the shape that is timed, beside a device copy of the same number of bytes.
 */
#ifndef NG_CONFORMANCE_CLI_BENCH_CUDA_H
#define NG_CONFORMANCE_CLI_BENCH_CUDA_H

#include <stdbool.h>
#include <jansson.h>

#include "conformance/cli/bench_machine.h"
#include "conformance/cli/conversion.h"
#include "conformance/subject/cuda_library.h"

/* What is timed: a line of the table in bench_cuda_rows.c. */
typedef struct ng_cuda_bench_row {
    const char *operation;
    const char *form; /* what tells it from its neighbours */
    int64_t rows, cols;
    int64_t n_groups; /* ragged rows, groups of 256 and more; 0: dense */
    int fp8_scale;    /* the rule, for FP8 on either side */
} ng_cuda_bench_row;

/* The rows by number; null past the last. */
const ng_cuda_bench_row *ng_cuda_bench_row_at(int i);

/* A row's tensors in device memory, several sets of them to rotate. */
enum { NG_CUDA_MAX_SETS = 16 };

typedef struct ng_cuda_bench_case {
    const ng_cuda_bench_row *row;
    const ng_conversion *conversion; /* null: SwiGLU, or row and col */
    ng_call call[NG_CUDA_MAX_SETS];  /* on the device */
    int64_t *offsets;                /* on the host too; null: dense */
    int n_sets;
    int64_t bytes; /* inputs and outputs of one set */
    void *block[NG_CUDA_MAX_SETS * 8 + 2];
    int n_blocks;
} ng_cuda_bench_case;

/* Allocate and fill. End it in every case. */
ng_status ng_cuda_bench_begin(ng_cuda_bench_case *c,
                              const ng_cuda_bench_row *row,
                              const ng_cuda_library *cuda);
void ng_cuda_bench_end(ng_cuda_bench_case *c, const ng_cuda_library *cuda);

/* Run set 0 over poison and compare parts of the rows, or whole groups, from
 * the beginning, the middle and the end with the reference. Returns NG_OK with
 * *line empty, or saying what differs. */
ng_status ng_cuda_bench_verify(char *line, size_t size,
                               const ng_cuda_bench_case *c,
                               const ng_cuda_library *cuda);

/* Allocate a tensor of a call on the device, for as long as the case lives. */
ng_status ng_cuda_bench_add(ng_cuda_bench_case *c, ng_call *call, bool output,
                            const char *name, ng_dtype dtype, int64_t lines,
                            int64_t width, const ng_cuda_library *cuda);

/* The same steps for the operations of SwiGLU, bench_cuda_swiglu.c. */
ng_status ng_cuda_bench_swiglu_make(ng_cuda_bench_case *c, ng_call *call,
                                    const ng_cuda_library *cuda);
ng_status ng_cuda_bench_swiglu_verify(char *line, size_t size,
                                      const ng_cuda_bench_case *c,
                                      const ng_cuda_library *cuda);

/* ---- timing, for any rows ---- */

/* Something to enqueue for set s. */
typedef ng_status ng_cuda_enqueue(void *context, int s);

/* Seconds of one launch, out of batches of about a millisecond that rotate the
 * sets. */
ng_status ng_cuda_time(ng_spread *spread, const ng_cuda_library *cuda,
                       ng_cuda_enqueue *enqueue, void *context, int n_sets,
                       int repeat);

/* The same of a device copy that reads and writes `bytes` in all. */
ng_status ng_cuda_time_copy(ng_spread *spread, const ng_cuda_library *cuda,
                            int64_t bytes, int n_sets, int repeat);

/* A row of reports/gpu/bench.json. */
json_t *ng_cuda_bench_row_json(const ng_cuda_library *cuda,
                               const char *operation, const char *form,
                               const char *shape, ng_spread s, ng_spread copy,
                               int64_t bytes, int n_sets);

/* The command: all rows, or those of the operations that listed says yes to and
 * of `most` elements at most, if that is not 0. list null: print a table; else
 * append JSON rows. Returns an exit status. */
int ng_bench_cuda(bool (*listed)(const void *context, const char *operation),
                  const void *context, int repeat, int64_t most, json_t *list);

#endif
