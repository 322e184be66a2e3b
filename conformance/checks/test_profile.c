/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles: the built-in ones, a user's own file, and what is refused with the
 * line and the field named.
 */
#include <sys/stat.h>

#include "conformance/checks/scratch.h"
#include "formats/profile.h"

static ng_profile profile;
static ng_error error;

/* A refused profile leaves these bytes alone. */
static void poison(void)
{
    memset(&profile, 0xA5, sizeof profile);
    memset(&error, 0xA5, sizeof error);
}

static bool untouched(void)
{
    const unsigned char *bytes = (const unsigned char *)&profile;

    for (size_t i = 0; i < sizeof profile; i++)
        if (bytes[i] != 0xA5)
            return false;
    return true;
}

/* A text of n bytes is refused with this error. */
static void refuses_bytes(const char *text, size_t n, const char *want)
{
    poison();
    ck_assert_int_eq(
        ng_profile_parse(&profile, "p", text, n, "there", &error),
        NG_BAD_FILE);
    ck_assert_str_eq(error.text, want);
    ck_assert(untouched());
}

static void refuses(const char *text, const char *want)
{
    refuses_bytes(text, strlen(text), want);
}

START_TEST(bad_texts)
{
    char line[2048], version[80], want[1024];

    refuses("", "there: version: missing");
    refuses("source s\n", "there: version: missing");
    refuses("version 1\n", "there: source: missing");
    refuses("version 1\nversion 2\nsource s", "there:2: version: given twice");
    refuses("source s\nsource s\n", "there:2: source: given twice");
    refuses("rounding up\nrounding up\n", "there:2: rounding: given twice");
    refuses("\n# words\nrouding up\n", "there:3: rouding: no such rule");
    refuses("rounding sideways",
            "there:1: rounding: no such value: sideways");
    refuses("headroom 9", "there:1: headroom: no such value: 9");
    refuses("rounding up down", "there:1: rounding: no such value: up down");
    refuses("rounding\n", "there:1: rounding: no value");
    refuses("version # 1\n", "there:1: version: no value");
    /* What the reports show: bad UTF-8 would be no JSON, and U+009B steers. */
    refuses("version 1\xFF\n", "there:1: version: no plain text in UTF-8");
    refuses("version 1\nsource a\033[2J\n",
            "there:2: source: no plain text in UTF-8");
    refuses("source a\xC2\x9B\n", "there:1: source: no plain text in UTF-8");
    refuses_bytes("version 1\0\n", 11,
                  "there:1: line: too long, or not text");
    memset(line, 'x', sizeof line);
    refuses_bytes(line, 1024, "there:1: line: too long, or not text");
    snprintf(version, sizeof version, "version %.64s", line);
    refuses(version, "there:1: version: longer than 63 bytes");
    snprintf(want, sizeof want, "source %.256s", line);
    refuses(want, "there:1: source: longer than 255 bytes");
    line[64] = '\0';
    poison();
    ck_assert_int_eq(ng_profile_parse(&profile, line, "", 0, "there", &error),
                     NG_BAD_FILE);
    ck_assert_str_eq(error.text, "there: name: too long");
    ck_assert(untouched());
    ck_assert_int_eq(ng_profile_parse(&profile, "", "", 0, "there", &error),
                     NG_BAD_FILE);
    ck_assert_str_eq(error.text, "there: name: no plain text in UTF-8");
    ck_assert(untouched());
}
END_TEST

static const char good[] = "# words\r\n"
                           "version\t 1.2   # more\n"
                           "  source  a file, with blanks  \n"
                           "\n"
                           "rounding   toward-zero\r\n"
                           "headroom 0";        /* no newline at the end */

static void expect_good(const char *name)
{
    ng_rules rules = ng_default_rules;

    rules.rounding = NG_TOWARD_ZERO;
    rules.headroom = 0;
    ck_assert_str_eq(profile.name, name);
    ck_assert_str_eq(profile.version, "1.2");
    ck_assert_str_eq(profile.source, "a file, with blanks");
    ck_assert_int_eq(memcmp(&profile.rules, &rules, sizeof rules), 0);
    for (int r = 0; r < NG_N_RULES; r++)
        ck_assert_int_eq(profile.pinned[r],
                         r == NG_RULE_ROUNDING || r == NG_RULE_HEADROOM);
}

START_TEST(good_text)
{
    ck_assert_int_eq(ng_profile_parse(&profile, "p", good, sizeof good - 1,
                                      "there", NULL), NG_OK);
    expect_good("p");
}
END_TEST

