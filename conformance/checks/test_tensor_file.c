/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that appear whole or not at all, whatever fails; files by suffix; the
 * list of tensors; names and UTF-8.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>

#include "conformance/checks/scratch.h"
#include "formats/files/file_error.h"
#include "formats/text.h"
#include "formats/files/tensor_path.h"

static ng_error error;

/* Two tensors' worth of input for the tests below, and what to look for. */
static uint8_t bytes[100000];
static ng_tensor tensor;
static ng_tensor_file file;

static void set_up(void)
{
    scratch_make();
    tensor = ng_tensor_dense("x", NG_U8, 1, (int64_t[]){100000}, bytes);
    file = (ng_tensor_file){.tensors = &tensor, .n_tensors = 1};
}

static void expect_failure(const char *path, const char *says, int n_left)
{
    ck_assert_int_eq(ng_tensor_file_write(path, &file, &error), NG_BAD_FILE);
    ck_assert_msg(strstr(error.text, says) != NULL, "\"%s\" lacks \"%s\"",
                  error.text, says);
    ck_assert_int_eq(scratch_count(), n_left);
}

START_TEST(no_place_to_write)
{
    expect_failure(scratch_path("none/x.npy"), "x.npy: temporary file beside "
                   "it: No such file or directory", 0);
    expect_failure(scratch_path("none/x.safetensors"), "No such file", 0);
    scratch_write("plain", "", 0);
    expect_failure(scratch_path("plain/x.npy"), ": open: Not a directory", 1);
    ck_assert_int_eq(mkdir(scratch_path("x.npy"), 0700), 0);
    expect_failure(scratch_path("x.npy"), "x.npy: open: exists and is not a "
                   "regular file", 2);
    ck_assert_int_eq(mkfifo(scratch_path("y.npy"), 0600), 0);
    expect_failure(scratch_path("y.npy"), "is not a regular file", 3);
}
END_TEST

START_TEST(no_permission)
{
    ck_assert_int_eq(chmod(scratch, 0555), 0);
    if (geteuid() == 0 && seteuid(65534) != 0)
        return;                         /* root alone may write everywhere */
    expect_failure(scratch_path("x.npy"), "Permission denied", 0);
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(chmod(scratch, 0755), 0);
}
END_TEST

/* A disk that fills up, played by a limit on the size of a file: it strikes in
 * the middle of the data, or only as the buffer is flushed by the commit. */
START_TEST(no_space)
{
    static const struct {
        rlim_t limit;
        int64_t units;
    } cases[] = {{50000, 100000}, {4, 1}, {100100, 100000}};

    scratch_write("x.npy", "before", 6);
    scratch_write("x.safetensors", "before", 6);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct rlimit small = {cases[i].limit, RLIM_INFINITY};
        const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};

        tensor.shape[0] = cases[i].units;
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
        ng_error npy, safetensors;
        const ng_status a =
            ng_tensor_file_write(scratch_path("x.npy"), &file, &npy);
        const ng_status b = ng_tensor_file_write(
            scratch_path("x.safetensors"), &file, &safetensors);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
        ck_assert_int_eq(a, NG_BAD_FILE);
        ck_assert_ptr_nonnull(strstr(npy.text, "npy: write: File too large"));
        ck_assert_int_eq(b, i < 2 ? NG_BAD_FILE : NG_OK);
        if (i < 2)
            ck_assert_ptr_nonnull(
                strstr(safetensors.text, "tensors: write: File too large"));
        ck_assert_int_eq(scratch_count(), 2);
    }
    size_t size;
    unsigned char *kept = scratch_read(&size, scratch_path("x.npy"));
    ck_assert_uint_eq(size, 6);
    ck_assert_mem_eq(kept, "before", 6);
    free(kept);
}
END_TEST

START_TEST(rename_fails)
{
    const char *path = scratch_path("x");
    ng_atomic_file atomic;

    ck_assert_int_eq(ng_atomic_begin(&atomic, path, &error), NG_OK);
    ck_assert_int_eq(ng_atomic_write(&atomic, "abc", 3, &error), NG_OK);
    ck_assert_int_eq(scratch_count(), 1);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(ng_atomic_commit(&atomic, &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "x: rename: Is a directory"));
    ck_assert_int_eq(scratch_count(), 1);
    ng_atomic_abandon(&atomic);         /* idle by now */
}
END_TEST

