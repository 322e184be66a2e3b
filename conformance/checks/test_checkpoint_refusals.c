/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints that cannot be written or must not be read: things in the way,
 * full disks, disks that fail. Each gives a status and one line that names file
 * and field; the checkpoint before stays whole, and nothing half-written is left.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* RTLD_NEXT */
#endif
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/resource.h>

#include "conformance/checks/checkpoint_fixture.h"
#include "conformance/checks/failing_calls.h"

static ng_tensor_file tensors;

static void set_up(void)
{
    static const int64_t shape[1] = {5};
    void *data;

    scratch_make();
    tensors = (ng_tensor_file){0};
    ck_assert_int_eq(ng_tensor_file_add_tensor(&data, &tensors, "t", NG_U8, 1,
                                               shape), NG_OK);
    memcpy(data, "12345", 5);
}

static void clear(void)
{
    ng_tensor_file_free(&tensors);
    tear_down();
}

/* The error line is "PATH: what" of a path below the scratch directory. */
static void expect_line(const char *path, const char *what)
{
    char line[512];

    snprintf(line, sizeof line, "%s/%s: %s", scratch, path, what);
    ck_assert_str_eq(error.text, line);
}

/* Step 1 is there and whole, and nothing else but `more` entries. */
static void expect_first_alone(int more)
{
    ng_checkpoint checkpoint;
    ng_tensor_file back;

    ck_assert_int_eq(root_count(), 1 + more);
    ck_assert_int_eq(ng_checkpoint_open(&checkpoint,
                                        scratch_path("root/step-0000000001"),
                                        &error), NG_OK);
    ck_assert_int_eq(checkpoint.step, 1);
    ck_assert_int_eq(ng_checkpoint_load(&back, &checkpoint, "optimizer",
                                        &error), NG_OK);
    ck_assert_mem_eq(back.tensors[0].data, "12345", 5);
    ng_tensor_file_free(&back);
    ng_checkpoint_close(&checkpoint);
}

/* ---- in the way ---------------------------------------------------------- */

START_TEST(no_root)
{
    ng_checkpoint_writer writer;
    char *path = scratch;

    ck_assert_int_eq(ng_checkpoint_begin(&writer, scratch_path("a/b"), 1,
                                         &error), NG_BAD_FILE);
    expect_line("a/b", "directory: No such file or directory");
    ck_assert_ptr_null(writer.partial);
    ng_checkpoint_abandon(&writer);

    scratch_write("root", "", 0);
    ck_assert_int_eq(write_tensors(&tensors, 1), NG_BAD_FILE);
    expect_line("root", "open: Not a directory");
    ck_assert_int_eq(ng_checkpoint_latest(&path, root(), &error), NG_BAD_FILE);
    expect_line("root", "open: Not a directory");
    ck_assert_ptr_null(path);
    ck_assert_int_eq(scratch_count(), 1);
}
END_TEST

/* What the writer did not make it does not take away. */
START_TEST(directory_in_the_way)
{
    ck_assert_int_eq(write_tensors(&tensors, 1), NG_OK);
    ck_assert_int_eq(mkdir(scratch_path("root/.step-0000000002.partial"),
                           0777), 0);
    ck_assert_int_eq(mkdir(scratch_path("root/.step-0000000002.partial/mine"),
                           0777), 0);
    ck_assert_int_eq(write_tensors(&tensors, 2), NG_BAD_FILE);
    expect_line("root/.step-0000000002.partial", "directory: File exists");
    expect_first_alone(1);
    ck_assert_int_eq(rmdir(scratch_path("root/.step-0000000002.partial/mine")),
                     0);
    ck_assert_int_eq(write_tensors(&tensors, 2), NG_OK);
    ck_assert_int_eq(root_count(), 2);
}
END_TEST

START_TEST(file_in_the_way)
{
    ck_assert_int_eq(write_tensors(&tensors, 1), NG_OK);
    scratch_write("root/step-0000000002", "mine", 4);
    ck_assert_int_eq(write_tensors(&tensors, 2), NG_BAD_FILE);
    expect_line("root/step-0000000002", "rename: Not a directory");
    expect_first_alone(1);
    ck_assert_int_eq(unlink(scratch_path("root/step-0000000002")), 0);
}
END_TEST

