($assay list --json; $assay list --json knm; $assay list --json netburst_p; $assay list --json perf; $assay list --events $data/events --json skx; $assay list --json --search cache --top 0
$assay encode --json netburst::replay_event:L1_LD_MISS knm::ICACHE; $assay encode --json --latency DMND_DATA_RD
$assay list --names | $assay encode --stdin --json; printf 'a"\\\377\001b\n' | $assay encode - --json
$assay explain --json 0x5300c0; $assay explain --json 0x38d 0x333) | python3 -c '
import collections, json, sys
keys = collections.defaultdict(set)
n = 0
for line in sys.stdin.buffer:
    record = json.loads(line.decode())
    keys[record["record"]].add(tuple(record))
    n += 1
for name in sorted(keys):
    assert len(keys[name]) == 1, name
    print(name)
assert n > 1300, n'
