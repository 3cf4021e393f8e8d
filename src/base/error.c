/* SPDX-License-Identifier: MIT */
/* Error reports with formatted text. Not part of the pure core. */
#include <assay/base.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *assay_status_name(int code)
{
    switch (code) {
    case ASSAY_OK:
        return "ok";
    case ASSAY_E_TRUNCATED:
        return "truncated";
    case ASSAY_E_BAD_PACKET:
        return "bad packet";
    case ASSAY_E_BAD_FORMAT:
        return "bad format";
    case ASSAY_E_NO_SYNC:
        return "no synchronisation point";
    case ASSAY_E_NO_CODE:
        return "no code";
    case ASSAY_E_MISMATCH:
        return "trace and code disagree";
    case ASSAY_E_LOOP:
        return "endless loop";
    case ASSAY_E_NOT_RECOGNISED:
        return "format not recognised";
    case ASSAY_E_ARGUMENT:
        return "invalid argument";
    case ASSAY_E_UNSUPPORTED:
        return "not supported";
    case ASSAY_E_NOT_FOUND:
        return "not found";
    case ASSAY_E_MEMORY:
        return "out of memory";
    case ASSAY_E_SYSTEM:
        return "system call failed";
    case ASSAY_E_EXISTS:
        return "exists already";
    default:
        return "unknown error";
    }
}

static void format_text(struct assay_error *e, const char *fmt, va_list ap)
{
    int n = vsnprintf(e->text, sizeof e->text, fmt, ap);
    if (n < 0)
        e->text[0] = '\0';
}

int assay_error_set(struct assay_error *e, int code, uint64_t offset, const char *fmt, ...)
{
    if (e) {
        e->code = code;
        e->sys = 0;
        e->offset = offset;
        va_list ap;
        va_start(ap, fmt);
        format_text(e, fmt, ap);
        va_end(ap);
    }
    return code;
}

int assay_error_sys(struct assay_error *e, int sys, const char *fmt, ...)
{
    if (e) {
        e->code = ASSAY_E_SYSTEM;
        e->sys = sys;
        e->offset = UINT64_MAX;
        va_list ap;
        va_start(ap, fmt);
        format_text(e, fmt, ap);
        va_end(ap);
        size_t at = strlen(e->text);
        char buf[128];
        const char *reason = strerror_r(sys, buf, sizeof buf); /* the GNU one: thread safe, returns the text */
        snprintf(e->text + at, sizeof e->text - at, ": %s", reason);
    }
    return ASSAY_E_SYSTEM;
}
