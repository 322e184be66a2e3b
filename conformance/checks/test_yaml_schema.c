/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML by a schema: what is taken, and one line for each thing that is not.
 */
#include <check.h>
#include <time.h>

#include "conformance/checks/scratch.h"
#include "formats/files/yaml_schema.h"

typedef struct sample {
    int64_t layers;
    double rate;
    bool fast;
    int colour;
    char name[8];
} sample;

static const char *const colours[] = {"red", "green", NULL};

static const ng_yaml_field fields[] = {
    {"model.layers", NG_YAML_WHOLE, offsetof(sample, layers), 1, 61, NULL, 0,
     true, "layers"},
    {"model.deep.rate", NG_YAML_NUMBER, offsetof(sample, rate), 0, 1, NULL, 0,
     false, "rate"},
    {"fast", NG_YAML_FLAG, offsetof(sample, fast), 0, 0, NULL, 0, false, ""},
    {"colour", NG_YAML_CHOICE, offsetof(sample, colour), 0, 0, colours, 0,
     false, ""},
    {"name", NG_YAML_TEXT, offsetof(sample, name), 0, 0, NULL, 8, false, ""}};

static const ng_yaml_schema schema = {fields, 5};
static ng_error error;
static int lines[5];

static ng_status read_text(sample *out, const char *text)
{
    error.text[0] = '\0';
    return ng_yaml_read(out, lines, &schema,
                        scratch_write("c.yaml", text, strlen(text)), &error);
}

START_TEST(taken)
{
    sample s = {.rate = 0.25, .name = "kept"};

    ck_assert_int_eq(read_text(&s, "# remark\nmodel:\n  layers: 61\n"
                                   "fast: true\ncolour: \"green\"\n"),
                     NG_OK);
    ck_assert_int_eq(s.layers, 61);
    ck_assert(s.rate == 0.25);
    ck_assert(s.fast);
    ck_assert_int_eq(s.colour, 1);
    ck_assert_str_eq(s.name, "kept");
    ck_assert_int_eq(lines[0], 3);
    ck_assert_int_eq(lines[1], 0);
    ck_assert_int_eq(lines[2], 4);
    ck_assert_int_eq(
        read_text(&s, "{model: {layers: 1, deep: {rate: 1e-3}}, name: '7 b'}"),
        NG_OK);
    ck_assert(s.rate == 1e-3);
    ck_assert_str_eq(s.name, "7 b");
}
END_TEST

START_TEST(refused)
{
    static const struct {
        const char *text, *line;
    } cases[] = {
        {"model: {layers: 1}\nmodell: 3\n", "c.yaml:2: modell: there is no"},
        {"model:\n  layers: 1\n  wide: 2\n", "c.yaml:3: model.wide: there is"},
        {"model:\n  layers: 1\n  layers: 2\n", ":3: model.layers: stands"},
        {"fast: true\n", "c.yaml: model.layers: is missing"},
        {"model:\n  layers: 62\n", ":2: model.layers: \"62\" is out of range"},
        {"model:\n  layers: 0\n", ":2: model.layers: \"0\" is out of range"},
        {"model:\n  layers: 99999999999999999999\n", "is out of range"},
        {"model:\n  layers: 1.5\n", "is not a whole number"},
        {"model:\n  layers: '1'\n", "is not a whole number"},
        {"model:\n  layers: 1-2\n", "is not a whole number"},
        {"model:\n  layers: [1]\n", "is not a single value"},
        {"model:\n  layers:\n", "is not a whole number"},
        {"model: 3\n", "c.yaml:1: model: there is no such field"},
        {"fast:\n  deep: 1\n", "c.yaml:1: fast: is not a single value"},
        {"model: {layers: 1, deep: {rate: nan}}\n", "is not a number"},
        {"model: {layers: 1, deep: {rate: .inf}}\n", "is not a number"},
        {"model: {layers: 1, deep: {rate: 1e999}}\n", "is out of range"},
        {"model: {layers: 1, deep: {rate: 0x1}}\n", "is not a number"},
        {"fast: yes\n", "is neither true nor false"},
        {"colour: blue\n", "\"blue\" is none of its choices (red, green)"},
        {"name: 12345678\n", "is too long"},
        {"name: \"a\\nb\"\n", "holds a control byte"},
        {"name: \"a\\0b\"\n", "holds a NUL byte"},
        {"\"na\\0me\": a\n", "key: is not a name"},
        {"? [a]\n: b\n", "key: is not a name"},
        {"name: &x a\ncolour: *x\n", "an alias"},
        {"model: &m\n  deep: *m\n", "an alias"},
        {"name: !!binary aaaa\n", "a tag"},
        {"name: !mine a\n", "a tag"},
        {"<<: {name: a}\n", "there is no such field"},
        {"model: {layers: 1}\n---\nfast: true\n", "document: a second one"},
        {"- 1\n", "document: is not a mapping"},
        {"", "document: is not a mapping"},
        {"model: {layers: 1\n", "YAML: "},
        {"name: \"open\n", "YAML: "},
        {"\tname: a\n", "YAML: "},
        {"name: \xff\xfe\n", "YAML: "},
    };
    sample s = {.layers = 1};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(read_text(&s, cases[i].text), NG_BAD_FILE);
        ck_assert_msg(strstr(error.text, cases[i].line) != NULL,
                      "%s: \"%s\" does not hold \"%s\"", cases[i].text,
                      error.text, cases[i].line);
        ck_assert_ptr_null(strchr(error.text, '\n'));
    }
    ck_assert_int_eq(
        ng_yaml_read(&s, lines, &schema, scratch_path("none"), &error),
        NG_BAD_FILE);
}
END_TEST

