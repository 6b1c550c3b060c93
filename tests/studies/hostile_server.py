#!/usr/bin/env python3
"""Ten thousand hostile requests beside 5,000 idle connections against limpid serve, while a well-behaved client works; twice.

Usage: hostile_server.py LIMPID MODEL [--requests 10000] [--idle 5000]

Expected: every hostile request gets a 4xx, is closed or times out (503 is for overload, 505 for another version of HTTP); slow
senders get a 408; the server lives; the well-behaved client sees no error; memory returns to where it was, give or take 64 MB,
and the second round takes no more than the first, give or take 16. The exit code says whether that was so.
"""
import argparse
import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import threading
import time
import urllib.request

parser = argparse.ArgumentParser()
parser.add_argument("limpid")
parser.add_argument("model")
parser.add_argument("--requests", type=int, default=10000)
parser.add_argument("--idle", type=int, default=5000)
options = parser.parse_args()

hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
server = subprocess.Popen([options.limpid, "serve", options.model, "--port", "0", "--quiet", "--request-timeout", "30",
                           "--body-timeout", "5"],
                          stderr=subprocess.PIPE, text=True)
address = None
for line in server.stderr:
    if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
        address = ("127.0.0.1", int(found.group(1)))
        break
assert address, "the server did not start"
threading.Thread(target=lambda: [None for _ in server.stderr], daemon=True).start()


