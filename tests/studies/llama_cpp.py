#!/usr/bin/python3
"""Limpid beside llama.cpp on GGUF files: random models of each architecture in each type.

  tests/studies/llama_cpp.py LIMPID LIBRARIES [--architecture NAME]... [--type NAME]... [--work FOLDER] [--markdown]

LIMPID is the program; LIBRARIES the folder of llama.cpp's libraries (tests/studies/llama_library.py). For each
architecture and type: Limpid writes the file, both read it, and of the same ids
  - logits: mean Kullback-Leibler divergence of Limpid's from llama.cpp's, at most 1e-3 (of BERT: the cosine of the
    vectors of a text, at least 0.999);
  - weights: what Limpid reads from the blocks equals what llama.cpp does, bit for bit;
  - types: llama.cpp's own quantiser gives every tensor the same type;
  - loss: the divergence from the float model, of Limpid's quantiser and of llama.cpp's, both run by Limpid.
Ends with 1 where one of the first three fails.
"""

import argparse
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from gguf_reader import read_tensors  # noqa: E402
from llama_library import Library  # noqa: E402

FILE_TYPES = {"Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q5_0": 8, "Q5_1": 9, "Q2_K": 10, "Q3_K_S": 11, "Q3_K_M": 12,
              "Q3_K_L": 13, "Q4_K_S": 14, "Q4_K_M": 15, "Q5_K_S": 16, "Q5_K_M": 17, "Q6_K": 18}
VOCAB = 512

LLAMA = {"vocab_size": VOCAB, "hidden_size": 512, "intermediate_size": 768, "num_hidden_layers": 8,
         "num_attention_heads": 8, "num_key_value_heads": 4, "max_position_embeddings": 256, "bos_token_id": 1,
         "eos_token_id": 2, "rms_norm_eps": 1e-5}
CONFIGS = {
    "llama": {**LLAMA, "model_type": "llama", "tie_word_embeddings": False},
    "llama-narrow": {**LLAMA, "model_type": "llama", "hidden_size": 320, "num_attention_heads": 5,
                     "num_key_value_heads": 5, "num_hidden_layers": 4},  # rows that no block of 256 fills
    "llama3": {**LLAMA, "model_type": "llama", "num_hidden_layers": 4, "rope_theta": 500000.0, "rope_scaling": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64}},
    "qwen2": {**LLAMA, "model_type": "qwen2", "num_hidden_layers": 4},
    "qwen3": {**LLAMA, "model_type": "qwen3", "num_hidden_layers": 4, "head_dim": 64},
    "phi3": {**LLAMA, "model_type": "phi3", "num_hidden_layers": 4, "pad_token_id": 0},
    "gemma": {**LLAMA, "model_type": "gemma", "num_hidden_layers": 4, "head_dim": 64},
    "gemma2": {**LLAMA, "model_type": "gemma2", "num_hidden_layers": 4, "head_dim": 64, "sliding_window": 16,
               "query_pre_attn_scalar": 64},
    "gemma3": {**LLAMA, "model_type": "gemma3_text", "num_hidden_layers": 7, "head_dim": 64, "sliding_window": 16,
               "query_pre_attn_scalar": 64},
    "gpt2": {"model_type": "gpt2", "vocab_size": VOCAB, "n_embd": 512, "n_layer": 4, "n_head": 8, "n_positions": 256,
             "bos_token_id": 1, "eos_token_id": 2},
    "gptneox": {**LLAMA, "model_type": "gpt_neox", "num_hidden_layers": 4, "rotary_pct": 0.25},
    "bert": {"model_type": "bert", "architectures": ["BertModel"], "vocab_size": VOCAB, "hidden_size": 512,
             "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8,
             "max_position_embeddings": 256},
    "t5": {"model_type": "t5", "vocab_size": VOCAB, "d_model": 512, "d_kv": 64, "d_ff": 1024, "num_layers": 4,
           "num_heads": 8, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False,
           "decoder_start_token_id": 0, "eos_token_id": 1, "pad_token_id": 0},
}


