/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "reports/gate.h"
#include "reports/junit_file.h"

#ifdef HAVE_LIBXML2

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

static void begin_case(xmlTextWriterPtr writer, const char *class,
                       const char *name)
{
    xmlTextWriterStartElement(writer, BAD_CAST "testcase");
    ng_junit_attribute(writer, "classname", class);
    ng_junit_attribute(writer, "name", name);
}

/* A finding is a failed case, or a skipped one where a waiver covers it. */
static void write_finding(xmlTextWriterPtr writer, const json_t *finding)
{
    const json_t *waiver = json_object_get(finding, "waiver");
    const bool waived = json_is_object(waiver);

    begin_case(writer, text_of(finding, "operation"), text_of(finding, "kind"));
    xmlTextWriterStartElement(writer, BAD_CAST(waived ? "skipped" : "failure"));
    ng_junit_attribute(writer, "message",
                       waived ? text_of(waiver, "why")
                              : text_of(finding, "text"));
    ng_junit_line(writer, text_of(finding, "text"));
    xmlTextWriterEndElement(writer);
    xmlTextWriterEndElement(writer);
}

static void write_expired(xmlTextWriterPtr writer, const char *text)
{
    begin_case(writer, "waivers", "expired-waiver");
    xmlTextWriterStartElement(writer, BAD_CAST "failure");
    ng_junit_attribute(writer, "message", text);
    xmlTextWriterEndElement(writer);
    xmlTextWriterEndElement(writer);
}

static xmlBufferPtr document_of(const json_t *outcome)
{
    const json_t *findings = json_object_get(outcome, "findings");
    const json_t *expired = json_object_get(outcome, "expired");
    const size_t n = json_array_size(findings) + json_array_size(expired);
    xmlBufferPtr buffer = xmlBufferCreate();
    xmlTextWriterPtr writer =
        buffer != NULL ? xmlNewTextWriterMemory(buffer, 0) : NULL;
    json_t *item;
    size_t i;

    if (writer == NULL) {
        xmlBufferFree(buffer);
        return NULL;
    }
    xmlTextWriterSetIndent(writer, 1);
    xmlTextWriterStartDocument(writer, NULL, "UTF-8", NULL);
    xmlTextWriterStartElement(writer, BAD_CAST "testsuite");
    ng_junit_attribute(writer, "name", "narrowgauge gate");
    xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "tests", "%zu",
                                      n > 0 ? n : 1);
    xmlTextWriterWriteFormatAttribute(
        writer, BAD_CAST "failures", "%" JSON_INTEGER_FORMAT,
        json_integer_value(json_object_get(outcome, "regressions")));
    xmlTextWriterWriteFormatAttribute(
        writer, BAD_CAST "skipped", "%" JSON_INTEGER_FORMAT,
        json_integer_value(json_object_get(outcome, "waived")));
    json_array_foreach(findings, i, item)
        write_finding(writer, item);
    json_array_foreach(expired, i, item)
        write_expired(writer, json_string_value(item));
    if (n == 0) {
        begin_case(writer, text_of(outcome, "subject"), "nothing moved");
        xmlTextWriterEndElement(writer);
    }
    xmlTextWriterEndDocument(writer);
    xmlFreeTextWriter(writer);
    return buffer;
}

ng_status ng_gate_junit(const char *path, const json_t *outcome,
                        ng_error *error)
{
    return ng_junit_write(path, document_of(outcome), error);
}

#else

ng_status ng_gate_junit(const char *path, const json_t *outcome,
                        ng_error *error)
{
    (void)outcome;
    return ng_junit_missing(path, error);
}

#endif