START_TEST(sync_fails)
{
    ng_atomic_file atomic;

    ck_assert_int_eq(ng_atomic_begin(&atomic, scratch_path("x"), NULL), NG_OK);
    close(fileno(atomic.stream));       /* nor can it be closed */
    ck_assert_int_eq(ng_atomic_commit(&atomic, &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "x: sync: Bad file descriptor"));
    ck_assert_int_eq(scratch_count(), 0);
}
END_TEST

/* A failed print that nobody looked at is found by the commit. */
START_TEST(stream_error)
{
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    const struct rlimit small = {4, RLIM_INFINITY};
    ng_atomic_file atomic;

    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(ng_atomic_begin(&atomic, scratch_path("x"), NULL), NG_OK);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    fprintf(atomic.stream, "some %s", "text");
    fflush(atomic.stream);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    ck_assert_int_eq(ng_atomic_commit(&atomic, &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "x: write: an earlier write"));
    ck_assert_int_eq(scratch_count(), 0);
}
END_TEST

START_TEST(abandoned)
{
    const char *path = scratch_write("x", "before", 6);
    ng_atomic_file atomic;
    size_t size;

    ck_assert_int_eq(ng_atomic_begin(&atomic, path, &error), NG_OK);
    ck_assert_int_eq(ng_atomic_write(&atomic, "after", 5, &error), NG_OK);
    ng_atomic_abandon(&atomic);
    free(scratch_read(&size, path));
    ck_assert_uint_eq(size, 6);
    ck_assert_int_eq(scratch_count(), 1);
}
END_TEST

/* Temporary files that an earlier process of this number left are no one's to
 * overwrite. */
START_TEST(stale_temporaries)
{
    char name[64];
    size_t size;

    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, ".ng-%ld-%d.tmp", (long)getpid(), i);
        scratch_write(name, "", 0);
    }
    ck_assert_int_eq(ng_tensor_file_write(scratch_path("x.npy"), &file, &error),
                     NG_OK);
    ck_assert_int_eq(scratch_count(), 6);
    free(scratch_read(&size, scratch_path(name)));
    ck_assert_uint_eq(size, 0);
}
END_TEST

/* The permissions of a new file are the umask's, of an old one its own; a link
 * stays a link. */
START_TEST(permissions_and_links)
{
    struct stat facts;

    umask(0027);
    ck_assert_int_eq(ng_tensor_file_write(scratch_path("x.npy"), &file, &error),
                     NG_OK);
    ck_assert_int_eq(stat(scratch_path("x.npy"), &facts), 0);
    ck_assert_int_eq(facts.st_mode & 0777, 0640);
    ck_assert_int_eq(chmod(scratch_path("x.npy"), 0604), 0);
    ck_assert_int_eq(symlink("x.npy", scratch_path("link.npy")), 0);
    tensor.shape[0] = 1;
    ck_assert_int_eq(
        ng_tensor_file_write(scratch_path("link.npy"), &file, &error), NG_OK);
    ck_assert_int_eq(lstat(scratch_path("x.npy"), &facts), 0);
    ck_assert_int_eq(facts.st_mode & 0777, 0604);
    ck_assert_int_eq(facts.st_size, 129);
    ck_assert_int_eq(lstat(scratch_path("link.npy"), &facts), 0);
    ck_assert(S_ISLNK(facts.st_mode));
    ck_assert_int_eq(scratch_count(), 2);
}
END_TEST

/* A name without a folder is in the current one. */
START_TEST(relative)
{
    ng_tensor_file back;

    ck_assert_int_eq(chdir(scratch), 0);
    for (int i = 0; i < 2; i++) {
        const char *path = i == 0 ? "r.safetensors" : "r.npy";

        ck_assert_int_eq(ng_tensor_file_write(path, &file, &error), NG_OK);
        ck_assert_int_eq(ng_tensor_file_read(&back, path, &error), NG_OK);
        ck_assert_str_eq(back.tensors[0].name, i == 0 ? "x" : "r");
        ck_assert_mem_eq(back.tensors[0].data, bytes, sizeof bytes);
        ng_tensor_file_free(&back);
    }
    ck_assert_int_eq(scratch_count(), 2);
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(suffixes)
{
    static const char *const bad[] = {"x", "x.npz", "x.NPY", "npy",
                                      "x.safetensors.bak", ""};
    ng_tensor_file out = {0};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect_failure(scratch_path(bad[i]), ": name: ends in neither", 0);
        ck_assert_int_eq(
            ng_tensor_file_read(&out, scratch_path(bad[i]), &error),
            NG_BAD_FILE);
        ck_assert_ptr_nonnull(strstr(error.text, ": name: ends in neither"));
    }
    file.n_tensors = 0;
    expect_failure(scratch_path("x.npy"), "npy: tensors: 0 to write", 0);
    file.n_tensors = 2;
    expect_failure(scratch_path("x.npy"), "npy: tensors: 2 to write", 0);
    ck_assert_int_eq(ng_tensor_file_write(NULL, &file, &error),
                     NG_BAD_POINTER);
    ck_assert_int_eq(ng_tensor_file_read(&out, NULL, &error), NG_BAD_POINTER);
}
END_TEST