START_TEST(own_file)
{
    const char *path = scratch_path("mine.profile");

    scratch_write("mine.profile", good, sizeof good - 1);
    ck_assert_int_eq(ng_profile_load(&profile, path, &error), NG_OK);
    expect_good("mine");
    /* In the working folder the suffix alone tells a file from a name. */
    ck_assert_int_eq(chdir(scratch), 0);
    poison();
    ck_assert_int_eq(ng_profile_load(&profile, "mine.profile", &error), NG_OK);
    expect_good("mine");
    /* Beside a '/' no suffix is needed. */
    scratch_write("theirs", good, sizeof good - 1);
    ck_assert_int_eq(ng_profile_load(&profile, "./theirs", &error), NG_OK);
    expect_good("theirs");
    scratch_write("mine.profile.2.profile", good, sizeof good - 1);
    ck_assert_int_eq(ng_profile_load(&profile, "mine.profile.2.profile", &error),
                     NG_OK);
    expect_good("mine.profile.2");
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

/* Loading fails with an error that opens with the path, then these words. */
static void load_refuses(const char *path, const char *words)
{
    char want[640];

    snprintf(want, sizeof want, "%s%s", path, words);
    poison();
    ck_assert_int_eq(ng_profile_load(&profile, path, &error), NG_BAD_FILE);
    ck_assert_str_eq(error.text, want);
    ck_assert(untouched());
}

START_TEST(bad_files)
{
    static char bytes[64 * 1024 + 1];
    char long_name[64 + sizeof ".profile"];

    memset(long_name, 'n', 64);
    strcpy(long_name + 64, ".profile");

    load_refuses("nothing", ": profile: no such name (narrowgauge ops "
                            "--profiles lists them)");
    load_refuses("", ": profile: no such name (narrowgauge ops --profiles "
                     "lists them)");
    load_refuses(".profile", ": profile: no such name (narrowgauge ops "
                             "--profiles lists them)");
    load_refuses(scratch_path("missing.profile"),
                 ": open: No such file or directory");
    load_refuses("/", ": open: not a regular file");
    ck_assert_int_eq(mkfifo(scratch_path("pipe.profile"), 0600), 0);
    load_refuses(scratch_path("pipe.profile"), ": open: not a regular file");
    memset(bytes, '\n', sizeof bytes);
    scratch_write("large.profile", bytes, sizeof bytes);
    load_refuses(scratch_path("large.profile"),
                 ": size: over 65536 bytes");
    scratch_write("just.profile", bytes, sizeof bytes - 1);
    load_refuses(scratch_path("just.profile"), ": version: missing");
    scratch_write("binary.profile", "\x7F" "ELF\0\0\0\n", 8);
    load_refuses(scratch_path("binary.profile"),
                 ":1: line: too long, or not text");
    scratch_write("bad.profile", "version 1\nrounding odd\n", 23);
    load_refuses(scratch_path("bad.profile"),
                 ":2: rounding: no such value: odd");
    scratch_write("\xFF.profile", good, sizeof good - 1);
    poison();
    ck_assert_int_eq(
        ng_profile_load(&profile, scratch_path("\xFF.profile"), &error),
        NG_BAD_FILE);
    ck_assert_ptr_nonnull(
        strstr(error.text, "/?.profile: name: no plain text in UTF-8"));
    scratch_write(long_name, good, sizeof good - 1);
    load_refuses(scratch_path(long_name), ": name: too long");
}
END_TEST

/* Each by its name, and with what its text pins among the rules. */
START_TEST(built_in)
{
    const char *name;
    int n = 0;

    for (; (name = ng_profile_name(n)) != NULL; n++) {
        ck_assert_int_eq(ng_profile_load(&profile, name, &error), NG_OK);
        ck_assert_str_eq(profile.name, name);
        ck_assert(ng_rules_valid(&profile.rules));
        for (int r = 0; r < NG_N_RULES; r++)
            if (!profile.pinned[r])
                ck_assert_int_eq(ng_rules_get(&profile.rules, (ng_rule)r),
                                 ng_rules_get(&ng_default_rules, (ng_rule)r));
        for (int i = 0; i < n; i++)
            ck_assert_str_ne(ng_profile_name(i), name);
    }
    ck_assert_int_gt(n, 1);
    ck_assert_ptr_null(ng_profile_name(-1));
    ck_assert_ptr_null(ng_profile_name(n + 1));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("profile");
    TCase *tcase = tcase_create("profile");

    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_add_test(tcase, bad_texts);
    tcase_add_test(tcase, good_text);
    tcase_add_test(tcase, own_file);
    tcase_add_test(tcase, bad_files);
    tcase_add_test(tcase, built_in);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
