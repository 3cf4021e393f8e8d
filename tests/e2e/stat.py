#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts a program that does a known number of things; what assay stat says must be what was done, by the program's own
account, by arithmetic, and by perf where it is installed. Skipped where perf events are not permitted, and parts of it
where a PMU is not there.

usage: stat.py ASSAY PROGRAM [CASE ...]"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

ASSAY, PROGRAM = sys.argv[1:3]
SKIP = 77


def stat(*args, exit=0):
    """The counters by event, the summary, and the program's standard output."""
    done = subprocess.run([ASSAY, "stat", "--json", *args], capture_output=True, text=True, timeout=60)
    if done.returncode != exit:
        sys.exit(f"assay stat {args}: exit {done.returncode}\n{done.stderr}")
    records = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    rows = [r for r in records if r["record"] == "counter"]
    return rows, records[-1] if records else None, done


def counts(events, *program, options=()):
    """Values of one run, by event; the words that the program printed."""
    rows, _, done = stat(*options, "-e", events, "--", PROGRAM, *program)
    for row in rows:
        check(row["state"] == "counted", f"{row['event']}: {row['state']}: {row['reason']}")
    return {r["event"]: r["value"] for r in rows}, [int(w) for w in done.stdout.split()]


def check(ok, what):
    if not ok:
        sys.exit("wrong: " + what)


def near(a, b, within, what):
    check(abs(a - b) <= within, f"{what}: {a} and {b} differ by more than {within}")


def can(events):
    done = subprocess.run([ASSAY, "stat", "-e", events, "--", "true"], capture_output=True, text=True)
    return done.returncode == 0


# ---- values ----

def page_faults():
    few, many = (counts("page-faults", "touch", str(n))[0]["page-faults"] for n in (1000, 5000))
    near(many - few, 4000, 8, "page faults of 4000 more pages")


def children():
    alone = counts("page-faults", "fork", "4000", options=["--no-inherit"])[0]["page-faults"]
    whole = counts("page-faults", "fork", "4000")[0]["page-faults"]
    check(alone < 1000, f"{alone} page faults without the child")
    check(4000 < whole < 5000, f"{whole} page faults with the child")


def clock():
    got, (_, user, system) = counts("task-clock", "burn", "300")
    near(got["task-clock"], (user + system) / 1000, 15, "ms by task-clock and by getrusage")
    _, summary, _ = stat("-e", "task-clock", "--", PROGRAM, "burn", "200")
    near((summary["user"] + summary["system"]) * 1000, 200, 30, "ms of the summary")


def switches():
    got, (of_kernel, _, _) = counts("context-switches", "nap", "40")
    check(of_kernel >= 40, "the program did not sleep")
    near(got["context-switches"], of_kernel, 3, "context switches and the kernel's own account")


def groups():
    got, _ = counts("{page-faults,context-switches,task-clock},minor-faults", "touch", "2000")
    near(got["page-faults"], got["minor-faults"], 5, "page faults in a group and minor faults alone")


def intervals():
    rows, summary, _ = stat("-I", "20", "-e", "task-clock,page-faults", "--", PROGRAM, "burn", "150")
    for event in ("task-clock", "page-faults"):
        parts = [r for r in rows if r["event"] == event and r["at"] is not None]
        whole = next(r for r in rows if r["event"] == event and r["at"] is None)
        check(len(parts) >= 5, f"{len(parts)} intervals")
        for key in ("raw", "enabled", "running"):
            # null where the program did not run for a whole interval
            check(sum(p[key] or 0 for p in parts) == whole[key], f"{key} of {event}: the intervals are not the total")
        check([p["at"] for p in parts] == sorted(p["at"] for p in parts), "intervals out of order")
        near(parts[-1]["at"], summary["elapsed"], 1e-6, "end of the last interval")


def repeats():
    rows, summary, done = stat("--repeat", "4", "-e", "page-faults", "--", PROGRAM, "touch", "500")
    check(summary["runs"] == 4 and len(done.stdout.split()) == 12, "four runs")
    near(rows[0]["value"], rows[0]["raw"] / 4, 0.001, "mean")
    check(rows[0]["spread"] is not None and rows[0]["spread"] < 5, "spread of a steady count")


def delay():
    rows, summary, _ = stat("-D", "100", "-e", "task-clock", "--", PROGRAM, "burn", "250")
    all_ms = (summary["user"] + summary["system"]) * 1000
    check(0 < rows[0]["value"] < all_ms, f"{rows[0]['value']} ms counted after a delay, of {all_ms}")
    check(summary["elapsed"] * 1000 >= rows[0]["value"] * 0.9, "elapsed begins with counting")


