#!/usr/bin/env bash
# The numbers of every `limpid look … --json` on golden models, against those that PyTorch computed (tests/golden/look.py).
# Usage: look_test.sh SOURCE_FOLDER BUILD_FOLDER
set -uo pipefail
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
exec python3 - "$1/tests/golden" "$2/limpid" <<'PYTHON'
import json, subprocess, sys, tempfile

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
sys.exit(failed > 0)
PYTHON
