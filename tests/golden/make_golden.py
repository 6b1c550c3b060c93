#!/usr/bin/python3
"""Golden cases: small models of every family and variant, computed by PyTorch in double, for `limpid verify`.

    /usr/bin/python3 tests/golden/make_golden.py [--out FOLDER] [CASE ...]          (Debian: python3-torch)

A forward pass is a function of a config and of weights by name, one sequence at a time: nothing is padded, so no mask
of padding can be wrong, and a batch is only a list of sequences. PyTorch's autograd and Adam do the rest. README.md says
what a case holds, cases.py which there are. Weights and tokens are drawn by Python's own generator, seeded by their
names, so that every run gives the same files, and another version of PyTorch the same up to rounding.
"""

import argparse
import fnmatch
import json
import math
import random
import struct
import sys
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.nn.functional as F

sys.dont_write_bytecode = True  # this folder holds cases and nothing else
from cases import CASES  # noqa: E402

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": torch.relu,
    "gelu": F.gelu,
    "gelu_new": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "tanh": torch.tanh,
}

# ---- what the config of a family says, in one set of words


def read_seq2seq(json):
    first = json.get("normalize_before", json["model_type"] == "pegasus")
    sides = {
        side: SimpleNamespace(layers=json[f"{side}_layers"], heads=json[f"{side}_attention_heads"],
                              kv_heads=json[f"{side}_attention_heads"], ffn=json[f"{side}_ffn_dim"])
        for side in ("encoder", "decoder")
    }
    return dict(width=json["d_model"], head=json["d_model"] // json["encoder_attention_heads"], sides=sides,
                max_positions=json["max_position_embeddings"], norm_place="before" if first else "after",
                final_norm=first, positions="sinusoidal", activation=json["activation_function"], output_bias=True,
                scale_embedding=json.get("scale_embedding", False), tied=json.get("tie_word_embeddings", True),
                shared=json.get("share_encoder_decoder_embeddings", True))


def read_gpt2(json):
    side = SimpleNamespace(layers=json["n_layer"], heads=json["n_head"], kv_heads=json["n_head"],
                           ffn=json.get("n_inner", 4 * json["n_embd"]))
    return dict(width=json["n_embd"], head=json["n_embd"] // json["n_head"], sides={"": side},
                max_positions=json["n_positions"], norm_eps=json.get("layer_norm_epsilon", 1e-5),
                positions="learned", activation=json.get("activation_function", "gelu_new"),
                scale_scores=json.get("scale_attn_weights", True), tied=json.get("tie_word_embeddings", True),
                transposed=True)


