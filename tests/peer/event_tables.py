#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares every row of the built-in event table with tables of the reference library, of Intel and of Linux, where they are
there. What differs on purpose stands in a list, each line with its reason; a line that is not needed fails as well.

usage: event_tables.py EVENT_ROWS FACTS_FOLDER DIFFERENCES"""
import csv
import pathlib
import subprocess
import sys

FLAG = {name: 1 << n for n, name in enumerate(
    "pebs fixed offcore extra deprecated nocombine default overrides alone retirement virtual tag nokernel shared grouped".split())}
MODIFIER = {name: 1 << n for n, name in enumerate("u k e i c t cmpl thr h".split())}


class Rows:
    def __init__(self, program):
        self.pmu, self.event, self.umask, self.metric = {}, {}, {}, {}
        for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines():
            kind, *words = line.split(" ")
            row = dict(w.split("=", 1) for w in words)
            for k, v in row.items():
                row[k] = int(v, 0) if v and v[0].isdigit() and k not in ("name", "event", "upstream") else v
            if kind == "pmu":
                self.pmu[row["name"]] = row
            elif kind == "event":
                self.event[row["pmu"], row["name"]] = row
            elif kind == "umask":
                self.umask[row["pmu"], row["event"], row["name"]] = row
            else:
                self.metric.setdefault(row["name"], []).append(row)

    def umasks(self, pmu, event):
        return [u for (p, e, _), u in self.umask.items() if (p, e) == (pmu, event)]


class Comparison:
    def __init__(self, path):
        self.intended, self.found, self.used, self.rows = {}, [], set(), 0
        for n, line in enumerate(path.read_text().splitlines(), 1):
            if line and not line.startswith("#"):
                key, column, ours, theirs, reason = line.split("\t")
                assert reason, f"{path}:{n}: no reason"
                self.intended[key, column] = (ours, theirs)

    def same(self, key, column, ours, theirs):
        ours, theirs = [hex(v) if isinstance(v, int) else str(v) for v in (ours, theirs)]
        if ours == theirs:
            return
        if self.intended.get((key, column)) == (ours, theirs):
            self.used.add((key, column))
        else:
            self.found.append(f"{key}\t{column}\t{ours}\t{theirs}")


def table(folder, name):
    with open(folder / name, newline="") as f:
        return list(csv.DictReader(f))


def bits(text):
    return sum(1 << int(w) for w in text.split())


def flag(row, name):
    return bool(row["flags"] & FLAG[name])


def counters_of(fact):
    mask = 0 if fact["fixed_only"] == "1" else sum(1 << int(w) for w in fact["generic_counters"].split())
    return mask | (1 << 32 + int(fact["fixed_counter"]) if fact["fixed_counter"] else 0)


def knights_events(r, c, facts):
    for f in table(facts / "events", "knm_events.csv"):
        for pmu in ("knm", "knl"):
            key, row = f"knm:{f['event']}", r.event[pmu, f["event"]]
            c.rows += 1
            c.same(key, "index", row["index"], int(f["index"]))
            c.same(key, "alias", row["alias"], f["alias_of"])
            c.same(key, "code", row["config"], int(f["code_hex"], 16))
            c.same(key, "counters", row["counters"], counters_of(f))
            c.same(key, "fixed", flag(row, "fixed"), f["fixed_only"] == "1")
            c.same(key, "modifiers", row["modifiers"], sum(MODIFIER[m] for m in f["modifiers"].split()))
            c.same(key, "umasks", row["listed"], int(f["num_umasks"]))
            c.same(key, "groups", row["groups"], int(f["num_umask_groups"]))
            c.same(key, "pebs", flag(row, "pebs"), "PEBS" in f["flags"])
            c.same(key, "offcore", flag(row, "offcore"), "NHM_OFFCORE" in f["flags"])
            c.same(key, "raw", row["raw_bits"], int(f["raw_umask_bits"]))


def knights_umasks(r, c, facts):
    for f in table(facts / "events", "knm_umasks.csv"):
        key, row = f"knm:{f['event']}:{f['umask']}", r.umask["knm", f["event"], f["umask"]]
        c.rows += 1
        c.same(key, "index", row["index"], int(f["umask_index"]))
        c.same(key, "value", row["value"], int(f["code_hex"], 16))
        c.same(key, "group", row["group"], int(f["group"]))
        c.same(key, "equiv", row["equiv"], f["equivalent_to"])
        for name, column in (("default", "default"), ("nocombine", "no_combine"), ("pebs", "pebs"),
                             ("overrides", "excl_higher_groups"), ("alone", "excl_all_but_group0")):
            c.same(key, name, flag(row, name), f[column] == "1")
        sets = f["hardwired_mods"].split() or (["e", "c"] if f["hardwired_edge"] == "1" else [])
        c.same(key, "set", row["fixed"], sum(MODIFIER[m] for m in sets))
        c.same(key, "edge", row["edge"], int(f["hardwired_edge"]))
        c.same(key, "cmask", row["cmask"], int(f["hardwired_cmask"]))


def intel_events(r, c, facts):
    for f in table(facts / "events", "knm_intel_compare.csv"):
        event, _, umask = f["intel_event"].partition(".")
        if not event or f["intel_counters"].startswith("Fixed"):
            continue
        key, row = f"intel:{f['intel_event']}", r.umask.get(("knm", event, umask))
        c.rows += 1
        c.same(key, "there", row is not None, True)
        if row is None:
            continue
        c.same(key, "code", r.event["knm", event]["config"] | row["value"] << 8,
               int(f["intel_code"], 16) | int(f["intel_umask"], 16) << 8)
        c.same(key, "edge", row["edge"], int(f["intel_edge"]))
        c.same(key, "cmask", row["cmask"], int(f["intel_cmask"]))
        c.same(key, "pebs", flag(row, "pebs"), f["intel_pebs"] != "0")


def intel_offcore(r, c, facts):
    for f in table(facts / "events", "knm_offcore_bits.csv"):
        for n in ("0", "1"):
            event = r.event["knm", "OFFCORE_RESPONSE_" + n]
            for name in {f["umask"], f["intel_name"]}:
                row = r.umask.get(("knm", event["name"], name))
                key = f"matrix:{name}@{n}"
                c.rows += 1
                c.same(key, "there", row is not None, n in f["intel_registers"].split() or f["kind"] == "request")
                if row:
                    c.same(key, "value", row["value"], int(f["intel_matrix_hex"], 16))
                    c.same(key, "linux", row["value"] & ~event["ok"] == 0, f[f"linux_rsp{n}_ok"] == "1")


def netburst_events(r, c, facts):
    escrs = {}
    for f in table(facts / "ds", "netburst_counters.csv"):
        e = escrs.setdefault(f["escr"][4:], [int(f["escr_msr"], 16), 0, int(f["escr_select"])])
        e[1] |= 1 << int(f["counter_no"])
    for f in table(facts / "events", "netburst_events.csv"):
        for pmu in f["pmus"].split():
            key, row = f"netburst:{f['event']}", r.event[pmu, f["event"]]
            names, numbers = list(dict.fromkeys(f["linux_escr_msrs"].split())), f["allowed_escr_numbers"].split()
            c.rows += 1
            c.same(key, "index", row["index"], int(f["index"]))
            c.same(key, "select", row["select"], int(f["escr_event_select"], 16))
            c.same(key, "config", row["config"], int(f["escr_event_select"], 16) << 25)
            c.same(key, "cccr", row["cccr"], int(f["cccr_escr_select"]))
            c.same(key, "linux", row["linux"], int(f["perf_event_code"]))
            c.same(key, "numbers", [row["number0"], row["number1"]], ([int(n) for n in numbers] + [0xFFFF])[:2])
            c.same(key, "escr_select", row["cccr"], escrs[names[0]][2])
            for i in (0, 1):
                want = escrs[names[i]] if i < len(names) else [0, None]
                c.same(key, f"escr{i}", row[f"escr{i}"], want[0])
                if want[0]:
                    c.same(key, f"counters{i}", row[f"counters{i}"], want[1])
                    linux = bits(f[f"linux_counters_escr{1 if names[i].endswith(('1', '3')) else 0}"])
                    c.same(key, f"linux_counters{i}", linux & ~row[f"counters{i}"], 0)
            c.same(key, "shared", flag(row, "shared"), f["linux_shared_across_threads"] == "1")
            c.same(key, "pebs", flag(row, "pebs"), f["pebs_capable"] == "1")
            c.same(key, "retirement", flag(row, "retirement"), f["at_retirement"] == "1")
            netburst_nokernel(r, c, key, pmu, f)


def netburst_nokernel(r, c, key, pmu, f):
    refused = f["note"].partition("rejected by Linux:")[2].partition(";")[0].split()
    facts = {m.split("=")[0]: m.split("=")[1] for m in f["mask_bits"].split()}
    ours = [u["name"] for u in r.umasks(pmu, f["event"]) if flag(u, "nokernel")]
    c.same(key, "nokernel", " ".join(ours), " ".join(n for n, b in facts.items() if b in refused))


def netburst_masks(r, c, facts):
    place = {}
    for f in table(facts / "events", "netburst_masks.csv"):
        key = f"netburst:{f['event']}:{f['mask']}"
        row = r.umask["netburst_p", f["event"], f["mask"]]
        bit, tag = int(f["bit"]), f["kind"] == "tag"
        c.rows += 1
        c.same(key, "index", row["index"], place.setdefault(f["event"], 0))
        place[f["event"]] += 1
        c.same(key, "bit", row["value"], 1 << bit - 16 if tag else bit)
        c.same(key, "tag", flag(row, "tag"), tag)
        c.same(key, "default", flag(row, "default"), f["default"] == "1")
        c.same(key, "virtual", flag(row, "virtual"), f["event"] == "replay_event" and bit > 1)


def netburst_metrics(r, c, facts):
    replay = {f["replay_mask"]: f for f in table(facts / "events", "netburst_pebs.csv")}
    for f in table(facts / "ds", "netburst_at_retirement.csv"):
        for row in r.metric[f["metric"]]:
            key = f"metric:{f['metric']}"
            c.rows += 1
            c.same(key, "event", row["event"], f["downstream_event"])
            c.same(key, "enable", row["enable"], int(f["pebs_enable_value_count(bit24)"] or "0", 0))
            c.same(key, "pebs", row["pebs"], int(f["pebs_enable_value_pebs(bits24+25)"], 0))
            c.same(key, "matrix", row["matrix"], int(f["matrix_vert"] or "0", 0))
            c.same(key, "tag", row["tag"], int(f["upstream_tag_value"] or "0"))
            c.same(key, "upstream", row["upstream"].lower(), f["upstream_event"].lower())
            c.same(key, "mask", row["mask"], sum(1 << int(w.split("=")[1]) for w in f["upstream_mask_bits"].split()))
            if f["mechanism"] == "replay":
                other = replay[row["umask"]]
                c.same(key, "replay_enable", row["enable"], int(other["pebs_enable_bits_hex"], 16) | 1 << 24)
                c.same(key, "replay_matrix", row["matrix"], int(other["pebs_matrix_vert_hex"], 16))


def numbers_of_pmus(r, c, facts):
    ids = {f["name"]: f["field"] or f["value_or_offset"] for f in table(facts / "events", "abi.csv") if f["kind"] == "enum"}
    for pmu, name in (("knm", "INTEL_KNM"), ("knl", "INTEL_KNL"), ("netburst", "INTEL_NETBURST"),
                      ("netburst_p", "INTEL_NETBURST_P"), ("ix86arch", "INTEL_X86_ARCH"), ("perf", "PERF_EVENT")):
        c.rows += 1
        c.same(f"pmu:{pmu}", "id", r.pmu[pmu]["id"], int(ids["PFM_PMU_" + name]))
    for pmu, listed in (("knm", 31), ("knl", 31), ("netburst", 45), ("netburst_p", 46)):
        c.same(f"pmu:{pmu}", "listed", r.pmu[pmu]["listed"], listed)


def main():
    program, facts, differences = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    if not (facts / "events" / "knm_events.csv").exists():
        print("no tables to compare with")
        sys.exit(77)
    r, c = Rows(program), Comparison(differences)
    for part in (knights_events, knights_umasks, intel_events, intel_offcore, netburst_events, netburst_masks, netburst_metrics,
                 numbers_of_pmus):
        part(r, c, facts)
    unused = [f"not needed: {' '.join(k)}" for k in c.intended if k not in c.used]
    print("\n".join(sorted(set(c.found)) + unused) or f"{c.rows} rows are the same, {len(c.used)} differences are intended")
    sys.exit(1 if c.found or unused else 0)


main()
