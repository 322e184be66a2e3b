/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/quantize_arguments.h"
#include "conformance/cli/quantize_report.h"
#include "formats/files/file_error.h"
#include "formats/files/tensor_path.h"

/* Keep the one tensor that a .npy file is to hold, as a type that it has. */
static ng_tensor_file npy_view(const ng_tensor_file *out, const char *part)
{
    const bool scales = part != NULL && strcmp(part, "scales") == 0;
    ng_tensor_file view = {.tensors = out->tensors + scales, .n_tensors = 1};

    if (view.tensors == NULL)           /* no tensor, no view */
        return *out;
    if (view.tensors->dtype == NG_UE8M0X4)
        view.tensors->dtype = NG_U32;
    else if (ng_dtype_size(view.tensors->dtype) == 1)
        view.tensors->dtype = NG_U8;
    return view;
}

static ng_status convert(ng_tensor_file *out, ng_error_statistics *statistics,
                         const ng_sources *sources,
                         const ng_quantize_arguments *a, ng_error *error)
{
    ng_progress progress;
    int64_t done = 0, total = 0;
    ng_status status = NG_OK;

    for (int i = 0; i < sources->n; i++)
        total += sources->list[i].rows * sources->list[i].cols;
    ng_progress_begin(&progress, a->quiet || a->json, "elements");
    for (int i = 0; i < sources->n && status == NG_OK; i++) {
        const ng_source *source = &sources->list[i];

        status = ng_quantize_run(out, &statistics[i], source, (uint64_t)i,
                                 &a->plan, a->in, error);
        done += source->rows * source->cols;
        if (done > 0)
            ng_progress_update(&progress, source->name, done, total);
    }
    ng_progress_end(&progress);
    if (status == NG_OK && ng_quantize_sign(out, &a->plan) != NG_OK)
        status = ng_fail(error, NG_NO_MEMORY, "%s: out of memory", a->out);
    return status;
}

/* Convert the sources, write the file, then print. */
static int finish(const ng_sources *sources, const ng_quantize_arguments *a)
{
    ng_error_statistics *statistics =
        calloc((size_t)sources->n, sizeof *statistics);
    ng_tensor_file out = {0}, view;
    ng_error error;
    ng_status status = NG_NO_MEMORY;

    if (statistics == NULL)
        return ng_complain(NG_EXIT_ENVIRONMENT, "quantize", "out of memory");
    if (ng_is_npy(a->out) && sources->n > 1)
        status = ng_file_fail(&error, NG_BAD_FILE, a->out, NULL, "tensors",
                              "a .npy file holds one, %d were found: choose "
                              "with --tensor",
                              sources->n);
    else
        status = convert(&out, statistics, sources, a, &error);
    if (status == NG_OK) {
        view = ng_is_npy(a->out) ? npy_view(&out, a->part) : out;
        status = ng_tensor_file_write(a->out, &view, &error);
    }
    int exit_status = ng_exit_status(status, &error);
    if (status != NG_OK)
        ng_complain(exit_status, "quantize", "%s", error.text);
    else if (a->json)
        exit_status = ng_print_json(
            ng_quantize_json(sources, statistics, &a->plan, a->in, a->out));
    else
        ng_quantize_print(sources, statistics, &a->plan, a->in, a->out);
    ng_tensor_file_free(&out);
    free(statistics);
    return exit_status;
}

int ng_cmd_quantize(int argc, char **argv)
{
    static ng_quantize_arguments a; /* large; one command, one thread */
    ng_tensor_file in;
    ng_sources sources;
    ng_error error;

    int exit_status = ng_quantize_parse(&a, argc, argv);
    if (exit_status != NG_EXIT_OK)
        return exit_status;
    ng_status status = ng_tensor_file_read(&in, a.in, &error);
    if (status != NG_OK)
        return ng_complain(ng_exit_status(status, &error), "quantize", "%s",
                           error.text);
    status = ng_sources_find(&sources, &in, a.in, a.plan.conversion, a.name,
                             a.n_names, a.pow2, &error);
    if (status != NG_OK) {
        ng_complain(NG_EXIT_USAGE, "quantize", "%s", error.text);
        exit_status = ng_exit_status(status, &error);
    } else {
        exit_status = finish(&sources, &a);
        if (exit_status == NG_EXIT_OK)
            ng_quantize_say_skipped(&sources, a.in);
        ng_sources_free(&sources);
    }
    ng_tensor_file_free(&in);
    return exit_status;
}
