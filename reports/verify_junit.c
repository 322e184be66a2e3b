/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/verify_report.h"

#include "reports/junit_file.h"

#ifdef HAVE_LIBXML2

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void write_failure(xmlTextWriterPtr writer, const json_t *operation)
{
    const json_t *failures = json_object_get(operation, "failures");
    json_t *line;
    size_t i;

    xmlTextWriterStartElement(writer, BAD_CAST "failure");
    if (*text_of(operation, "kind") != '\0')
        ng_junit_attribute(writer, "type", text_of(operation, "kind"));
    ng_junit_attribute(writer, "message",
              *text_of(operation, "diagnosis") != '\0'
                  ? text_of(operation, "diagnosis")
                  : "differs from the specification");
    json_array_foreach(failures, i, line) {
        ng_junit_line(writer, json_string_value(line));
    }
    xmlTextWriterEndElement(writer);
}

static void write_case(xmlTextWriterPtr writer, const json_t *run,
                       const json_t *operation)
{
    xmlTextWriterStartElement(writer, BAD_CAST "testcase");
    ng_junit_attribute(writer, "classname", text_of(run, "subject"));
    ng_junit_attribute(writer, "name", text_of(operation, "operation"));
    xmlTextWriterWriteFormatAttribute(
        writer, BAD_CAST "time", "%.3f",
        json_number_value(json_object_get(operation, "seconds")));
    if (number_of(operation, "variants") == 0) {
        xmlTextWriterStartElement(writer, BAD_CAST "skipped");
        ng_junit_attribute(writer, "message", "not covered by the subject");
        xmlTextWriterEndElement(writer);
    } else if (number_of(operation, "failed_cases") > 0
               || json_array_size(json_object_get(operation, "missing")) > 0) {
        write_failure(writer, operation);
    }
    xmlTextWriterEndElement(writer);
}

/* The document, in memory. Returns null if libxml2 cannot make one. */
static xmlBufferPtr document_of(const json_t *run)
{
    const json_t *operations = json_object_get(run, "operations");
    const json_t *verdict = json_object_get(run, "verdict");
    xmlBufferPtr buffer = xmlBufferCreate();
    xmlTextWriterPtr writer = buffer != NULL ? xmlNewTextWriterMemory(buffer, 0)
                                             : NULL;
    long failed = 0, skipped = 0;
    json_t *operation;
    size_t i;

    if (writer == NULL) {
        xmlBufferFree(buffer);
        return NULL;
    }
    json_array_foreach(operations, i, operation) {
        failed += number_of(operation, "failed_cases") > 0
                  || json_array_size(json_object_get(operation, "missing")) > 0;
        skipped += number_of(operation, "variants") == 0;
    }
    xmlTextWriterSetIndent(writer, 1);
    xmlTextWriterStartDocument(writer, NULL, "UTF-8", NULL);
    xmlTextWriterStartElement(writer, BAD_CAST "testsuite");
    xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "name",
                                      "narrowgauge verify, level %d",
                                      (int)number_of(run, "level"));
    xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "tests", "%zu",
                                      json_array_size(operations)
                                          + (verdict != NULL));

    xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "failures", "%ld",
                                      failed);
    xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "skipped", "%ld",
                                      skipped);
    if (verdict != NULL)
        xmlTextWriterWriteAttribute(writer, BAD_CAST "errors", BAD_CAST "1");
    if (verdict != NULL) {
        xmlTextWriterStartElement(writer, BAD_CAST "testcase");
        ng_junit_attribute(writer, "classname", text_of(run, "subject"));
        ng_junit_attribute(writer, "name", "load");
        xmlTextWriterStartElement(writer, BAD_CAST "error");
        ng_junit_attribute(writer, "message", text_of(verdict, "text"));
        xmlTextWriterEndElement(writer);
        xmlTextWriterEndElement(writer);
    }
    json_array_foreach(operations, i, operation)
        write_case(writer, run, operation);
    xmlTextWriterEndDocument(writer);
    xmlFreeTextWriter(writer);
    return buffer;
}

ng_status ng_verify_report_junit(const char *path, const json_t *run,
                                 ng_error *error)
{
    return ng_junit_write(path, document_of(run), error);
}

#else

ng_status ng_verify_report_junit(const char *path, const json_t *run,
                                 ng_error *error)
{
    (void)run;
    return ng_junit_missing(path, error);
}

#endif