/* Someone takes the partial directory away under the writer. */
START_TEST(partial_is_gone)
{
    ng_checkpoint_writer writer;

    ck_assert_int_eq(write_tensors(&tensors, 1), NG_OK);
    for (int added = 0; added < 2; added++) {
        ck_assert_int_eq(ng_checkpoint_begin(&writer, root(), 2, &error),
                         NG_OK);
        if (added)
            ck_assert_int_eq(ng_checkpoint_add(&writer, "a", &tensors, &error),
                             NG_OK);
        ng_checkpoint_remove(writer.partial);
        if (!added) {
            ck_assert_int_eq(ng_checkpoint_add(&writer, "a", &tensors, &error),
                             NG_BAD_FILE);
            expect_line("root/.step-0000000002.partial/a.safetensors",
                        "temporary file beside it: No such file or directory");
            ng_checkpoint_abandon(&writer);
        } else {
            ck_assert_int_eq(ng_checkpoint_commit(&writer, NULL, &error),
                             NG_BAD_FILE);
            expect_line("root/.step-0000000002.partial/manifest.json",
                        "temporary file beside it: No such file or directory");
        }
        ck_assert_ptr_null(writer.partial);
        expect_first_alone(0);
    }
}
END_TEST

START_TEST(bad_names_and_steps)
{
    static const int64_t steps[] = {-1, INT64_C(10000000000)};
    ng_checkpoint_writer writer;

    for (int i = 0; i < 2; i++) {
        char what[96];

        ck_assert_int_eq(ng_checkpoint_begin(&writer, root(), steps[i], &error),
                         NG_BAD_VALUE);
        snprintf(what, sizeof what, "step: %" PRId64 " is not in 0 .. "
                 "9999999999", steps[i]);
        expect_line("root", what);
        ck_assert_int_eq(scratch_count(), 0);
    }
    ck_assert_int_eq(ng_checkpoint_begin(&writer, root(), 2, &error), NG_OK);
    ck_assert_int_eq(ng_checkpoint_add(&writer, "", &tensors, &error),
                     NG_BAD_VALUE);
    expect_line("root/step-0000000002", "shard: \"\" cannot be a name");
    ck_assert_int_eq(ng_checkpoint_add(&writer, "a.b", &tensors, &error),
                     NG_BAD_VALUE);
    expect_line("root/step-0000000002", "shard: \"a.b\" cannot be a name");
    ck_assert_int_eq(ng_checkpoint_add(&writer, "a", &tensors, &error), NG_OK);
    ck_assert_int_eq(ng_checkpoint_add(&writer, "a", &tensors, &error),
                     NG_BAD_VALUE);
    expect_line("root/step-0000000002", "shard: \"a\" is there already");
    ng_checkpoint_abandon(&writer);
    ck_assert_int_eq(root_count(), 0);
}
END_TEST

/* ---- full disks ----------------------------------------------------------- */

/* The manifest, whose state is long, does not fit any more. (Nothing is asserted
 * under the limit: Check writes to a file, too.) */
START_TEST(no_space_for_the_manifest)
{
    const size_t sizes[] = {3000, 300000};  /* within a stream's buffer or not */
    struct rlimit limit;

    ck_assert_int_eq(write_tensors(&tensors, 1), NG_OK);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 2; i++) {
        const struct rlimit small = {1000, limit.rlim_max};
        char *words = calloc(sizes[i], 1);
        ng_checkpoint_writer writer;

        memset(words, 'w', sizes[i] - 1);

        json_t *state = json_string(words);

        ck_assert_int_eq(ng_checkpoint_begin(&writer, root(), 2, &error),
                         NG_OK);
        ck_assert_int_eq(ng_checkpoint_add(&writer, "a", &tensors, &error),
                         NG_OK);

        const int set = setrlimit(RLIMIT_FSIZE, &small);
        const ng_status status = ng_checkpoint_commit(&writer, state, &error);
        const int unset = setrlimit(RLIMIT_FSIZE, &limit);

        ck_assert(set == 0 && unset == 0);
        ck_assert_int_eq(status, NG_BAD_FILE);
        expect_line("root/.step-0000000002.partial/manifest.json",
                    "write: File too large");
        expect_first_alone(0);
        json_decref(state);
        free(words);
    }
}
END_TEST

/* ---- failing disks --------------------------------------------------------- */

/* Every sync in turn fails. Those of directories by which a file is named are
 * not needed: the checkpoint's own is. */