def user_mode():
    got, _ = counts("page-faults:u,page-faults", "touch", "3000")
    check(got["page-faults:u"] >= 3000 and got["page-faults"] >= got["page-faults:u"], f"{got}")


# ---- PMUs that may be there ----

def tsc():
    if not can("msr/tsc/"):
        print("skipped: no msr/tsc/ here")
        return
    got, _ = counts("msr/tsc/,task-clock", "burn", "100")
    ghz = got["msr/tsc/"] / got["task-clock"] / 1e6
    check(0.5 < ghz < 10, f"a TSC of {ghz} GHz")
    got, _ = counts("msr/event=0,name='t,s'/", "burn", "1")
    check(got["t,s"] > 0, "a term by its number, with a name")


def tracepoints():
    if not can("raw_syscalls:sys_enter"):
        print("skipped: no tracepoints can be read")
        return
    few, many = (counts("raw_syscalls:sys_enter", "call", str(n))[0]["raw_syscalls:sys_enter"] for n in (100, 5100))
    check(many - few == 5000, f"{many - few} system calls more, not 5000")
    got, (of_kernel, _, _) = counts("{sched:sched_switch,context-switches}", "nap", "40")
    near(got["sched:sched_switch"], got["context-switches"], 2, "tracepoint and software event")


# ---- targets ----

def processes():
    with subprocess.Popen([PROGRAM, "burn", "400"], stdout=subprocess.DEVNULL) as child:
        rows, summary, done = stat("-p", str(child.pid), "-e", "task-clock", "--timeout", "150", "-o", "/dev/stderr")
        check(summary["program"] is None and not summary["interrupted"], "no program, and an end as it was asked for")
        check(0 < rows[0]["value"] <= 200, f"{rows[0]['value']} ms of a process in 150 ms")
        rows, _, _ = stat("-t", str(child.pid), "-e", "task-clock", "-o", "/dev/stderr", "--", "sleep", "0.05")
        check(0 < rows[0]["value"] < 100, f"{rows[0]['value']} ms of a thread while another program ran")
        child.kill()


def end_of_a_process():
    child = subprocess.Popen(["sleep", "0.3"])
    counting = subprocess.Popen([ASSAY, "stat", "-e", "task-clock", "-p", str(child.pid)], stdout=subprocess.PIPE,
                                text=True)
    child.wait()
    out, _ = counting.communicate(timeout=10)
    check(counting.returncode in (0, 4) and "elapsed" in out, "counting ends with the process")


def processors():
    done = subprocess.run([ASSAY, "stat", "--json", "-a", "-A", "-e", "cpu-clock", "--timeout", "50"],
                          capture_output=True, text=True)
    if done.returncode == 4:
        print("skipped: processors cannot be counted:", done.stderr.strip())
        return
    rows = [json.loads(line) for line in done.stdout.splitlines()][:-1]
    check([r["cpu"] for r in rows] == sorted(os.sched_getaffinity(0)) or len(rows) == os.cpu_count(), "a row for each")
    rows, _, _ = stat("-C", "0", "-e", "cpu-clock", "--", PROGRAM, "nap", "5")
    check(rows[0]["cpu"] is None and rows[0]["value"] > 4, "a processor while a program runs")


# ---- ends ----

def endings():
    _, summary, _ = stat("-e", "task-clock", "--", "sh", "-c", "exit 7")
    check(summary["exit"] == 7 and summary["signal"] is None, "exit status 7")
    _, summary, _ = stat("-e", "task-clock", "--", "sh", "-c", "kill -9 $$")
    check(summary["exit"] is None and summary["signal"] == 9, "killed by signal 9")
    stat("-e", "task-clock", "--", "/nonexistent", exit=4)
    stat("-e", "task-clock", "--", "/etc/passwd", exit=4)


def wait_for_start(pid, program):
    """Until the child of pid has become the program."""
    for _ in range(500):
        try:
            child = open(f"/proc/{pid}/task/{pid}/children").read().split()
            if child and open(f"/proc/{child[0]}/comm").read().strip() == program:
                return
        except FileNotFoundError:
            pass
        time.sleep(0.01)
    sys.exit(f"{program} does not start")


def interrupted(sig, *program):
    counting = subprocess.Popen([ASSAY, "stat", "--json", "-e", "task-clock", "--", *program], stderr=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, text=True)
    wait_for_start(counting.pid, program[0])
    time.sleep(0.1)  # for the shell to set its trap
    counting.send_signal(sig)
    _, err = counting.communicate(timeout=20)
    records = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    check(counting.returncode == 0 and records[-1]["interrupted"], f"exit {counting.returncode} after {sig}: {err}")
    check(records[0]["value"] > 0, "what was counted up to there")
    return records[-1], err