def run(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(str(a) for a in arguments)}: {done.stderr.strip()}")
    return done.stdout


def read_safetensors(path):
    data = Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    kinds = {"F32": np.float32, "I64": np.int64, "I32": np.int32}
    return {name: np.frombuffer(data, kinds[info["dtype"]], offset=8 + length + info["data_offsets"][0],
                                count=int(np.prod(info["shape"]))).reshape(info["shape"])
            for name, info in header.items() if name != "__metadata__" and info["dtype"] in kinds}


def give_weights(path, seed):
    """Weights with the spread of trained ones: every norm, bias and table counts, and scores differ."""
    random = np.random.default_rng(seed)
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    tied = not any(name.startswith(("lm_head", "embed_out")) for name in header)
    for name, info in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + o for o in info["data_offsets"])
        shape = info["shape"]
        if len(shape) == 1:
            gain = name.endswith("weight") and np.frombuffer(data, np.float32, 1, begin)[0] == 1
            numbers = random.normal(1 if gain else 0, 0.1, shape)
        else:
            # heavier tails than a normal distribution's, as trained matrices have
            numbers = random.standard_t(5, shape) * 0.77
            table = any(w in name for w in ("embed", "wte", "wpe", "shared", "relative"))
            output = any(w in name for w in ("lm_head", "embed_out"))
            numbers *= 0.1 if output else (0.03 if tied else 0.5) if table else 0.5 / np.sqrt(shape[1])
        data[begin:end] = numbers.astype(np.float32).tobytes()
    path.write_bytes(data)


