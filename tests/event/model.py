#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second encoder, slow and plain, written from the tables of facts and the manual page and not from src/event, against
the library's on random strings: codes, and of errors the reason and the place.

usage: model.py DRIVER HEADER FACTS [STRINGS [SEED]]    status 77 when the facts are not there"""
import csv
import json
import pathlib
import random
import re
import subprocess
import sys

STRICT, LIBPFM4, REGISTERS = 0, 1, 2
MODE_NAMES = {STRICT: "strict", LIBPFM4: "libpfm4", REGISTERS: "registers"}


class Umask:
    def __init__(self, name, value, group=0, default=False, alone=False, tag=False, virtual=False, fixed=None):
        self.name, self.value, self.group, self.default, self.alone = name, value, group, default, alone
        self.tag, self.virtual, self.fixed, self.same = tag, virtual, fixed or {}, name
        self.linux = True


class Event:
    def __init__(self, name, code, modifiers):
        self.name, self.code, self.modifiers, self.umasks, self.alias = name, code, modifiers, {}, None
        self.offcore = self.msr_bits = self.cccr = None
        self.raw_bits, self.fixed_only = 8, False


def rows(facts, name):
    with open(facts / name, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def knights(facts):
    """Knights Mill and Landing: the reference's tables, with Intel's value where the reference's is called wrong."""
    rules = json.loads((facts / "knm_rules.json").read_text(encoding="utf-8"))["offcore"]
    events = {}
    for r in rows(facts, "knm_events.csv"):
        e = events[r["event"].lower()] = Event(r["event"], int(r["code_hex"], 16), r["modifiers"].split())
        e.alias = r["alias_of"]
        e.raw_bits = int(r["raw_umask_bits"])
        e.fixed_only = r["fixed_only"] == "1"
        if r["flags"] == "NHM_OFFCORE":
            e.offcore = True
            e.raw_bits += e.name[-1] == "0"  # OUTSTANDING is bit 38: a defect of the reference
            e.msr_bits = int(rules["linux_valid_mask_rsp" + e.name[-1]], 16)
    bits = rows(facts, "knm_offcore_bits.csv")
    intel = {r["umask"]: int(r["intel_matrix_hex"], 16) for r in bits if r["umask"] == "DDR_FAR"}
    for r in rows(facts, "knm_umasks.csv"):
        e = events[r["event"].lower()]
        fixed = {m: int(r["hardwired_edge" if m == "e" else "hardwired_cmask"]) for m in r["hardwired_mods"].split()}
        value = intel.get(r["umask"], int(r["code_hex"], 16))
        u = Umask(r["umask"], value, int(r["group"]), r["default"] == "1", r["no_combine"] == "1", fixed=fixed)
        if r["equivalent_to"] and ":" not in r["equivalent_to"]:
            u.same = r["equivalent_to"]
        if u.name == "BUS":
            u.same = "BUS"  # the reference calls it an alias, with another code than it shows: a defect
        e.umasks[u.name.lower()] = u
    return events


def bits_of(text):
    out = set()
    for part in text.split():
        low, _, high = part.partition("-")
        out |= set(range(int(low), int(high or low) + 1))
    return out


def netburst(facts, pmu):
    events = {}
    for r in rows(facts, "netburst_events.csv"):
        if pmu not in r["pmus"].split():
            continue
        select = int(r["escr_event_select"], 16) << 25
        e = events[r["event"].lower()] = Event(r["event"], select, ["u", "k", "cmpl", "e", "thr"])
        e.cccr = int(r["cccr_escr_select"])
        linux = bits_of(r["linux_mask_bits"])
        for m in (m for m in rows(facts, "netburst_masks.csv") if m["event"] == r["event"]):
            bit, tag = int(m["bit"]), m["kind"] == "tag"
            virtual = r["event"] == "replay_event" and bit > 1
            if (r["event"], m["mask"]) in (("b2b_cycles", "BIT5"), ("b2b_cycles", "BIT6")):
                bit = int(m["mask"][3])  # the reference has 4 for both: a defect
            u = Umask(m["mask"], bit, default=m["default"] == "1", tag=tag, virtual=virtual)
            e.umasks[m["mask"].lower()] = u
            u.linux = tag or virtual or bit in linux
    return events


