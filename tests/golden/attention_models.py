"""The forward passes of Transformers, of one sequence.

Letters: T tokens, S tokens looked at, d width, H heads, D numbers per head."""

import math

import torch

from run import ACTIVATIONS


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


def encoder(p, tokens, labels):
    """Guesses masked tokens; one with labels classifies a text by its first token (BertForSequenceClassification)."""
    scored = [i for i, label in enumerate(labels) if label >= 0]
    x = stack(p, "", p.names["embedding"], tokens)[scored]
    if p.c.labels:
        x = p.tap("pooled", torch.tanh(p.linear("bert.pooler.dense", x, p.c.width)))
        return p.linear("classifier", x, p.c.labels), [labels[i] for i in scored]
    x = ACTIVATIONS[p.c.activation](p.linear("cls.predictions.transform.dense", x, p.c.width, p.c.output_bias))
    x = p.norm("cls.predictions.transform.LayerNorm", x, kind="layer")
    return unembed(p, x, p.names["embedding"], (p.c.vocab,)), [labels[i] for i in scored]