/* Files that are made to cost time or memory are refused within a second. */
START_TEST(hostile)
{
    static const char *const repeated[] = {"[",      "{a: ",
                                           "- ",     "? ",
                                           "a:\n ",  "&a ",
                                           "*a ",    "!a ",
                                           "\"",     "---\n",
                                           "a: b\n", "%YAML 1.1\n",
                                           "|\n",    "- - - - - - -\n",
                                           "# #\n"};
    static char text[NG_YAML_MAX_BYTES + 2];
    sample s = {.layers = 1};

    for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
        const size_t length = strlen(repeated[i]);
        const clock_t start = clock();

        for (size_t at = 0; at < sizeof text - 1; at++)
            text[at] = repeated[i][at % length];
        text[NG_YAML_MAX_BYTES] = '\0';
        ck_assert_int_eq(read_text(&s, text), NG_BAD_FILE);
        ck_assert_msg((double)(clock() - start) / CLOCKS_PER_SEC < 5.0,
                      "%s: slow", repeated[i]);
    }
    /* Indentation that grows. */
    size_t at = 0;
    for (size_t depth = 0; at + depth + 4 < NG_YAML_MAX_BYTES; depth++) {
        memset(text + at, ' ', depth);
        memcpy(text + at + depth, "a:\n", 3);
        at += depth + 3;
    }
    text[at] = '\0';
    ck_assert_int_eq(read_text(&s, text), NG_BAD_FILE);
    memset(text, ' ', NG_YAML_MAX_BYTES + 1);
    text[NG_YAML_MAX_BYTES + 1] = '\0';
    ck_assert_int_eq(read_text(&s, text), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "size: 65537 bytes are more"));
}
END_TEST

START_TEST(assignments)
{
    sample s = {.layers = 1};

    lines[0] = 9;
    ck_assert_int_eq(ng_yaml_set(&s, lines, &schema, "model.layers=7", &error),
                     NG_OK);
    ck_assert_int_eq(s.layers, 7);
    ck_assert_int_eq(lines[0], 0);
    ck_assert_int_eq(ng_yaml_set(&s, lines, &schema, "name=a=b", &error),
                     NG_OK);
    ck_assert_str_eq(s.name, "a=b");
    ck_assert_int_eq(ng_yaml_set(&s, lines, &schema, "model.layers=x", &error),
                     NG_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(error.text, "model.layers=x: model.layers:"));
    ck_assert_int_eq(ng_yaml_set(&s, lines, &schema, "layers=1", &error),
                     NG_BAD_VALUE);
    ck_assert_int_eq(ng_yaml_set(&s, lines, &schema, "fast", &error),
                     NG_BAD_VALUE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("yaml_schema");
    TCase *tcase = tcase_create("all");

    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, taken);
    tcase_add_test(tcase, refused);
    tcase_add_test(tcase, hostile);
    tcase_add_test(tcase, assignments);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