# In what order the reference looks: of two errors it reports the one of the earlier step. What only Assay refuses comes
# last.
STEPS = [{"BAD_CHARACTER"}, {"NO_PMU", "NO_EVENT"},
         {"NO_ATTRIBUTE", "NO_MODIFIER", "EMPTY", "UMASK_VALUE", "RAW_MIXED", "VALUE_MISSING", "VALUE_BAD"},
         {"SET_TWICE"}, {"NOT_TOGETHER", "RAW_WIDTH", "VALUE_RANGE"}, {"FIXED_MODIFIER"}, {"NEEDS_UMASK"}, {"LATENCY"}, {"EDGE_CMASK"}]


class Wrong:
    """An error: the reasons that would be right, likeliest first, and the offset of the token where that is certain."""

    def __init__(self, reasons, at=None):
        first = reasons.split()[0]
        self.reasons, self.at = set(reasons.split()), at
        self.step = next((i for i, step in enumerate(STEPS) if first in step), len(STEPS))


def whole_number(text):
    m = re.fullmatch(r"([+-]?)(0x[0-9a-f]+|0[0-7]*|[1-9][0-9]*)", text, re.IGNORECASE)
    if not m:
        return None
    digits = m.group(2).lower()
    v = int(digits, 16) if digits.startswith("0x") else int(digits, 8) if digits.startswith("0") else int(digits)
    v = min(v, 2**64 - 1)
    return (-v if m.group(1) == "-" else v) % 2**64


