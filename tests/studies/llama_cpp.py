#!/usr/bin/python3
"""Limpid beside llama.cpp on GGUF files: random models of each architecture in each type.

  tests/studies/llama_cpp.py LIMPID LIBRARIES [--architecture NAME]... [--type NAME]... [--weights initial|spread]
                             [--model FOLDER --text FILE] [--work FOLDER] [--markdown]

LIMPID is the program; LIBRARIES the folder of llama.cpp's libraries (tests/studies/llama_library.py). For each
architecture and type: Limpid writes the file, both read it, and of the same ids
  - apart: mean Kullback-Leibler divergence of Limpid's scores from llama.cpp's, at most 1e-3 (of BERT: one less the
    cosine of the vectors of a text);
  - off: how far each is from the truth, llama.cpp's scores with the same numbers as F32. Products with blocks round
    what they multiply with to 8 bits, each program in its own way; what remains here is that rounding alone;
  - weights: what Limpid reads from the blocks equals what llama.cpp does, bit for bit;
  - types: llama.cpp's own quantiser gives every tensor the same type;
  - loss: the divergence from the float model, of Limpid's quantiser and of llama.cpp's, both run by Limpid.
Ends with 1 where apart, weights or types fail.

Weights are those that training begins with (standard deviation 0.02: nearly flat distributions), or spread: heavy
tails, every norm and bias at work, logits with a deviation above 2. --model: a trained language model of the family
llama instead, and what it says of a text.
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

FILE_TYPES = {"F16": 1, "BF16": 32, "Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q5_0": 8, "Q5_1": 9, "Q2_K": 10,
              "Q3_K_S": 11, "Q3_K_M": 12, "Q3_K_L": 13, "Q4_K_S": 14, "Q4_K_M": 15, "Q5_K_S": 16, "Q5_K_M": 17,
              "Q6_K": 18, "IQ4_NL": 25}
VOCAB = 512

LLAMA = {"vocab_size": VOCAB, "hidden_size": 512, "intermediate_size": 768, "num_hidden_layers": 8,
         "num_attention_heads": 8, "num_key_value_heads": 4, "max_position_embeddings": 256, "bos_token_id": 1,
         "eos_token_id": 2, "rms_norm_eps": 1e-5}
T5 = {"model_type": "t5", "vocab_size": VOCAB, "d_model": 512, "d_kv": 64, "d_ff": 1024, "num_layers": 4, "num_heads": 8,
      "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "decoder_start_token_id": 0, "eos_token_id": 1,
      "pad_token_id": 0}
CONFIGS = {
    "llama": {**LLAMA, "model_type": "llama", "tie_word_embeddings": False},
    "llama-narrow": {**LLAMA, "model_type": "llama", "hidden_size": 320, "num_attention_heads": 5,
                     "num_key_value_heads": 5, "num_hidden_layers": 4},  # rows that no block of 256 fills
    "llama3": {**LLAMA, "model_type": "llama", "num_hidden_layers": 4, "rope_theta": 500000.0, "rope_scaling": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64}},
    "llama-biases": {**LLAMA, "model_type": "llama", "num_hidden_layers": 4, "attention_bias": True, "mlp_bias": True},
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
    # GGUF has no key for a window of Mistral, and calls it llama; mT5 it calls t5.
    "mistral": {**LLAMA, "model_type": "mistral", "num_hidden_layers": 4, "sliding_window": None},
    "t5": T5,
    "mt5": {**T5, "model_type": "mt5"},
}


def run(*arguments, text=None):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, input=text)
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
            if name.endswith("Attention.q.weight"):
                numbers /= 8  # T5 divides no scores: its queries learn to be smaller by the root of a head's 64 numbers
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
    def __init__(self, architecture, vocab=VOCAB):
        self.vocab = vocab
        random = np.random.default_rng(7)
        self.kind = "embed" if architecture == "bert" else "pair" if architecture in ("t5", "mt5") else "text"
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
        arrays = [a for a in read_safetensors(out).values() if a.ndim >= 2 and a.shape[-1] == self.vocab]
        return arrays[0].reshape(-1, self.vocab)

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


def as_floats(limpid, path, work):
    """The same numbers as F32."""
    plain = work / "plain.gguf"
    plain.unlink(missing_ok=True)
    run(limpid, "export", path, plain)
    return plain


def unequal_weights(library, limpid, path, work):
    """Tensors whose numbers Limpid reads otherwise than llama.cpp."""
    stored, read = read_tensors(path), read_tensors(as_floats(limpid, path, work))
    wrong = []
    for name, (kind, shape, data) in stored.items():
        if kind in ("F32", "F16", "BF16"):
            continue
        theirs = library.dequantize(kind, data, int(np.prod(shape)))
        if not np.array_equal(theirs.view(np.uint32), np.frombuffer(read[name][2].tobytes(), np.uint32)):
            wrong.append(name)
    return wrong


def read_ids(limpid, model, text, most=200):
    return [int(i) for i in run(limpid, "tokenize", model, "--whole", "--ids", text=text.read_text()).split()][:most]


class Study:
    def __init__(self, arguments):
        self.limpid, self.types = arguments.limpid, arguments.type or list(FILE_TYPES)
        self.library = Library(arguments.libraries.resolve())
        self.rows = []

    def files(self, kind, folder, plain, work):
        """The file that Limpid makes and llama.cpp's; F32 is one, and BF16 only llama.cpp writes."""
        if kind == "F32":
            return plain, plain
        theirs, ours = work / f"theirs-{kind}.gguf", work / f"ours-{kind}.gguf"
        self.library.quantize(plain, theirs, FILE_TYPES[kind])
        if kind == "BF16":
            return theirs, theirs
        run(self.limpid, "quantize", folder, ours, *(["--bits", "16"] if kind == "F16" else ["--type", kind]))
        return ours, theirs

    def compare(self, name, kind, folder, plain, texts, folder_scores, work):
        ours, theirs = self.files(kind, folder, plain, work)
        problems = []
        if ours != theirs:
            types = {tensor: each[0] for tensor, each in read_tensors(ours).items()}
            differ = [f"{tensor} {types.get(tensor)}/{each[0]}" for tensor, each in read_tensors(theirs).items()
                      if types.get(tensor) != each[0]]
            problems += [f"types differ (ours/theirs): {', '.join(differ[:4])}"] if differ else []
            unequal = unequal_weights(self.library, self.limpid, theirs, work)
            problems += [f"weights differ: {', '.join(unequal[:4])}"] if unequal else []
        scores, peer = texts.ours(self.limpid, ours, work), texts.theirs(self.library, ours)
        truth = texts.theirs(self.library, as_floats(self.limpid, ours, work))
        apart = texts.distance(peer, scores)
        if not apart <= 1e-3:
            problems.append(f"scores differ by {apart:.2g}")
        row = dict(architecture=name, kind=kind, apart=apart, off=texts.distance(truth, scores),
                   off_theirs=texts.distance(truth, peer), loss=texts.distance(folder_scores, scores),
                   loss_theirs=texts.distance(folder_scores, texts.ours(self.limpid, theirs, work)),
                   problems="; ".join(problems))
        self.rows.append(row)
        print("{architecture:13} {kind:7} apart {apart:9.2e}   off {off:9.2e}, llama.cpp {off_theirs:9.2e}   "
              "loss {loss:9.2e}, llama.cpp's {loss_theirs:9.2e}   ".format(**row) + (row["problems"] or "ok"),
              flush=True)

    def compare_all(self, name, folder, texts, work):
        plain = work / "f32.gguf"
        run(self.limpid, "export", folder, plain)
        folder_scores = texts.ours(self.limpid, folder, work)
        for kind in ["F32"] + self.types:
            self.compare(name, kind, folder, plain, texts, folder_scores, work)

    def print_markdown(self):
        print("| | apart, largest | off: Limpid | off: llama.cpp | loss: Limpid's quantiser | llama.cpp's |")
        print("|---|---|---|---|---|---|")
        for kind in dict.fromkeys(row["kind"] for row in self.rows):
            of_kind = [row for row in self.rows if row["kind"] == kind and row["architecture"] != "bert"]

            def mean(key):  # geometric, of divergences
                return np.exp(np.mean([np.log(max(row[key], 1e-12)) for row in of_kind]))

            print(f"| {kind} | {max(row['apart'] for row in of_kind):.1e} | " +
                  " | ".join(f"{mean(key):.1e}" for key in ("off", "off_theirs", "loss", "loss_theirs")) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("limpid", type=Path)
    parser.add_argument("libraries", type=Path)
    parser.add_argument("--architecture", action="append", choices=list(CONFIGS))
    parser.add_argument("--type", action="append", choices=list(FILE_TYPES))
    parser.add_argument("--weights", choices=["initial", "spread"], default="initial")
    parser.add_argument("--model", type=Path, help="a trained language model, with --text")
    parser.add_argument("--text", type=Path)
    parser.add_argument("--work", type=Path, default=Path("models/llama-cpp-study"))
    parser.add_argument("--markdown", action="store_true", help="a table for docs/results.md")
    arguments = parser.parse_args()
    study = Study(arguments)
    for architecture in ["trained"] if arguments.model else arguments.architecture or CONFIGS:
        work = arguments.work / architecture
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        if arguments.model:
            config = json.loads((arguments.model / "config.json").read_text())
            texts = Texts(architecture, config["vocab_size"])
            texts.ids = read_ids(arguments.limpid, arguments.model, arguments.text)
            folder = work / "model"  # without its vocabulary, so that both sides read ids
            folder.mkdir()
            for file in ("config.json", "model.safetensors"):
                shutil.copy(arguments.model / file, folder)
            study.compare_all(architecture, folder, texts, work)
            continue
        (work / "config.json").write_text(json.dumps(CONFIGS[architecture]))
        run(arguments.limpid, "random", work / "config.json", work / "model")
        if arguments.weights == "spread":
            give_weights(work / "model" / "model.safetensors", 1)
        study.compare_all(architecture, work / "model", Texts(architecture), work)
    if arguments.markdown:
        study.print_markdown()
    wrong = sum(bool(row["problems"]) for row in study.rows)
    print(f"{len(study.rows)} files, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
