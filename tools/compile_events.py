#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns the event tables of a folder (docs/formats/events.md, "Tables") into C: arrays of numbers and one string pool,
without a pointer and so without a relocation.

usage: compile_events.py FOLDER OUTPUT.h"""
import itertools
import pathlib
import sys

NONE = 0xFFFFFFFF
FLAGS = {"pebs": 0, "fixed": 1, "offcore": 2, "extra": 3, "deprecated": 4, "nocombine": 5, "default": 6, "overrides": 7,
         "alone": 8, "retirement": 9, "virtual": 10, "tag": 11, "nokernel": 12, "shared": 13}
MODIFIERS = {"u": 0, "k": 1, "e": 2, "i": 3, "c": 4, "t": 5, "cmpl": 6, "thr": 7, "h": 8}
SCHEMES = {"core": 0, "netburst": 1, "software": 2}
PERF_TYPES = {"hardware": 0, "software": 1, "cache": 3, "raw": 4}
MECHANISMS = {"front_end": 0, "execution": 1, "replay": 2}
COLUMNS = {
    "pmus": "pmu id scheme events without models generic fixed precise registers desc counters_note",
    "core events": "event alias code counters modifiers flags msr msr_bits other desc note",
    "core umasks": "event umask alias value group set flags made_of desc note",
    "netburst escrs": "escr msr counters select",
    "netburst events": "event alias select escrs cccr numbers linux flags desc note",
    "netburst umasks": "event umask alias bit flags desc note",
    "netburst metrics": "metric mechanism event umask upstream upstream_umasks upstream_escr tag pebs_enable "
                        "pebs_enable_pebs matrix",
    "software events": "event alias type config flags desc note",
    "software umasks": "event umask value group flags desc note",
}


class Wrong(Exception):
    """What is wrong in a table, with the place."""


class Row:
    """A line of a table: text by column, and where it stands."""

    def __init__(self, path, line, columns, fields):
        self.path, self.line, self.columns, self.fields = path, line, columns, fields

    def __getitem__(self, column):
        return self.fields[self.columns.index(column)]

    def wrong(self, column, what):
        at = 1 + sum(len(f) + 1 for f in self.fields[:self.columns.index(column)])
        return Wrong(f"{self.path}:{self.line}:{at}: {column}: {what}")

    def number(self, column, default=None, limit=1 << 64):
        text = self[column]
        if not text and default is not None:
            return default
        try:
            value = int(text, 0)
        except ValueError:
            raise self.wrong(column, f"'{text}' is not a number") from None
        if not 0 <= value < limit:
            raise self.wrong(column, f"{text} is not in 0..{limit - 1:#x}")
        return value

    def words(self, column, known):
        """The mask of the words of a column."""
        mask = 0
        for word in self[column].split():
            if word not in known:
                raise self.wrong(column, f"unknown '{word}', expected one of: {' '.join(known)}")
            if mask >> known[word] & 1:
                raise self.wrong(column, f"'{word}' twice")
            mask |= 1 << known[word]
        return mask

    def choice(self, column, known):
        if self[column] not in known:
            raise self.wrong(column, f"unknown '{self[column]}', expected one of: {' '.join(known)}")
        return known[self[column]]

    def text(self, column):
        if len(self[column]) < 10:
            raise self.wrong(column, "a description is missing")
        return self[column]


def read(path, kind):
    columns, rows = COLUMNS[kind].split(), []
    header = None
    for number, line in enumerate(path.read_text(encoding="ascii").split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if header is None:
            header = fields
            for at, name in enumerate(fields):
                if at >= len(columns) or name != columns[at]:
                    raise Wrong(f"{path}:{number}:{1 + sum(len(f) + 1 for f in fields[:at])}: unknown column '{name}', "
                                f"expected: {' '.join(columns)}")
        if len(fields) != len(columns):
            raise Wrong(f"{path}:{number}:{len(line) + 1}: {len(fields)} columns, expected {len(columns)}")
        if fields is not header:
            rows.append(Row(path, number, columns, fields))
    if header is None:
        raise Wrong(f"{path}:1:1: no header")
    return rows


class Pool:
    """Strings, each once; one that ends another lies inside it. Offset 0 is the empty string."""

    def __init__(self):
        self.strings, self.offset, self.chunks = {""}, {}, []

    def add(self, s):
        self.strings.add(s)
        return ("string", s)

    def close(self):
        self.chunks, self.offset, at, last = [""], {"": 0}, 1, None
        for s in sorted(self.strings, key=lambda s: s[::-1], reverse=True):
            if last is not None and last.endswith(s):
                self.offset.setdefault(s, at - 1 - len(s))
                continue
            self.offset[s] = at
            self.chunks.append(s)
            at, last = at + len(s) + 1, s
        return at


def hash_of(seed, name):
    """assay_event_hash of include/assay/event_table.h."""
    s, all64 = name.encode().lower(), (1 << 64) - 1
    h, mult, fold = (seed ^ len(s)) & all64, 0x9E3779B97F4A7C15, 0x2020202020202020

    def mix(h, v):
        h = ((h ^ (v | fold)) * mult) & all64
        return h ^ h >> 32

    while len(s) >= 8:
        h, s = mix(h, int.from_bytes(s[:8], "little")), s[8:]
    if len(s) >= 4:
        h = mix(h, int.from_bytes(s[:4], "little") | int.from_bytes(s[-4:], "little") << 32)
    elif s:
        h = mix(h, s[0] | s[len(s) // 2] << 8 | s[-1] << 16)
    return h * mult >> 32 & 0xFFFFFFFF


def keeps_apart(seed, names, size):
    used = set()
    for n in names:
        slot = hash_of(seed, n) & size - 1
        if slot in used:
            return False
        used.add(slot)
    return True


def free_seed(names, size):
    return next((s for s in range(300) if keeps_apart(s, names, size)), None)


def hash_slots(names):
    """seed, slots: a seed that gives every name a slot of its own, in as few slots as a short search finds. At least one
    slot stays empty: there the search for a name that is not in it ends."""
    size = 1 << max(1, (len(names) * 3 // 2 - 1).bit_length())
    while (seed := free_seed(names, size)) is None:
        size *= 2
        if size > 32 * len(names):
            sys.exit(f"no hash seed keeps these names apart: {' '.join(names)}")
    slots = [0] * size
    for row, name in enumerate(names):
        slots[hash_of(seed, name) & size - 1] = row + 1
    return seed, slots


def check_names(rows, column, others=()):
    seen = {}
    for r in rows:
        name = r[column]
        if not name:
            raise r.wrong(column, "a name is missing")
        if any(c in ":,= " for c in name):
            raise r.wrong(column, f"'{name}' holds a character that event strings use")
        if name.lower() in seen:
            raise r.wrong(column, f"'{name}' twice, first in line {seen[name.lower()].line}")
        if name.lower() in others:
            raise r.wrong(column, f"'{name}' is also a modifier")
        seen[name.lower()] = r
    return seen


class Compiler:
    """The arrays, row by row."""

    def __init__(self, folder):
        self.folder, self.pool = folder, Pool()
        self.pmus, self.events, self.umasks, self.netburst, self.metrics = [], [], [], [], []
        self.models, self.slots, self.done, self.done_umasks = [], [], {}, {}

    def slots_of(self, names):
        seed, slots = hash_slots(names)
        first = len(self.slots)
        self.slots += slots
        return {"first_slot": first, "slot_mask": len(slots) - 1, "seed": seed}

    def read(self, name, what, scheme):
        return read(self.folder / f"{name}.{what}.tsv", f"{scheme} {what}")

    # PMUs

    def pmu(self, r):
        scheme = r.choice("scheme", SCHEMES)
        key = (r["events"], r["without"])
        if key not in self.done:
            self.done[key] = self.table(r)
        models = [self.model(r, m) for m in r["models"].split()]
        self.pmus.append(dict(
            self.done[key], name=self.pool.add(r["pmu"]), desc=self.pool.add(r.text("desc")),
            first_model=len(self.models), models=len(models), counters_note=self.pool.add(r["counters_note"]),
            id=r.number("id", limit=1 << 16), scheme=scheme, generic=r.number("generic", limit=64),
            fixed=r.number("fixed", limit=32), precise=self.counters(r, "precise") if r["precise"] else 0, registers=r.number("registers", limit=4),
            perf_type=PERF_TYPES["raw"] if scheme != SCHEMES["software"] else 0))
        self.models += models

    @staticmethod
    def model(r, text):
        family, _, model = text.partition("/")
        if not (family.isdigit() and model.isdigit() and int(family) < 256 and int(model) < 256):
            raise r.wrong("models", f"'{text}' is no family/model")
        return int(family) << 16 | int(model) << 4

    def table(self, pmu):
        """The rows of one file of events, for one PMU."""
        name, scheme = pmu["events"], pmu["scheme"]
        without = pmu["without"].split()
        rows = self.read(name, "events", scheme)
        by_name = check_names(rows, "event")
        for w in without:
            if w.lower() not in by_name:
                raise pmu.wrong("without", f"no event '{w}'")
        rows = [r for r in rows if r["event"] not in without]
        first = len(self.events)
        index = {r["event"]: first + i for i, r in enumerate(rows)}
        umasks = self.umask_rows(name, scheme, by_name)
        escrs = {r["escr"]: r for r in self.read(name, "escrs", scheme)} if scheme == "netburst" else {}
        for r in rows:
            self.events.append(self.event(r, rows, index, umasks, scheme, escrs))
        if scheme == "netburst":
            self.metric_rows(name, index, umasks, escrs)
        listed = sum("extra" not in r["flags"].split() for r in rows)
        check_listed_first(rows, listed)
        return dict(self.slots_of([r["event"] for r in rows]), first_event=first, events=len(rows), listed=listed)

    # Events

    def event(self, r, rows, index, umasks, scheme, escrs):
        flags = r.words("flags", FLAGS)
        out = {"name": self.pool.add(r["event"]), "desc": self.pool.add(r.text("desc")), "flags": flags,
               "alias": NONE, "alias_umask": NONE, "netburst": NONE, "perf_type": PERF_TYPES["raw"],
               "equiv": self.pool.add(r["alias"])}
        owner = self.alias(r, rows, index, umasks, out) or r
        own = umasks.get(owner["event"]) if ":" not in r["alias"] else None
        if own:
            out.update(own["info"])
        getattr(self, "event_" + scheme)(r, rows, out, escrs)
        if flags & 1 << FLAGS["offcore"]:
            out["raw_bits"] = out["extra_ok"].bit_length()
            for u in own["rows"]:
                if u.number("value") & ~(out["extra_ok"] | out["extra_alt_ok"]):
                    raise u.wrong("value", "has bits that no register of the event takes")
        return out

    @staticmethod
    def alias(r, rows, index, umasks, out):
        """The row of the event that this is another name of. With one umask the name stands for both; with two (the generic
        cache events) it is an event of its own that happens to have the same code."""
        if not r["alias"]:
            return None
        name, *words = r["alias"].split(":")
        target = next((t for t in rows if t["event"] == name), None)
        if target is None:
            raise r.wrong("alias", f"no event '{name}'")
        if target["alias"]:
            raise r.wrong("alias", f"'{name}' is an alias itself")
        column = next(c for c in ("code", "select", "config") if c in r.columns)
        want = target.number(column)
        of = umasks.get(name, {"rows": []})["rows"]
        for word in words:
            umask = next((u for u in of if u["umask"] == word), None)
            if umask is None:
                raise r.wrong("alias", f"no umask '{word}' of {name}")
            want |= umask.number("value") << (8 if column == "code" else 0)
        if r.number(column) != want:
            raise r.wrong("alias", f"'{r['alias']}' has the code {want:#x}")
        if len(words) == 1:
            out["alias_umask"] = umasks[name]["index"][words[0]]
        if len(words) < 2:
            out["alias"] = index[name]
        return target

    def event_core(self, r, rows, out, _escrs):
        out["config"] = r.number("code", limit=1 << 16)
        out["counters"] = self.counters(r, "counters")
        out["modifiers"] = r.words("modifiers", MODIFIERS)
        out["raw_bits"] = 8
        if not r["msr"]:
            return
        other = next((o for o in rows if o["event"] == r["other"]), None)
        if other is None:
            raise r.wrong("other", f"no event '{r['other']}'")
        out.update(extra_msr=r.number("msr"), extra_ok=r.number("msr_bits"), extra_msr_alt=other.number("msr"),
                   extra_alt_ok=other.number("msr_bits"), config_alt=other.number("code"))

    def event_netburst(self, r, _rows, out, escrs):
        select = r.number("select", limit=64)
        out["config"] = select << 25
        out["modifiers"] = sum(1 << MODIFIERS[m] for m in ("u", "k", "e", "cmpl", "thr"))
        names = r["escrs"].split()
        for n in names:
            if n not in escrs:
                raise r.wrong("escrs", f"no ESCR '{n}'")
        of = [escrs[n] for n in names]
        if not 1 <= len(of) <= 2 or len({e["select"] for e in of}) != 1:
            raise r.wrong("escrs", "one or two with the same select")
        masks = [self.counters(e, "counters") for e in of]
        numbers = [int(n) for n in r["numbers"].split()]
        out["counters"] = masks[0] | masks[-1]
        out["netburst"] = len(self.netburst)
        self.netburst.append({
            "escr_msr": [e.number("msr") for e in of], "counters": masks, "escr_select": r.number("cccr", default=of[0].number("select"), limit=8),
            "event_select": select, "perf_event": r.number("linux", default=0xFF, limit=256), "upstream": 0xFF,
            "escr_number": (numbers + [0xFFFF] * 2)[:2]})

    @staticmethod
    def event_software(r, _rows, out, _escrs):
        out["config"] = r.number("config")
        out["perf_type"] = r.choice("type", PERF_TYPES)
        out["modifiers"] = sum(1 << MODIFIERS[m] for m in ("u", "k", "h"))

    @staticmethod
    def counters(r, column):
        mask = 0
        for word in r[column].split():
            fixed = word.startswith("f")
            number = word[1:] if fixed else word
            if not number.isdigit() or int(number) > 31:
                raise r.wrong(column, f"'{word}' is no counter")
            mask |= 1 << int(number) + 32 * fixed
        if not mask:
            raise r.wrong(column, "no counter")
        return mask

    # Umasks

    def umask_rows(self, name, scheme, events):
        """By event: the rows in the file, their indices in the array, and what the event's row says of them."""
        if name in self.done_umasks:
            return self.done_umasks[name]
        path, by_event = self.folder / f"{name}.umasks.tsv", {}
        for r in read(path, f"{scheme} umasks") if path.exists() else []:
            for e in r["event"].split():
                if e.lower() not in events or events[e.lower()]["event"] != e:
                    raise r.wrong("event", f"no event '{e}'")
                by_event.setdefault(e, []).append(r)
        order = {r["event"]: i for i, r in enumerate(events.values())}
        out = {}
        for e in sorted(by_event, key=order.get):
            out[e] = self.umasks_of(by_event[e], scheme)
        self.done_umasks[name] = out
        return out

    def umasks_of(self, rows, scheme):
        check_names(rows, "umask", MODIFIERS)
        listed = sum("extra" not in r["flags"].split() for r in rows)
        check_listed_first(rows, listed)
        first = len(self.umasks)
        index = {r["umask"]: first + i for i, r in enumerate(rows)}
        groups, defaults = 1, 0
        for r in rows:
            u = self.umask(r, rows, index, scheme)
            groups = max(groups, u["group"] + 1)
            defaults |= (u["flags"] >> FLAGS["default"] & 1) << u["group"]
            self.umasks.append(u)
        info = self.slots_of([r["umask"] for r in rows])
        info.update(first_umask=first, umasks=len(rows), listed=listed, groups=groups, defaults=defaults)
        return {"rows": rows, "index": index, "info": info}

    def umask(self, r, rows, index, scheme):
        column = "bit" if scheme == "netburst" else "value"
        flags = r.words("flags", FLAGS)
        tag = flags >> FLAGS["tag"] & 1
        value = r.number(column, limit=1 << 64 if scheme != "netburst" else 4 if tag else 16)
        out = {"name": self.pool.add(r["umask"]), "desc": self.pool.add(r.text("desc")), "flags": flags, "alias": NONE,
               "value": 1 << value if tag else value, "group": 0}
        if "group" in r.columns:
            out["group"] = r.number("group", limit=8)
        if "alias" in r.columns and r["alias"]:
            if r["alias"] not in index:
                raise r.wrong("alias", f"no umask '{r['alias']}'")
            target = next(t for t in rows if t["umask"] == r["alias"])
            if target["alias"]:
                raise r.wrong("alias", f"'{r['alias']}' is an alias itself")
            if target.number(column) != value:
                raise r.wrong("alias", f"'{r['alias']}' has the value {target[column]}")
            out["alias"] = index[r["alias"]]
        if scheme == "core":
            self.umask_core(r, rows, out)
        return out

    def umask_core(self, r, rows, out):
        for word in r["set"].split():
            name, _, value = word.partition("=")
            if name not in ("e", "i", "c") or not value.isdigit() or int(value) > (255 if name == "c" else 1):
                raise r.wrong("set", f"'{word}', expected e=0|1, i=0|1 or c=0..255")
            out["fixed_modifiers"] = out.get("fixed_modifiers", 0) | 1 << MODIFIERS[name]
            out[{"e": "fixed_edge", "i": "fixed_invert", "c": "fixed_cmask"}[name]] = int(value)
        if r["made_of"]:
            if r["alias"]:
                raise r.wrong("made_of", "an alias is not made of others")
            parts, value = {t["umask"]: t for t in rows}, 0
            for part in r["made_of"].split(":"):
                if part not in parts:
                    raise r.wrong("made_of", f"no umask '{part}'")
                value |= parts[part].number("value")
            if value != out["value"]:
                raise r.wrong("made_of", f"is {value:#x} together")
        out["equiv"] = self.pool.add(r["alias"] or r["made_of"])

    # At-retirement metrics

    def metric_rows(self, name, index, umasks, escrs):
        rows = self.read(name, "metrics", "netburst")
        check_names(rows, "metric")
        for r in rows:
            self.metric(r, index, umasks, escrs)

    def metric(self, r, index, umasks, escrs):
        for column in ("event", "upstream"):
            if r[column] and r[column] not in index:
                raise r.wrong(column, f"no event '{r[column]}'")
        mask = 0
        for word in r["upstream_umasks"].split():
            row = next((u for u in umasks[r["upstream"]]["rows"] if u["umask"] == word), None)
            if row is None:
                raise r.wrong("upstream_umasks", f"no umask '{word}' of {r['upstream']}")
            mask |= 1 << row.number("bit")
        of = umasks[r["event"]]["index"]
        if r["umask"] and r["umask"] not in of:
            raise r.wrong("umask", f"no umask '{r['umask']}' of {r['event']}")
        if r["upstream_escr"] and r["upstream_escr"] not in escrs:
            raise r.wrong("upstream_escr", f"no ESCR '{r['upstream_escr']}'")
        owner = self.netburst[self.events[index[r["event"]]]["netburst"]]
        owner["upstream"] = min(owner["upstream"], len(self.metrics))
        self.metrics.append({
            "name": self.pool.add(r["metric"]), "event": index[r["event"]], "umask": of.get(r["umask"], NONE),
            "upstream_event": index.get(r["upstream"], NONE), "upstream_mask": mask,
            "pebs_enable": r.number("pebs_enable"), "pebs_enable_pebs": r.number("pebs_enable_pebs"),
            "matrix_vert": r.number("matrix"), "mechanism": r.choice("mechanism", MECHANISMS),
            "upstream_escr": escrs[r["upstream_escr"]].number("msr") if r["upstream_escr"] else 0,
            "upstream_tag": r.number("tag", default=0, limit=16)})

    # The C text

    def write(self):
        self.pool.close()
        out = ["/* Made from data/event/ by tools/compile_events.py. */", "static const char data_pool[] ="]
        out += [f'    "{c_text(s)}\\0"' for s in self.pool.chunks]
        out[-1] += ";"
        for name, kind, rows in (("pmus", "pmu", self.pmus), ("events", "row", self.events), ("umasks", "umask", self.umasks),
                                 ("netburst", "netburst", self.netburst), ("metrics", "metric", self.metrics)):
            out.append(f"static const struct assay_event_{kind} data_{name}[] = {{")
            out += ["    {" + ", ".join(f".{k} = {self.value(v)}" for k, v in r.items()) + "}," for r in rows]
            out.append("};")
        for name, kind, numbers in (("models", "uint32_t", self.models), ("slots", "uint16_t", self.slots)):
            out.append(f"static const {kind} data_{name}[] = {{")
            out += ["    " + ", ".join(map(str, numbers[i:i + 24])) + "," for i in range(0, len(numbers), 24)]
            out.append("};")
        return "\n".join(out) + "\n"

    def value(self, v):
        if isinstance(v, tuple):
            return str(self.pool.offset[v[1]])
        if isinstance(v, list):
            return "{" + ", ".join(map(str, v)) + "}"
        return hex(v) + "u" * (v == NONE) if v > 9 else str(v)


def check_listed_first(rows, listed):
    for r in itertools.islice(rows, listed):
        if "extra" in r["flags"].split():
            raise r.wrong("flags", "an extra row stands before one of the reference library")


def c_text(s):
    return s.replace("\\", "\\\\").replace('"', '\\"')


def compile_folder(folder):
    c = Compiler(folder)
    rows = read(folder / "pmus.tsv", "pmus")
    check_names(rows, "pmu")
    for r in rows:
        c.pmu(r)
    return c.write()


def main():
    try:
        text = compile_folder(pathlib.Path(sys.argv[1]))
    except (Wrong, OSError, UnicodeDecodeError) as e:
        sys.exit(str(e))
    pathlib.Path(sys.argv[2]).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
