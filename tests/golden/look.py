#!/usr/bin/python3
"""What `limpid look … --json` should say of golden models, computed by PyTorch in double from their formulas.

    /usr/bin/python3 tests/golden/look.py                                          (Debian: python3-torch)

Writes look.json: commands, and of each the part of its JSON that was computed. tests/look_test.sh compares.
"""

import json
import math
import sys
from pathlib import Path

import torch

sys.dont_write_bytecode = True
from attention_models import language_model, seq2seq  # noqa: E402
from cases import CASES  # noqa: E402
from run import Run  # noqa: E402

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
TEXT, OTHER = [3, 1, 4], [5, 1, 2]
SOURCE, TARGET = [3, 1, 4, 2], [5, 6, 2]  # with their end token


class Watched(Run):
    """Keeps the values on the way as they are, with their gradients, and puts others in their place."""

    def __init__(self, case):
        super().__init__(CASES[case].config, case, CASES[case].spread)
        self.values, self.replace = {}, {}

    def tap(self, name, x):
        if name in self.replace:
            x = self.replace[name](x)
        if name:
            self.values[name] = x
        return x

    def read(self, ids):
        """Logits of a language model after every token."""
        self.values = {}
        return language_model(self, ids + [0])[0]

    def translate(self, source, target):
        self.values = {}
        return seq2seq(self, source, target)[0]


def spread(p, probabilities):
    """The three most likely tokens and the entropy."""
    top = sorted(range(len(probabilities)), key=lambda i: -probabilities[i])[:3]
    return {"top": [{"id": i, "probability": probabilities[i]} for i in top],
            "entropy_bits": -sum(x * math.log2(x) for x in probabilities)}


def lens(p, layers, following):
    """Every layer's vectors as if they were the last."""
    table = p.weights[p.names["embedding"] + ".weight"]
    result = []
    for layer in layers:
        x = p.values[layer]
        if p.c.final_norm:
            x = p.norm(p.names["final_norm"].format(side=""), x)
        logits = x @ table.T
        if p.c.output_bias:
            logits = logits + p.weights[p.names["output_bias"]].flatten()
        positions = []
        for position, row in enumerate(logits):
            seen = {"position": position} | spread(p, row.softmax(-1).tolist())
            if position < len(following):
                watched = following[position]
                seen["watched"] = {"id": watched, "rank": 1 + int((row > row[watched]).sum()),
                                   "probability": row.softmax(-1)[watched].item(), "logit": row[watched].item()}
            positions.append(seen)
        result.append({"layer": layer, "positions": positions})
    return {"lens": result}


def attribution(p):
    """The last token's likeliest next one: its logit as a sum, the last norm's scale being what it is."""
    logits = p.read(TEXT)
    answer, c = int(logits[-1].argmax()), p.c
    x = p.values[f"blocks.{c.sides[''].layers - 1}.resid_post"][-1]
    deviation = (x.var(unbiased=False) + c.norm_eps).sqrt()
    unembedding = p.weights[p.names["embedding"] + ".weight"][answer]
    norm = p.names["final_norm"].format(side="")
    direction = p.weights[norm + ".weight"] * unembedding / deviation

    def part(name, vector):
        return {"name": name, "value": ((vector - vector.mean()) @ direction).item()}

    parts = [part("embed", p.values["embed"][-1]), part("pos_embed", p.values["pos_embed"][-1])]
    for layer in range(c.sides[""].layers):
        block = p.names["block"].format(side="", i=layer)
        output = block + p.names["attn"][-1]
        z = p.values[f"blocks.{layer}.attn.z"][-1].view(-1, c.head)
        matrix = p.weights[output + ".weight"].view(len(z), c.head, c.width)
        parts += [part(f"blocks.{layer}.attn.head{head}", z[head] @ matrix[head]) for head in range(len(z))]
        parts.append(part(f"blocks.{layer}.attn.bias", p.weights[output + ".bias"]))
        down = block + p.names["down"]
        parts.append(part(f"blocks.{layer}.ffn", p.values[f"blocks.{layer}.ffn.post"][-1] @ p.weights[down + ".weight"]))
        parts.append(part(f"blocks.{layer}.ffn.bias", p.weights[down + ".bias"]))
    parts.append({"name": "final_norm.bias", "value": (p.weights[norm + ".bias"] @ unembedding).item()})
    return {"position": len(TEXT) - 1, "id": answer, "logit": logits[-1][answer].item(), "parts": parts}


