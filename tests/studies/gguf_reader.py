"""The tensors of a GGUF file, for comparisons: name → (type, shape with rows first, bytes)."""

import struct
from pathlib import Path

import numpy as np

TYPES = {0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
         7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110),
         12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 20: ("IQ4_NL", 32, 18),
         30: ("BF16", 1, 2)}
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def read_tensors(path):
    data = np.memmap(Path(path), np.uint8, "r")
    at = 0

    def number(form):
        nonlocal at
        (value,) = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize(form)
        return value

    def skip(kind):
        nonlocal at
        if kind == 8:
            length = number("Q")
            at += length
        elif kind == 9:
            inner, count = number("I"), number("Q")
            for _ in range(count):
                skip(inner)
        else:
            at += SIZES[kind]

    def text():
        nonlocal at
        length = number("Q")
        at += length
        return bytes(data[at - length:at]).decode()

    assert bytes(data[:4]) == b"GGUF", path
    at = 8
    tensors, keys = number("Q"), number("Q")
    for _ in range(keys):
        text()
        skip(number("I"))
    infos = []
    for _ in range(tensors):
        name = text()
        shape = [number("Q") for _ in range(number("I"))][::-1]
        infos.append((name, shape, number("I"), number("Q")))
    begin = (at + 31) // 32 * 32
    result = {}
    for name, shape, kind, offset in infos:
        type_name, block, size = TYPES[kind]
        count = int(np.prod(shape))
        result[name] = (type_name, shape, data[begin + offset:begin + offset + count // block * size])
    return result