START_TEST(failing_sync)
{
    int n = 0, n_refused = 0;

    for (;; n++) {
        ck_assert_int_eq(write_tensors(&tensors, 1), NG_OK);
        fail_call(FAIL_FSYNC, n);
        const ng_status status = write_tensors(&tensors, 2);
        if (!fail_calls_no_more()) {
            ck_assert_int_eq(status, NG_OK);
            break;
        }
        ck_assert(status == NG_OK || status == NG_BAD_FILE);
        if (status == NG_BAD_FILE) {
            n_refused++;
            ck_assert_ptr_nonnull(strstr(error.text,
                                         ": sync: Input/output error"));
        }
        /* All or nothing: the last sync, the root's, comes after the rename. */
        if (status == NG_BAD_FILE && strstr(error.text, "partial") != NULL)
            expect_first_alone(0);
        else
            expect_first_alone(1);
        if (root_count() == 2) {
            char *path = latest();

            ck_assert_ptr_nonnull(strstr(path, "step-0000000002"));
            ng_checkpoint_remove(path);
            free(path);
        }
    }
    /* the shard, the manifest, the partial directory, the root */
    ck_assert_int_eq(n_refused, 4);
    ck_assert_int_eq(ng_checkpoint_sync(scratch_path("none"), &error),
                     NG_BAD_FILE);
    expect_line("none", "sync: No such file or directory");
}
END_TEST

/* A file system that cannot exchange: the old one goes, then the new comes. */
START_TEST(replaced_without_exchange)
{
    ck_assert_int_eq(write_tensors(&tensors, 1), NG_OK);
    ((char *)tensors.tensors[0].data)[0] = 'x';
    fail_call(FAIL_EXCHANGE, 0);
    ck_assert_int_eq(write_tensors(&tensors, 1), NG_OK);
    ck_assert(fail_calls_no_more());

    ng_checkpoint checkpoint;
    ng_tensor_file back;

    ck_assert_int_eq(root_count(), 1);
    ck_assert_int_eq(ng_checkpoint_open(&checkpoint,
                                        scratch_path("root/step-0000000001"),
                                        &error), NG_OK);
    ck_assert_int_eq(ng_checkpoint_load(&back, &checkpoint, "optimizer",
                                        &error), NG_OK);
    ck_assert_mem_eq(back.tensors[0].data, "x2345", 5);
    ng_tensor_file_free(&back);
    ng_checkpoint_close(&checkpoint);
}
END_TEST

/* An old one that cannot be taken away, for it holds more than files. */
START_TEST(replaced_in_vain)
{
    ck_assert_int_eq(write_tensors(&tensors, 1), NG_OK);
    ck_assert_int_eq(mkdir(scratch_path("root/step-0000000002"), 0777), 0);
    ck_assert_int_eq(mkdir(scratch_path("root/step-0000000002/mine"), 0777), 0);
    fail_call(FAIL_EXCHANGE, 0);
    ck_assert_int_eq(write_tensors(&tensors, 2), NG_BAD_FILE);
    ck_assert(fail_calls_no_more());
    expect_line("root/step-0000000002", "rename: Directory not empty");
    expect_first_alone(1);
    ck_assert_int_eq(rmdir(scratch_path("root/step-0000000002/mine")), 0);
}
END_TEST

/* A list of checkpoints that breaks off is not taken for the whole: an older
 * one, or none, would be resumed. */
START_TEST(trap_list_that_breaks_off)
{
    int n = 0;

    ck_assert_int_eq(write_tensors(&tensors, 1), NG_OK);
    for (;; n++) {
        char *path = scratch;

        fail_call(FAIL_READDIR, n);
        const ng_status status = ng_checkpoint_latest(&path, root(), &error);
        if (!fail_calls_no_more()) {
            ck_assert_int_eq(status, NG_OK);
            free(path);
            break;
        }
        ck_assert_int_eq(status, NG_BAD_FILE);
        expect_line("root", "read: Input/output error");
        ck_assert_ptr_null(path);
    }
    ck_assert_int_eq(n, 4);             /* ".", "..", the one, the end */
}
END_TEST

/* ---- reading --------------------------------------------------------------- */

static char manifest[512];

static void make_one(void)
{
    ck_assert_int_eq(write_tensors(&tensors, 1), NG_OK);
    strcpy(manifest, scratch_path("root/step-0000000001/manifest.json"));
}

static void expect_refused(const char *file, const char *what)
{
    ng_checkpoint checkpoint = {.step = 77};
    char path[512];

    snprintf(path, sizeof path, "root/step-0000000001/%s", file);
    ck_assert_int_eq(ng_checkpoint_open(&checkpoint,
                                        scratch_path("root/step-0000000001"),
                                        &error), NG_BAD_FILE);
    expect_line(path, what);
    ck_assert_int_eq(checkpoint.step, 77);
}

