#!/usr/bin/env python3
"""PyTorch's DistributedDataParallel with gloo on the shapes of `limpid bench train-step`: prints tokens per second.

Usage: data-parallel-peer.py SHAPE [--ranks N] [--threads N] [--steps N]
Every rank gets its part of one batch of the shape; the median step after one to warm up counts.
"""
import argparse, os, statistics, time

parser = argparse.ArgumentParser()
parser.add_argument("shape", choices=["tiny", "base", "gpt2"])
parser.add_argument("--ranks", type=int, default=1)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--steps", type=int, default=5)
options = parser.parse_args()
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)

import torch
from torch import nn

# two stacks, layers, width, ffn, heads, vocabulary, sequences, length, dropout, label smoothing
SHAPES = {
    "tiny": (True, 4, 128, 256, 4, 10000, 256, 16, 0.1, 0.1),
    "base": (True, 6, 512, 2048, 8, 32000, 64, 32, 0.1, 0.1),
    "gpt2": (False, 12, 768, 3072, 12, 50257, 4, 64, 0.0, 0.0),
}
two_stacks, layers, width, ffn, heads, vocab, sequences, length, dropout, smoothing = SHAPES[options.shape]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.positions = nn.Parameter(torch.randn(length, width) * 0.02, requires_grad=not two_stacks)
        nn.init.normal_(self.embedding.weight, std=0.02)
        if two_stacks:
            self.body = nn.Transformer(width, heads, layers, layers, ffn, dropout, batch_first=True)
        else:
            layer = nn.TransformerEncoderLayer(width, heads, ffn, dropout, activation="gelu", batch_first=True, norm_first=True)
            self.body = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width))
        self.mask = torch.triu(torch.full((length, length), float("-inf")), 1)

    def forward(self, source, target):
        x = self.embedding(source) + self.positions
        if two_stacks:
            x = self.body(x, self.embedding(target) + self.positions, tgt_mask=self.mask)
        else:
            x = self.body(x, self.mask)
        return x @ self.embedding.weight.T


def run(rank, report):
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    model = Model()
    if options.ranks > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29577", GLOO_SOCKET_IFNAME="lo")
        torch.distributed.init_process_group("gloo", rank=rank, world_size=options.ranks)
        model = nn.parallel.DistributedDataParallel(model)
    adam = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    loss_of = nn.CrossEntropyLoss(label_smoothing=smoothing)
    mine = sequences // options.ranks
    ids = [torch.randint(vocab, (mine, length)) for _ in range(3)]
    seconds = []
    for _ in range(options.steps + 1):
        begun = time.perf_counter()
        adam.zero_grad()
        loss_of(model(ids[0], ids[1]).view(-1, vocab), ids[2].view(-1)).backward()
        adam.step()
        if options.ranks > 1:
            torch.distributed.barrier()
        seconds.append(time.perf_counter() - begun)
    if rank == 0:
        report.put(sequences * length / statistics.median(seconds[1:]))


if __name__ == "__main__":
    context = torch.multiprocessing.get_context("spawn" if options.ranks > 1 else "fork")
    report = context.Queue()
    if options.ranks == 1:
        run(0, report)
    else:
        processes = [context.Process(target=run, args=(rank, report)) for rank in range(options.ranks)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    print(round(report.get()))