def memory():
    with open(f"/proc/{server.pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) // 1024


wrong, over, good = [], threading.Event(), 0


def well_behaved():
    global good
    body = json.dumps({"prompt": "Anna", "max_tokens": 8, "temperature": 0}).encode()
    first = None
    while not over.is_set():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{address[1]}/v1/completions", body, timeout=30) as answer:
                text = json.load(answer)["choices"][0]["text"]
            first = first if first is not None else text
            if text != first:
                wrong.append(f"another text: {text!r}")
            good += 1
        except Exception as error:
            wrong.append(f"the well-behaved client: {error}")


VIEWS = ["model", "taps", "parameters", "tokens", "pieces", "embedding", "positions", "capture", "norms", "heads", "attention",
         "head-statistics", "alignment", "neurons", "neuron", "lens", "attribution", "trace", "gradient", "output", "generate",
         "beam", "intervene", "interventions", "weight"]
ROUTES = (["/v1/completions", "/v1/chat/completions", "/v1/embeddings", "/translate", "/detect", "/v1/models", "/nothing"] * 3
          + ["/inspect/" + view for view in VIEWS]
          + ["/runs", "/runs/x", "/runs/x/log", "/runs/x/events", "/runs/x/recorded/1", "/experiments", "/experiments/x",
             "/experiments/superposition/train", "/experiments/induction/train"])
FIELDS = ["text", "target", "ids", "target_ids", "open", "interventions", "taps", "layers", "positions", "heads", "columns", "keys",
          "reduce", "attention", "head", "layer", "side", "block", "neuron", "texts", "corpus", "most", "words", "view", "position",
          "token", "tokens", "subject", "noise", "samples", "top", "of", "tensors", "generate", "beam", "name", "rows", "steps",
          "model", "prompt", "max_tokens", "temperature", "top_p", "n", "best_of", "stop", "seed", "stream", "stream_options",
          "logprobs", "echo", "logit_bias", "messages", "input", "encoding_format", "dimensions", "q", "source", "target", "format"]


def value(draw, depth=0):
    kind = draw.randrange(11 if depth < 4 else 7)
    if kind == 0: return None
    if kind == 1: return draw.choice([True, False])
    if kind == 2: return draw.choice([0, -1, 1, 2**31, 2**63, -2**63, 10**30, 1e308, -1e-308, 3.7])
    if kind == 3: return draw.choice(["", "a", "\u0000", "\ud7ff", "x" * 5000, "../../etc/passwd", "<b>&amp;", "{{ 7 * 7 }}"])
    if kind in (4, 5, 6): return draw.choice([[], {}, [[]], [1, 2, 3], ["a", None], {"1": 1}])
    if kind in (7, 8): return [value(draw, depth + 1) for _ in range(draw.randrange(4))]
    return {draw.choice(FIELDS): value(draw, depth + 1) for _ in range(draw.randrange(4))}


def body(draw):
    kind = draw.randrange(6)
    if kind == 0: return draw.randbytes(draw.randrange(200))
    if kind == 1: return (draw.choice(["[", "{\"a\":", "[[", "{\"prompt\":["]) * draw.randrange(1, 3000)).encode()
    text = json.dumps({draw.choice(FIELDS): value(draw) for _ in range(draw.randrange(1, 6))}).encode()
    if kind == 2: return text[: draw.randrange(len(text) + 1)]
    if kind == 3: return text.replace(b"a", b"\xff\xfe")
    return text


def hostile(draw):
    """Sends one hostile request; returns the status, or None where the server closed or said nothing."""
    with socket.create_connection(address, timeout=10) as client:
        kind = draw.randrange(10)
        path = draw.choice(ROUTES)
        payload = body(draw)
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n".encode()
        length = f"Content-Length: {len(payload)}\r\n\r\n".encode()
        if kind == 0: data = draw.randbytes(draw.randrange(1, 500)) + b"\r\n\r\n"
        elif kind == 1: data = b"GET " + draw.choice([b"/../" * 50, b"/%2e%2e/%2e%2e/etc/passwd", b"/%zz", b"*", b"http://x/"]) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
        elif kind == 2: data = head + b"X: y\r\n" * draw.randrange(1, 20000) + length + payload
        elif kind == 3: data = head + b"Content-Length: " + draw.choice([b"-1", b"99999999999999999999", b"1e3", b"5, 6"]) + b"\r\n\r\n" + payload
        elif kind == 4: data = head + b"Transfer-Encoding: chunked\r\n\r\n" + draw.choice([b"zz\r\n", b"ffffffffffffffff\r\n", b"3\r\nabcd", b"0\r\n"])
        elif kind == 5: data = head + f"Content-Length: {len(payload) + 50}\r\n\r\n".encode() + payload
        else: data = head + length + payload
        client.sendall(data)
        slow = kind == 5 and draw.random() < 0.1  # goes on too slowly
        if kind in (5, 6) and not slow and draw.random() < 0.5: client.shutdown(socket.SHUT_WR)
        if slow:
            try:
                for _ in range(20):
                    time.sleep(0.5)
                    client.sendall(b" ")
            except OSError:
                pass  # refused already
        if draw.random() < 0.1: return None  # leaves at once
        client.settimeout(3 if kind in (4, 5) else 20)
        answer = client.recv(4096)
        found = re.match(rb"HTTP/1\.1 (\d+)", answer)
        return int(found.group(1)) if found else None


worker = threading.Thread(target=well_behaved)
worker.start()
time.sleep(1)
before = memory()
statuses, lock = {}, threading.Lock()
idle = [socket.create_connection(address, timeout=10) for _ in range(options.idle)]


def attack(numbers):
    def next_number():
        with lock: return next(numbers, None)
    for number in iter(next_number, None):
        try:
            status = hostile(random.Random(number))
        except (OSError, socket.timeout):
            status = None
        with lock:
            statuses[status] = statuses.get(status, 0) + 1
            if status is not None and status >= 500 and status not in (503, 505):
                wrong.append(f"request {number}: {status}")


rounds = []
for _ in range(2):
    numbers = iter(range(options.requests))
    attackers = [threading.Thread(target=attack, args=(numbers,)) for _ in range(16)]
    for thread in attackers: thread.start()
    for thread in attackers: thread.join()
    time.sleep(2)
    rounds.append(memory())
if rounds[1] > rounds[0] + 16: wrong.append(f"memory grew from {rounds[0]} to {rounds[1]} MB with the second round")
if not statuses.get(408): wrong.append("no slow sender got a 408")
held = good
time.sleep(5)
if good == held: wrong.append("the well-behaved client got nothing beside the idle connections")
for client in idle: client.close()
over.set()
worker.join()
time.sleep(2)
after = memory()
if server.poll() is not None: wrong.append(f"the server ended: {server.returncode}")
if after > before + 64: wrong.append(f"memory grew from {before} to {after} MB")
server.send_signal(signal.SIGTERM)
if server.wait(60) != 0: wrong.append(f"exit code {server.returncode}")
print(f"twice {options.requests} hostile requests: {dict(sorted(statuses.items(), key=str))}; {options.idle} idle connections; "
      f"{good} good answers; memory {before} -> {rounds[0]} -> {rounds[1]} -> {after} MB")
for line in wrong[:20]: print("FAILED:", line)
raise SystemExit(bool(wrong))