START_TEST(manifests)
{
    make_one();
    ck_assert_int_eq(truncate(manifest, (64 << 20) + 1), 0);
    expect_refused("manifest.json", "size: 67108865 bytes are more than "
                                    "67108864");
    overwrite(manifest, "{\"a\": }", 7);
    expect_refused("manifest.json",
                   "JSON: line 1: unexpected token near '}'");
    overwrite(manifest, "{\"schema\": \"narrowgauge-checkpoint-1\"}", 38);
    expect_refused("manifest.json",
                   "checksum: does not fit: the file is altered or cut");
    ck_assert_int_eq(unlink(manifest), 0);
    expect_refused("manifest.json", "open: No such file or directory");
}
END_TEST

/* The step is used in sums: no number beyond what is ever written. */
START_TEST(trap_step_out_of_range)
{
    make_one();
    forge(manifest, "{\"step\": 10000000000}");
    expect_refused("manifest.json", "step: is not a number of steps");
    forge(manifest, "{\"step\": 9223372036854775807}");
    expect_refused("manifest.json", "step: is not a number of steps");
    forge(manifest, "{\"step\": true}");
    expect_refused("manifest.json", "step: is not a number of steps");
}
END_TEST

/* A checkpoint that was given another step's name would be the latest. A name
 * of another kind says nothing. */
START_TEST(trap_renamed)
{
    ng_checkpoint checkpoint;
    char *path;

    make_one();
    ck_assert_int_eq(rename(scratch_path("root/step-0000000001"),
                            scratch_path("root/step-0000000009")), 0);
    path = latest();
    ck_assert_int_eq(ng_checkpoint_open(&checkpoint, path, &error),
                     NG_BAD_FILE);
    expect_line("root/step-0000000009/manifest.json",
                "step: 1, the directory's name says 9");
    ck_assert_int_eq(rename(path, scratch_path("root/best")), 0);
    free(path);
    ck_assert_int_eq(ng_checkpoint_open(&checkpoint, scratch_path("root/best"),
                                        &error), NG_OK);
    ck_assert_int_eq(checkpoint.step, 1);
    ng_checkpoint_close(&checkpoint);
    ng_checkpoint_close(NULL);
}
END_TEST

/* A shard that the manifest does not name has no checksum. */
START_TEST(shards)
{
    ng_checkpoint checkpoint;
    ng_tensor_file back = {.n_tensors = 77};

    make_one();
    ck_assert_int_eq(ng_checkpoint_open(&checkpoint,
                                        scratch_path("root/step-0000000001"),
                                        &error), NG_OK);
    ck_assert_int_eq(ng_checkpoint_load(&back, &checkpoint, "../x", &error),
                     NG_BAD_VALUE);
    expect_line("root/step-0000000001", "shard: \"../x\" cannot be a name");
    scratch_write("root/step-0000000001/stray.safetensors", "", 0);
    ck_assert_int_eq(ng_checkpoint_load(&back, &checkpoint, "stray", &error),
                     NG_BAD_FILE);
    expect_line("root/step-0000000001/stray.safetensors",
                "manifest: does not name this shard");
    ck_assert_uint_eq(back.n_tensors, 77);
    ng_checkpoint_close(&checkpoint);
    forge(manifest, "{\"files\": [{\"name\": \"manifest.json\", \"bytes\": 1, "
                    "\"xxh3\": 5}]}");
    expect_refused("manifest.json", "files: has a bad entry");
    forge(manifest, "{\"files\": [{\"name\": \"stray.safetensors\", \"bytes\": "
                    "0, \"xxh3\": \"00\"}]}");
    expect_refused("stray.safetensors", "checksum: 2d06800538d394c2, the "
                                        "manifest says 00");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint_refusals");
    TCase *tcase = tcase_create("checkpoint_refusals");

    tcase_add_checked_fixture(tcase, set_up, clear);
    tcase_add_test(tcase, no_root);
    tcase_add_test(tcase, directory_in_the_way);
    tcase_add_test(tcase, file_in_the_way);
    tcase_add_test(tcase, partial_is_gone);
    tcase_add_test(tcase, bad_names_and_steps);
    tcase_add_test(tcase, no_space_for_the_manifest);
    tcase_add_test(tcase, failing_sync);
    tcase_add_test(tcase, replaced_without_exchange);
    tcase_add_test(tcase, replaced_in_vain);
    tcase_add_test(tcase, trap_list_that_breaks_off);
    tcase_add_test(tcase, manifests);
    tcase_add_test(tcase, trap_step_out_of_range);
    tcase_add_test(tcase, trap_renamed);
    tcase_add_test(tcase, shards);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
