/* SPDX-License-Identifier: Apache-2.0
 *
 * Text from outside in every medium: markup, escape sequences, bad UTF-8, marks
 * that turn the writing round.
 */
#include "conformance/checks/scratch.h"
#include "formats/text.h"
#include "reports/text_escape.h"

static const struct row {
    const char *text, *terminal, *markdown, *code, *html;
} rows[] = {
    {"plain 1.5", "plain 1.5", "plain 1.5", "plain 1.5", "plain 1.5"},
    {"<b a='1' c=\"2\">&", "<b a='1' c=\"2\">&", "&lt;b a='1' c=\"2\"&gt;&amp;",
     "<b a='1' c=\"2\">&", "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;"},
    {"a|b`c`*d*[e](f)~\\", "a|b`c`*d*[e](f)~\\",
     "a\\|b\\`c\\`\\*d\\*\\[e\\](f)\\~\\\\", "a|b'c'*d*[e](f)~\\",
     "a|b`c`*d*[e](f)~\\"},
    {"\033[31mred\r\n\t\177", "?[31mred????", "?\\[31mred????", "?[31mred????",
     "\xEF\xBF\xBD[31mred\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
     "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
     "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
     "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
     "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"},
    /* C1 controls, right-to-left override, line separator, BOM, no character. */
    {"\xC2\x9B"
     "a\xE2\x80\xAE"
     "b\xE2\x80\xA8\xEF\xBB\xBF\xEF\xBF\xBE",
     "?a?b???", "?a?b???", "?a?b???",
     "\xEF\xBF\xBD"
     "a\xEF\xBF\xBD"
     "b\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    /* Stray bytes, a form too long (of '<'), a surrogate, past the last, cut. */
    {"\x80 \xFF \xC0\xBC \xED\xA0\x80 \xF4\x90\x80\x80 \xE2\x82",
     "? ? ?? ??? ???? ??", "? ? ?? ??? ???? ??", "? ? ?? ??? ???? ??", NULL},
    {"", "", "", "", ""},
    {NULL, "", "", "", ""},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

START_TEST(escaped)
{
    const struct row *row = &rows[_i];
    const char *want[] = {row->terminal, row->markdown, row->code, row->html};

    for (int medium = NG_TO_TERMINAL; medium <= NG_TO_HTML; medium++) {
        char text[256] = "";
        FILE *out = fmemopen(text, sizeof text, "w");

        ck_assert_ptr_nonnull(out);
        ng_print_escaped(out, (ng_medium)medium, row->text);
        fclose(out);
        if (want[medium] != NULL)
            ck_assert_str_eq(text, want[medium]);
        ck_assert_ptr_null(strchr(text, '\033'));
    }
}
END_TEST

/* Every two-byte string: no byte below 0x20 and no markup passes. */
START_TEST(all_pairs)
{
    for (int a = 1; a < 256; a++)
        for (int b = 1; b < 256; b++) {
            const char pair[3] = {(char)a, (char)b, '\0'};
            char text[32] = "";
            FILE *out = fmemopen(text, sizeof text, "w");

            ng_print_escaped(out, NG_TO_HTML, pair);
            fclose(out);
            for (const char *c = text; *c != '\0'; c++)
                ck_assert((unsigned char)*c >= 0x20
                          && strchr("<>\"'\177", *c) == NULL);
        }
}
END_TEST

/* In place, as in every error line: as to a terminal. */
START_TEST(made_plain)
{
    char text[64];

    if (rows[_i].text == NULL)
        return;
    snprintf(text, sizeof text, "%s", rows[_i].text);
    ck_assert_int_eq(ng_is_plain_text(text),
                     strcmp(rows[_i].text, rows[_i].terminal) == 0);
    ng_make_plain_text(text);
    ck_assert_str_eq(text, rows[_i].terminal);
    ck_assert(ng_is_plain_text(text));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text_escape");
    TCase *tcase = tcase_create("escape");

    tcase_add_loop_test(tcase, escaped, 0, N_ROWS);
    tcase_add_loop_test(tcase, made_plain, 0, N_ROWS);
    tcase_add_test(tcase, all_pairs);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