class Reading:
    """One string, read in the plainest way. errors collects everything that is wrong with it."""

    def __init__(self, pmus, text, mode, plm):
        self.mode, self.plm, self.errors = mode, plm, []
        self.umasks, self.modifiers, self.places, self.raw, self.raw_at = [], {}, {}, None, None
        self.read(pmus, text)

    def wrong(self, reasons, at=None):
        self.errors.append(Wrong(reasons, at))

    def read(self, pmus, text):
        bad = re.search(r"[,\s\x00-\x1f]", text)
        if bad:
            return self.wrong("BAD_CHARACTER", bad.start())
        pmu, _, rest = text.partition("::")
        if pmu.lower() not in pmus:
            return self.wrong("NO_PMU", 0)
        events, at = pmus[pmu.lower()], len(pmu) + 2
        words = re.split(r"[:.]", rest)
        self.event = events.get(words[0].lower())
        if not self.event:
            return self.wrong("NO_EVENT EMPTY", at)
        if self.event.alias:
            name, _, umask = self.event.alias.partition(":")
            self.event = events[name.lower()]
            if umask:
                self.umasks.append((self.event.umasks[umask.lower()], at))
        self.event_at = at
        at += len(words[0]) + 1
        for word in words[1:]:
            self.attribute(word, at)
            at += len(word) + 1
        if all("VALUE_RANGE" in e.reasons for e in self.errors):
            self.judge()

    def attribute(self, word, at):
        name, equals, value = word.lower().partition("=")
        if not name:
            return self.wrong("EMPTY NO_ATTRIBUTE", None)
        if name.startswith("0x"):
            return self.raw_umask(name, equals, at)
        if name in self.event.umasks:
            if equals:
                return self.wrong("UMASK_VALUE", None)
            if self.raw is not None:
                return self.wrong("RAW_MIXED", None)
            return self.umasks.append((self.event.umasks[name], at))
        if name not in self.event.modifiers:
            known = name in ("u", "k", "e", "i", "c", "t", "cmpl", "thr", "h")
            return self.wrong("NO_MODIFIER NO_ATTRIBUTE" if known else "NO_ATTRIBUTE", at)
        self.modifier(name, equals, value, at)
        return None

    def raw_umask(self, name, equals, at):
        if self.event.cccr is not None:
            return self.wrong("NO_ATTRIBUTE RAW_WIDTH RAW_ILLEGAL RAW_MIXED", at)
        if equals or not re.fullmatch(r"0x[0-9a-f]+", name):
            return self.wrong("UMASK_VALUE VALUE_BAD NO_ATTRIBUTE VALUE_MISSING RAW_MIXED", None)
        if self.raw is not None or [u for u, place in self.umasks if place != self.event_at]:
            return self.wrong("RAW_MIXED", None)
        self.umasks = []  # a raw umask takes the place of the one that an alias stands for
        self.raw, self.raw_at = int(name, 16), at
        if self.raw >> self.event.raw_bits:
            self.wrong("RAW_WIDTH RAW_ILLEGAL MSR_REFUSES VALUE_RANGE", at)
        return None

    def modifier(self, name, equals, value, at):
        if name in ("c", "thr"):
            if not value:
                return self.wrong("VALUE_MISSING", None)
            v = whole_number(value)
            if v is None:
                return self.wrong("VALUE_BAD", None)
            if v > (255 if name == "c" else 15):
                self.wrong("VALUE_RANGE VALUE_BAD" if v > 2**63 else "VALUE_RANGE", None)
        elif not equals:
            v = 1
        elif value in ("y", "t", "1", "n", "f", "0"):
            v = int(value in ("y", "t", "1"))
        else:
            return self.wrong("VALUE_BAD VALUE_MISSING", None)
        if self.modifiers.setdefault(name, v) != v:
            self.wrong("SET_TWICE", None)
        self.places[name] = at
        return None

    # Everything behind the single attributes.

    def judge(self):
        chosen = {}
        for u, at in self.umasks:
            chosen.setdefault(u.same, self.event.umasks[u.same.lower()])
        self.chosen = chosen
        if self.event.cccr is not None:
            self.judge_netburst()
        else:
            self.judge_groups()
            self.judge_core_modifiers()
            if self.event.offcore:
                self.judge_offcore()
            elif self.raw and self.mode != LIBPFM4 and self.event.fixed_only and self.raw & ~(self.event.code >> 8):
                self.wrong("RAW_ILLEGAL RAW_WIDTH")
        self.judge_privilege()

    def in_group(self, group):
        return [u for u in self.chosen.values() if u.group == group]

    def judge_groups(self):
        for group in {u.group for u in self.event.umasks.values()}:
            members = self.in_group(group)
            if len(members) > 1 and any(u.alone for u in members):
                self.wrong("NOT_TOGETHER")
        outstanding = "OUTSTANDING" in self.chosen
        if outstanding and self.in_group(1):
            self.wrong("LATENCY NOT_TOGETHER")
        if self.raw is not None:
            return
        for group in {u.group for u in self.event.umasks.values()}:
            if not self.in_group(group) and not (group == 1 and outstanding):
                for u in self.event.umasks.values():
                    if u.group == group and u.default:
                        self.chosen[u.same] = u
        if self.event.umasks and not self.chosen:
            self.wrong("NEEDS_UMASK")

    def judge_core_modifiers(self):
        m, fixed = self.modifiers, {}
        for u in self.chosen.values():
            for name, v in u.fixed.items():
                fixed[name] = v
                if m.get(name, v) != v:
                    self.wrong("FIXED_MODIFIER")
        self.fixed = fixed
        c = fixed.get("c", m.get("c", 0))
        if fixed.get("e", m.get("e", 0)) and not c:
            self.wrong("EDGE_CMASK FIXED_MODIFIER")
        if m.get("i") and not c:
            self.wrong("INVERT_CMASK")

    def judge_offcore(self):
        value = self.value()
        if value & ~self.event.msr_bits:
            self.wrong("MSR_REFUSES RAW_WIDTH RAW_ILLEGAL")
        if self.raw is None:
            return
        request, response, outstanding = value & 0xffff, value >> 16 & 0x3fffff, value >> 38
        if not request or bool(response) == bool(outstanding):
            self.wrong("RAW_ILLEGAL LATENCY MSR_REFUSES")

    def judge_netburst(self):
        # The reference forgets replay metrics; here each stands for NBOGUS where no mask is named, and there is one at a
        # time.
        metrics = [u for u in self.chosen.values() if u.virtual]
        if len(metrics) > 1:
            self.wrong("NOT_TOGETHER")
        if metrics and not [u for u in self.chosen.values() if not u.virtual]:
            self.chosen["NBOGUS"] = self.event.umasks["nbogus"]
        # The reference takes a tag alone, which selects nothing that could be tagged: there the default is beside it.
        if not [u for u in self.chosen.values() if not u.tag or self.mode == LIBPFM4]:
            self.chosen.update({u.same: u for u in self.event.umasks.values() if u.default})
        if not self.chosen:
            self.wrong("NEEDS_UMASK")
        for u in self.chosen.values():
            if not u.linux and self.mode == STRICT:
                self.wrong("KERNEL_REFUSES")

    def judge_privilege(self):
        named = "u" in self.modifiers or "k" in self.modifiers
        self.u = self.modifiers.get("u", 0) if named else self.plm & 1
        self.k = self.modifiers.get("k", 0) if named else self.plm >> 1
        if not self.u and not self.k:
            self.wrong("NO_PRIVILEGE")

    # What comes out.

    def value(self):
        v = self.raw or 0
        for u in self.chosen.values():
            v |= u.value
        return v

    def codes(self):
        m = self.modifiers
        if self.event.cccr is None:
            code = self.event.code | 0x500000 | self.u << 16 | self.k << 17
            code |= self.fixed.get("e", m.get("e", 0)) << 18 | m.get("t", 0) << 21 | m.get("i", 0) << 23
            code |= self.fixed.get("c", m.get("c", 0)) << 24
            return [code, self.value()] if self.event.offcore else [code | self.value() << 8]
        escr = self.event.code | self.u * 5 | self.k * 10
        for u in self.chosen.values():
            if u.tag:
                escr |= 1 << 4 | 1 << (5 + u.value - 16)
            elif not u.virtual:
                escr |= 1 << (9 + u.value)
        thr, e, cmpl = m.get("thr", 0), m.get("e", 0), m.get("cmpl", 0)
        cccr = 1 << 12 | self.event.cccr << 13 | 3 << 16 | cmpl << 19 | thr << 20 | e << 24
        return [escr, cccr | (1 << 18 if thr or e or cmpl else 0)]


