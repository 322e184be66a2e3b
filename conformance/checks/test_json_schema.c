/* SPDX-License-Identifier: Apache-2.0
 *
 * The schema checker: each word fits what it should and refuses the next thing
 * to it, in one line that says where; and what ng_schema_read refuses.
 */
#include "conformance/checks/scratch.h"
#include "reports/json_schema.h"
#include "reports/texts_table.h"

static const struct row {
    const char *schema, *document;
    const char *says; /* null: it fits */
} rows[] = {
    {"{'type':'integer'}", "[3]", "f: /: not of type integer"},
    {"{'type':['string','number']}", "{}",
     "f: /: not of type string or number"},
    {"{'items':{'type':'integer'}}", "[1,2]", NULL},
    {"{'items':{'type':'integer'}}", "[1,2.5]", "f: /1: not of type integer"},
    {"{'items':{'type':'boolean'}}", "[true,null]",
     "f: /1: not of type boolean"},
    {"{'minItems':2}", "[1]", "f: /: has too few or too many items"},
    {"{'maxItems':1}", "[1,2]", "f: /: has too few or too many items"},
    {"{'items':{'minimum':0,'maximum':2}}", "[0,2]", NULL},
    {"{'items':{'minimum':0}}", "[-1]", "f: /0: too small"},
    {"{'items':{'maximum':2}}", "[2.5]", "f: /0: too large"},
    {"{'items':{'enum':['a',1]}}", "['a',1]", NULL},
    {"{'items':{'enum':['a',1]}}", "['b']",
     "f: /0: none of the values that may stand there"},
    {"{'items':{'const':'v2'}}", "['v1']", "f: /0: not v2"},
    {"{'items':{'const':2}}", "[3]", "f: /0: another value"},
    {"{'items':{'pattern':'^[0-9a-f]{4}$'}}", "['00ff',7]", NULL},
    {"{'items':{'pattern':'^[0-9a-f]{4}$'}}", "['00ffg']",
     "f: /0: does not match ^[0-9a-f]{4}$"},
    {"{'required':['a']}", "{'a':null}", NULL},
    {"{'required':['a']}", "{'b':1}", "f: /: lacks the field a"},
    {"{'properties':{'a':{'type':'string'}}}", "{'a':1}",
     "f: /a: not of type string"},
    {"{'properties':{'a':{}},'additionalProperties':false}", "{'a':1,'b':2}",
     "f: /: unknown field b"},
    {"{'additionalProperties':{'type':'integer'}}", "{'a':1,'b':'2'}",
     "f: /b: not of type integer"},
    {"{'$ref':'#/$defs/n','$defs':{'n':{'items':{'$ref':'#/$defs/n'}}}}",
     "[[],[[]]]", NULL},
    {"{'items':{'$ref':'#/$defs/n'},'$defs':{'n':{'type':'null'}}}", "[0]",
     "f: /0: not of type null"},
    {"{'items':{'anyOf':[{'type':'null'},{'minimum':3}]}}", "[null,4]", NULL},
    {"{'items':{'anyOf':[{'type':'null'},{'minimum':3}]}}", "[2]",
     "f: /0: too small"},
    {"{'type':'object','title':'t','description':'d','$id':'i'}", "{}", NULL},
    /* A schema that is at fault. */
    {"{'uniqueItems':true}", "[]", "f: schema: unknown word uniqueItems"},
    {"{'items':[1]}", "[1]", "f: schema: not an object "},
    {"{'type':[1]}", "[1]", "f: schema: type is no name"},
    {"{'required':[1]}", "{}", "f: schema: required is no name"},
    {"{'anyOf':1}", "{}", "f: schema: anyOf is no list"},
    {"{'items':{'pattern':'('}}", "['a']", "f: schema: pattern is none"},
    {"{'$ref':'#/$defs/n'}", "{}", "f: schema: $ref to nothing: #/$defs/n"},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* JSON with ' for ". */
static json_t *parse(const char *text)
{
    char copy[512];

    snprintf(copy, sizeof copy, "%s", text);
    for (char *c = copy; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';

    json_t *value = json_loads(copy, 0, NULL);

    ck_assert_msg(value != NULL, "%s", copy);
    return value;
}

START_TEST(words)
{
    const struct row *row = &rows[_i];
    json_t *schema = parse(row->schema), *document = parse(row->document);
    ng_error error = {""};
    const ng_status status = ng_schema_check(document, schema, "f", &error);

    if (row->says != NULL)
        ck_assert_str_eq(error.text, row->says);
    ck_assert_int_eq(status, row->says == NULL ? NG_OK
                             : strncmp(row->says, "f: s", 4) == 0
                                 ? NG_BAD_VALUE
                                 : NG_BAD_FILE);
    json_decref(schema);
    json_decref(document);
}
END_TEST

/* A schema that names itself, and a document as deep as a file can make it. */
START_TEST(depth)
{
    json_t *loop =
        parse("{'$ref':'#/$defs/n','$defs':{'n':{'$ref':'#/$defs/n'}}}");
    json_t *list = parse("{'$ref':'#/$defs/n',"
                         "'$defs':{'n':{'items':{'$ref':'#/$defs/n'}}}}");
    json_t *deep = json_array();
    ng_error error;

    ck_assert_int_eq(ng_schema_check(deep, loop, "f", &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "nested too deep"));
    for (int i = 0; i < 1000; i++) {
        json_t *outer = json_array();

        json_array_append_new(outer, deep);
        deep = outer;
    }
    ck_assert_int_eq(ng_schema_check(deep, list, "f", &error), NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, "nested too deep"));
    json_decref(loop);
    json_decref(list);
    json_decref(deep);
}
END_TEST

static const struct file {
    const char *text, *says;
} files[] = {
    {"{", ":1: not JSON: "},
    {"{\"a\": 1,\n \"a\": 2}", ":2: not JSON: duplicate object key"},
    {"{\"a\": \"\xff\"}", ":1: not JSON: "},
    {"{\"a\": \"\\u0000\"}", ":1: not JSON: "},
    {"{} {}", ":1: not JSON: "},
    {"[]", ": /: not of type object"},
    {"{\"schema\": \"narrowgauge-verify-1\"}", ": /: lacks the field version"},
};
enum { N_FILES = sizeof files / sizeof *files };

START_TEST(hostile_files)
{
    ng_error error;
    ng_status status;

    scratch_write("bad.json", files[_i].text, strlen(files[_i].text));
    ck_assert_ptr_null(
        ng_schema_read(&status, scratch_path("bad.json"), "verify", &error));
    ck_assert_int_eq(status, NG_BAD_FILE);
    ck_assert_msg(strstr(error.text, files[_i].says) != NULL, "%s", error.text);
}
END_TEST

START_TEST(no_file)
{
    ng_error error;
    ng_status status;

    ck_assert_ptr_null(
        ng_schema_read(&status, scratch_path("none"), "verify", &error));
    ck_assert_int_eq(status, NG_BAD_FILE);
    scratch_write("good.json", "{}", 2);
    ck_assert_ptr_null(
        ng_schema_read(&status, scratch_path("good.json"), "none", &error));
    ck_assert_int_eq(status, NG_BAD_VALUE);
}
END_TEST

/* Every schema that is published can be read, and has only known words. */
START_TEST(published)
{
    ck_assert_int_gt(ng_n_schema_texts, 0);
    for (int i = 0; i < ng_n_schema_texts; i++) {
        const ng_embedded *text = &ng_schema_texts[i];
        json_t *schema =
            json_loadb(text->text, text->size, JSON_REJECT_DUPLICATES, NULL);
        json_t *nothing = json_null();
        ng_error error;

        ck_assert_msg(schema != NULL, "%s", text->name);
        ck_assert_int_eq(ng_schema_check(nothing, schema, "f", &error),
                         NG_BAD_FILE);
        json_decref(schema);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json_schema");
    TCase *tcase = tcase_create("schema");

    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_add_loop_test(tcase, words, 0, N_ROWS);
    tcase_add_test(tcase, depth);
    tcase_add_loop_test(tcase, hostile_files, 0, N_FILES);
    tcase_add_test(tcase, no_file);
    tcase_add_test(tcase, published);
    suite_add_tcase(suite, tcase);

    return run_suite(suite);
}
