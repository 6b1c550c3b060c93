#!/usr/bin/env bash
# The numbers of every `limpid look … --json` on golden models, against those that PyTorch computed (tests/golden/look.py), or
# computed here from the files (weights, captures, nearest tokens) or from such numbers (a beam from the lens of its beginnings).
# `facts` and `alignment` need the models of their recipes: src/inspect tests them.
# Usage: look_test.sh SOURCE_FOLDER BUILD_FOLDER
set -uo pipefail
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
exec python3 - "$1/tests/golden" "$2/limpid" <<'PYTHON'
import json, math, os, struct, subprocess, sys, tempfile

golden, limpid = sys.argv[1:]
ALLOWED = 2e-5  # float32 beside double, of numbers around one


def differences(says, expected, place=""):
    """What of the expected part is missing or another number. A list is compared as far as it is expected."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            if not isinstance(says, dict) or key not in says:
                yield f"{place}: has no {key}"
            else:
                yield from differences(says[key], value, f"{place}.{key}")
    elif isinstance(expected, list):
        if not isinstance(says, list) or len(says) < len(expected):
            yield f"{place}: is no list of {len(expected)}"
        else:
            for i, value in enumerate(expected):
                yield from differences(says[i], value, f"{place}[{i}]")
    elif isinstance(expected, float) or isinstance(says, float):
        if not isinstance(says, (int, float)) or not abs(says - expected) <= ALLOWED * max(1, abs(expected)):
            yield f"{place}: {says} instead of {expected}"
    elif says != expected:
        yield f"{place}: {says!r} instead of {expected!r}"


def tensors(path):
    """Name → shape and numbers of a safetensors file of float32 and int64."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    header.pop("__metadata__", None)
    kinds = {"F32": ("f", 4), "I64": ("q", 8), "I32": ("i", 4)}
    result = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        letter, width = kinds[entry["dtype"]]
        result[name] = entry["shape"], list(struct.unpack(f"<{(end - begin) // width}{letter}", data[begin:end]))
    return result


def rows(shape, numbers):
    return [numbers[i * shape[-1]:(i + 1) * shape[-1]] for i in range(len(numbers) // shape[-1])]


def look_at(model, *words):
    """What `limpid look` prints as JSON."""
    command = [limpid, "look", f"{golden}/{model}", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True)
    says = [json.loads(line) for line in done.stdout.splitlines()]  # one object per line
    return says if len(says) > 1 else says[0]


def weight_case():
    name = "h.0.mlp.c_fc.weight"
    shape, numbers = tensors(f"{golden}/gpt2/model.safetensors")[name]
    mean = sum(numbers) / len(numbers)
    deviation = math.sqrt(sum((x - mean) ** 2 for x in numbers) / len(numbers))
    low, high, bins = min(numbers), max(numbers), 64
    histogram = [0] * bins
    for x in numbers:
        histogram[min(bins - 1, int((x - low) / (high - low) * bins))] += 1
    expected = {"name": name, "shape": shape, "min": low, "max": high, "mean": mean, "deviation": deviation,
                "histogram": histogram, "values": rows(shape, numbers)}
    return look_at("gpt2", "weight", name), expected


def nearest_case():
    table = rows(*tensors(f"{golden}/gpt2/model.safetensors")["wte.weight"])
    def similarity(a, b):
        return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    order = sorted(((similarity(table[3], row), id) for id, row in enumerate(table)), reverse=True)[:5]
    return (look_at("gpt2", "embedding", "3", "--top", "5"),
            {"word": "3", "nearest": [{"id": id, "similarity": value} for value, id in order]})


def capture_case():
    ids, tap = [14, 6, 3, 1, 1], "blocks.1.resid_post"  # the first text of batch.json
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "captured.safetensors")
        says = look_at("gpt2", "capture", " ".join(map(str, ids)), "--tap", tap, "--out", out)
        captured = tensors(out)
    shape, numbers = tensors(f"{golden}/gpt2/expected.safetensors")["act." + tap]
    says["numbers"] = rows(*captured[tap])
    says["ids"] = captured["input_ids"][1]
    return says, {"texts": 1, "arrays": {tap: [len(ids), shape[-1]]}, "numbers": rows(shape, numbers)[:len(ids)], "ids": ids}


def taps_case():
    acts = [name[4:] for name in tensors(f"{golden}/gpt2/expected.safetensors") if name.startswith("act.")]
    names = [tap["name"] for tap in look_at("gpt2", "taps")]
    return [name for name in acts if name not in names], []


def steering_case():
    """The token that is steered to is listed, however unlikely it is."""
    listed = set()
    for id in range(17):
        steer = f"blocks.1.resid_post@-1=0.01*token:#{id}"
        says = look_at("gpt2", "intervene", "1 2 3", "--steer", steer, "--top", "1")
        listed |= {id} & {token["id"] for token in says["tokens"]}
    return sorted(listed), list(range(17))


def context_case():
    """A text beyond the context is cut, rotary positions or not."""
    counts = [len(look_at(model, "lens", "1 " * 12)["lens"][0]["positions"]) for model in ("gpt2", "llama")]
    return counts, [8, 8]


def beam_case():
    """Every node's probability is the one that the lens has for its beginning; those kept are the likeliest two."""
    tree = look_at("marian", "beam", "3 1 4", "--beam", "2", "--max-tokens", "3", "--dropped")
    nodes, begun = tree["nodes"], {0: []}
    expected = [{"id": 0}]
    spread = {}
    for node in nodes[1:]:
        before = begun[node["parent"]]
        begun[node["id"]] = before + [node["token_id"]]
        if node["parent"] not in spread:
            target = " ".join(map(str, before + [3]))  # what is asked for is read before its last token
            last = look_at("marian", "lens", "3 1 4", target, "--top", "17")["lens"][-1]["positions"][len(before)]
            spread[node["parent"]] = {token["id"]: token["probability"] for token in last["top"]}
        probability = spread[node["parent"]][node["token_id"]]
        above = nodes[node["parent"]]["log_probability"]
        expected.append({"id": node["id"], "probability": probability, "log_probability": above + math.log(probability)})
    says = {"nodes": nodes}
    for step in (1, 2, 3):
        here = [node for node in nodes if node["step"] == step]
        here.sort(key=lambda node: -node["log_probability"])
        says[f"kept at {step}"] = [node["state"] != "dropped" for node in here]
    return says, {"nodes": expected, **{f"kept at {step}": [True, True, False, False] for step in (1, 2, 3)}}


with open(golden + "/look.json") as file:
    look = json.load(file)
failed = 0
with tempfile.NamedTemporaryFile("w", suffix=".txt") as texts:
    texts.write(look["texts"])
    texts.flush()
    for case in look["cases"]:
        model, *words = case["look"]
        command = [limpid, "look", f"{golden}/{model}", *(texts.name if word == "TEXTS" else word for word in words)]
        done = subprocess.run(command + ["--json"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        found = [done.stderr] if done.returncode else list(differences(json.loads(done.stdout), case["says"]))
        failed += bool(found)
        print("FAILED:" if found else "ok:", " ".join(case["look"]), *found[:20], sep="\n  " if found else " ")
for case in (weight_case, nearest_case, capture_case, taps_case, steering_case, context_case, beam_case):
    says, expected = case()
    found = list(differences(says, expected)) or (["more than expected"] if case is taps_case and says else [])
    failed += bool(found)
    print("FAILED:" if found else "ok:", case.__name__, *found[:20], sep="\n  " if found else " ")
sys.exit(failed > 0)
PYTHON
