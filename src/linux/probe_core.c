/* SPDX-License-Identifier: MIT */
/* What of the processor core can be observed: Processor Trace, counters, and who may. */
#include "probe_priv.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#define INTEL_PT "/sys/bus/event_source/devices/intel_pt"

enum {
    CPUID_7_EBX_PT = 1 << 25,
    CPUID_14_EBX_CYC = 1 << 1, /* configurable PSB and cycle-accurate mode */
    CPUID_14_EBX_MTC = 1 << 3,
    PT_CONFIG = 0x2401, /* pt, tsc, branch */
};

static const char works_without_pt[] =
    "assay record runs programs on virtual Processor Trace (time is modelled); recordings of other machines are read";

static bool is_x86(const struct assay_sys *s)
{
    return sys_machine_is(s, "x86_64") || sys_machine_is(s, "i686") || sys_machine_is(s, "i386");
}

/* "; perf_event_paranoid is 3", with the remedy, for an event that was refused. */
static void say_refused(const struct assay_sys *s, int error, struct assay_probe_result *out)
{
    long paranoid;
    if (error == -ENOSYS) {
        PROBE_SAY(out->cause, "the kernel has no perf_event_open, or a container's seccomp filter hides it");
        PROBE_SAY(out->remedy, "in a container: --security-opt seccomp=unconfined --cap-add PERFMON");
    } else if ((error == -EACCES || error == -EPERM) && sys_number(s, SYS_PARANOID, &paranoid)) {
        PROBE_SAY(out->cause, "not permitted: perf_event_paranoid is %ld%s", paranoid,
                  paranoid <= 2 ? ", so a container or security module forbids it" : "");
        PROBE_SAY(out->remedy, paranoid <= 2 ? "in a container: --security-opt seccomp=unconfined --cap-add PERFMON"
                                             : "sudo sysctl kernel.perf_event_paranoid=2");
    } else {
        char text[128];
        PROBE_SAY(out->cause, "perf_event_open failed: %s", strerror_r(-error, text, sizeof text));
    }
}

/* The CPU has no Processor Trace, or does not show it. */
static void say_no_pt(const struct assay_sys *s, struct assay_probe_result *out)
{
    if (!is_x86(s)) {
        PROBE_SAY(out->cause, "only Intel processors have it");
    } else if (sys_has_hypervisor(s)) {
        PROBE_SAY(out->cause, "CPUID does not show it: this is a virtual machine, which may hide it");
        PROBE_SAY(out->remedy,
                  "on a KVM host: modprobe kvm_intel pt_mode=1, and start the guest with -cpu host,+intel-pt");
    } else {
        PROBE_SAY(out->cause, "this processor has none (CPUID leaf 7 EBX bit 25 is 0)");
    }
}

static void say_no_pmu(const struct assay_sys *s, struct assay_probe_result *out)
{
    if (sys_has_hypervisor(s)) {
        PROBE_SAY(out->cause,
                  "the processor shows it, the kernel has no intel_pt PMU: the virtual machine does not pass it on");
        PROBE_SAY(out->remedy,
                  "on a KVM host: modprobe kvm_intel pt_mode=1, and start the guest with -cpu host,+intel-pt");
    } else {
        PROBE_SAY(out->cause, "the processor has it, the kernel has no intel_pt PMU (or the firmware disables it)");
        PROBE_SAY(out->remedy,
                  "grep PERF_EVENTS_INTEL /boot/config-$(uname -r); use a kernel of 4.1 or later with perf events");
    }
}

static void say_pt(const struct assay_sys *s, struct assay_probe_result *out)
{
    uint32_t reg[4];
    bool caps = sys_cpuid(s, 0x14, 0, reg);
    PROBE_SAY(out->found, "intel_pt PMU%s%s; perf record -e intel_pt//u -- PROGRAM, then assay report perf.data",
              caps && (reg[1] & CPUID_14_EBX_CYC) ? ", with CYC" : "",
              caps && (reg[1] & CPUID_14_EBX_MTC) ? ", MTC" : "");
}

void probe_pt(const struct assay_sys *s, struct assay_probe_result *out)
{
    uint32_t reg[4];
    long type;
    bool in_cpu = sys_cpuid(s, 7, 0, reg) && (reg[1] & CPUID_7_EBX_PT);
    PROBE_SAY(out->without, "%s", works_without_pt);
    if (!sys_number(s, INTEL_PT "/type", &type)) {
        (in_cpu ? say_no_pmu : say_no_pt)(s, out);
        return;
    }
    say_pt(s, out);
    int error = probe_event(s, (uint32_t)type, PT_CONFIG, false);
    out->status = error == 0 ? ASSAY_PROBE_YES : ASSAY_PROBE_LIMITED;
    if (error < 0)
        say_refused(s, error, out);
    else
        *out->without = '\0';
}