def read_llama(json):
    heads = json["num_attention_heads"]
    side = SimpleNamespace(layers=json["num_hidden_layers"], heads=heads, ffn=json["intermediate_size"],
                           kv_heads=json.get("num_key_value_heads", heads))
    return dict(width=json["hidden_size"], head=json.get("head_dim", json["hidden_size"] // heads), sides={"": side},
                max_positions=json.get("max_position_embeddings", 2048), norm="rms", norm_bias=False,
                norm_eps=json.get("rms_norm_eps", 1e-6), positions="rotary", gated=True,
                activation=json.get("hidden_act", "silu"), attention_bias=json.get("attention_bias", False),
                ffn_bias=json.get("mlp_bias", False), tied=json.get("tie_word_embeddings", False))


def read_bert(json):
    heads = json["num_attention_heads"]
    side = SimpleNamespace(layers=json["num_hidden_layers"], heads=heads, kv_heads=heads,
                           ffn=json["intermediate_size"])
    return dict(width=json["hidden_size"], head=json["hidden_size"] // heads, sides={"": side}, causal=False,
                max_positions=json["max_position_embeddings"], segments=json["type_vocab_size"],
                norm_place="after", norm_eps=json.get("layer_norm_eps", 1e-12), final_norm=False,
                positions="learned", activation=json.get("hidden_act", "gelu"), output_bias=True,
                tied=json.get("tie_word_embeddings", True))


def read_rnn(json):
    return dict(cell=json["cell"], layers=json["layers"], embed=json["embed_dim"], hidden=json["hidden_size"],
                attention=json.get("attention", "none"), context=json.get("context", "initial"),
                bidirectional=json.get("bidirectional", False))


READERS = {"marian": read_seq2seq, "pegasus": read_seq2seq, "gpt2": read_gpt2, "llama": read_llama,
           "bert": read_bert, "rnn_seq2seq": read_rnn}


def read_config(json):
    spec = dict(norm="layer", norm_place="before", norm_eps=1e-5, norm_bias=True, final_norm=True, segments=0,
                sinusoids="halves", theta=json.get("rope_theta", 10000.0), gated=False, feed_forward=True,
                residual=True, scale_scores=True, causal=True, attention_bias=True, ffn_bias=True, output_bias=False,
                transposed=False, scale_embedding=False, tied=True, shared=True)
    spec |= READERS[json["model_type"]](json)
    variant = dict(json.get("limpid", {}))
    if "norm" in variant:
        spec["norm_bias"] = variant["norm"] != "rms"
    if "norm_place" in variant:
        spec["final_norm"] = variant["norm_place"] == "before"
    if not variant.pop("bias", True):
        spec |= dict(attention_bias=False, ffn_bias=False, norm_bias=False, output_bias=False)
    return SimpleNamespace(**(spec | variant), type=json["model_type"], vocab=json["vocab_size"],
                           start=json.get("decoder_start_token_id"))


# ---- Hugging Face's names of parameters

BART = dict(embedding="model.shared", source="model.encoder.embed_tokens", target="model.decoder.embed_tokens",
            positions="model.{side}.embed_positions", block="model.{side}.layers.{i}.", norm1="self_attn_layer_norm",
            norm_cross="encoder_attn_layer_norm", norm2="final_layer_norm",
            attn=["self_attn." + p for p in ("q_proj", "k_proj", "v_proj", "out_proj")],
            cross=["encoder_attn." + p for p in ("q_proj", "k_proj", "v_proj", "out_proj")],
            up="fc1", gate="fc_gate", down="fc2", final_norm="model.{side}.layer_norm", output="lm_head",
            output_bias="final_logits_bias")
NAMES = {
    "marian": BART,
    "pegasus": BART,
    "gpt2": dict(embedding="wte", positions="wpe", block="h.{i}.", norm1="ln_1", norm2="ln_2",
                 attn=["attn.c_attn", "attn.c_proj"], up="mlp.c_fc", gate="mlp.c_gate", down="mlp.c_proj",
                 final_norm="ln_f", output="lm_head"),
    "llama": dict(embedding="model.embed_tokens", positions="model.embed_positions", block="model.layers.{i}.",
                  norm1="input_layernorm", norm2="post_attention_layernorm",
                  attn=["self_attn." + p for p in ("q_proj", "k_proj", "v_proj", "o_proj")],
                  up="mlp.up_proj", gate="mlp.gate_proj", down="mlp.down_proj", final_norm="model.norm",
                  output="lm_head"),
    "bert": dict(embedding="bert.embeddings.word_embeddings", positions="bert.embeddings.position_embeddings",
                 segments="bert.embeddings.token_type_embeddings", embedding_norm="bert.embeddings.LayerNorm",
                 block="bert.encoder.layer.{i}.", norm1="attention.output.LayerNorm", norm2="output.LayerNorm",
                 attn=["attention.self.query", "attention.self.key", "attention.self.value",
                       "attention.output.dense"],
                 up="intermediate.dense", gate="intermediate.gate", down="output.dense",
                 final_norm="bert.encoder.final_norm", output="cls.predictions.decoder",
                 output_bias="cls.predictions.bias"),
}


# ---- one pass


class Pass:
    """A config, its weights, and the values seen on the way. The pass asks for weights by name and shape; who asks
    first has the numbers drawn, rounded to the float32 of the files."""

    def __init__(self, json, seed, spread):
        self.c = read_config(json)
        self.names = NAMES.get(self.c.type)
        self.seed = seed
        self.spread = spread
        self.weights = {}
        self.seen = None

    def weight(self, name, *shape, mean=0.0, spread=0.3, trainable=True):
        if name not in self.weights:
            draw = random.Random(f"{self.seed}/{name}")
            numbers = torch.tensor([draw.gauss(mean, spread) for _ in range(math.prod(shape))])
            self.weights[name] = numbers.float().double().view(shape).requires_grad_(trainable)
        assert self.weights[name].shape == shape, name
        return self.weights[name]

    def tap(self, name, x):
        if self.seen is not None and name:
            self.seen.setdefault(name, []).append(x.detach().clone())
        return x

    def linear(self, name, x, outputs, bias=True, transposed=False):
        inputs = x.shape[-1]
        shape = (inputs, outputs) if transposed else (outputs, inputs)
        matrix = self.weight(name + ".weight", *shape, spread=self.spread * inputs**-0.5)
        return F.linear(x, matrix.T if transposed else matrix, self.weight(name + ".bias", outputs) if bias else None)

    def norm(self, name, x, tap="", kind=""):
        kind, d, eps = kind or self.c.norm, x.shape[-1], self.c.norm_eps
        gain = self.weight(name + ".weight", d, mean=1.0, spread=0.2)
        bias = self.weight(name + ".bias", d) if self.c.norm_bias else None
        if kind == "batch":  # not training: by the statistics that were kept
            y = F.batch_norm(x, self.weight(name + ".running_mean", d, trainable=False),
                             self.weight(name + ".running_var", d, mean=3.0, spread=0.5, trainable=False), gain, bias,
                             training=False, eps=eps)
        elif kind == "rms":
            scale = (x.square().mean(-1, keepdim=True) + eps).sqrt()
            y = gain * x / self.tap(tap and tap + ".scale", scale)
        else:
            self.tap(tap and tap + ".scale", (x.var(-1, unbiased=False, keepdim=True) + eps).sqrt())
            y = F.layer_norm(x, (d,), gain, bias, eps)
        return self.tap(tap, y)


# ---- Transformers. Letters: T tokens, S tokens looked at, d width, H heads, D numbers a head.


def rotate(x, theta):
    """Pair i of a head, (x[i], x[i + D/2]), is a complex number; it turns by t·theta^(-2i/D).   x (H, T, D)"""
    _, tokens, size = x.shape
    angles = torch.arange(tokens).double()[:, None] * theta ** (-torch.arange(0, size, 2).double() / size)
    turned = torch.complex(*x.chunk(2, -1)) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], -1)