def log_softmax(logits):
    logits = logits.astype(np.float64)
    logits = logits - logits.max(-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def divergence(reference, other):
    p, q = log_softmax(reference), log_softmax(other)
    return float((np.exp(p) * (p - q)).sum(-1).mean())


class Texts:
    def __init__(self, architecture):
        random = np.random.default_rng(7)
        self.kind = "embed" if architecture == "bert" else "pair" if architecture == "t5" else "text"
        self.source = [int(i) for i in random.integers(3, VOCAB, 20)]
        self.ids = [int(i) for i in random.integers(3, VOCAB, 48)]

    def ours(self, limpid, model, work):
        """Scores, a row per token; of encoders one vector."""
        text, out = " ".join(map(str, self.ids)), work / "captured.safetensors"
        if self.kind == "embed":
            lines = work / "ids.txt"
            lines.write_text(text + "\n")
            return np.array([json.loads(run(limpid, "embed", model, lines, "--json").splitlines()[0])["vector"]])
        out.unlink(missing_ok=True)
        if self.kind == "pair":
            run(limpid, "look", model, "capture", " ".join(map(str, self.source)), text, "--tap", "logits",
                "--out", out)
        else:
            run(limpid, "look", model, "capture", text, "--tap", "logits", "--out", out)
        arrays = [a for a in read_safetensors(out).values() if a.ndim >= 2 and a.shape[-1] == VOCAB]
        return arrays[0].reshape(-1, VOCAB)

    def theirs(self, library, path):
        model = library.open(path, 256)
        if self.kind == "embed":
            result = model.embedding(self.ids)[None]
        elif self.kind == "pair":
            result = model.logits([0] + self.ids, self.source + [1])
        else:
            result = model.logits(self.ids)
        model.close()
        return result

    def distance(self, reference, other):
        if self.kind != "embed":
            rows = min(len(reference), len(other))
            return divergence(reference[:rows], other[:rows])
        a, b = reference[0], other[0]
        return 1 - float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def unequal_weights(library, limpid, path, work):
    """Tensors whose numbers Limpid reads otherwise than llama.cpp."""
    plain = work / "plain.gguf"
    plain.unlink(missing_ok=True)
    run(limpid, "export", path, plain)
    stored, read = read_tensors(path), read_tensors(plain)
    wrong = []
    for name, (kind, shape, data) in stored.items():
        if kind in ("F32", "F16", "BF16"):
            continue
        theirs = library.dequantize(kind, data, int(np.prod(shape)))
        if not np.array_equal(theirs.view(np.uint32), np.frombuffer(read[name][2].tobytes(), np.uint32)):
            wrong.append(name)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("limpid", type=Path)
    parser.add_argument("libraries", type=Path)
    parser.add_argument("--architecture", action="append", choices=list(CONFIGS))
    parser.add_argument("--type", action="append", choices=list(FILE_TYPES))
    parser.add_argument("--work", type=Path, default=Path("models/llama-cpp-study"))
    parser.add_argument("--markdown", action="store_true", help="a table for docs/results.md")
    arguments = parser.parse_args()
    library = Library(arguments.libraries.resolve())
    wrong, rows = 0, []
    for architecture in arguments.architecture or CONFIGS:
        work = arguments.work / architecture
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        (work / "config.json").write_text(json.dumps(CONFIGS[architecture]))
        folder, plain = work / "model", work / "f32.gguf"
        run(arguments.limpid, "random", work / "config.json", folder)
        give_weights(folder / "model.safetensors", 1)
        run(arguments.limpid, "export", folder, plain)
        texts = Texts(architecture)
        folder_scores = texts.ours(arguments.limpid, folder, work)
        for kind in ["F32"] + list(arguments.type or FILE_TYPES):
            ours, theirs = plain, plain
            problems = []
            if kind != "F32":
                ours, theirs = work / f"ours-{kind}.gguf", work / f"theirs-{kind}.gguf"
                run(arguments.limpid, "quantize", folder, ours, "--type", kind)
                library.quantize(plain, theirs, FILE_TYPES[kind])
                types = {name: tensor[0] for name, tensor in read_tensors(ours).items()}
                differ = [f"{name} {types.get(name)}/{tensor[0]}" for name, tensor in read_tensors(theirs).items()
                          if types.get(name) != tensor[0]]
                problems += [f"types differ (ours/theirs): {', '.join(differ[:4])}"] if differ else []
                unequal = unequal_weights(library, arguments.limpid, theirs, work)
                problems += [f"weights differ: {', '.join(unequal[:4])}"] if unequal else []
            scores = texts.ours(arguments.limpid, ours, work)
            apart = texts.distance(texts.theirs(library, ours), scores)
            if not apart <= 1e-3:
                problems.append(f"logits differ by {apart:.2g}")
            loss = texts.distance(folder_scores, scores)
            loss_theirs = texts.distance(folder_scores, texts.ours(arguments.limpid, theirs, work))
            wrong += bool(problems)
            rows.append((architecture, kind, apart, loss, loss_theirs, "; ".join(problems)))
            print(f"{architecture:13} {kind:7} apart {apart:9.2e}   loss {loss:9.2e}, llama.cpp's {loss_theirs:9.2e}"
                  f"   {rows[-1][5] or 'ok'}", flush=True)
    if arguments.markdown:
        print_markdown(rows)
    print(f"{len(rows)} files, {wrong} wrong")
    return 1 if wrong else 0


def print_markdown(rows):
    kinds = list(dict.fromkeys(row[1] for row in rows))
    print("| | largest divergence from llama.cpp | divergence from float: ours | llama.cpp's quantiser |")
    print("|---|---|---|---|")
    for kind in kinds:
        of_kind = [row for row in rows if row[1] == kind]
        mean = lambda i: np.exp(np.mean([np.log(max(row[i], 1e-12)) for row in of_kind if row[0] != "bert"]))
        print(f"| {kind} | {max(row[2] for row in of_kind):.1e} | {mean(3):.2e} | {mean(4):.2e} |")


if __name__ == "__main__":
    sys.exit(main())