int probe_event(const struct assay_sys *s, uint32_t type, uint64_t config, bool kernel)
{
    struct perf_event_attr attr = {
        .type = type, .size = sizeof attr, .config = config, .disabled = 1, .exclude_kernel = !kernel, .exclude_hv = 1};
    int fd = sys_perf_event_open(s, &attr, 0, -1, -1);
    if (fd >= 0)
        sys_close(s, fd);
    return fd < 0 ? fd : 0;
}

void probe_counters(const struct assay_sys *s, struct assay_probe_result *out)
{
    int error = probe_event(s, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true);
    if (error == 0) {
        out->status = ASSAY_PROBE_YES;
        PROBE_SAY(out->found, "cycles count, in user mode and in the kernel");
        return;
    }
    error = probe_event(s, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false);
    if (error == 0) {
        out->status = ASSAY_PROBE_LIMITED;
        PROBE_SAY(out->found, "cycles count in user mode");
        PROBE_SAY(out->cause, "the kernel's part is not permitted");
        PROBE_SAY(out->remedy, "sudo sysctl kernel.perf_event_paranoid=1");
        PROBE_SAY(out->without, "everything about programs of one's own, outside of the kernel");
        return;
    }
    PROBE_SAY(out->without, "virtual hardware, and reading of recordings");
    if (error != -ENOENT && error != -EOPNOTSUPP && error != -ENODEV && error != -EINVAL) {
        say_refused(s, error, out);
        return;
    }
    PROBE_SAY(out->cause, sys_has_hypervisor(s) ? "no counters: this is a virtual machine that does not pass them on"
                                                : "no counters: the kernel does not know this processor's");
    PROBE_SAY(out->remedy, "%s", sys_has_hypervisor(s) ? "on a KVM host: start the guest with -cpu host,pmu=on" : "");
}

void probe_paranoid(const struct assay_sys *s, struct assay_probe_result *out)
{
    long v;
    if (!sys_number(s, SYS_PARANOID, &v)) {
        PROBE_SAY(out->cause, "%s is not there: the kernel has no perf events", SYS_PARANOID);
        PROBE_SAY(out->without, "virtual hardware, and reading of recordings");
        return;
    }
    bool capable = sys_capable(s, SYS_CAP_PERFMON) || sys_capable(s, SYS_CAP_SYS_ADMIN);
    out->status = v <= 0 || capable ? ASSAY_PROBE_YES : v <= 2 ? ASSAY_PROBE_LIMITED : ASSAY_PROBE_NO;
    PROBE_SAY(out->found, "%ld%s", v, capable && v > 0 ? ", which does not bind this user (CAP_PERFMON or root)" : "");
    if (out->status == ASSAY_PROBE_YES)
        return;
    PROBE_SAY(out->cause, v == 1   ? "one's own programs, kernel included; not whole processors"
                          : v == 2 ? "one's own programs, without the kernel; not whole processors"
                                   : "nobody but root may use perf events");
    PROBE_SAY(out->remedy, "sudo sysctl kernel.perf_event_paranoid=%d", v <= 2 ? 0 : 2);
    PROBE_SAY(out->without,
              v <= 2 ? "counting and tracing of one's own programs" : "virtual hardware, and reading of recordings");
}

void probe_kptr(const struct assay_sys *s, struct assay_probe_result *out)
{
    long v;
    if (!sys_number(s, "/proc/sys/kernel/kptr_restrict", &v)) {
        PROBE_SAY(out->cause, "/proc/sys/kernel/kptr_restrict cannot be read");
        PROBE_SAY(out->without, "everything outside of the kernel");
        return;
    }
    bool seen = v == 0 || (v == 1 && sys_capable(s, SYS_CAP_SYSLOG));
    out->status = seen ? ASSAY_PROBE_YES : ASSAY_PROBE_LIMITED;
    PROBE_SAY(out->found, "%ld%s", v, seen && v == 1 ? ", which does not bind this user (CAP_SYSLOG or root)" : "");
    if (seen)
        return;
    PROBE_SAY(out->cause,
              v == 1 ? "kernel addresses read as 0 for all but root" : "kernel addresses read as 0 for everybody");
    PROBE_SAY(out->remedy, "sudo sysctl kernel.kptr_restrict=0");
    PROBE_SAY(out->without, "everything outside of the kernel");
}