def gradient(p, tap):
    logit = p.read(TEXT)[-1].max()
    value = p.values[tap]
    (slope,) = torch.autograd.grad(logit, value)
    return {"value": logit.item(),
            "taps": [{"tap": tap, "gradient_times_value": (slope * value).sum(-1).tolist(),
                      "gradient_length": slope.norm(dim=-1).tolist()}]}


def intervene(p, tap):
    before = p.read(TEXT)
    p.replace = {tap: torch.zeros_like}
    after = p.read(TEXT)
    p.replace = {}
    log_before, log_after = before.log_softmax(-1), after.log_softmax(-1)
    divergence = (log_before.exp() * (log_before - log_after)).sum(-1)
    best = int(before[-1].argmax())
    return {"position": len(TEXT) - 1, "same_bits": False,
            "tokens": [{"id": best, "logit_before": before[-1][best].item(), "logit_after": after[-1][best].item(),
                        "probability_before": log_before[-1][best].exp().item(),
                        "probability_after": log_after[-1][best].exp().item()}],
            "positions": [{"position": i, "kl": kl, "top_before": str(int(before[i].argmax())),
                           "top_after": str(int(after[i].argmax()))} for i, kl in enumerate(divergence.tolist())]}


def trace(p):
    """Another text's pass, in which one vector at a time is that of the text."""
    clean = p.read(TEXT)[-1].softmax(-1)
    answer, kept = int(clean.argmax()), p.values
    maps = {}
    for part in ("resid_post", "attn_out", "ffn_out"):
        maps[part] = []
        for layer in range(p.c.sides[""].layers):
            tap, restored = f"blocks.{layer}.{part}", []
            for position in range(len(TEXT)):
                def put(x, position=position, tap=tap):
                    return torch.cat([x[:position], kept[tap][position:position + 1], x[position + 1:]])
                p.replace = {tap: put}
                restored.append(p.read(OTHER)[-1].softmax(-1)[answer].item())
            maps[part].append({"tap": tap, "probability": restored})
    p.replace = {}
    return {"answer_id": answer, "clean": clean[answer].item(),
            "corrupted": p.read(OTHER)[-1].softmax(-1)[answer].item(), "maps": maps}


def neuron(p, block, number):
    """Input direction: by the embeddings, normalised to a deviation of one, times the norm's gain (what its bias adds is
    the same for all tokens); output direction: by what it adds to the logits."""
    name = p.names["block"].format(side="", i=block)
    table = p.weights[p.names["embedding"] + ".weight"]
    question = p.weights[name + p.names["up"] + ".weight"][:, number]
    answer = p.weights[name + p.names["down"] + ".weight"][number]
    norm = name + p.names["norm2"]
    scaled = (table - table.mean(-1, keepdim=True)) / table.std(-1, unbiased=False, keepdim=True)
    asked = (scaled * p.weights[norm + ".weight"]) @ question
    gain = p.weights[p.names["final_norm"].format(side="") + ".weight"]
    said = table @ (gain * (answer - answer.mean()))

    def strongest(values, sign):
        order = sorted(range(len(values)), key=lambda i: -sign * values[i])
        return [{"id": i, "value": values[i]} for i in order[:10]]

    return {"block": block, "neuron": number, "asked": strongest(asked.tolist(), 1),
            "promoted": strongest(said.tolist(), 1), "demoted": strongest(said.tolist(), -1),
            "question_length": question.norm().item(), "answer_length": answer.norm().item()}


def heatmap(p):
    p.read(TEXT)
    return {"maps": [{"values": p.values["blocks.0.attn.pattern"].mean(0).tolist()},
                     {"values": p.values["blocks.0.ffn.pre"].tolist()},
                     {"values": p.values["blocks.0.ffn.post"].tolist()}]}


