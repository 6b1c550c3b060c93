"""The forward passes of Transformers, of one sequence.

Letters: T tokens, S tokens looked at, d width, H heads, D numbers per head."""

import math

import torch

from families import names_of
from relative import bucket_bias, slope_bias
from rope import rotate
from run import ACTIVATIONS


def query_key_value(p, names, x, memory, side):
    c = p.c
    head = getattr(side, "head", c.head)
    q_size, kv_size = side.heads * head, side.kv_heads * head
    if len(names) > 2:
        return [p.linear(name, y, size, c.attention_bias, c.transposed)
                for name, y, size in zip(names, (x, memory, memory), (q_size, kv_size, kv_size))]
    qkv = p.linear(names[0], x, q_size + 2 * kv_size, c.attention_bias, c.transposed)
    if c.fused == "heads":  # of each head: query, key, value
        return [y.flatten(1) for y in qkv.view(len(x), side.heads, 3, c.head).unbind(2)]
    return qkv.split([q_size, kv_size, kv_size], -1)


def attention(p, scope, names, x, memory, side, causal, layer=None, bias=None):
    """x (T, d) looks at memory (S, d). Self-attention has a layer's window and rotary positions."""
    c = p.c
    q, k, v = query_key_value(p, names, x, memory, side)
    for name, y in (("q", q), ("k", k), ("v", v)):
        p.tap(f"{scope}.{name}", y)

    def split(y):
        return y.view(len(y), -1, getattr(side, "head", c.head)).transpose(0, 1)

    def join(y):
        return y.transpose(0, 1).reshape(y.shape[1], -1)

    def normalised(name, y):  # (T, H·D) -> (H, T, D)
        weight = f"{names[0][:names[0].rindex('.')]}.{name}_norm"
        y = split(p.norm(weight, y)) if c.qk_norm == "all_heads" else p.norm(weight, split(y))
        p.tap(f"{scope}.{name}_norm", join(y))
        return y

    q, k = (normalised("q", q), normalised("k", k)) if c.qk_norm else (split(q), split(k))
    v = split(v)
    if layer and layer.rope:
        q, k = rotate(q, layer.rope), rotate(k, layer.rope)
        p.tap(f"{scope}.rot_q", join(q))
        p.tap(f"{scope}.rot_k", join(k))
    k, v = (y.repeat_interleave(side.heads // side.kv_heads, 0) for y in (k, v))
    scores = q @ k.mT * getattr(side, "score_scale", c.score_scale)  # (H, T, S)
    if c.score_cap:
        scores = c.score_cap * torch.tanh(scores / c.score_cap)
    if bias is not None:
        scores = scores + bias
    p.tap(f"{scope}.scores", scores)
    ones = torch.ones(scores.shape[1:])
    if causal:
        scores = scores.masked_fill(ones.triu(1).bool(), -math.inf)
    if layer and layer.window:
        scores = scores.masked_fill(ones.tril(-layer.window).bool(), -math.inf)
    pattern = p.tap(f"{scope}.pattern", scores.softmax(-1))
    z = p.tap(f"{scope}.z", join(pattern @ v))
    return p.linear(names[-1], z, c.width, c.attention_output_bias, c.transposed)


def gated_network(p, names, x, features, scope=""):
    """up, gate, down; those without a scope are not looked at"""
    c, f = p.c, ACTIVATIONS[p.c.activation]
    if len(names) == 2:  # gate and up-projection are one matrix
        gate, up = p.linear(names[0], x, 2 * features, c.ffn_bias).chunk(2, -1)
    else:
        up, gate = (p.linear(name, x, features, c.ffn_bias, c.transposed) for name in names[:2])
    p.tap(scope and scope + ".pre", up)
    p.tap(scope and scope + ".gate", gate)
    post = p.tap(scope and scope + ".post", f(gate) * up)
    return p.linear(names[-1], post, c.width, c.ffn_bias, c.transposed)


def experts(p, scope, block, x):
    """A token takes the few that a router finds best (Shazeer et al. 2017), and one that all take under a gate."""
    c, e = p.c, p.c.experts
    scores = p.tap(f"{scope}.ffn.router", p.linear(block + e.router, x, e.count, False))
    shares, chosen = scores.softmax(-1).topk(e.chosen, -1)
    if e.normalise:
        shares = shares / shares.sum(-1, keepdim=True)
    p.tap(f"{scope}.ffn.shares", shares)
    y = 0
    for i in range(e.count):
        names = [f"{block}{e.prefix.format(i)}.{part}" for part in e.parts]
        share = (shares * (chosen == i)).sum(-1, keepdim=True)
        y = y + share * gated_network(p, names, x, e.features)
    if e.shared:
        names = [f"{block}mlp.shared_expert.{part}" for part in e.parts]
        gate = torch.sigmoid(p.linear(block + "mlp.shared_expert_gate", x, 1, False))
        y = y + gate * gated_network(p, names, x, e.shared)
    return y


def feed_forward(p, scope, block, x, side):
    c, n = p.c, p.names
    if c.experts:
        return experts(p, scope, block, x)
    if c.gated:
        names = [n["gate_up"], n["down"]] if "gate_up" in n else [n["up"], n["gate"], n["down"]]
        return gated_network(p, [block + name for name in names], x, side.ffn, f"{scope}.ffn")
    pre = p.tap(f"{scope}.ffn.pre", p.linear(block + n["up"], x, side.ffn, c.ffn_bias, c.transposed))
    post = p.tap(f"{scope}.ffn.post", ACTIVATIONS[c.activation](pre))
    return p.linear(block + n["down"], post, c.width, c.ffn_bias, c.transposed)


def sublayer(p, scope, taps, norms, x, function):
    """x + f(norm(x)), norm(x + f(x)), x + norm(f(x)), or x + norm'(f(norm(x))). taps: of the norm and of f's result;
    norms: the usual one, and that of f's result"""
    place = p.c.norm_place
    norm_tap, out_tap = (f"{scope}.{tap}" for tap in taps)
    y = function(p.norm(norms[0], x, norm_tap) if place in ("before", "both") else x)
    y = p.tap(out_tap, y)
    if place in ("output", "both"):
        y = p.norm(norms[1], y, norm_tap + "_post")
    y = x + p.c.residual_factor * y if p.c.residual else y
    return p.norm(norms[0], y, norm_tap) if place == "after" else y


def parallel_block(p, scope, name, x, attend, feed):
    """Attention and feed-forward network read the same vector, by one norm or each by its own."""
    n = p.names
    y = p.norm(name + n["norm1"], x, f"{scope}.norm1")
    z = y if p.c.parallel == "one norm" else p.norm(name + n["norm2"], x, f"{scope}.norm2")
    return x + p.tap(f"{scope}.attn_out", attend(y)) + p.tap(f"{scope}.ffn_out", feed(z))


def block(p, scope, name, x, memory, side, causal, layer, bias):
    c, n = p.c, p.names
    self_attn = f"{scope}.{'attn' if scope.startswith('blocks') else 'self_attn'}"

    def norms(number):
        return [name + n.get(key, "") for key in (f"norm{number}", f"norm{number}_post")]

    def attend(y):
        return attention(p, self_attn, [name + part for part in n["attn"]], y, y, side, causal, layer, bias)

    def feed(y):
        return feed_forward(p, scope, name, y, side)

    p.tap(f"{scope}.resid_pre", x)
    if c.parallel:
        return p.tap(f"{scope}.resid_post", parallel_block(p, scope, name, x, attend, feed))
    x = sublayer(p, scope, ("norm1", "attn_out"), norms(1), x, attend)
    if c.feed_forward or memory is not None:
        p.tap(f"{scope}.resid_mid", x)
    if memory is not None:
        x = sublayer(p, scope, ("norm_cross", "cross_attn_out"), [name + n["norm_cross"]], x,
                     lambda y: attention(p, f"{scope}.cross_attn", [name + part for part in n["cross"]], y, memory,
                                         side, False))
        if c.feed_forward:
            p.tap(f"{scope}.resid_mid_cross", x)
    if c.feed_forward:
        x = sublayer(p, scope, ("norm2", "ffn_out"), norms(2), x, feed)
    return p.tap(f"{scope}.resid_post", x)


def sinusoids(tokens, width, layout):
    """sin and cos of t·10000^(-2i/d): all sines and then all cosines, or in turn"""
    angles = torch.arange(tokens).double()[:, None] * 10000.0 ** (-torch.arange(0, width, 2).double() / width)
    waves = [angles.sin(), angles.cos()]
    return torch.cat(waves, -1) if layout == "halves" else torch.stack(waves, -1).flatten(1)


def bias_by_distance(p, side_name, tokens, causal):
    c, n, side = p.c, p.names, p.c.sides[side_name]
    if c.relative == "buckets":
        table = p.weight(n["relative"].format(side=side_name) + ".weight", c.buckets, side.heads)
        return bucket_bias(table, tokens, c, causal)
    return slope_bias(side.heads, tokens) if c.relative == "slopes" else None


def stack(p, side_name, table, ids, memory=None, causal=False):
    """The last vectors (T, d) of a stack's tokens."""
    p.names = names_of(p.c, side_name)
    c, n, side = p.c, p.names, p.c.sides[side_name]
    scope = side_name + "." if side_name else ""
    x = p.weight(table + ".weight", c.vocab, c.width)[ids] * c.embedding_factor
    x = p.tap(scope + "embed", x * math.sqrt(c.width) if c.scale_embedding else x)
    if c.positions == "sinusoidal":
        x = x + p.tap(scope + "pos_embed", sinusoids(len(ids), c.width, c.sinusoids))
    elif c.positions == "learned":
        rows = c.max_positions + c.position_offset
        positions = p.weight(n["positions"].format(side=side_name) + ".weight", rows, c.width)
        x = x + p.tap(scope + "pos_embed", positions[c.position_offset : c.position_offset + len(ids)])
    if c.segments:
        segments = p.weight(n["segments"] + ".weight", c.segments, c.width)
        x = x + p.tap(scope + "segment_embed", segments[torch.zeros(len(ids)).long()])
    if "embedding_norm" in n:
        x = p.norm(n["embedding_norm"].format(side=side_name), x, scope + "embed_norm")
    bias = bias_by_distance(p, side_name, len(ids), causal)
    for i in range(side.layers):
        x = block(p, f"{side_name or 'blocks'}.{i}", n["block"].format(side=side_name, i=i), x, memory, side, causal,
                  c.layer(i), bias)
    if c.final_norm:
        x = p.norm(n["final_norm"].format(side=side_name), x, scope + "final_norm")
    return x


def unembed(p, x, table, bias_shape):
    c, n = p.c, p.names
    name = (table if c.tied else n["output"]) + ".weight"
    logits = x @ p.weight(name, c.vocab, c.width).T * c.logit_factor
    if c.logit_cap:
        logits = c.logit_cap * torch.tanh(logits / c.logit_cap)
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
    x = ACTIVATIONS[p.c.activation](p.linear(p.names["head"], x, p.c.width, p.c.output_bias))
    x = p.norm(p.names["head_norm"], x, kind="layer")
    return unembed(p, x, p.names["embedding"], (p.c.vocab,)), [labels[i] for i in scored]