START_TEST(list)
{
    static const int64_t shape[] = {2, 3}, huge[] = {INT64_MAX, 2},
                         minus[] = {-1}, large[] = {INT64_MAX};
    ng_tensor_file made = {0};
    void *first = NULL, *data = NULL;
    char name[32];

    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "t%d", i);
        ck_assert_int_eq(ng_tensor_file_add_tensor(
                             i == 0 ? &first : &data, &made, name, NG_FP32, 2,
                             shape), NG_OK);
        ck_assert_int_eq(ng_tensor_file_add_metadata(&made, name, "v"), NG_OK);
    }
    ck_assert_ptr_eq(ng_tensor_file_find(&made, "t0")->data, first);
    ck_assert_ptr_eq(ng_tensor_file_find(&made, "t99")->data, data);
    for (int i = 0; i < 6; i++)
        ck_assert(((float *)data)[i] == 0.0f);
    ck_assert_int_eq(ng_tensor_file_add_tensor(NULL, &made, "", NG_U8, 0, NULL),
                     NG_BAD_FILE);
    ck_assert_int_eq(ng_tensor_file_add_tensor(NULL, &made, "x", NG_N_DTYPES, 0,
                                               NULL), NG_BAD_DTYPE);
    ck_assert_int_eq(ng_tensor_file_add_tensor(NULL, &made, "x", NG_U8, 5,
                                               shape), NG_BAD_SHAPE);
    ck_assert_int_eq(ng_tensor_file_add_tensor(NULL, &made, "x", NG_U8, 2,
                                               huge), NG_BAD_SHAPE);
    ck_assert_int_eq(ng_tensor_file_add_tensor(NULL, &made, "x", NG_U8, 1,
                                               minus), NG_BAD_SHAPE);
    ck_assert_int_eq(ng_tensor_file_add_tensor(NULL, &made, "x", NG_U16, 1,
                                               large), NG_BAD_SHAPE);
    ck_assert_uint_eq(made.n_tensors, 100);
    ng_tensor_file_free(&made);
    ck_assert_uint_eq(made.n_tensors, 0);
    ng_tensor_file_free(NULL);
}
END_TEST

START_TEST(utf8)
{
    static const char *const good[] = {"", "plain", "\xc2\x80", "\xdf\xbf",
                                       "\xe0\xa0\x80", "\xed\x9f\xbf",
                                       "\xee\x80\x80", "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {
        "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2x", "\xe0\x9f\xbf",
        "\xe0\xa0", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
        "\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xfe",
        "\xff"};

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert(ng_is_utf8(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert(!ng_is_utf8(bad[i]));
    ck_assert_ptr_null(ng_tensor_name_fault("layers.0/\xc3\xa9 \xc2\xa0"));
    ck_assert_ptr_nonnull(ng_tensor_name_fault("\xc2\x9f"));
    ck_assert_ptr_nonnull(ng_tensor_name_fault("\n"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tensor_file");
    TCase *tcase = tcase_create("tensor_file");

    tcase_add_checked_fixture(tcase, set_up, scratch_remove);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, no_place_to_write);
    tcase_add_test(tcase, no_permission);
    tcase_add_test(tcase, no_space);
    tcase_add_test(tcase, rename_fails);
    tcase_add_test(tcase, sync_fails);
    tcase_add_test(tcase, stream_error);
    tcase_add_test(tcase, abandoned);
    tcase_add_test(tcase, stale_temporaries);
    tcase_add_test(tcase, permissions_and_links);
    tcase_add_test(tcase, relative);
    tcase_add_test(tcase, suffixes);
    tcase_add_test(tcase, list);
    tcase_add_test(tcase, utf8);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
