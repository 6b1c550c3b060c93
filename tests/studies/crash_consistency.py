#!/usr/bin/env python3
"""Every prefix of what a training run writes leaves a folder from which it resumes to the same model.

The run is recorded by record_writes.c. After each operation the machine "crashes" in two ways: all that was done so far
is on the disk; or only what was synced is (bytes of a file that were not fsynced are lost, and so are names whose folder
was not synced). Usage: crash_consistency.py BUILD [EVERY]   EVERY: take each n-th prefix only
"""
import os, shutil, subprocess, sys, tempfile

build = os.path.abspath(sys.argv[1])
every = int(sys.argv[2]) if len(sys.argv) > 2 else 1
limpid = os.path.join(build, "limpid")
here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
work = tempfile.mkdtemp()
os.chdir(work)
run = os.path.join(work, "run")
train = [limpid, "train", os.path.join(root, "recipes/copy.toml"), "data.folder=" + os.path.join(work, "copy"), "--out", run,
         "model.d_model=16", "model.encoder_ffn_dim=16", "model.decoder_ffn_dim=16", "stop.steps=6", "validation.steps=3",
         "validation.translate=2", "checkpoint.steps=2", "batch.tokens=128", "checkpoint.keep=1"]


def operations(journal):
    with open(journal, "rb") as file:
        while line := file.readline():
            kind, *rest = line.decode().split()
            yield kind, rest, file.read(int(rest[2])) if kind == "write" else b""


class Disk:
    """Names point at files (numbers) or folders (None); `durable` is what a power cut leaves."""

    def __init__(self):
        self.names, self.data = {run: None}, {}
        self.durable_names, self.durable_data = {run: None}, {}

    def apply(self, kind, rest, data):
        path = rest[0]
        if kind == "mkdir":
            self.names[path] = None
        elif kind == "create":
            if path not in self.names:
                self.names[path] = len(self.data)
                self.data[self.names[path]] = b""
            elif rest[1] == "truncated":
                self.data[self.names[path]] = b""
        elif kind == "write" and self.names.get(path) is not None:
            file, at = self.names[path], int(rest[1])
            old = self.data[file].ljust(at, b"\0")
            self.data[file] = old[:at] + data + old[at + len(data):]
        elif kind == "truncate" and self.names.get(path) is not None:
            size = int(rest[1])
            self.data[self.names[path]] = self.data[self.names[path]][:size].ljust(size, b"\0")
        elif kind == "rename":
            for name in [n for n in self.names if n == rest[1] or n.startswith(rest[1] + "/")]:
                del self.names[name]
            for name in [n for n in self.names if n == path or n.startswith(path + "/")]:
                self.names[rest[1] + name[len(path):]] = self.names.pop(name)
        elif kind in ("unlink", "rmdir"):
            self.names.pop(path, None)
        elif kind == "fsync":
            if self.names.get(path) is None:  # a folder: its own names, not those below
                parent = path.rstrip("/")
                inside = lambda n: os.path.dirname(n) == parent
                for name in [n for n in self.durable_names if inside(n) and n not in self.names]:
                    for below in [n for n in self.durable_names if n == name or n.startswith(name + "/")]:
                        del self.durable_names[below]
                for name in [n for n in self.names if inside(n)]:
                    self.durable_names[name] = self.names[name]
                    for below in [n for n in self.names if n.startswith(name + "/")]:  # moved with their folder
                        if any(self.names[below] == f and f is not None for f in self.durable_names.values()) or \
                           self.names[below] in self.durable_data:
                            self.durable_names[below] = self.names[below]
            else:
                self.durable_data[self.names[path]] = self.data[self.names[path]]

    def write(self, names, data):
        shutil.rmtree(run, ignore_errors=True)
        os.makedirs(run)
        for name in sorted(names):
            if names[name] is None:
                os.makedirs(name, exist_ok=True)
            else:
                os.makedirs(os.path.dirname(name), exist_ok=True)
                with open(name, "wb") as file:
                    file.write(data.get(names[name], b""))


def main():
    subprocess.run([limpid, "data", "copy", "--out", "copy", "--count", "200"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["gcc", "-O1", "-w", "-shared", "-fPIC", "-o", "record.so", os.path.join(here, "record_writes.c"), "-ldl"], check=True)
    environment = dict(os.environ, LD_PRELOAD=os.path.join(work, "record.so"), LIMPID_UNDER=run,
                       LIMPID_JOURNAL=os.path.join(work, "journal"))
    subprocess.run(train, check=True, env=environment, stderr=subprocess.DEVNULL)
    with open(os.path.join(run, "model.safetensors"), "rb") as file:
        wanted = file.read()
    steps, wrong, cases, disk = list(operations("journal")), 0, 0, Disk()
    print(f"{len(steps)} operations")
    for number, (kind, rest, data) in enumerate(steps):
        disk.apply(kind, rest, data)
        if number % every:
            continue
        for name, names, contents in (("all written", disk.names, disk.data),
                                      ("only what was synced", disk.durable_names, disk.durable_data)):
            cases += 1
            disk.write(names, contents)
            ended = subprocess.run(train, capture_output=True, text=True)
            try:
                with open(os.path.join(run, "model.safetensors"), "rb") as file:
                    same = file.read() == wanted
            except OSError:
                same = False
            if ended.returncode or not same:
                wrong += 1
                print(f"WRONG after operation {number} ({kind} {' '.join(rest)[-60:]}), {name}: "
                      f"exit code {ended.returncode}, {'' if same else 'another model, '}{ended.stderr.strip()[-200:]}")
    print(f"{cases} crashes, {wrong} wrong")
    return wrong > 0


try:
    sys.exit(main())
finally:
    shutil.rmtree(work, ignore_errors=True)
