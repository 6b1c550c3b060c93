#!/usr/bin/python3
"""A BERT folder as ONNX, for onnxruntime: token ids and mask in, the mean of the last vectors out.

    bench/onnx/export_bert.py FOLDER MODEL.onnx          (Debian: python3-torch)

PyTorch traces a forward pass that is written here, with the operations that Hugging Face's class has. Batch and length
are free.
"""

import json
import math
import struct
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

KINDS = {"F32": np.float32, "F16": np.float16}


def read_safetensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    return {name: torch.from_numpy(np.frombuffer(data, KINDS[info["dtype"]], int(np.prod(info["shape"])),
                                                 8 + length + info["data_offsets"][0])
                                   .astype(np.float32).reshape(info["shape"]))
            for name, info in header.items() if name != "__metadata__" and info["dtype"] in KINDS}


class Bert(torch.nn.Module):
    def __init__(self, folder):
        super().__init__()
        self.config = json.loads((folder / "config.json").read_text())
        for name, tensor in read_safetensors(folder / "model.safetensors").items():
            self.register_parameter(name.removeprefix("bert.").replace(".", "/"), torch.nn.Parameter(tensor, requires_grad=False))

    def weight(self, name):
        return self.get_parameter(name.replace(".", "/"))

    def linear(self, name, x):
        return F.linear(x, self.weight(name + ".weight"), self.weight(name + ".bias"))

    def norm(self, name, x):
        weight = self.weight(name + ".weight")
        return F.layer_norm(x, weight.shape, weight, self.weight(name + ".bias"), self.config["layer_norm_eps"])

    def attention(self, name, x, bias):
        heads = self.config["num_attention_heads"]
        size = self.config["hidden_size"] // heads
        q, k, v = (self.linear(f"{name}.self.{part}", x).view(x.shape[0], x.shape[1], heads, size).transpose(1, 2)
                   for part in ("query", "key", "value"))
        pattern = (q @ k.transpose(2, 3) / math.sqrt(size) + bias).softmax(-1)
        z = (pattern @ v).transpose(1, 2).reshape(x.shape[0], x.shape[1], heads * size)
        return self.linear(name + ".output.dense", z)

    def forward(self, ids, mask):
        positions = torch.arange(ids.shape[1])
        x = (F.embedding(ids, self.weight("embeddings.word_embeddings.weight")) +
             F.embedding(positions, self.weight("embeddings.position_embeddings.weight")) +
             self.weight("embeddings.token_type_embeddings.weight")[0])
        x = self.norm("embeddings.LayerNorm", x)
        bias = (1.0 - mask)[:, None, None, :] * -10000.0
        for i in range(self.config["num_hidden_layers"]):
            name = f"encoder.layer.{i}"
            x = self.norm(f"{name}.attention.output.LayerNorm", x + self.attention(f"{name}.attention", x, bias))
            y = F.gelu(self.linear(f"{name}.intermediate.dense", x))
            x = self.norm(f"{name}.output.LayerNorm", x + self.linear(f"{name}.output.dense", y))
        return (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    free = {0: "texts", 1: "tokens"}
    torch.onnx.export(Bert(Path(sys.argv[1])), (torch.ones(2, 5).long(), torch.ones(2, 5)), sys.argv[2],
                      input_names=["ids", "mask"], output_names=["vectors"], opset_version=17,
                      dynamic_axes={"ids": free, "mask": free, "vectors": {0: "texts"}})