def heads(p, texts):
    """Sums over the queries of all texts."""
    result = []
    for layer in range(p.c.sides[""].layers):
        for head in range(p.c.sides[""].heads):
            queries = later = entropy = first = distance = previous = 0
            for text in texts:
                p.read(text)
                for i, row in enumerate(p.values[f"blocks.{layer}.attn.pattern"][head].tolist()):
                    queries += 1
                    entropy -= sum(x * math.log2(x) for x in row if x > 0)
                    first += row[0]
                    distance += sum(abs(i - j) * x for j, x in enumerate(row))
                    later += i > 0
                    previous += row[i - 1] if i > 0 else 0
            result.append({"attention": f"blocks.{layer}.attn", "head": head, "queries": queries,
                           "entropy": entropy / queries, "first": first / queries, "distance": distance / queries,
                           "previous": previous / later})
    return result


def similarities(p, words):
    rows = p.weights[p.names["embedding"] + ".weight"][words]
    unit = rows / rows.norm(dim=-1, keepdim=True)
    return {"maps": [{"values": (unit @ unit.T).tolist()}]}


def principal_components(p, words):
    rows = p.weights[p.names["embedding"] + ".weight"][words]
    centred = rows - rows.mean(0)
    places, values, _ = torch.linalg.svd(centred, full_matrices=False)
    points = places[:, :2] * values[:2]
    points = points * torch.sign(points.gather(0, points.abs().argmax(0, keepdim=True)))
    return {"points": [{"x": x, "y": y} for x, y in points.tolist()],
            "explained": (values.square() / values.square().sum())[:2].tolist()}


def numbers(value):
    """JSON's numbers, short enough to read."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: numbers(one) for key, one in value.items()}
    return [numbers(one) for one in value] if isinstance(value, list) else value


def main():
    gpt2, marian = Watched("gpt2"), Watched("marian")
    gpt2.read(TEXT)
    layers = ["blocks.0.resid_pre", "blocks.0.resid_post", "blocks.1.resid_post"]
    text, other = (" ".join(map(str, ids)) for ids in (TEXT, OTHER))
    cases = [(["gpt2", "lens", text], lens(gpt2, layers, TEXT[1:]))]
    marian.translate(SOURCE, TARGET)
    layers = ["decoder.0.resid_pre", "decoder.0.resid_post", "decoder.1.resid_post"]
    cases += [
        (["marian", "lens", " ".join(map(str, SOURCE[:-1])), " ".join(map(str, TARGET[:-1]))],
         lens(marian, layers, TARGET)),
        (["gpt2", "attribution", text], attribution(gpt2)),
        (["gpt2", "gradient", text, "--tap", "blocks.0.resid_post"], gradient(gpt2, "blocks.0.resid_post")),
        (["gpt2", "intervene", text, "--zero", "blocks.0.ffn_out"], intervene(gpt2, "blocks.0.ffn_out")),
        (["gpt2", "trace", text, "--other", other], trace(gpt2)),
        (["gpt2", "neuron", "--block", "0", "--neuron", "1"], neuron(gpt2, 0, 1)),
        (["gpt2", "heatmap", text, "--block", "0", "--pattern"], heatmap(gpt2)),
        (["gpt2", "heads", "--text", "TEXTS"], heads(gpt2, [TEXT + OTHER, OTHER])),
        (["gpt2", "embedding", "3", "5", "7"], similarities(gpt2, [3, 5, 7])),
        (["gpt2", "embedding", "3", "5", "7", "--map"], principal_components(gpt2, [3, 5, 7])),
    ]
    lines = [json.dumps({"look": command, "says": numbers(says)}) for command, says in cases]
    texts = "\n".join(" ".join(map(str, ids)) for ids in [TEXT + OTHER, OTHER])
    path = Path(__file__).resolve().parent / "look.json"
    path.write_text('{"texts": ' + json.dumps(texts + "\n") + ', "cases": [\n' + ",\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main()
