/* SPDX-License-Identifier: MIT */
/* Why something was not counted, and what to do about it. */
#include "count.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void count_say(char *to, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (vsnprintf(to, size, fmt, ap) < 0)
        *to = '\0';
    va_end(ap);
}

static bool is_core(const struct assay_count_event *event)
{
    return event->type == PERF_TYPE_HARDWARE || event->type == PERF_TYPE_HW_CACHE || event->type == PERF_TYPE_RAW;
}

/* "4 general and 3 fixed counters", by CPUID; "" where it does not say. */
static void say_counters(const struct assay_sys *s, const struct assay_count_event *event, char *text, size_t size)
{
    uint32_t r[4];
    *text = '\0';
    if (is_core(event) && sys_cpuid(s, 10, 0, r) && (r[0] >> 8 & 0xff))
        count_say(text, size, ", which has %u general and %u fixed counters", r[0] >> 8 & 0xff, r[3] & 0x1f);
}

static bool has_core_pmu(const struct assay_sys *s)
{
    static const char *const name[] = {"cpu", "cpu_core", "cpum_cf", "armv8_pmuv3_0", "armv8_pmuv3"};
    char file[128];
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        snprintf(file, sizeof file, "/sys/bus/event_source/devices/%s", name[i]);
        if (sys_exists(s, file))
            return true;
    }
    return false;
}

static void say_no_counters(const struct assay_sys *s, struct assay_count_why *w)
{
    if (sys_has_hypervisor(s)) {
        COUNT_SAY(w->reason, "no core counters: this is a virtual machine that does not pass them on");
        COUNT_SAY(w->remedy, "on a KVM host: start the guest with -cpu host,pmu=on; or count on a model: --virtual");
    } else {
        COUNT_SAY(w->reason, "no core counters: the kernel does not know this processor's");
        COUNT_SAY(w->remedy, "count on a model: --virtual");
    }
}