def attention(p, scope, names, x, memory, side, causal):
    """x (T, d) looks at memory (S, d)."""
    c = p.c
    q_size, kv_size = side.heads * c.head, side.kv_heads * c.head
    if len(names) == 2:
        qkv = p.linear(names[0], x, q_size + 2 * kv_size, c.attention_bias, c.transposed)
        q, k, v = qkv.split([q_size, kv_size, kv_size], -1)
    else:
        q, k, v = (p.linear(name, y, size, c.attention_bias, c.transposed)
                   for name, y, size in zip(names, (x, memory, memory), (q_size, kv_size, kv_size)))
    for name, y in (("q", q), ("k", k), ("v", v)):
        p.tap(f"{scope}.{name}", y)

    def split(y):
        return y.view(len(y), -1, c.head).transpose(0, 1)

    def join(y):
        return y.transpose(0, 1).reshape(y.shape[1], -1)

    q, k, v = split(q), split(k), split(v)
    if c.positions == "rotary" and memory is x:
        q, k = rotate(q, c.theta), rotate(k, c.theta)
        p.tap(f"{scope}.rot_q", join(q))
        p.tap(f"{scope}.rot_k", join(k))
    k, v = (y.repeat_interleave(side.heads // side.kv_heads, 0) for y in (k, v))
    scores = q @ k.mT  # (H, T, S)
    if c.scale_scores:
        scores = scores / math.sqrt(c.head)
    p.tap(f"{scope}.scores", scores)
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[1:]).triu(1).bool(), -math.inf)
    pattern = p.tap(f"{scope}.pattern", scores.softmax(-1))
    z = p.tap(f"{scope}.z", join(pattern @ v))
    return p.linear(names[-1], z, c.width, c.attention_bias, c.transposed)


def feed_forward(p, scope, block, x, side):
    c, n, f = p.c, p.names, ACTIVATIONS[p.c.activation]
    pre = p.tap(f"{scope}.ffn.pre", p.linear(block + n["up"], x, side.ffn, c.ffn_bias, c.transposed))
    if c.gated:
        gate = p.tap(f"{scope}.ffn.gate", p.linear(block + n["gate"], x, side.ffn, c.ffn_bias, c.transposed))
        post = f(gate) * pre
    else:
        post = f(pre)
    p.tap(f"{scope}.ffn.post", post)
    return p.linear(block + n["down"], post, c.width, c.ffn_bias, c.transposed)


def sublayer(p, scope, taps, norm, x, function):
    """x + f(norm(x)), or norm(x + f(x)). taps: of the norm and of f's result"""
    first = p.c.norm_place == "before"
    norm_tap, out_tap = (f"{scope}.{tap}" for tap in taps)
    y = p.tap(out_tap, function(p.norm(norm, x, norm_tap) if first else x))
    y = x + y if p.c.residual else y
    return y if first else p.norm(norm, y, norm_tap)


