"""What is added to scores by distance: T5's buckets, ALiBi's slopes."""

import math

import torch


def bucket(distance, buckets, longest, both_ways):
    """Of a key so far behind the query (before it: negative). Half the buckets are a distance each, the others grow by
    logarithm up to the longest; both ways, half of all are for keys to come."""
    first = 0
    if both_ways:
        buckets //= 2
        first = buckets if distance < 0 else 0
        distance = abs(distance)
    distance = max(distance, 0)
    exact = buckets // 2
    if distance < exact:
        return first + distance
    grown = exact + int(math.log(distance / exact) / math.log(longest / exact) * (buckets - exact))
    return first + min(grown, buckets - 1)


def bucket_bias(table, tokens, c, causal):
    """table (buckets, H) -> (H, T, T)"""
    ids = [[bucket(i - j, c.buckets, c.longest, not causal) for j in range(tokens)] for i in range(tokens)]
    return table[torch.tensor(ids)].permute(2, 0, 1)


def slope_bias(heads, tokens):
    """Head h of 2^n: distance times 2^(-8(h+1)/H)"""
    assert heads & (heads - 1) == 0
    slopes = 2.0 ** (-8.0 * torch.arange(1, heads + 1).double() / heads)
    return slopes[:, None, None] * (torch.arange(tokens)[None, :] - torch.arange(tokens)[:, None])