bool count_is_kernel_only(const struct assay_count_event *event)
{
    return event->type == PERF_TYPE_SOFTWARE &&
           (event->config == PERF_COUNT_SW_CONTEXT_SWITCHES || event->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
            event->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

static void explain_permission(const struct assay_sys *s, const struct assay_count_event *event, bool tasks,
                               struct assay_count_why *w)
{
    long paranoid = 0;
    bool known = sys_number(s, SYS_PARANOID, &paranoid);
    int need = event->type == PERF_TYPE_TRACEPOINT ? -1 : !tasks ? 0 : event->exclude_kernel ? 2 : 1;
    if (!known || paranoid <= need || sys_capable(s, SYS_CAP_PERFMON)) {
        COUNT_SAY(w->reason,
                  "not permitted, though perf_event_paranoid is %ld: a container or security module forbids it",
                  paranoid);
        COUNT_SAY(w->remedy, "in a container: --security-opt seccomp=unconfined --cap-add PERFMON");
        return;
    }
    COUNT_SAY(w->reason, "not permitted: perf_event_paranoid is %ld, %s", paranoid,
              need == -1  ? "tracepoints need -1"
              : need == 0 ? "whole processors need 0"
              : need == 1 ? "the kernel's part needs 1"
                          : "one's own programs need 2");
    COUNT_SAY(w->remedy, "sudo sysctl kernel.perf_event_paranoid=%d%s; or root, or CAP_PERFMON", need,
              need == 1 && !count_is_kernel_only(event) ? ", or only user mode: event:u" : "");
}

static bool is_software(const struct assay_count_event *event)
{
    return event->type == PERF_TYPE_SOFTWARE || event->type == PERF_TYPE_TRACEPOINT;
}

bool count_differ(const struct assay_count_event *a, const struct assay_count_event *b)
{
    bool core = is_core(a) && is_core(b);
    return !core && !is_software(a) && !is_software(b) && a->type != b->type;
}

bool count_never_in_user_mode(const struct assay_count_event *event, struct assay_count_why *why)
{
    if (!count_is_kernel_only(event) || !event->exclude_kernel)
        return false;
    COUNT_SAY(why->reason, "it happens in the kernel: nothing of it is in user mode");
    COUNT_SAY(why->remedy, "leave u out");
    return true;
}

static void explain_group(const struct assay_sys *s, const struct count_request *r, struct assay_count_why *w)
{
    char counters[80];
    say_counters(s, r->event, counters, sizeof counters);
    if (r->other) {
        COUNT_SAY(w->reason, "a group is of one PMU, beside software events: %s and %s are two", r->other,
                  r->event->pmu);
        COUNT_SAY(w->remedy, "leave it out of the group");
        return;
    }
    if (r->register_taken)
        COUNT_SAY(w->reason, "it needs MSR 0x%x, where another event of its group has another value", r->event->msr);
    else
        COUNT_SAY(w->reason, "a group of %zu does not fit on the PMU%s", r->group, counters);
    COUNT_SAY(w->remedy, "make the group smaller, or let it fall apart: {...}:W");
}

static void explain_invalid(const struct assay_sys *s, const struct count_request *r, struct assay_count_why *w)
{
    const struct assay_count_event *event = r->event;
    bool filters = event->exclude_user || event->exclude_kernel || event->exclude_hv || event->exclude_idle ||
                   event->exclude_host || event->exclude_guest;
    if (r->group > 0) {
        explain_group(s, r, w);
    } else if (event->package && r->tasks) {
        COUNT_SAY(w->reason, "PMU %s counts a whole package, not a program", event->pmu);
        COUNT_SAY(w->remedy, "count on all processors: -a");
    } else if (event->precise) {
        COUNT_SAY(w->reason, "precise (p) is for sampling; the kernel refuses it when counting");
        COUNT_SAY(w->remedy, "leave p out");
    } else if (filters && !is_core(event)) {
        COUNT_SAY(w->reason, "PMU %s cannot tell user and kernel, host and guest apart", event->pmu);
        COUNT_SAY(w->remedy, "leave the modifiers out");
    } else {
        COUNT_SAY(w->reason, "the kernel takes no such code, or not for %s", r->tasks ? "programs" : "processors");
        COUNT_SAY(w->remedy, r->tasks ? "where the PMU is outside of the cores: -a" : "");
    }
}

static void explain_limit(int error, struct assay_count_why *w)
{
    COUNT_SAY(w->reason, error == EMFILE ? "too many open files: each event takes one for each task or processor"
                                         : "the whole system has too many open files");
    COUNT_SAY(w->remedy, error == EMFILE ? "ulimit -n $(ulimit -Hn), or fewer events or processors"
                                         : "sudo sysctl fs.file-max=1000000");
}

static void explain_absent(const struct assay_sys *s, const struct assay_count_event *event, struct assay_count_why *w)
{
    if (is_core(event) && !has_core_pmu(s))
        say_no_counters(s, w);
    else if (is_core(event))
        COUNT_SAY(w->reason, "this processor does not count it");
    else
        COUNT_SAY(w->reason, "the kernel's PMU %s has no such event", event->pmu);
}

static void explain_unsupported(const struct assay_sys *s, const struct assay_count_event *event,
                                struct assay_count_why *w)
{
    if (is_core(event) && !has_core_pmu(s)) {
        say_no_counters(s, w);
        return;
    }
    COUNT_SAY(w->reason, event->precise ? "this processor cannot count it precisely"
                                        : "the PMU cannot do what was asked, perhaps a modifier");
    COUNT_SAY(w->remedy, "leave the modifiers out");
}

void count_explain(const struct assay_sys *s, const struct count_request *r, int error, struct assay_count_why *w)
{
    char text[128];
    *w = (struct assay_count_why){0};
    switch (error) {
    case EACCES:
    case EPERM:
        explain_permission(s, r->event, r->tasks, w);
        break;
    case ENOENT:
    case ENODEV:
    case ENXIO:
        explain_absent(s, r->event, w);
        break;
    case EOPNOTSUPP:
        explain_unsupported(s, r->event, w);
        break;
    case EINVAL:
    case ENOSPC:
        explain_invalid(s, r, w);
        break;
    case EMFILE:
    case ENFILE:
        explain_limit(error, w);
        break;
    case EBUSY:
        COUNT_SAY(w->reason, "the PMU is taken: another event uses it exclusively");
        COUNT_SAY(w->remedy, "try again when the other has ended: perf, a profiler, another assay");
        break;
    case E2BIG:
        COUNT_SAY(w->reason, "this kernel is too old for what was asked");
        break;
    case ESRCH:
        COUNT_SAY(w->reason, "the process or thread is gone");
        break;
    case ENOSYS:
        COUNT_SAY(w->reason, "the kernel has no perf_event_open, or a container's seccomp filter hides it");
        COUNT_SAY(w->remedy, "in a container: --security-opt seccomp=unconfined --cap-add PERFMON");
        break;
    default:
        COUNT_SAY(w->reason, "perf_event_open failed: %s", strerror_r(error, text, sizeof text));
    }
}

void count_explain_idle(const struct assay_sys *s, const struct assay_count_event *event, bool grouped,
                        struct assay_count_why *w)
{
    long watchdog = 0;
    char counters[80];
    *w = (struct assay_count_why){0};
    say_counters(s, event, counters, sizeof counters);
    COUNT_SAY(w->reason, "%s waited for a place on the PMU all the time%s", grouped ? "its group" : "it", counters);
    if (is_core(event) && sys_number(s, "/proc/sys/kernel/nmi_watchdog", &watchdog) && watchdog)
        COUNT_SAY(w->remedy, "the NMI watchdog holds a counter: sudo sysctl kernel.nmi_watchdog=0");
    else
        COUNT_SAY(w->remedy,
                  grouped ? "make the group smaller, or let it fall apart: {...}:W" : "count fewer events at a time");
}