class Generator:
    def __init__(self, pmus, seed):
        self.pmus, self.r = pmus, random.Random(seed)

    def value(self, name):
        r = self.r
        if name in ("c", "thr"):
            return r.choice(["", "=", "=0", "=1", "=2", "=15", "=16", "=255", "=256", "=0x10", "=010", "=+3", "=-1",
                             "=1x", "=0x", "=99999999999999999999", "=x", "=1", "=2", "=%d" % r.randrange(300),
                             "=%d" % r.randrange(16)])
        return r.choice(["", "", "", "=1", "=0", "=y", "=n", "=t", "=f", "=2", "=yes", "="])

    def attribute(self, event):
        r, kind = self.r, self.r.random()
        if kind < 0.45 and event.umasks:
            return r.choice(list(event.umasks.values())).name + ("=1" if r.random() < 0.01 else "")
        if kind < 0.50:
            return "0x%x" % r.getrandbits(r.choice([1, 4, 8, 9, 17, 33, 38, 39, 40, 64]))
        if kind < 0.53:
            return r.choice(["", "m", "zz", "0x", "0xg", "hit ", "a,b", "ANY_RESPONS", "=1", "any", "tag9", "h=1q"])
        name = r.choice(event.modifiers if r.random() < 0.95 else ["u", "k", "e", "i", "c", "t", "cmpl", "thr"])
        return name + self.value(name)

    def string(self):
        r = self.r
        pmu = r.choice(list(self.pmus))
        event = r.choice(list(self.pmus[pmu].values()))
        words = [event.name if r.random() < 0.99 else event.name + "X"]
        words += [self.attribute(event) for _ in range(r.choice([0, 1, 1, 2, 2, 3, 4, 6]))]
        text = "".join(w if i == 0 else r.choice("::::.") + w for i, w in enumerate(words))
        if r.random() < 0.3:
            text = "".join(c.upper() if r.random() < 0.5 else c for c in text.lower()) if r.random() < 0.5 else text.lower()
            text = re.sub(r"=([A-Z])", lambda m: m.group(0).lower(), text)
        return (pmu if r.random() < 0.995 else pmu + "q") + "::" + text