def block(p, scope, name, x, memory, side, causal):
    c, n = p.c, p.names
    self_attn = f"{scope}.{'attn' if scope.startswith('blocks') else 'self_attn'}"
    p.tap(f"{scope}.resid_pre", x)
    x = sublayer(p, scope, ("norm1", "attn_out"), name + n["norm1"], x,
                 lambda y: attention(p, self_attn, [name + part for part in n["attn"]], y, y, side, causal))
    if c.feed_forward or memory is not None:
        p.tap(f"{scope}.resid_mid", x)
    if memory is not None:
        x = sublayer(p, scope, ("norm_cross", "cross_attn_out"), name + n["norm_cross"], x,
                     lambda y: attention(p, f"{scope}.cross_attn", [name + part for part in n["cross"]], y, memory,
                                         side, False))
        if c.feed_forward:
            p.tap(f"{scope}.resid_mid_cross", x)
    if c.feed_forward:
        x = sublayer(p, scope, ("norm2", "ffn_out"), name + n["norm2"], x,
                     lambda y: feed_forward(p, scope, name, y, side))
    return p.tap(f"{scope}.resid_post", x)


def sinusoids(tokens, width, layout):
    """sin and cos of t·10000^(-2i/d): all sines and then all cosines, or in turn"""
    angles = torch.arange(tokens).double()[:, None] * 10000.0 ** (-torch.arange(0, width, 2).double() / width)
    waves = [angles.sin(), angles.cos()]
    return torch.cat(waves, -1) if layout == "halves" else torch.stack(waves, -1).flatten(1)


def stack(p, side_name, table, ids, memory=None, causal=False):
    """The last vectors (T, d) of a stack's tokens."""
    c, n, side = p.c, p.names, p.c.sides[side_name]
    scope = side_name + "." if side_name else ""
    x = p.weight(table + ".weight", c.vocab, c.width)[ids]
    x = p.tap(scope + "embed", x * math.sqrt(c.width) if c.scale_embedding else x)
    if c.positions == "sinusoidal":
        x = x + p.tap(scope + "pos_embed", sinusoids(len(ids), c.width, c.sinusoids))
    elif c.positions == "learned":
        positions = p.weight(n["positions"].format(side=side_name) + ".weight", c.max_positions, c.width)
        x = x + p.tap(scope + "pos_embed", positions[: len(ids)])
    if c.segments:
        segments = p.weight(n["segments"] + ".weight", c.segments, c.width)
        x = x + p.tap(scope + "segment_embed", segments[torch.zeros(len(ids)).long()])
    if "embedding_norm" in n:
        x = p.norm(n["embedding_norm"], x, scope + "embed_norm")
    for i in range(side.layers):
        x = block(p, f"{side_name or 'blocks'}.{i}", n["block"].format(side=side_name, i=i), x, memory, side, causal)
    if c.final_norm:
        x = p.norm(n["final_norm"].format(side=side_name), x, scope + "final_norm")
    return x


def unembed(p, x, table, bias_shape):
    c, n = p.c, p.names
    name = (table if c.tied else n["output"]) + ".weight"
    logits = x @ p.weight(name, c.vocab, c.width).T
    return logits + p.weight(n["output_bias"], *bias_shape).flatten() if c.output_bias else logits


def seq2seq(p, source, target):
    tables = [p.names["embedding"]] * 2 if p.c.shared else [p.names["source"], p.names["target"]]
    memory = stack(p, "encoder", tables[0], source)
    x = stack(p, "decoder", tables[1], [p.c.start] + target[:-1], memory, p.c.causal)
    return unembed(p, x, tables[1], (1, p.c.vocab)), target


def language_model(p, tokens):
    x = stack(p, "", p.names["embedding"], tokens[:-1], causal=p.c.causal)
    return unembed(p, x, p.names["embedding"], ()), tokens[1:]


def masked_language_model(p, tokens, labels):
    scored = [i for i, label in enumerate(labels) if label >= 0]
    x = stack(p, "", p.names["embedding"], tokens)[scored]
    x = ACTIVATIONS[p.c.activation](p.linear("cls.predictions.transform.dense", x, p.c.width, p.c.output_bias))
    x = p.norm("cls.predictions.transform.LayerNorm", x, kind="layer")
    return unembed(p, x, p.names["embedding"], (p.c.vocab,)), [labels[i] for i in scored]


# ---- recurrent networks


