"""What all forward passes need: weights by name, layers, and a look at the values on the way."""

import math
import random

import torch
import torch.nn.functional as F

from configs import read_config
from families import READERS, names_of

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": torch.relu,
    "gelu": F.gelu,
    "gelu_new": lambda x: F.gelu(x, approximate="tanh"),
    "gelu_pytorch_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),
    "tanh": torch.tanh,
}


class Run:
    """A config, its weights, and the values seen on the way. A forward pass asks for weights by name and shape; who
    asks first has the numbers drawn, rounded to the float32 of the files."""

    def __init__(self, json, seed, spread):
        self.c = read_config(json, READERS[json["model_type"]])
        self.names = names_of(self.c)
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
        offset = self.c.norm_offset  # the gain is this plus the weight
        gain = offset + self.weight(name + ".weight", d, mean=1.0 - offset, spread=0.2)
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
