/* SPDX-License-Identifier: MIT */
/* What else can be observed or helps: Intel graphics, IBM Z counters, the emulator, perf. */
#include "probe_priv.h"

#include <stdio.h>
#include <string.h>

#define CPUM_CF "/sys/bus/event_source/devices/cpum_cf"

void probe_i915(const struct assay_sys *s, struct assay_probe_result *out)
{
    long paranoid;
    PROBE_SAY(out->without, "recordings of other machines can be read");
    if (!sys_exists(s, "/dev/dri")) {
        PROBE_SAY(out->cause, "no graphics device (/dev/dri is not there)");
        return;
    }
    if (!sys_number(s, "/proc/sys/dev/i915/perf_stream_paranoid", &paranoid)) {
        PROBE_SAY(out->cause, "the graphics driver is not i915, or has no perf interface (Linux before 4.13)");
        return;
    }
    bool open = paranoid == 0 || sys_capable(s, SYS_CAP_PERFMON) || sys_capable(s, SYS_CAP_SYS_ADMIN);
    out->status = open ? ASSAY_PROBE_YES : ASSAY_PROBE_LIMITED;
    PROBE_SAY(out->found, "i915 with perf interface, perf_stream_paranoid is %ld", paranoid);
    if (open) {
        *out->without = '\0';
        return;
    }
    PROBE_SAY(out->cause, "only root may observe the whole GPU");
    PROBE_SAY(out->remedy, "sudo sysctl dev.i915.perf_stream_paranoid=0");
}

void probe_cpum_cf(const struct assay_sys *s, struct assay_probe_result *out)
{
    PROBE_SAY(out->without, "recordings of other machines can be read");
    if (!sys_machine_is(s, "s390x")) {
        PROBE_SAY(out->cause, "this is no IBM Z");
        return;
    }
    if (!sys_exists(s, CPUM_CF)) {
        PROBE_SAY(out->cause,
                  "the counter facility is not authorised for this partition, or the kernel lacks its driver");
        PROBE_SAY(out->remedy,
                  "allow the counter sets in the partition's activation profile (Security, Counter Facility)");
        return;
    }
    bool device = sys_exists(s, "/dev/hwctr"), may = sys_capable(s, SYS_CAP_PERFMON);
    out->status = device && may ? ASSAY_PROBE_YES : ASSAY_PROBE_LIMITED;
    PROBE_SAY(out->found, "cpum_cf PMU%s", device ? " and /dev/hwctr" : "");
    if (out->status == ASSAY_PROBE_YES) {
        *out->without = '\0';
        return;
    }
    PROBE_SAY(out->cause, device ? "/dev/hwctr, which reads whole counter sets, opens for CAP_PERFMON only"
                                 : "/dev/hwctr is not there: whole counter sets cannot be read at once");
    PROBE_SAY(out->remedy, device ? "run as root, or: sudo setcap cap_perfmon+ep $(which assay)"
                                  : "use Linux 5.13 or later on a machine with facility 142 (store counter multiple)");
    PROBE_SAY(out->without, "single counters through perf events");
}

/* ---- programs ---- */

/* "7.2.22" of "qemu-x86_64 version 7.2.22 (Debian ...)", "perf version 6.1.90". */
static void version_in(const char *output, char *version, size_t size)
{
    const char *at = strstr(output, "version ");
    at = at ? at + strlen("version ") : "";
    size_t n = strcspn(at, " \n(");
    snprintf(version, size, "%.*s", (int)(n < size ? n : size - 1), at);
}

/* Which of the emulators are there, and which of them take plugins. */
struct emulators {
    char there[64], missing[64], version[32];
    bool x86_64, plugins;
};

static void look_for(const struct assay_sys *s, const char *machine, struct emulators *e)
{
    char name[32], output[16384];
    snprintf(name, sizeof name, "qemu-%s", machine);
    bool there = sys_program(s, name, "--version", output, sizeof output);
    char *list = there ? e->there : e->missing;
    size_t n = strlen(list);
    snprintf(list + n, sizeof e->there - n, "%s%s", n ? ", " : "", name);
    if (!there)
        return;
    if (!*e->version)
        version_in(output, e->version, sizeof e->version);
    if (strcmp(machine, "x86_64") == 0) {
        e->x86_64 = true;
        sys_program(s, name, "-help", output, sizeof output);
        e->plugins = strstr(output, "-plugin") != NULL;
    }
}

void probe_qemu(const struct assay_sys *s, struct assay_probe_result *out)
{
    static const char *const machine[] = {"x86_64", "i386", "s390x"};
    struct emulators e = {0};
    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
        look_for(s, machine[i], &e);
    if (*e.there)
        PROBE_SAY(out->found, "%s %s%s", e.there, e.version, e.plugins ? ", with plugins" : "");
    PROBE_SAY(out->remedy, "sudo apt install qemu-user");
    if (!e.x86_64) {
        PROBE_SAY(out->cause, "%s not installed: programs cannot be recorded on virtual hardware", e.missing);
        PROBE_SAY(out->without, "reading of recordings");
    } else if (!e.plugins) {
        PROBE_SAY(out->cause, "this qemu is built without plugins: programs cannot be recorded on virtual hardware");
        PROBE_SAY(out->remedy, "use a distribution's qemu-user, or configure qemu with --enable-plugins");
        PROBE_SAY(out->without, "reading of recordings");
    } else if (*e.missing) {
        out->status = ASSAY_PROBE_LIMITED;
        PROBE_SAY(out->cause, "%s not installed: programs of that machine cannot be recorded", e.missing);
        PROBE_SAY(out->without, "recording of 64-bit x86 programs");
    } else {
        out->status = ASSAY_PROBE_YES;
        *out->remedy = '\0';
    }
}

void probe_perf(const struct assay_sys *s, struct assay_probe_result *out)
{
    char output[256], version[32];
    if (!sys_program(s, "perf", "--version", output, sizeof output)) {
        PROBE_SAY(out->cause, "not installed");
        PROBE_SAY(out->remedy, "sudo apt install linux-perf");
        PROBE_SAY(out->without, "all of Assay; perf is a second opinion on its files");
        return;
    }
    version_in(output, version, sizeof version);
    out->status = *version ? ASSAY_PROBE_YES : ASSAY_PROBE_LIMITED;
    PROBE_SAY(out->found, "perf %s", version);
    if (*version)
        return;
    PROBE_SAY(out->cause,
              "it is there but does not run (its version does not fit the kernel, or a library is missing)");
    PROBE_SAY(out->remedy, "perf --version");
    PROBE_SAY(out->without, "all of Assay; perf is a second opinion on its files");
}