def interruptions():
    check(interrupted(signal.SIGINT, "sleep", "20")[0]["signal"] == 2, "the program got the signal")
    check(interrupted(signal.SIGTERM, "sleep", "20")[0]["signal"] == 15, "the program got the signal")
    summary, err = interrupted(signal.SIGINT, "sh", "-c", "trap '' INT TERM; sleep 5")
    check(summary["exit"] is None and summary["signal"] is None and "goes on" in err, "a program that would not end")
    _, summary, _ = stat("--timeout", "100", "-e", "task-clock", "--", "sleep", "20")
    check(summary["signal"] == 15 and summary["elapsed"] < 10, "the timeout ends the program")


def interrupted_twice():
    """timeout(1) sends a signal to us and to the whole group: what comes late does not take the result away."""
    modelled = [["--virtual", "-e", "instructions"]] if shutil.which("qemu-x86_64") else []
    for options in [["-e", "task-clock"], *modelled]:
        run = subprocess.Popen([ASSAY, "stat", "--json", *options, "--", "sleep", "20"], stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        while run.poll() is None:
            run.send_signal(signal.SIGINT)
            time.sleep(0.0001)
        err = run.stderr.read()
        check(run.returncode == 0 and '"interrupted":true' in err, f"{options}: exit {run.returncode} after ^C: {err}")


def output_is_the_programs():
    done = subprocess.run([ASSAY, "stat", "-e", "task-clock", "--", "echo", "hello"], capture_output=True, text=True)
    check(done.stdout == "hello\n" and "task-clock" in done.stderr, "standard output is the program's")
    done = subprocess.run([ASSAY, "stat", "-o", "-", "-e", "task-clock", "--", "true"], capture_output=True, text=True)
    check("task-clock" in done.stdout and not done.stderr, "-o - is standard output")


# ---- who may ----

def without_privilege():
    """As nobody, where perf_event_paranoid is 2: user mode alone is counted, and what needs the kernel says so."""
    with open("/proc/sys/kernel/perf_event_paranoid") as file:
        paranoid = file.read().strip()
    drop = ["setpriv", "--reuid", "65534", "--clear-groups", "--bounding-set", "-all"]
    if (paranoid != "2" or os.geteuid() != 0 or not shutil.which("setpriv") or
            subprocess.run([*drop, ASSAY, "--version"], capture_output=True).returncode):
        print("skipped: not root with perf_event_paranoid 2, setpriv, and a command that nobody may run")
        return
    events = "page-faults,context-switches,task-clock:u"
    done = subprocess.run([*drop, ASSAY, "stat", "--json", "-e", events, "--", "true"], capture_output=True, text=True)
    rows = {r.get("event"): r for r in map(json.loads, done.stderr.splitlines())}
    check(done.returncode == 3, f"exit {done.returncode}: something was not counted")
    check(rows["page-faults:u"]["value"] > 0 and rows["task-clock:u"]["value"] > 0, "user mode is counted")
    refused = rows["context-switches"]
    check(refused["state"] == "not supported" and refused["value"] is None, "switches need the kernel's part")
    check("perf_event_paranoid is 2" in refused["reason"] and "paranoid=1" in refused["remedy"], f"{refused}")


# ---- peer ----

def perf():
    if not shutil.which("perf"):
        print("skipped: perf is not installed")
        return
    done = subprocess.run(["perf", "stat", "-x,", "-e", "page-faults,minor-faults,task-clock,context-switches", PROGRAM,
                           "touch", "3000"], capture_output=True, text=True)
    if done.returncode:
        print("skipped: perf does not run:", done.stderr.strip()[:200])
        return
    peer = {line.split(",")[2]: float(line.split(",")[0]) for line in done.stderr.splitlines() if line.count(",") > 4}
    got, _ = counts("page-faults,minor-faults,task-clock,context-switches", "touch", "3000")
    check(set(peer) == set(got), f"names: {sorted(peer)} and {sorted(got)}")
    for event in ("page-faults", "minor-faults"):
        near(got[event], peer[event], 10, f"{event} and perf's")


CASES = [page_faults, children, clock, switches, groups, intervals, repeats, delay, user_mode, tsc, tracepoints,
         processes, end_of_a_process, processors, endings, interruptions, interrupted_twice,
         output_is_the_programs, without_privilege, perf]


def main():
    done = subprocess.run([ASSAY, "stat", "-e", "task-clock,context-switches", "--", "true"], capture_output=True,
                          text=True)
    if done.returncode:
        print("skipped: this machine does not let programs be counted:", done.stderr.strip())
        return SKIP
    for case in CASES:
        if not sys.argv[3:] or case.__name__ in sys.argv[3:]:
            case()
            print("ok", case.__name__)
    return 0


sys.exit(main())