def cell(p, scope, prefix, suffix, x, state):
    """One step of PyTorch's GRU or LSTM, by its formulas, held against its own function. state (h,) or (h, c)"""
    gates, hidden = (3 if p.c.cell == "gru" else 4) * p.c.hidden, p.c.hidden
    w = [p.weight(f"{prefix}.{kind}_{suffix}", *shape, spread=p.spread * shape[-1] ** -0.5)
         for kind, shape in (("weight_ih", (gates, len(x))), ("weight_hh", (gates, hidden)), ("bias_ih", (gates,)),
                             ("bias_hh", (gates,)))]
    gx, gh, h = w[0] @ x + w[2], w[1] @ state[0] + w[3], state[0]
    if p.c.cell == "gru":
        (xr, xz, xn), (hr, hz, hn) = gx.chunk(3), gh.chunk(3)
        r, z = torch.sigmoid(xr + hr), torch.sigmoid(xz + hz)
        n = torch.tanh(xn + r * hn)
        opened, after = torch.cat([r, z, n]), ((1 - z) * n + z * h,)
        truth = (torch.gru_cell(x[None], h[None], *w),)
    else:
        i, f, g, o = (gx + gh).chunk(4)
        i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
        c = f * state[1] + i * g
        opened, after = torch.cat([i, f, g, o]), (o * torch.tanh(c), c)
        truth = torch.lstm_cell(x[None], tuple(s[None] for s in state), *w)
    assert all(torch.allclose(a, b[0], rtol=1e-12, atol=1e-12) for a, b in zip(after, truth))
    p.tap(f"{scope}.gates", opened)
    for name, value in zip("hc", after):
        p.tap(f"{scope}.{name}", value)
    return after


def zero_state(p):
    return tuple(torch.zeros(p.c.hidden) for _ in range(1 if p.c.cell == "gru" else 2))


def rnn_encoder(p, ids):
    """Outputs of the top layer, one a token, and each layer's last state (of two directions, the backward one's)."""
    outputs = list(p.weight("encoder.embed.weight", p.c.vocab, p.c.embed, spread=1.0)[ids])
    last = []
    for layer in range(p.c.layers):
        directions = [("", "")] + [("_reverse", ".reverse")] * p.c.bidirectional
        sides = []
        for suffix, scope in directions:
            state, read = zero_state(p), []
            for x in reversed(outputs) if suffix else outputs:
                state = cell(p, f"encoder.{layer}{scope}", "encoder.rnn", f"l{layer}{suffix}", x, state)
                read.append(state[0])
            sides.append(read[::-1] if suffix else read)
        last.append(state)
        outputs = [torch.cat(pair) for pair in zip(*sides)]
    return torch.stack(outputs), last


def rnn_seq2seq(p, source, target):
    c = p.c
    memory, states = rnn_encoder(p, source)
    additive, context = c.attention == "additive", None
    if additive:  # Bahdanau et al. 2015
        start = torch.tanh(p.linear("bridge", states[-1][0], c.hidden))
        states = [(start,) + zero_state(p)[1:] for _ in range(c.layers)]
        keys = p.linear("decoder.attn_key", memory, c.hidden)  # (S, hidden)
    elif c.context == "every_step":  # Cho et al. 2014
        context = states[-1][0]
    rows = []
    for x in p.weight("decoder.embed.weight", c.vocab, c.embed, spread=1.0)[[c.start] + target[:-1]]:
        p.tap("decoder.embed", x)
        if additive:
            query = p.linear("decoder.attn_query", states[-1][0], c.hidden, bias=False)
            align = (torch.tanh(query + keys) @ p.weight("decoder.attn_v", c.hidden, spread=1.0)).softmax(-1)
            context = p.tap("align", align) @ memory
        beside = [] if context is None else [p.tap("context", context)]
        y = torch.cat([x] + beside)
        for layer in range(c.layers):
            states[layer] = cell(p, f"decoder.{layer}", "decoder.rnn", f"l{layer}", y, states[layer])
            y = states[layer][0]
        rows.append(torch.cat([y] + beside + [x] * len(beside)))
    return p.linear("output", torch.stack(rows), c.vocab), target


# ---- a case

MODELS = {"marian": seq2seq, "pegasus": seq2seq, "gpt2": language_model, "llama": language_model,
          "bert": masked_language_model, "rnn_seq2seq": rnn_seq2seq}


def draw_batch(json, seed):
    """Sequences of different lengths in no order, one of them of a single token; the first is neither the longest nor
    the shortest. A language model reads one token less than its text has."""
    draw, vocab = random.Random(f"{seed}/batch"), json["vocab_size"]

    def rows(*lengths):
        return [[draw.randrange(vocab) for _ in range(length)] for length in lengths]

    model = MODELS[json["model_type"]]
    if model is language_model:
        return {"tokens": rows(5, 7, 2, 4)}
    if model is masked_language_model:  # some tokens are not scored, and one sequence not at all
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
    """What the batch's first sequence shows under the names wanted. A recurrent network shows one value a step."""
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
    p, batch = Pass(case.config, folder.name, case.spread), draw_batch(case.config, folder.name)
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
