#!/usr/bin/python3
"""Golden cases: small models of every family and variant, computed by PyTorch in double, for `limpid verify`.

    /usr/bin/python3 tests/golden/make_golden.py [--out FOLDER] [CASE ...]          (Debian: python3-torch)

A forward pass is a function of a config and of weights by name, one sequence at a time: nothing is padded, so no mask
of padding can be wrong, and a batch is only a list of sequences. PyTorch's autograd and Adam do the rest. README.md
says what a case holds, cases.py which there are. Weights and tokens are drawn by Python's own generator, seeded by their
names, so that every run gives the same files, and another version of PyTorch the same up to rounding.
"""

import argparse
import fnmatch
import json
import random
import struct
import sys
from pathlib import Path

import torch
import torch.nn.functional as F

sys.dont_write_bytecode = True  # this folder keeps cases and what makes them
from attention_models import encoder, language_model, seq2seq  # noqa: E402
from cases import CASES  # noqa: E402
from families import READERS  # noqa: E402
from recurrent_models import rnn_seq2seq  # noqa: E402
from run import Run  # noqa: E402

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

OTHERS = {"marian": seq2seq, "pegasus": seq2seq, "bart": seq2seq, "t5": seq2seq, "bert": encoder, "roberta": encoder,
          "rnn_seq2seq": rnn_seq2seq}
MODELS = {model_type: OTHERS.get(model_type, language_model) for model_type in READERS}


def draw_batch(json, seed):
    """Sequences of different lengths in no order, one of them of a single token; the first is neither the longest nor
    the shortest. A language model reads one token less than its text has."""
    draw, vocab = random.Random(f"{seed}/batch"), json["vocab_size"]

    def rows(*lengths):
        return [[draw.randrange(vocab) for _ in range(length)] for length in lengths]

    model = MODELS[json["model_type"]]
    if model is language_model:
        return {"tokens": rows(5, 7, 2, 4)}
    if model is encoder and "num_labels" in json:  # a text's label stands at its first token; one has none
        labels = [[draw.randrange(json["num_labels"])] + [-1] * (length - 1) for length in (4, 6, 1)] + [[-1] * 3]
        return {"tokens": rows(4, 6, 1, 3), "labels": labels}
    if model is encoder:  # some tokens are not scored, and one sequence not at all
        labels = [[-1 if (i + row) % 3 == 0 else label for i, label in enumerate(labels)]
                  for row, labels in enumerate(rows(4, 6, 1, 3), 1)]
        labels[3] = [-1] * 3
        return {"tokens": rows(4, 6, 1, 3), "labels": labels}
    return {"source": rows(4, 6, 1, 5), "target": rows(3, 1, 6, 2)}


def mean_loss(p, batch):
    logits, labels = [], []
    for sequence in zip(*batch.values()):
        scores, truth = MODELS[p.c.type](p, *sequence)
        logits.append(scores)
        labels += truth
    logits = torch.cat(logits)
    return logits, F.cross_entropy(logits, torch.tensor(labels), label_smoothing=0.1)


def first_sequence(p, batch, wanted):
    """What the batch's first sequence shows under the names wanted. A recurrent network shows one value per step."""
    p.seen = {}
    MODELS[p.c.type](p, *(rows[0] for rows in batch.values()))
    seen, p.seen = p.seen, None
    unknown = [pattern for pattern in wanted if not fnmatch.filter(seen, pattern)]
    assert not unknown, f"nothing is named {unknown}"
    return {"act." + name: values[0] if len(values) == 1 else torch.stack(values)
            for name, values in seen.items() if any(fnmatch.fnmatchcase(name, pattern) for pattern in wanted)}


def save(path, tensors):
    """safetensors: the header's length, a JSON header padded to 8 bytes, the numbers"""
    header, data = {}, b""
    for name, tensor in tensors.items():
        numbers = tensor.detach().float().contiguous().numpy().tobytes()
        offsets = [len(data), len(data) + len(numbers)]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": offsets}
        data += numbers
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def make_case(folder, case):
    p, batch = Run(case.config, folder.name, case.spread), draw_batch(case.config, folder.name)
    logits, loss = mean_loss(p, batch)
    trained = {name: weight for name, weight in p.weights.items() if weight.requires_grad}
    folder.mkdir(parents=True, exist_ok=True)
    save(folder / "model.safetensors", p.weights)
    expected = {"logits": logits, "loss": loss[None]} | first_sequence(p, batch, case.activations)

    adam = torch.optim.Adam(trained.values(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for step in range(10):
        adam.zero_grad()
        _, loss = mean_loss(p, batch)
        loss.backward()
        if step == 0:
            expected |= {"grad." + name: weight.grad.clone() for name, weight in trained.items()}
        losses.append(loss.item())
        adam.step()
    save(folder / "expected.safetensors", expected | {"losses": torch.tensor(losses)})
    (folder / "config.json").write_text(json.dumps(case.config, indent=2) + "\n")
    (folder / "batch.json").write_text(json.dumps(batch) + "\n")
    return losses


def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description="Makes golden cases for `limpid verify`.")
    parser.add_argument("--out", type=Path, default=here, help="where the folders go (default: beside this script)")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="which (default: all)")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.cases) - set(CASES)):
        parser.error(f"no such case: {', '.join(unknown)}; there are {', '.join(CASES)}")
    for name, case in CASES.items():
        if not arguments.cases or name in arguments.cases:
            losses = make_case(arguments.out / name, case)
            print(f"{name:28} loss {losses[0]:.4f}, after ten steps {losses[-1]:.4f}")


if __name__ == "__main__":
    main()
