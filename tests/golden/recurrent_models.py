"""The forward passes of recurrent encoder-decoders, of one pair of sequences."""

import torch


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
    """Outputs of the top layer, one per token, and each layer's last state (of two directions, the backward one's)."""
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