def reason_names(header):
    text = pathlib.Path(header).read_text(encoding="utf-8")
    body = re.search(r"enum assay_event_reason \{(.*?)\};", text, re.DOTALL).group(1)
    return [n[len("ASSAY_EVENT_"):] for n in re.findall(r"^\s*(ASSAY_EVENT_\w+)", body, re.MULTILINE)]


def due(reading):
    """The errors of which one has to be told: with libpfm4's order those of its first step, and of the scan of attributes
    the first alone. (Whether a number that no register holds is bad or out of range is not laid down, nor its step.)"""
    errors = reading.errors
    if reading.mode != LIBPFM4 or any({"VALUE_RANGE", "VALUE_BAD"} <= e.reasons for e in errors):
        return errors
    step = min(e.step for e in errors)
    first = [e for e in errors if e.step == step]
    return first[:1] if step == 2 else first


def disagreement(reading, answer, names):
    """What the two say differently, or None."""
    words = answer.split()
    if words[0] == "ok":
        if reading.errors:
            return "taken; the model has " + " and ".join(sorted(reading.errors[0].reasons))
        want = ["%x" % c for c in reading.codes()]
        return None if words[1:] == want else f"codes {words[1:]}, the model's {want}"
    reason, column = names[int(words[0])], int(words[1])
    if not reading.errors:
        return f"refused with {reason} at {column}; the model takes it: " + " ".join("%x" % c for c in reading.codes())
    fitting = [e for e in due(reading) if reason in e.reasons]
    if not fitting:
        mine = ", ".join(" ".join(sorted(e.reasons)) for e in reading.errors)
        return f"refused with {reason} at {column}; the model's reason is {mine}"
    if all(e.at is not None and e.at != column for e in fitting):
        return f"{reason} at {column}, the model's place is {fitting[0].at}"
    return None


def main():
    driver, header, facts = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]) / "events"
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 30000
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    if not facts.is_dir():
        print(f"no facts at {facts}: the model has no tables")
        sys.exit(77)
    knm = knights(facts)
    pmus = {"knm": knm, "knl": knm} | {name: netburst(facts, name) for name in ("netburst", "netburst_p")}
    g, cases = Generator(pmus, seed), []
    for _ in range(count):
        cases.append((g.r.choice([STRICT, STRICT, LIBPFM4, REGISTERS]), g.r.choice([3, 3, 1, 2]), g.string()))
    lines = "".join(f"{mode} {plm} {text}\n" for mode, plm, text in cases)
    out = subprocess.run([driver], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    names, bad, good = reason_names(header), 0, 0
    for (mode, plm, text), answer in zip(cases, out, strict=True):
        what = disagreement(Reading(pmus, text, mode, plm), answer, names)
        good += answer.startswith("ok")
        if what:
            bad += 1
            if bad <= 40:
                print(f"{MODE_NAMES[mode]} plm {plm} {text}: {what}")
    print(f"{count} strings, {good} of them events, {bad} disagreements")
    sys.exit(1 if bad or good < count // 10 else 0)


main()
