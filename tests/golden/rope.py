"""Rotary positions: how fast each pair turns, stretched as configs say it.

A head's first `dims` numbers turn. Lengths count: some kinds turn a long text otherwise than a short one."""

import math
from types import SimpleNamespace

import torch


def rope(theta, dims, scaling=None, interleaved=False, positions=0):
    """positions: those of training, where the scaling does not say it"""
    return SimpleNamespace(theta=theta, dims=dims, scaling=scaling or {}, interleaved=interleaved, positions=positions)


def yarn(r, slow, s, original):
    """NTK by parts (Peng et al. 2023): pairs that turn often stay, those that turn seldom are slowed"""
    def pair_that_turns(times):  # so often over the positions of training
        return r.dims * math.log(original / (times * 2 * math.pi)) / (2 * math.log(r.theta))

    low = max(math.floor(pair_that_turns(s.get("beta_fast", 32))), 0)
    high = min(math.ceil(pair_that_turns(s.get("beta_slow", 1))), r.dims - 1)
    ramp = ((torch.arange(r.dims // 2).double() - low) / max(high - low, 0.001)).clamp(0, 1)
    return slow * (1 - ramp) + slow / s["factor"] * ramp, 0.1 * math.log(s["factor"]) + 1


def llama3(slow, s):
    """Wavelengths above a bound are stretched, those below another are not, between them it goes over"""
    original = s["original_max_position_embeddings"]
    turns = original * slow / (2 * math.pi)
    share = (turns - s["low_freq_factor"]) / (s["high_freq_factor"] - s["low_freq_factor"])
    share = share.clamp(0, 1)
    return slow * share + slow / s["factor"] * (1 - share), 1.0


def frequencies(r, length):
    """Radians per position of each pair, and a factor on what has been turned."""
    s, powers = r.scaling, -torch.arange(0, r.dims, 2).double() / r.dims
    slow = r.theta ** powers
    original = s.get("original_max_position_embeddings", r.positions)
    kind = s.get("rope_type", s.get("type", "default"))
    if kind == "linear":
        return slow / s["factor"], 1.0
    if kind == "dynamic":  # a greater base, the longer the text
        grown = s["factor"] * max(length, original) / original - (s["factor"] - 1)
        return (r.theta * grown ** (r.dims / (r.dims - 2))) ** powers, 1.0
    if kind == "llama3":
        return llama3(slow, s)
    if kind == "yarn":
        return yarn(r, slow, s, original)
    if kind == "longrope":
        factors = torch.tensor(s["long_factor" if length > original else "short_factor"]).double()
        return slow / factors, math.sqrt(1 + math.log(r.positions / original) / math.log(original))
    assert kind == "default", kind
    return slow, 1.0


def rotate(x, r):
    """A pair of a head is a complex number, which turns by position times frequency. Pairs are neighbours, or a half of
    `dims` apart.   x (H, T, D)"""
    tokens = x.shape[1]
    speed, factor = frequencies(r, tokens)
    angles = torch.arange(tokens).double()[:, None] * speed
    turning, rest = x[..., : r.dims], x[..., r.dims :]
    pairs = (turning[..., 0::2], turning[..., 1::2]) if r.interleaved else turning.chunk(2, -1)
    turned = torch.complex(*pairs) * torch.polar(torch.full_like(angles, factor), angles)
    parts = [turned.real, turned.imag]
    turned = torch.stack(parts, -1).flatten(-2) if r.interleaved else torch.cat(parts, -1)
    return torch.cat([turned, rest], -1)
